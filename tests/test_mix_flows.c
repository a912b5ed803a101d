/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mix of sizes as it leaves: every run of a cycle has each size in proportion, and so has every flow, whatever the
 * flows, their order and the queues that they are dealt to.
 */
#include "tx_wire.h"

#include <stdio.h>

#define FLOWS_MOST 100U
#define SIZES_MOST 4U
#define FIRST_PORT 1024U

struct mix {
	const char *text;
	unsigned cycle, n;
	uint32_t size[SIZES_MOST];
	unsigned weight[SIZES_MOST];
};

static const struct mix mixes[] = {
	{"simple", 12, 3, {64, 594, 1518}, {7, 4, 1}},     {"7a4dg", 12, 3, {64, 512, 1518}, {7, 4, 1}},
	{"64:0.5,128:1.5", 4, 2, {64, 128}, {1, 3}},       {"csit", 12, 3, {64, 570, 1518}, {7, 4, 1}},
	{"abcd", 4, 4, {64, 128, 256, 512}, {1, 1, 1, 1}}, {"99:100", 1, 1, {99}, {1}},
};

struct seen {
	const struct mix *mix;
	uint64_t packets;
	unsigned in_run[SIZES_MOST];
	unsigned of_flow[FLOWS_MOST][SIZES_MOST];
};

static void saw(void *arg, const unsigned char *frame, uint32_t len)
{
	struct seen *s = arg;
	unsigned flow = frame[34] * 256U + frame[35] - FIRST_PORT, i = 0;

	while (i < s->mix->n && s->mix->size[i] != len + 4)
		i++;
	assert_true(i < s->mix->n && flow < FLOWS_MOST);
	s->of_flow[flow][i]++;
	s->in_run[i]++;
	if (++s->packets % s->mix->cycle)
		return;
	for (i = 0; i < s->mix->n; i++)
		assert_int_equal(s->in_run[i], s->mix->weight[i]);
	memset(s->in_run, 0, sizeof(s->in_run));
}

/* As many packets as it takes for every flow to have a whole cycle. */
static void leaves_in_proportion(const struct mix *m, unsigned flows, unsigned queues, bool random_order)
{
	static struct tx_plan plan;
	struct seen s = {.mix = m};
	char line[256];

	snprintf(line, sizeof(line),
		 "send -i loop:sink --dst-ip 10.9.9.9 --src-ip 10.9.9.1 --mode imix --imix %s --flows %u", m->text,
		 flows);
	tx_wire_plan(line, &plan);
	for (unsigned q = 0; q < queues && q < flows; q++) {
		struct tx_wire *w = tx_wire_new(saw, &s);

		memset(s.in_run, 0, sizeof(s.in_run));
		s.packets = 0;
		tx_wire_send(w, &plan, q, queues, (uint64_t)flows * m->cycle, random_order);
		tx_wire_free(w);
	}
	for (unsigned f = 0; f < flows; f++)
		for (unsigned i = 0; i < m->n; i++)
			assert_int_equal(s.of_flow[f][i], m->weight[i]);
}

static void sizes_are_in_proportion_by_time_and_by_flow(void **state)
{
	static const unsigned flows[] = {1, 2, 3, 4, 5, 6, 11, 12, 13, 24, 36, 60, 100};

	(void)state;
	for (unsigned m = 0; m < sizeof(mixes) / sizeof(mixes[0]); m++)
		for (unsigned f = 0; f < sizeof(flows) / sizeof(flows[0]); f++)
			for (unsigned queues = 1; queues <= 3; queues++) {
				leaves_in_proportion(&mixes[m], flows[f], queues, false);
				leaves_in_proportion(&mixes[m], flows[f], queues, true);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_in_proportion_by_time_and_by_flow)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
