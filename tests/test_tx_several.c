/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a sender of several streams, over the loop backend: what arrives is each stream's packets, whole and
 * right in every byte, each flow as often as it should, whatever frames they were written into and however many queues.
 */
#include "streams_case.h"

#include "frame_judge.h"
#include "gen/tx_loop.h"
#include "lib/core/patch.h"
#include "loops.h"

#define QUEUES_MOST  3
#define PACKETS      2400
#define FRAME_ROOM   2048
#define STREAMS_MOST 8

static struct streams s;

static const char mixed[] =
	"pps: unlimited\nstreams:\n"
	"  - {dst-ip: 10.0.0.0/24, flows: 50, share: 3, src-port: 2000}\n"
	"  - {dst-ip: \"2001:2::/120\", flows: 7, vlan: 5, src-port: 3000, share: 2}\n"
	"  - {dst-ip: 10.0.2.0/24, flows: 9, mode: imix, imix: \"70:3,594:2,1400:1\", src-port: 4000}\n"
	"  - {dst-ip: 10.0.3.9, mode: tcp-syn, src-port: 5000, flows: 3}\n"
	"  - {dst-ip: 10.0.4.9, mode: icmp-echo, packet-size: 900, src-port: 6000, flows: 3}\n";

/* How the frames of each read. */
static const char *const words[] = {"eth ip4 udp", "eth vlan ip6 udp", "eth ip4 udp", "eth ip4 tcp", "eth ip4 echo"};

/* The packets of all streams, in the order of each: packet k of a stream is flow k mod F. */
struct expected {
	uint64_t n[STREAMS_MOST];
	uint64_t per_flow[STREAMS_MOST][64];
};

/* Which stream's frame it is, by destination; and every byte is as the plan says. */
static void take(const struct pio_frame *f, struct expected *got)
{
	static unsigned char frame[TX_TEMPLATE_MAX];
	unsigned char entry[TX_ENTRY_MAX];
	unsigned stream = f->data[12] == 0x81 ? 1 : f->data[32];
	const struct tx_plan *plan = &s.plans[stream];
	const struct judged j = judge_frame(f->data, f->len);

	assert_in_range(stream, 0, s.set.n - 1);
	if (strcmp(j.words, words[stream]) != 0)
		fail_msg("stream %u: a frame reads as %s", stream, j.words);
	for (uint64_t flow = 0; flow < plan->flows; flow++)
		for (unsigned size = 0; size < plan->n_sizes; size++) {
			if (plan->sizes[size].len != f->len)
				continue;
			memcpy(frame, plan->frame, plan->max_len);
			tx_entry_at(plan, flow, entry);
			tx_put(plan, entry, &plan->sizes[size], frame, 0);
			if (memcmp(frame, f->data, f->len) != 0)
				continue;
			got->n[stream]++;
			got->per_flow[stream][flow]++;
			return;
		}
	fail_msg("stream %u: a frame of %u bytes is none of its packets", stream, f->len);
}

/* Which stream's it is, by the flow in its stamp; and it is the next of that flow. */
static void take_stamped(const struct pio_frame *f, struct expected *got)
{
	const struct judged j = judge_frame(f->data, f->len);
	unsigned stream = 0;
	struct stamp stamp = {0};
	uint64_t flow;

	assert_true(f->len >= STAMP_LEN && stamp_read(f->data + f->len - STAMP_LEN, &stamp));
	while (stream + 1 < s.set.n && stamp.flow >= s.plans[stream + 1].first_flow)
		stream++;
	flow = stamp.flow - s.plans[stream].first_flow;
	if (strcmp(j.words, words[stream]) != 0)
		fail_msg("stream %u: a frame reads as %s", stream, j.words);
	assert_in_range(flow, 0, s.plans[stream].flows - 1);
	assert_int_equal(stamp.sequence, got->per_flow[stream][flow]);
	got->n[stream]++;
	got->per_flow[stream][flow]++;
}

static void send_and_take(unsigned queues, void (*take_one)(const struct pio_frame *, struct expected *),
			  struct expected *got)
{
	struct pio_port *port = loop_open_ok("loop:queues=3,ring=4096", queues, 3);
	struct limiter *limiters = aligned_alloc(128, s.set.n_groups * sizeof(*limiters));
	_Atomic bool stop = false;
	struct pio_frame f;

	assert_non_null(limiters);
	for (unsigned q = 0; q < queues; q++) {
		struct tx_worker w = {.queue = port->tx[q], .limiter = limiters, .end_ns = UINT64_MAX, .stop = &stop};
		uint64_t start = clock_mono_ns(), sent = 0;

		assert_int_equal(tx_worker_init_several(&w, &s.set, limiters, q, queues, NULL), 0);
		for (unsigned g = 0; g < s.set.n_groups; g++)
			limiter_init(&limiters[g], &s.set.groups[g].pace, 0, start, UINT64_MAX);
		tx_merge_begin(w.merge, &s.set, start, q, queues);
		tx_worker_run(&w);
		for (unsigned i = 0; i < s.set.n; i++)
			sent += w.sources[i].sent;
		assert_int_equal(sent, port->tx[q]->stats.tx.queued);
		tx_worker_free(&w);
	}
	for (unsigned q = 0; q < 3; q++)
		while (pio_rx(port->rx[q], &f, 1) == 1) {
			take_one(&f, got);
			pio_put(port->rx[q], &f, 1);
		}
	free(limiters);
	pio_close(port);
}

