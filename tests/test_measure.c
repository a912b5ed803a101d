/* SPDX-License-Identifier: Apache-2.0 */
#include "measures.h"

#include <math.h>

static const struct measure_conf usual = {
	.run = MEASURE_TEST_RUN,
	.flows = 100,
	.threads = 1,
	.per_flow = true,
	.clock = MEASURE_CLOCK_SAME_HOST,
	.arrivals = PIO_CLOCK_MONOTONIC,
};

static void give(struct measure *m, const struct stamped *s)
{
	const uint64_t when = 1000;

	measure_frames(measure_worker(m, 0), &s->frame, 1, &when, 0);
}

/* Only valid stamps of the run count, of flows that are followed; the rest is told apart. */
static void what_is_not_ours_does_not_count(void **state)
{
	struct stamp stamp = {.run = MEASURE_TEST_RUN, .flow = 3, .sequence = 0};
	struct packet d = {.family = 4, .payload = 60};
	struct measure *m = measure_ok(&usual);
	struct report_measure r;
	struct stamped s;

	(void)state;
	stamped_make(&s, &d, &stamp, 0);
	give(m, &s);
	stamp.run++;
	stamped_make(&s, &d, &stamp, 0);
	give(m, &s);
	stamp.run--;
	stamp.flow = 100;
	stamped_make(&s, &d, &stamp, 0);
	give(m, &s);
	stamp.flow = STAMP_FLOWS - 1;
	stamped_make(&s, &d, &stamp, 0);
	give(m, &s);
	stamp.flow = 99;
	stamped_make(&s, &d, &stamp, 0);
	s.data[s.frame.len - 1] ^= 1; /* the check */
	give(m, &s);
	s.data[s.frame.len - 1] ^= 1;
	s.frame.len -= 1; /* cut: the stamp is not whole */
	give(m, &s);
	s.frame.len += 1;
	s.frame.flags = PIO_SUPER;
	give(m, &s);
	packet_build(&(struct packet){.family = 4, .more = true, .payload = 100}, s.data);
	s.frame.flags = 0;
	give(m, &s);
	packet_build(&(struct packet){.family = 0, .type = 0x0806, .payload = 40}, s.data);
	give(m, &s);
	r = result_of(m, NULL, 10);
	assert_int_equal(r.total.counts.stamped, 1);
	assert_int_equal(r.total.counts.unique, 1);
	assert_int_equal(r.total.counts.other_run, 1);
	assert_int_equal(r.total.counts.foreign, 4); /* the other run, the bad check, the cut one, ARP */
	assert_int_equal(r.total.counts.unfollowed, 2);
	assert_int_equal(r.total.counts.unreadable, 2);
	assert_int_equal(r.total.counts.bytes, 14 + 20 + 8 + 60);
	assert_int_equal(r.total.flows, 1);
	assert_false(r.run_learnt);
	measure_close(m);
}

/* Every kind of packet that a sender makes, padded as a switch may leave it. */
static void stamps_are_found_in_all_packets(void **state)
{
	static const struct packet kinds[] = {
		{.family = 4, .payload = 18},
		{.family = 4, .tag = {PACKET_TAG(100)}, .payload = 18},
		{.family = 6, .tag = {PACKET_SERVICE_TAG(9), PACKET_TAG(100)}, .payload = 33},
		{.family = 4, .proto = 6, .payload = 18},
		{.family = 6, .proto = 58, .icmp_type = 128, .payload = 1001},
	};
	struct measure *m = measure_ok(&usual);
	uint32_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (uint32_t pad = 0; pad < 5; pad++) {
			const struct stamp stamp = {.run = MEASURE_TEST_RUN, .flow = (uint32_t)i, .sequence = pad};
			struct stamped s;

			stamped_make(&s, &kinds[i], &stamp, pad);
			give(m, &s);
			n++;
		}
	}
	assert_int_equal(result_of(m, NULL, 0).total.counts.unique, n);
	measure_close(m);
}

