/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of arrival that the XDP program leaves in front of packets: what of them is believed, in memory made by
 * hand; and what the program writes, on va, with frames that come out of vb with little room or metadata before them.
 */
#include "xdp_links.h"

#include "lib/clock.h"
#include "lib/core/types.h"
#include "lib/pio/afxdp_queue.h"
#include "lib/pio/bpf/times.h"

#include "xdp_push.skel.h"

#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif

/* ---- what is believed ---- */

#define KEY    (TIMES_KEY_BIT | 0x123456789abcdefULL)
#define AHEAD  1000ULL
#define TO_UTC 5000000ULL
#define CHUNKS 8U
#define CHUNK  256U

struct hand {
	unsigned char memory[CHUNKS * CHUNK];
	uint64_t untimed;
	struct afxdp_times times;
	struct afxdp_rx rx;
	struct pio_frame f[CHUNKS];
	uint64_t arrivals[CHUNKS];
	uint64_t now[2]; /* before and after the last take() */
};

static void hand_make(struct hand *h)
{
	memset(h, 0, sizeof(*h));
	h->times = (struct afxdp_times){.key = KEY, .untimed = &h->untimed};
	h->rx.times = &h->times;
	h->rx.to_mono_ns = AHEAD;
	h->rx.to_wall_ns = TO_UTC;
	h->rx.q.arrivals_ns = h->arrivals;
	for (unsigned i = 0; i < CHUNKS; i++)
		h->f[i] = (struct pio_frame){.data = h->memory + i * CHUNK + CHUNK / 2, .len = 60};
}

/* As the program does. */
static void note(struct hand *h, unsigned i, uint64_t ns)
{
	core_put64(h->f[i].data - 16, ns);
	core_put64(h->f[i].data - 8, ns ^ KEY);
}

/* Returns how many were untimed. */
static uint64_t take(struct hand *h, unsigned n, bool in_chain)
{
	uint64_t before = h->rx.q.stats.rx.untimed;

	memset(h->arrivals, 0x55, sizeof(h->arrivals));
	h->now[0] = clock_mono_ns();
	afxdp_times_take(&h->rx, h->f, n, in_chain);
	h->now[1] = clock_mono_ns();
	return h->rx.q.stats.rx.untimed - before;
}

static void is_now(const struct hand *h, unsigned i)
{
	assert_in_range(h->arrivals[i], h->now[0], h->now[1]);
}

static void a_time_is_used_once(void **state)
{
	struct hand h;

	(void)state;
	hand_make(&h);
	for (unsigned i = 0; i < CHUNKS; i++)
		note(&h, i, 100 + i);
	assert_int_equal(take(&h, CHUNKS, false), 0);
	for (unsigned i = 0; i < CHUNKS; i++)
		assert_int_equal(h.arrivals[i], 100 + i + AHEAD);
	assert_int_equal(h.rx.q.first_ns, 100 + AHEAD + TO_UTC);
	assert_int_equal(h.rx.q.last_ns, 100 + CHUNKS - 1 + AHEAD + TO_UTC);
	note(&h, 2, 300);
	assert_int_equal(take(&h, CHUNKS, false), CHUNKS - 1);
	for (unsigned i = 0; i < CHUNKS; i++)
		if (i != 2)
			is_now(&h, i);
	assert_int_equal(h.arrivals[2], 300 + AHEAD);
}

/* What may stand there that the program did not write: nothing, a time of another run, one half written over. */
static void what_is_no_time_is_none(void **state)
{
	struct hand h;

	(void)state;
	hand_make(&h);
	note(&h, 1, 100);
	core_put64(h.f[1].data - 8, 100 ^ (KEY + 1));
	note(&h, 2, 100);
	core_put32(h.f[2].data - 16, 101);
	note(&h, 3, 100);
	h.f[3].data[-1] ^= 0x80;
	memset(h.f[4].data - 16, 0xff, 16);
	h.f[5].data += 4;
	note(&h, 5, 100); /* of a packet that began elsewhere */
	h.f[5].data -= 4;
	assert_int_equal(take(&h, 6, false), 6);
	for (unsigned i = 0; i < 6; i++)
		is_now(&h, i);
	assert_in_range(h.rx.q.first_ns, h.now[0] + TO_UTC, h.now[1] + TO_UTC);
}

/* Then the one in front of a packet may be that of another one, which the kernel had there and did not show. */
static void none_is_believed_once_one_was_missing(void **state)
{
	struct hand h;

	(void)state;
	hand_make(&h);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 4; i++)
			note(&h, i, 100 + i);
		h.untimed = 1;
		assert_int_equal(take(&h, 4, false), 4);
		for (unsigned i = 0; i < 4; i++)
			is_now(&h, i);
	}
}

/* A packet of several frames has one time, before the first. */
static void the_first_frame_has_it(void **state)
{
	struct hand h;

	(void)state;
	hand_make(&h);
	for (unsigned i = 0; i < CHUNKS; i++)
		note(&h, i, 100 + i); /* those of others are old */
	h.f[0].flags = h.f[2].flags = h.f[3].flags = PIO_MORE;
	assert_int_equal(take(&h, 6, true), 0); /* 0 and 1 go on, 2 to 4 and 5 are packets */
	assert_int_equal(h.arrivals[2], 102 + AHEAD);
	assert_int_equal(h.arrivals[5], 105 + AHEAD);
	assert_int_equal(h.rx.q.first_ns, 102 + AHEAD + TO_UTC);
	h.rx.q.first_ns = h.rx.q.last_ns = 0;
	assert_int_equal(take(&h, 1, true), 0);
	assert_true(h.rx.q.first_ns == 0 && h.rx.q.last_ns == 0);
}

