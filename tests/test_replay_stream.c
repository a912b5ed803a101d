/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture that is streamed: the same frames at the same times as from memory, in passes and over senders, and the
 * same account of it; and a reader that is too slow is noticed.
 */
#include "gen/tx_loop.h"
#include "stream_case.h"

static struct replay whole;

static void load_both(void)
{
	load(&whole, 1 << 30);
	load(&streamed, 4096);
	assert_false(whole.capture.streamed);
	assert_true(streamed.capture.streamed);
	assert_null(streamed.capture.data);
}

/* The next packet of both, and when it departs: once as a claim says, once as a file is written. */
static void assert_next_same(struct replay_cursor *a, struct replay_cursor *b, uint64_t k)
{
	static unsigned char want[ROOM], got[ROOM];
	struct pio_frame from = {.data = want}, to = {.data = got};
	struct limiter_claim c, d;

	wait_ready(b);
	c = replay_claim(a, 77, UINT64_MAX, 0, 1, 0);
	d = replay_claim(b, 77, UINT64_MAX, 0, 1, 0);
	assert_int_equal(c.departure_ns, 77 + replay_departure(a->replay, k));
	assert_int_equal(d.departure_ns, c.departure_ns);
	assert_int_equal(d.n, 1);
	replay_fill(a, &from, 1);
	replay_fill_streamed(b, &to, 1);
	assert_int_equal(to.len, from.len);
	assert_memory_equal(to.data, from.data, from.len);
}