static void number_flows(void)
{
	for (unsigned i = 1; i < s.set.n; i++)
		s.plans[i].first_flow = s.plans[i - 1].first_flow + (uint32_t)s.plans[i - 1].flows;
}

static void all_arrive(const char *options, void (*take_one)(const struct pio_frame *, struct expected *))
{
	char yaml[1024];

	snprintf(yaml, sizeof(yaml), "count: %d\n%s%s", PACKETS, options, mixed);
	for (unsigned queues = 1; queues <= QUEUES_MOST; queues++) {
		static const uint64_t part[] = {3, 2, 1, 1, 1}; /* of 8 */
		struct expected got = {0};

		streams_make(&s, yaml);
		number_flows();
		send_and_take(queues, take_one, &got);
		for (unsigned i = 0; i < s.set.n; i++) {
			uint64_t n = PACKETS / 8 * part[i], flows = s.plans[i].flows;

			assert_int_equal(got.n[i], n);
			for (uint64_t flow = 0; flow < flows; flow++)
				assert_int_equal(got.per_flow[i][flow], (n + flows - 1 - flow) / flows);
		}
		streams_free(&s);
	}
}

static void every_stream_arrives_as_it_is(void **state)
{
	(void)state;
	all_arrive("", take);
}

/* Several packets of a clump are one stream's, the mix of sizes among them. */
static void every_packet_has_the_stamp_that_is_its_own(void **state)
{
	(void)state;
	all_arrive("stamp: true\n", take_stamped);
}

/* The same with a limit each: by the queue that a group is given, and by schedule. */
static void streams_of_their_own_rate_arrive(void **state)
{
	static const char text[] =
		"streams:\n"
		"  - {dst-ip: 10.0.0.0/24, flows: 50, src-port: 2000, pps: 1M, burst-profile: 500}\n"
		"  - {dst-ip: \"2001:2::1\", vlan: 5, pps: 100k, burst-profile: 70}\n"
		"  - {dst-ip: 10.0.2.9, burst-profile: 60}\n"
		"  - {dst-ip: 10.0.3.9, mode: tcp-syn, pps: unlimited, flows: 2, burst-profile: 80}\n";

	(void)state;
	for (unsigned queues = 1; queues <= QUEUES_MOST; queues++) {
		struct expected got = {0};

		streams_make(&s, text);
		send_and_take(queues, take, &got);
		assert_int_equal(got.n[0], 500);
		assert_int_equal(got.n[1], 70);
		assert_int_equal(got.n[2], 60);
		assert_int_equal(got.n[3], 80);
		for (unsigned flow = 0; flow < 50; flow++)
			assert_int_equal(got.per_flow[0][flow], 10);
		streams_free(&s);
	}
}

/* What was claimed for a time that never came is nobody's. */
static void a_stop_abandons_what_is_not_due(void **state)
{
	struct pio_port *port = loop_open_ok("loop:ring=64", 1, 1);
	struct limiter *limiters = aligned_alloc(128, 2 * sizeof(*limiters));
	_Atomic bool stop = false;
	struct tx_worker w = {.queue = port->tx[0], .limiter = limiters, .end_ns = UINT64_MAX, .stop = &stop};
	const uint64_t start = clock_mono_ns();
	uint64_t waiting = 0;

	(void)state;
	assert_non_null(limiters);
	streams_make(&s, "streams:\n  - {dst-ip: 10.0.0.1, pps: 1, start-delay: 1h}\n"
			 "  - {dst-ip: 10.0.0.2, pps: 1, start-delay: 2h}\n");
	assert_int_equal(s.set.n_groups, 2);
	assert_int_equal(tx_worker_init_several(&w, &s.set, limiters, 0, 1, NULL), 0);
	for (unsigned g = 0; g < 2; g++)
		limiter_init(&limiters[g], &s.set.groups[g].pace, 0, start + s.set.groups[g].delay_ns, UINT64_MAX);
	tx_merge_begin(w.merge, &s.set, start, 0, 1);
	/* As the loop's first look does it; then it is told to stop. */
	tx_merge_departure(w.merge, 64, start);
	stop = true;
	tx_worker_run(&w);
	for (unsigned g = 0; g < 2; g++)
		waiting += w.merge->groups[g].claimed + w.merge->groups[g].abandoned;
	assert_int_equal(waiting, limiter_claimed(&limiters[0]) + limiter_claimed(&limiters[1]));
	assert_int_equal(port->tx[0]->stats.tx.queued, 0);
	tx_worker_free(&w);
	streams_free(&s);
	free(limiters);
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stream_arrives_as_it_is),
		cmocka_unit_test(every_packet_has_the_stamp_that_is_its_own),
		cmocka_unit_test(streams_of_their_own_rate_arrive),
		cmocka_unit_test(a_stop_abandons_what_is_not_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
