/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every configuration must hold that was read without a problem, wherever it came from: written down and read
 * back it is the same; what passes the checks can be built, or is refused with a sentence; and the frames that are
 * built are ones that a receiver takes.
 */
#ifndef SQUALL_TESTS_FUZZ_CONFIG_H
#define SQUALL_TESTS_FUZZ_CONFIG_H

#include "gen/plan_build.h"
#include "gen/stream_check.h"
#include "gen/stream_set.h"
#include "gen/tunnel.h"
#include "lib/core/patch.h"
#include "lib/option_row.h"
#include "rx/rx_filter.h"
#include "tests/frame_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* A file of these bytes, as the command line's --config reads it. */
static inline void fuzz_read(struct option_source *src, const char *text, size_t size)
{
	static const uint64_t no_line[4];
	struct option_yaml *y = option_yaml_parse(src, text, size);

	option_yaml_read(src, y);
	if (verb_sends(src->verb))
		option_yaml_streams(src, y, no_line);
	option_yaml_free(y);
}

static inline void config_same(const struct config *a, const struct config *b)
{
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];

		if (row->command_line_only || !(row->verbs & a->verb))
			continue;
		must(option_given(a, i) == option_given(b, i), row->name);
		must(memcmp(option_field(row, a), option_field(row, b), row->size) == 0, row->name);
	}
}

static inline void config_round_trip(const struct config *cfg)
{
	static struct problems problems;
	struct config back = {.verb = cfg->verb};
	struct option_source src = {.cfg = &back, .p = &problems, .verb = cfg->verb, .file = "dump"};
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	must(f, "open_memstream");
	option_dump_config(cfg, f);
	fclose(f);
	problems.n = 0;
	option_defaults(&back);
	fuzz_read(&src, text, size);
	must(!problems.n, problems.e[0].cause);
	config_same(cfg, &back);
	must(cfg->n_streams == back.n_streams, "streams");
	for (unsigned i = 0; i < cfg->n_streams; i++)
		config_same(&cfg->streams[i], &back.streams[i]);
	option_free(&back);
	free(text);
}

/* What a backend without an interface would find (cmd/ends.c). */
static inline struct gen_ends config_ends(const struct config *cfg)
{
	struct gen_ends ends = {.src_mac = {{2, [5] = 1}}, .dst_mac = {{2, [5] = 2}}, .link_bps = 10000000000};
	struct tunnel tunnel;

	tunnel_parse(cfg->tunnel, &tunnel, NULL);
	ip_parse(cfg->dst_ip.ip.family == 6 ? "2001:2::1" : "198.18.0.1", &ends.src_ip);
	if (cfg->src_ip.ip.family)
		prefix_hosts(&cfg->src_ip, &ends.src_ip);
	ip_parse(tunnel.dst.family == 6 ? "2001:2::1" : "198.18.0.1", &ends.outer_src);
	if (tunnel.src.family)
		ends.outer_src = tunnel.src;
	if (!mac_is_zero(&cfg->dst_mac))
		ends.dst_mac = cfg->dst_mac;
	return ends;
}