static void play_both(unsigned n)
{
	struct replay_cursor from[4], to[4];
	struct replay_stream s;

	assert_true(n <= 4);
	assert_int_equal(replay_stream_init(&s, &streamed, n, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	for (unsigned q = 0; q < n; q++) {
		replay_cursor_init(&from[q], &whole, NULL, q, n);
		replay_cursor_init(&to[q], &streamed, &s.rings[q], q, n);
	}
	for (uint64_t k = 0; k < streamed.total; k++)
		assert_next_same(&from[k % n], &to[k % n], k);
	for (unsigned q = 0; q < n; q++) {
		wait_ready(&to[q]);
		assert_int_equal(replay_ready(&to[q]), 0);
	}
	assert_false(replay_stream_has_failed(&s, &error));
	replay_stream_free(&s);
}

static void run_sender(void *arg)
{
	tx_worker_run(arg);
}

static void the_same_as_from_memory(void **state)
{
	(void)state;
	write_capture(DLT_EN10MB, PACKETS, true);
	load_both();
	for (unsigned n = 1; n <= 4; n++)
		play_both(n);
}

static void the_same_converted_and_rewritten(void **state)
{
	(void)state;
	cfg.pcap_truncated = PCAP_UNFIT_PAD;
	snprintf(cfg.rewrite_ip, sizeof(cfg.rewrite_ip), "0.0.0.0/1=128.0.0.0/1");
	snprintf(cfg.rewrite_vlan, sizeof(cfg.rewrite_vlan), "none=7");
	write_capture(DLT_RAW, PACKETS, true);
	load_both();
	assert_true(streamed.capture.counts.rewritten_vlan == PACKETS);
	play_both(2);
}

/* All that is known before the start. */
static void the_same_account(void **state)
{
	uint64_t small = 0;

	(void)state;
	write_capture(DLT_EN10MB, PACKETS, true);
	load_both();
	for (uint64_t i = 0; i < whole.capture.n; i++)
		small += whole.capture.packets[i].len < 60;
	assert_true(small);
	assert_int_equal(streamed.capture.small, small);
	assert_memory_equal(&whole.capture.counts, &streamed.capture.counts, sizeof(whole.capture.counts));
	assert_true(streamed.capture.counts.backwards && streamed.capture.counts.truncated_skipped);
	assert_int_equal(whole.capture.n, streamed.capture.n);
	assert_int_equal(whole.capture.bytes, streamed.capture.bytes);
	assert_int_equal(whole.capture.l3_bytes, streamed.capture.l3_bytes);
	assert_int_equal(whole.capture.last_ns, streamed.capture.last_ns);
	assert_int_equal(whole.capture.max_len, streamed.capture.max_len);
	assert_int_equal(whole.pass_ns, streamed.pass_ns);
	assert_int_equal(whole.total, streamed.total);
}

static void memory_is_bounded(void **state)
{
	(void)state;
	write_capture(DLT_EN10MB, PACKETS, false);
	load(&streamed, 4096);
	assert_int_equal(replay_stream_bytes(&streamed, 3), 3 * REPLAY_AHEAD_LEAST);
	streamed.rules.memory = 8 << 20;
	assert_int_equal(replay_stream_bytes(&streamed, 2), 8 << 20);
	streamed.rules.memory = 1UL << 40;
	assert_int_equal(replay_stream_bytes(&streamed, 2), REPLAY_AHEAD_MAX);
}

static _Atomic bool waits;

/* A sender with nothing to send asks its queue on. */
static void kick(struct pio_queue *q)
{
	(void)q;
	atomic_store(&waits, true);
}

/* Sends three packets of a ring, which are there before the sender comes or while it waits; how often it was late. */
static uint64_t late_of(bool before, bool paced)
{
	const struct tx_pace pace = {.interval.ns = paced ? 1000 : 0, .burst = 1};
	const struct capture_frame f = {.data = packet, .len = 60};
	static struct tx_plan plan;
	struct pio_port *port = loop_open_ok("loop:sink", 1, 0);
	struct pio_queue_ops ops = *port->tx[0]->ops;
	_Atomic bool stop = false;
	struct limiter limiter;
	struct replay_ring ring;
	struct tx_worker w = {.queue = port->tx[0], .limiter = &limiter, .stop = &stop, .end_ns = UINT64_MAX};
	struct worker thread = {0};
	uint64_t late;

	ops.kick = kick;
	port->tx[0]->ops = &ops;
	atomic_store(&waits, false);
	assert_int_equal(replay_ring_init(&ring, 4096), 0);
	limiter_init(&limiter, &pace, SECOND, clock_mono_ns(), UINT64_MAX);
	assert_int_equal(tx_worker_init_replay(&w, &plan, &streamed, &ring, 0, 1, &error), 0);
	if (!before) {
		assert_int_equal(worker_start(&thread, "sender", WORKER_CPU_ANY, run_sender, &w, &error), 0);
		while (!atomic_load(&waits))
			cpu_relax();
	}
	for (unsigned i = 0; i < 3; i++)
		assert_true(replay_ring_put(&ring, &f));
	atomic_store(&ring.ended, true);
	if (before)
		tx_worker_run(&w);
	worker_join(&thread);
	assert_int_equal(atomic_load(&port->tx[0]->stats.tx.completed), 3);
	late = w.sources[0].replay.late;
	assert_true(!late == !w.sources[0].replay.late_ns);
	tx_worker_free(&w);
	replay_ring_free(&ring);
	pio_close(port);
	return late;
}

static void a_reader_that_is_late(void **state)
{
	(void)state;
	cfg.pcap_timing = PCAP_TIMING_RATE;
	write_capture(DLT_EN10MB, PACKETS, false);
	load(&streamed, 4096);
	assert_int_equal(late_of(true, true), 0);
	assert_int_equal(late_of(true, false), 0);
	assert_in_range(late_of(false, true), 1, 3);
	assert_in_range(late_of(false, false), 1, 3);
}

static void told_to_stop_while_loading(void **state)
{
	static const volatile int signal = 2;

	(void)state;
	write_capture(DLT_EN10MB, PACKETS, false);
	replay_free(&streamed);
	assert_int_equal(replay_load(&streamed, &cfg, 1500, &signal, &error), -EINTR);
	assert_int_equal(error.code, EXIT_DONE);
}

static int remove_both(void **state)
{
	replay_free(&whole);
	return remove_file(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_same_as_from_memory, fresh),
		cmocka_unit_test_setup(the_same_converted_and_rewritten, fresh),
		cmocka_unit_test_setup(the_same_account, fresh),
		cmocka_unit_test_setup(memory_is_bounded, fresh),
		cmocka_unit_test_setup(a_reader_that_is_late, fresh),
		cmocka_unit_test_setup(told_to_stop_while_loading, fresh),
	};

	return cmocka_run_group_tests(tests, make_file, remove_both);
}