/* The pieces of a packet that came in several frames, wherever it was cut. */
static void a_packet_in_several_frames_has_one_stamp(void **state)
{
	const struct packet d = {.family = 6, .payload = 200};
	struct measure *m = measure_ok(&usual);
	uint32_t n = 0;

	(void)state;
	for (uint32_t cut = 62; cut < 62 + 200; cut++) {
		const struct stamp stamp = {.run = MEASURE_TEST_RUN, .sequence = n++, .time_ns = 100};
		struct pio_frame f[3];
		uint64_t when[3] = {700, 0, 0};
		struct stamped s;

		stamped_make(&s, &d, &stamp, 0);
		for (unsigned i = 0; i < 3; i++) {
			uint32_t from = i == 0 ? 0 : i == 1 ? cut : cut + (s.frame.len - cut) / 2;
			uint32_t to = i == 0 ? cut : i == 1 ? cut + (s.frame.len - cut) / 2 : s.frame.len;

			f[i] = (struct pio_frame){
				.data = s.data + from, .len = to - from, .flags = i < 2 ? PIO_MORE : 0};
		}
		/* In one call or over two. */
		measure_frames(measure_worker(m, 0), f, cut % 3 + 1, when, 0);
		if (cut % 3 < 2)
			measure_frames(measure_worker(m, 0), f + cut % 3 + 1, 2 - cut % 3, when + cut % 3 + 1, 0);
	}
	struct report_measure r = result_of(m, NULL, 1);

	assert_int_equal(r.total.counts.unique, n);
	assert_int_equal(r.total.counts.foreign, 0);
	assert_int_equal(r.total.counts.bytes, n * (14 + 40 + 8 + 200));
	assert_int_equal(r.total.latency->greatest, 600);
	assert_int_equal(r.total.latency->least, 601);
	measure_close(m);
}

static void the_first_stamp_tells_the_run(void **state)
{
	struct measure_conf conf = usual;
	struct report_measure r;
	struct measure *m;

	(void)state;
	conf.run = MEASURE_RUN_ANY;
	conf.threads = 2;
	m = measure_ok(&conf);
	r = result_of(m, NULL, 0);
	assert_int_equal(r.run, -1);
	measure_close(m);
	m = measure_ok(&conf);
	came(m, 0, 1, 0, 0, 10);
	for (unsigned i = 0; i < 2; i++) {
		const struct stamp other = {.run = 9};
		struct stamped s;
		uint64_t when = 20;

		stamped_make(&s, &(struct packet){.family = 4, .payload = 18}, &other, 0);
		measure_frames(measure_worker(m, i), &s.frame, 1, &when, 0);
		came(m, i, 1, 1 + i, 0, 10);
	}
	r = result_of(m, NULL, 0);
	assert_int_equal(r.run, MEASURE_TEST_RUN);
	assert_true(r.run_learnt);
	assert_int_equal(r.total.counts.unique, 3);
	assert_int_equal(r.total.counts.other_run, 2);
	measure_close(m);
}