static inline unsigned words_of(const char *words, const char *word)
{
	unsigned n = 0;

	for (const char *at = words; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* Lengths and checksums are right, as far as the headers reach that were asked for. */
static inline void config_judge(const struct config *cfg, const unsigned char *frame, uint32_t len)
{
	const struct judged j = judge_frame(frame, len);
	unsigned by_port = words_of(j.words, "vxlan") + words_of(j.words, "geneve");

	/* A payload to a tunnel's port may be anything, and so may one of another type. */
	if (cfg->mode == MODE_RAW || by_port > words_of(cfg->tunnel, "vxlan") + words_of(cfg->tunnel, "geneve"))
		return;
	must(!strchr(j.words, '#') && !strchr(j.words, '?'), j.words);
	must(cfg->udp_checksum == CHECK_BAD || !strchr(j.words, '!'), j.words);
	must(cfg->udp_checksum != CHECK_ON || cfg->tunnel[0] || !strchr(j.words, '-'), j.words);
}

static inline void config_frames(const struct config *cfg, const struct tx_plan *plan)
{
	const uint64_t flows[] = {0, 1 % plan->flows, plan->flows / 2, plan->flows - 1};
	const uint32_t sizes[] = {0, plan->n_sizes / 2, plan->n_sizes - 1};
	const uint64_t place = stamp_place(5, 123456789);
	unsigned char entry[TX_ENTRY_MAX];

	must(plan->n_cycle > 0 && plan->n_cycle <= TX_CYCLE_MAX && plan->entry <= TX_ENTRY_MAX, "a plan's bounds");
	for (uint32_t i = 0; i < plan->n_cycle; i++)
		must(plan->cycle[i] < plan->n_sizes, "a size of the cycle");
	for (unsigned i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			const struct tx_size *size = &plan->sizes[sizes[k]];
			unsigned char *frame = malloc(size->len); /* of its own, so that a write beyond it is seen */

			must(frame && size->len >= GEN_FRAME_MIN && size->len <= plan->max_len, "a frame's length");
			memcpy(frame, plan->frame, size->len);
			tx_entry_at(plan, flows[i], entry);
			tx_put(plan, entry, size, frame,
			       plan->stamped ? tx_put_stamp(frame, size->len, plan->l4, 7, place, 3) : 0);
			must(!plan->stamped || stamp_read(frame + size->len - STAMP_LEN, &(struct stamp){0}),
			     "a stamp");
			config_judge(cfg, frame, size->len);
			free(frame);
		}
}

/* Streams that passed the checks: each is built, and they go round together. */
static inline void config_streams(const struct config *cfg)
{
	static struct tx_plan plans[CONFIG_STREAMS_MAX];
	static struct stream_set set;
	struct err e = {0};

	for (unsigned i = 0; i < cfg->n_streams; i++) {
		const struct config *c = &cfg->streams[i];
		const struct gen_ends ends = config_ends(c);

		if (c->payload_file[0])
			return;
		if (gen_plan_build(c, &ends, &plans[i], &e)) {
			must(e.cause[0], "an error without a sentence");
			return;
		}
		config_frames(c, &plans[i]);
	}
	if (stream_set_list(&set, cfg, plans, 10000000000, &e)) {
		must(e.cause[0], "an error without a sentence");
		return;
	}
	must(set.n_groups > 0 && set.n_groups <= CONFIG_STREAMS_MAX + 1, "the number of groups");
	for (unsigned g = 0; g < set.n_groups; g++)
		for (uint32_t k = 0; k < set.groups[g].n_cycle; k++)
			must(set.streams[set.groups[g].cycle[k]].group == g, "a turn of the cycle");
}

/* cfg was read without a problem. */
static inline void config_try(struct config *cfg)
{
	static struct problems problems;
	static struct tx_plan plan;
	static struct filter filter;
	const struct gen_ends ends = config_ends(cfg);
	struct err e = {0};

	config_round_trip(cfg);
	problems.n = 0;
	if (cfg->n_streams)
		stream_check(cfg, &problems);
	else if (verb_sends(cfg->verb))
		gen_check(cfg, &problems);
	rx_filter_check(cfg, &problems);
	if (problems.n) {
		must(problems.e[0].cause[0], "a problem without a sentence");
		return;
	}
	if (rx_filter_build(cfg, NULL, NULL, &ends.src_ip, &filter, &e))
		must(e.cause[0], "an error without a sentence");
	/* No file of the machine is read here. */
	if (!verb_sends(cfg->verb) || cfg->mode == MODE_PCAP || cfg->payload_file[0])
		return;
	if (cfg->n_streams)
		config_streams(cfg);
	else if (gen_plan_build(cfg, &ends, &plan, &e))
		must(e.cause[0], "an error without a sentence");
	else
		config_frames(cfg, &plan);
}

/* libFuzzer's own */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* Names of options are hard to guess: one time in four the table's are put in, between what stands around one. */
static inline size_t fuzz_mutate(uint8_t *data, size_t size, size_t max, unsigned seed, const char *before,
				 const char *behind)
{
	char text[128];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s%s%s", before, option_rows[seed / 4 % OPTION_TOTAL].name,
				    behind);

	if (seed % 4 || size + n > max)
		return LLVMFuzzerMutate(data, size, max);
	memcpy(data + size, text, n);
	return size + n;
}

#endif
