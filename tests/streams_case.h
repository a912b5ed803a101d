/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of streams share: a run's streams from the text of a file, as the program makes them of it. */
#ifndef SQUALL_TESTS_STREAMS_CASE_H
#define SQUALL_TESTS_STREAMS_CASE_H

#include "gen/stream_check.h"
#include "gen/stream_set.h"
#include "gen/tx_merge.h"
#include "lib/option_row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINK_BPS 10000000000ULL

struct streams {
	struct config cfg;
	struct problems problems;
	struct tx_plan *plans;
	struct stream_set set;
};

/* Reads and checks; what is wrong is in s->problems. */
static inline void streams_read(struct streams *s, const char *text)
{
	static const uint64_t no_line[4];
	struct option_source src = {.cfg = &s->cfg, .p = &s->problems, .verb = VERB_SEND, .file = "f.yaml"};
	struct option_source list = src;
	struct option_yaml *y;

	memset(s, 0, sizeof(*s));
	s->cfg.verb = VERB_SEND;
	option_defaults(&s->cfg);
	snprintf(s->cfg.config_file, sizeof(s->cfg.config_file), "f.yaml");
	y = option_yaml_parse(&src, text, strlen(text));
	option_yaml_read(&src, y);
	assert_int_equal(option_yaml_streams(&list, y, no_line), 0);
	option_yaml_free(y);
	stream_check(&s->cfg, &s->problems);
}

static inline void streams_make(struct streams *s, const char *text)
{
	struct err e;

	streams_read(s, text);
	if (s->problems.n)
		fail_msg("%s: %s", s->problems.e[0].object, s->problems.e[0].cause);
	s->plans = calloc(s->cfg.n_streams, sizeof(*s->plans));
	assert_non_null(s->plans);
	for (unsigned i = 0; i < s->cfg.n_streams; i++) {
		const struct config *c = &s->cfg.streams[i];
		struct gen_ends ends = {
			.src_mac = {{2, 0, 0, 0, 0, 1}}, .dst_mac = {{2, 0, 0, 0, 0, 9}}, .link_bps = LINK_BPS};

		assert_int_equal(ip_parse(c->dst_ip.ip.family == 6 ? "2001:2::1" : "198.18.0.1", &ends.src_ip), 0);
		if (gen_plan_build(c, &ends, &s->plans[i], &e))
			fail_msg("stream %s: %s", c->name, e.cause);
	}
	if (stream_set_list(&s->set, &s->cfg, s->plans, LINK_BPS, &e))
		fail_msg("%s: %s", e.object, e.cause);
}

static inline void streams_free(struct streams *s)
{
	option_free(&s->cfg);
	free(s->plans);
}

#endif