/* 0 1 2 - 5 4 4 9 8, sent 100 ns apart: by hand. */
static void counts_and_times_are_those_of_the_packets(void **state)
{
	static const struct {
		uint32_t sequence;
		uint64_t came;
	} packets[] = {{0, 1000}, {1, 1100}, {2, 1250}, {5, 1500}, {4, 1600}, {4, 1700}, {9, 1900}, {8, 2300}};
	struct measure *m = measure_ok(&usual);
	struct report_measure r;
	double jitter = 0;
	/* Of each packet that is new: how much longer it took than the one that came before. */
	static const double changes[] = {0, 50, 50, 200, 200, 500};

	(void)state;
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		came(m, 0, 7, packets[i].sequence, 100 * packets[i].sequence, packets[i].came);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		jitter += (changes[i] - jitter) / 16;
	r = result_of(m, NULL, 10);
	assert_int_equal(r.total.counts.unique, 7);
	assert_int_equal(r.total.counts.duplicate, 1);
	assert_int_equal(r.total.counts.reordered, 2);
	assert_int_equal(r.total.lost, 3); /* 3, 6, 7 */
	assert_true(fabs(r.total.loss_ratio - 0.3) < 1e-9);
	assert_int_equal(r.total.longest_loss, 2);
	assert_int_equal(r.total.extent->greatest, 1);
	assert_int_equal(r.total.extent->total, 2);
	/* 1000 1000 1050 1000 1200 1000 1500 */
	assert_int_equal(r.total.latency->total, 7);
	assert_int_equal(r.total.latency->least - 1, 1000);
	assert_int_equal(r.total.latency->greatest, 1500);
	assert_int_equal(r.total.latency->sum, 1000 * 4 + 1050 + 1200 + 1500);
	/* Sent one after the other, and came so: 0-1, 1-2. */
	assert_int_equal(r.total.ipdv->total, 2);
	assert_int_equal(r.total.ipdv->greatest, 50);
	assert_int_equal(r.total.gap->total, 7);
	assert_int_equal(r.total.gap->sum, 1300);
	assert_true(fabs(r.total.jitter_ns - jitter) < 1);
	assert_int_equal(r.total.last_ns - r.total.first_ns, 1300);
	assert_int_equal(r.n_flows, 1);
	assert_int_equal(r.flows[0].flow, 7);
	assert_int_equal(r.flows[0].lost, 3);
	assert_int_equal(r.flows[0].longest_loss, 2);
	assert_int_equal(r.flows[0].reordered, 2);
	assert_int_equal(r.flows[0].extent_max, 1);
	assert_int_equal(r.flows[0].latency_min, 1000);
	assert_int_equal(r.flows[0].latency_max, 1500);
	measure_close(m);
}

static uint64_t sent_20(const void *arg, uint32_t flow)
{
	(void)arg;
	return flow == 6 ? 0 : 20;
}

/* Who knows what was sent knows the losses behind the last packet that came, and flows of which nothing did. */
static void losses_at_the_end_count_where_they_are_known(void **state)
{
	const struct measure_sent sent = {.packets = 20 * 6, .numbers = 20 * 6, .flows = 6, .of_flow = sent_20};
	struct measure *m = measure_ok(&usual);
	struct report_measure r;

	(void)state;
	for (uint32_t flow = 0; flow < 5; flow++)
		for (uint32_t i = flow; i < 15; i++)
			came(m, 0, flow, i, 0, 1);
	r = result_of(m, &sent, 3);
	assert_true(r.sent_known);
	assert_int_equal(r.total.counts.unique, 15 + 14 + 13 + 12 + 11);
	assert_int_equal(r.total.lost, 120 - 65);
	assert_int_equal(r.not_sent, 0);
	assert_int_equal(r.total.longest_loss, 20);
	assert_int_equal(r.n_flows, 3);
	assert_int_equal(r.flows[0].flow, 5);
	assert_int_equal(r.flows[0].lost, 20);
	assert_int_equal(r.flows[1].flow, 4);
	assert_int_equal(r.flows[1].lost, 9);
	assert_int_equal(r.flows[1].longest_loss, 5);
	assert_int_equal(r.rest.flow, 3);
	assert_int_equal(r.rest.lost, 5 + 6 + 7);
	assert_int_equal(r.rest.unique, 15 + 14 + 13);
	measure_close(m);
}

