/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured does not depend on how many packets are looked at at one time, or on what is known of them before.
 */
#include "lib/core/rand.h"
#include "measures.h"

#include <math.h>
#include <stdlib.h>

#define PACKETS   20000U
#define FLOWS     50U
#define BURST_MAX 300U

static const struct measure_stream streams[] = {{0, "a"}, {FLOWS / 2, "b"}};

static const struct measure_conf usual = {
	.run = MEASURE_TEST_RUN,
	.flows = FLOWS,
	.window = 96,
	.threads = 1,
	.clock = MEASURE_CLOCK_SAME_HOST,
	.arrivals = PIO_CLOCK_MONOTONIC,
};

static struct stamped packets[PACKETS];
static uint64_t arrivals[PACKETS];

/* Packets of flows that lose some, have some twice, and get others behind later ones; and others between them. */
static void make(uint64_t seed)
{
	uint32_t number[FLOWS] = {0};
	uint64_t now = 1000000;

	for (unsigned i = 0; i < PACKETS; i++) {
		static const struct packet tagged = {.family = 4, .tag = {PACKET_TAG(5)}, .payload = 40};
		static const struct packet plain = {.family = 4, .dport = 9000, .payload = 18};
		const uint32_t flow = (uint32_t)(rand_next(&seed) % FLOWS), what = (uint32_t)(rand_next(&seed) % 100);
		struct stamp stamp = {.run = MEASURE_TEST_RUN, .flow = flow, .time_ns = now - rand_next(&seed) % 5000};
		struct stamped *p = &packets[i];

		number[flow] += what < 90 ? 1 : (uint32_t)(rand_next(&seed) % 200);
		stamp.sequence =
			number[flow] - (what < 80 || number[flow] < 150 ? 0 : (uint32_t)(rand_next(&seed) % 150));
		stamp.run = MEASURE_TEST_RUN + (what == 50);
		stamped_make(p, what == 51 ? &tagged : &plain, &stamp, 0);
		p->frame.flags = what == 51 || what == 52 ? 0 : PIO_UDP4;
		p->data[p->frame.len - 1] ^= what == 53;
		now += i % 64 == 0 ? rand_next(&seed) % 3000 : 0;
		arrivals[i] = what == 54 ? now - 500 : now;
	}
}

/* In bursts of up to `burst`; told: the flags are left on. */
static void give(struct measure *m, unsigned burst, bool told, uint64_t seed)
{
	struct pio_frame f[BURST_MAX];

	for (unsigned at = 0, n; at < PACKETS; at += n) {
		n = burst == 1 ? 1 : 1 + (unsigned)(rand_next(&seed) % burst);
		n = n < PACKETS - at ? n : PACKETS - at;
		for (unsigned i = 0; i < n; i++) {
			f[i] = packets[at + i].frame;
			if (!told)
				f[i].flags = 0;
		}
		measure_frames(measure_worker(m, 0), f, n, arrivals + at, 0);
	}
}

static void same_hist(const struct hist *a, const struct hist *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void same_of(const struct report_measured *a, const struct report_measured *b)
{
	assert_int_equal(a->counts.stamped, b->counts.stamped);
	assert_int_equal(a->counts.bytes, b->counts.bytes);
	assert_int_equal(a->counts.unique, b->counts.unique);
	assert_int_equal(a->counts.duplicate, b->counts.duplicate);
	assert_int_equal(a->counts.late, b->counts.late);
	assert_int_equal(a->counts.reordered, b->counts.reordered);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->longest_loss, b->longest_loss);
	assert_int_equal(a->first_ns, b->first_ns);
	assert_int_equal(a->last_ns, b->last_ns);
	assert_true(a->jitter_ns == b->jitter_ns);
	same_hist(a->latency, b->latency);
	same_hist(a->ipdv, b->ipdv);
	same_hist(a->gap, b->gap);
	same_hist(a->extent, b->extent);
}

static void in_any_burst_it_is_the_same(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 16; kind++) {
		struct measure_conf one = usual, many = usual;
		struct report_measure a, b;
		struct measure *m, *n;

		make(kind + 1);
		many.per_flow = kind & 1;
		many.threads = kind & 2 ? 2 : 1;
		if (kind & 4)
			many.clock = one.clock = MEASURE_CLOCK_NONE;
		if (kind & 8) {
			one.streams = many.streams = streams;
			one.n_streams = many.n_streams = 2;
		}
		one.per_flow = true;
		m = measure_ok(&one);
		n = measure_ok(&many);
		give(m, 1, false, kind);
		give(n, BURST_MAX, true, kind);
		a = result_of(m, NULL, 0);
		b = result_of(n, NULL, 0);
		assert_true(a.total.counts.unique > PACKETS / 2);
		assert_true(a.total.counts.duplicate > 100 && a.total.counts.reordered > 100 &&
			    a.total.counts.late > 100);
		assert_true(a.total.counts.foreign > 100 && a.total.lost > 100);
		assert_memory_equal(&a.total.counts, &b.total.counts, sizeof(a.total.counts));
		same_of(&a.total, &b.total);
		assert_int_equal(a.n_streams, b.n_streams);
		for (unsigned i = 0; i < a.n_streams; i++)
			same_of(&a.streams[i], &b.streams[i]);
		measure_close(m);
		measure_close(n);
	}
}

/* Of a flow's last packet only some bits of the number are kept, beside the time: they wrap. */
static void numbers_wrap_without_a_trace(void **state)
{
	(void)state;
	for (unsigned bits = 5; bits <= 31; bits++) {
		const uint32_t from = (1U << bits) - 20;
		struct measure *m = measure_ok(&usual);
		struct report_measure r;

		for (uint32_t i = 0; i < 40; i++)
			came(m, 0, 0, from + i, 100 * i, 1000 + 100 * i + i % 2 * 7);
		r = result_of(m, NULL, 1);
		assert_int_equal(r.total.counts.unique, 40);
		assert_int_equal(r.total.lost, from < 128 ? from : 0);
		assert_int_equal(r.total.ipdv->total, 39);
		assert_int_equal(r.total.ipdv->least - 1, 7);
		assert_int_equal(r.total.ipdv->greatest, 7);
		measure_close(m);
	}
}

/* A packet that took no time at all is one like any other: the next one is not its flow's first. */
static void what_took_no_time_came(void **state)
{
	struct measure *m = measure_ok(&usual);
	struct report_measure r;

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		came(m, 0, 0, i, 100 * i, 100 * i);
	r = result_of(m, NULL, 1);
	assert_int_equal(r.began, 0);
	assert_int_equal(r.before_first, 0);
	assert_int_equal(r.total.ipdv->total, 9);
	assert_int_equal(r.total.ipdv->greatest, 0);
	measure_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_any_burst_it_is_the_same),
		cmocka_unit_test(numbers_wrap_without_a_trace),
		cmocka_unit_test(what_took_no_time_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