static void nobody_asks_for_each(void **state)
{
	struct hand h;

	(void)state;
	hand_make(&h);
	note(&h, 0, 100);
	note(&h, 1, 200);
	h.rx.q.arrivals_ns = NULL;
	assert_int_equal(take(&h, 3, false), 1);
	assert_int_equal(h.rx.q.first_ns, 100 + AHEAD + TO_UTC);
	assert_in_range(h.rx.q.last_ns, h.now[0] + TO_UTC, h.now[1] + TO_UTC);
}

/* ---- what the program writes ---- */

#define EACH      3U
#define LEN       60U
#define ALL_OF_IT 208U /* leaves 48 of 256 bytes, of which the kernel's own record of the frame takes 32 or 40 */

static struct host host;
static struct xdp_push *push;
static struct pio_port *port;

/* Sends EACH frames to va and takes them there; their times. False: this kernel sends no such frames. */
static bool send_and_take(uint32_t longer_by, uint32_t metadata, uint64_t arrivals[EACH])
{
	unsigned char frame[LEN] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5};
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = frame,
		.data_size_in = sizeof(frame),
		.repeat = EACH,
		.flags = BPF_F_TEST_XDP_LIVE_FRAMES,
	};
	uint64_t give_up = clock_mono_ns() + 5 * NS_PER_S;
	unsigned n = 0;

	push->bss->ifindex = if_nametoindex("vb");
	push->bss->longer_by = longer_by;
	push->bss->metadata = metadata;
	if (bpf_prog_test_run_opts(bpf_program__fd(push->progs.xdp_push), &opts))
		return false;
	while (n < EACH) {
		struct pio_frame f;
		uint64_t at;

		assert_true(clock_mono_ns() < give_up);
		for (unsigned i = 0; i < port->n_rx; i++) {
			port->rx[i]->arrivals_ns = &at;
			if (!pio_rx(port->rx[i], &f, 1))
				continue;
			assert_true(n < EACH);
			assert_int_equal(f.len, LEN + longer_by);
			arrivals[n++] = at;
			pio_put(port->rx[i], &f, 1);
		}
	}
	return true;
}

static uint64_t untimed(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < port->n_rx; i++)
		sum += port->rx[i]->stats.rx.untimed;
	return sum;
}

static void open_port(bool times)
{
	const struct pio_conf conf = {
		.name = "afxdp:va,mode=native", .host = &host, .rx_queues = 2, .filter = &all, .times = times};

	if (pio_open(&conf, &port, &err))
		fail_msg("%s", err.cause);
	push = xdp_push__open_and_load();
	assert_non_null(push);
}

static void close_port(void)
{
	xdp_push__destroy(push);
	pio_close(port);
}

static void those_of_now(const uint64_t arrivals[EACH], uint64_t before)
{
	for (unsigned i = 0; i < EACH; i++)
		assert_in_range(arrivals[i], before, clock_mono_ns());
}

static void skip_unsent(void)
{
	print_message("not run: this kernel sends no frames from a test of a program (Linux 5.18 does)\n");
	skip();
}

/* Whatever another program left there, and then a packet with no room in front. */
static void each_is_noted_or_counted(void **state)
{
	uint64_t arrivals[EACH];

	(void)state;
	need_bpf();
	open_port(true);
	assert_int_equal(port->caps.arrivals, PIO_CLOCK_MONOTONIC);
	for (uint32_t metadata = 0; metadata <= 32; metadata += 4) {
		uint64_t before = clock_mono_ns();

		if (!send_and_take(0, metadata, arrivals)) {
			close_port();
			skip_unsent();
		}
		those_of_now(arrivals, before);
		assert_int_equal(untimed(), 0);
	}
	for (unsigned round = 1; round <= 2; round++) {
		uint64_t before = clock_mono_ns();

		send_and_take(round == 1 ? ALL_OF_IT : 0, 0, arrivals);
		those_of_now(arrivals, before);
		assert_int_equal(untimed(), round * EACH);
	}
	close_port();
}

static void nobody_asked(void **state)
{
	uint64_t arrivals[EACH];

	(void)state;
	need_bpf();
	open_port(false);
	assert_int_equal(port->caps.arrivals, PIO_CLOCK_NONE);
	bool sent = send_and_take(ALL_OF_IT, 0, arrivals);
	uint64_t without = untimed();

	close_port();
	if (!sent)
		skip_unsent();
	assert_int_equal(without, 0);
}

static int set_up(void **state)
{
	int rc = xdp_links_make(state);

	return rc || !have_bpf ? rc : host_load(&host, &err);
}

int main(void)
{
	const struct CMUnitTest believed[] = {
		cmocka_unit_test(a_time_is_used_once),
		cmocka_unit_test(what_is_no_time_is_none),
		cmocka_unit_test(none_is_believed_once_one_was_missing),
		cmocka_unit_test(the_first_frame_has_it),
		cmocka_unit_test(nobody_asks_for_each),
	};
	const struct CMUnitTest written[] = {
		cmocka_unit_test(each_is_noted_or_counted),
		cmocka_unit_test(nobody_asked),
	};

	return cmocka_run_group_tests(believed, NULL, NULL) + cmocka_run_group_tests(written, set_up, NULL);
}
