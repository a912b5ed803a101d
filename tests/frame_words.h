/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_words: puts headers into a struct frame by the words that frame_judge.h reads: "eth vlan ip4 udp- vxlan eth ip6
 * tcp". "udp-" has no checksum, "udp!" a wrong one.
 */
#ifndef SQUALL_TESTS_FRAME_WORDS_H
#define SQUALL_TESTS_FRAME_WORDS_H

#include "gen/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WORDS_MAX 16U

struct words {
	unsigned n;
	char word[WORDS_MAX][8];
	uint32_t at[WORDS_MAX]; /* where the header of each starts */
};

static inline bool word_is(const struct words *w, unsigned i, const char *word)
{
	return i < w->n && strcmp(w->word[i], word) == 0;
}

/* What stands in a type field in front of word i. */
static inline uint16_t words_type(const struct words *w, unsigned i)
{
	return word_is(w, i, "ip4")    ? 0x0800
	       : word_is(w, i, "ip6")  ? 0x86dd
	       : word_is(w, i, "mpls") ? 0x8847
	       : word_is(w, i, "eth")  ? 0x6558
				       : 0x88b5;
}

static inline void words_put_ip(struct frame *f, const struct words *w, unsigned i)
{
	static const struct frame_ip four = {
		.src = {.family = 4, .b = {10, 77, 1, 2}},
		.dst = {.family = 4, .b = {192, 0, 2, 255}},
		.dscp_ecn = 0xb9,
		.ttl = 64,
		.df = true,
		.id = 0xfedc,
	};
	static const struct frame_ip six = {
		.src = {.family = 6, .b = {0x20, 1, 0xd, 0xb8, 0xff, 0xff, [15] = 1}},
		.dst = {.family = 6, .b = {0xfd, 0, [8] = 0xab, [14] = 0xff, 0xfe}},
		.dscp_ecn = 0x2e,
		.ttl = 255,
		.flow_label = 0xabcde,
	};

	frame_put_ip(f, word_is(w, i, "ip4") ? &four : &six);
	if (word_is(w, i + 1, "ip4"))
		frame_put_protocol(f, 4);
	if (word_is(w, i + 1, "ip6"))
		frame_put_protocol(f, 41);
	if (word_is(w, i + 1, "gre"))
		frame_put_protocol(f, 47);
}

static inline void words_put_udp(struct frame *f, const struct words *w, unsigned i)
{
	uint16_t port = word_is(w, i + 1, "vxlan") ? 4789 : word_is(w, i + 1, "geneve") ? 6081 : 9000;
	char mark = w->word[i][3];

	frame_put_udp(f, 49153, port, mark == '-' ? FRAME_CHECK_OFF : mark == '!' ? FRAME_CHECK_BAD : FRAME_CHECK_ON);
}

static inline void words_put_tunnel(struct frame *f, const struct words *w, unsigned i)
{
	uint16_t type = words_type(w, i + 1);
	const unsigned char gre[8] = {0x20, 0, (unsigned char)(type >> 8), (unsigned char)type, 1, 2, 3, 4};
	const unsigned char vxlan[8] = {8, 0, 0, 0, 0, 0x12, 0x34, 0};
	const unsigned char geneve[12] = {
		1, 0, (unsigned char)(type >> 8), (unsigned char)type, 0, 0x12, 0x34, 0, 1, 3, 0x80, 0};

	if (word_is(w, i, "gre"))
		frame_put_bytes(f, gre, sizeof(gre));
	if (word_is(w, i, "vxlan"))
		frame_put_bytes(f, vxlan, sizeof(vxlan));
	if (word_is(w, i, "geneve"))
		frame_put_bytes(f, geneve, sizeof(geneve));
}

static inline void words_put_one(struct frame *f, const struct words *w, unsigned i)
{
	static const struct mac dst = {{2, 0, 0, 0, 0, 9}};
	static const struct mac src = {{2, 0, 0, 0, 0, 1}};

	if (word_is(w, i, "eth"))
		frame_put_ethernet(f, &dst, &src);
	else if (word_is(w, i, "vlan"))
		frame_put_tag(f, 0x8100, 0xa123);
	else if (word_is(w, i, "svlan"))
		frame_put_tag(f, 0x88a8, 0x7fff);
	else if (word_is(w, i, "mpls"))
		frame_put_mpls(f, 0xabcde, 5, !word_is(w, i + 1, "mpls"), 63);
	else if (word_is(w, i, "ip4") || word_is(w, i, "ip6"))
		words_put_ip(f, w, i);
	else if (strncmp(w->word[i], "udp", 3) == 0)
		words_put_udp(f, w, i);
	else if (word_is(w, i, "tcp"))
		frame_put_tcp(f, 49153, 80, 0x12);
	else if (word_is(w, i, "echo"))
		frame_put_echo(f, 0x1234, 7);
	else
		words_put_tunnel(f, w, i);
}

/* Goes on in *f; w->at of a tag is where its TPID is, and the type is part of the header in front of it. */
static inline void words_put(struct frame *f, const char *text, struct words *w)
{
	w->n = 0;
	for (const char *p = text; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		memset(w->word[w->n], 0, sizeof(w->word[0]));
		memcpy(w->word[w->n++], p, len);
		p += len;
	}
	for (unsigned i = 0; i < w->n; i++) {
		bool l2 = word_is(w, i, "eth") || word_is(w, i, "vlan") || word_is(w, i, "svlan");

		w->at[i] = f->at;
		words_put_one(f, w, i);
		if (l2 && !word_is(w, i + 1, "vlan") && !word_is(w, i + 1, "svlan"))
			frame_put_type(f, words_type(w, i + 1));
	}
}

/* Where the n-th (from 0) header of this name starts. */
static inline uint32_t words_at(const struct words *w, const char *word, unsigned n)
{
	for (unsigned i = 0; i < w->n; i++)
		if (strncmp(w->word[i], word, strlen(word)) == 0 && n-- == 0)
			return w->at[i];
	return UINT32_MAX;
}

/* A frame that is being put, its plan alone in its memory, so that a sanitizer finds a write beyond it. */
struct made {
	struct tx_plan *plan;
	struct frame frame;
	struct words words;
	uint32_t headers; /* their bytes */
};

static inline struct made made_put(const char *text)
{
	struct made m = {.plan = malloc(sizeof(*m.plan))};

	assert_non_null(m.plan);
	frame_begin(&m.frame, m.plan);
	words_put(&m.frame, text, &m.words);
	m.headers = m.frame.at;
	return m;
}

static inline unsigned char made_filler(size_t i)
{
	return (unsigned char)(0xa1 + 7 * i);
}

/* Fills the payload, with made_filler() or, when it is going to change, with zeros. */
static inline void made_finish(struct made *m, const uint32_t *sizes, unsigned n, bool payload_changes)
{
	struct err e;

	for (size_t i = m->headers; i < TX_TEMPLATE_MAX; i++)
		m->plan->frame[i] = payload_changes ? 0 : made_filler(i - m->headers);
	if (frame_finish(&m->frame, sizes, n, payload_changes, &e) != 0)
		fail_msg("%s", e.cause);
	m->plan->flows = UINT64_MAX;
}

static inline void made_free(struct made *m)
{
	free(m->plan);
	m->plan = NULL;
}

#endif