/* Numbers of packets that the sender's device refused are missing, but nothing of them was lost. */
static void what_was_not_sent_is_no_burst_of_losses(void **state)
{
	const struct measure_sent all_came = {.packets = 15, .numbers = 20, .flows = 1, .of_flow = sent_20};
	const struct measure_sent two_lost = {.packets = 17, .numbers = 20, .flows = 1, .of_flow = sent_20};

	(void)state;
	for (unsigned lost = 0; lost <= 2; lost += 2) {
		struct measure *m = measure_ok(&usual);
		struct report_measure r;

		for (uint32_t i = 0; i < 20; i++)
			if (i < 5 || i >= 10)
				came(m, 0, 0, i, 0, 1);
		r = result_of(m, lost ? &two_lost : &all_came, 1);
		assert_int_equal(r.total.lost, lost);
		assert_int_equal(r.total.longest_loss, lost);
		assert_int_equal(r.flows[0].lost, 5);
		assert_int_equal(r.flows[0].longest_loss, 5);
		/* The flows' losses are the run's, and these. */
		assert_int_equal(r.not_sent, 5 - lost);
		measure_close(m);
	}
}

static void streams_are_told_apart(void **state)
{
	static const struct measure_stream streams[] = {{0, "a"}, {10, "b"}, {11, "c"}};
	struct measure_conf conf = usual;
	struct report_measure r;
	struct measure *m;

	(void)state;
	conf.streams = streams;
	conf.n_streams = 3;
	m = measure_ok(&conf);
	for (uint32_t i = 0; i < 10; i++) {
		for (uint32_t flow = 0; flow < 20; flow++)
			if (flow != 10 || i % 2)
				came(m, 0, flow, i, 100, 100 + (flow < 10 ? 1000 : flow == 10 ? 5000 : 9000));
	}
	r = result_of(m, NULL, 0);
	assert_int_equal(r.n_streams, 3);
	assert_int_equal(r.streams[0].counts.unique, 100);
	assert_int_equal(r.streams[1].counts.unique, 5);
	assert_int_equal(r.streams[1].lost, 5);
	assert_string_equal(r.streams[1].name, "b");
	assert_int_equal(r.streams[2].counts.unique, 90);
	assert_int_equal(r.streams[0].latency->greatest, 1000);
	assert_int_equal(r.streams[1].latency->least - 1, 5000);
	assert_int_equal(r.streams[2].latency->least - 1, 9000);
	assert_int_equal(r.total.counts.unique, 195);
	assert_int_equal(r.total.lost, 5);
	assert_int_equal(r.total.latency->total, 195);
	measure_close(m);
}

/* Without a clock in common: how much it varied is known all the same, however far the clocks are apart. */
static void without_a_clock_there_is_no_latency(void **state)
{
	struct measure_conf conf = usual;
	struct report_measure r;
	struct measure *m;

	(void)state;
	conf.clock = MEASURE_CLOCK_NONE;
	m = measure_ok(&conf);
	for (uint32_t i = 0; i < 1000; i++)
		came(m, 0, 0, i, 5000 + 100 * i, 77 + 100 * i + i % 2 * 30);
	r = result_of(m, NULL, 1);
	assert_null(r.clock);
	assert_non_null(r.no_clock);
	assert_int_equal(r.total.latency->total, 0);
	assert_false(r.flows[0].have_latency);
	/* The first packets are 30 ns longer, or not. */
	assert_true(r.total.pdv.known);
	assert_int_equal(r.total.pdv.p50, 0);
	assert_int_equal(r.total.pdv.p90, 30);
	assert_int_equal(r.total.pdv.max, 30);
	assert_int_equal(r.total.ipdv->total, 999);
	assert_int_equal(r.total.ipdv->least - 1, 30);
	assert_int_equal(r.total.ipdv->greatest, 30);
	assert_true(fabs(r.total.jitter_ns - 30) < 1);
	measure_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_ours_does_not_count),
		cmocka_unit_test(stamps_are_found_in_all_packets),
		cmocka_unit_test(a_packet_in_several_frames_has_one_stamp),
		cmocka_unit_test(the_first_stamp_tells_the_run),
		cmocka_unit_test(counts_and_times_are_those_of_the_packets),
		cmocka_unit_test(losses_at_the_end_count_where_they_are_known),
		cmocka_unit_test(what_was_not_sent_is_no_burst_of_losses),
		cmocka_unit_test(streams_are_told_apart),
		cmocka_unit_test(without_a_clock_there_is_no_latency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
