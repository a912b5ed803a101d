/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: every shape of a port, and failures that leave nothing behind. */
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

static unsigned open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void every_shape_opens_and_closes(void **state)
{
	static const struct rig_spec shapes[] = {
		{.n_tx = 1},
		{.n_rx = 1},
		{.n_tx = 1, .n_rx = 1},
		{.n_tx = 3, .n_rx = 2},
		{.n_tx = 1, .tx_frames = 128},
		{.n_rx = 1, .rx_frames = 4096},
	};
	unsigned fds = open_fds();

	(void)state;
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rig_wire w;

		rig_open(&w, 0, &shapes[i]);
		if (shapes[i].n_tx) {
			assert_int_equal(w.tx->n_tx, shapes[i].n_tx);
			assert_true(rig_gettable(w.tx->tx[0]) >= (shapes[i].tx_frames ? shapes[i].tx_frames : 1));
		}
		if (shapes[i].n_rx)
			assert_int_equal(w.rx->n_rx, shapes[i].n_rx);
		rig_close(&w);
		assert_int_equal(open_fds(), fds);
	}
}

/* A port that only sends works without a receiver's memory, one that only receives without a sender's. */
static void one_direction_is_enough(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	struct tx_counts c;
	struct rig_wire w;

	(void)state;
	rig_fill(packet, sizeof(packet), 1, 0);
	rig_open(&w, 0, &(struct rig_spec){.n_tx = 1});
	for (unsigned i = 0; i < 500; i++)
		rig_send_packet(w.tx->tx[0], packet, sizeof(packet));
	pio_drain(w.tx->tx[0], clock_mono_ns() + RIG_WAIT_NS);
	tx_counts_read(&w.tx->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, 500);
	assert_int_equal(c.completed, 500);
	rig_close(&w);
	rig_open(&w, 0, &(struct rig_spec){.n_rx = 1});
	assert_int_equal(pio_poll(w.rx->rx[0], 1), 0);
	rig_close(&w);
}

static void can_be_opened_again_and_again(void **state)
{
	unsigned char packet[RIG_MIN_LEN];

	(void)state;
	rig_fill(packet, sizeof(packet), 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		struct rig_wire w;

		rig_open(&w, i % RIG_WIRES, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
		rig_send_packet(w.tx->tx[0], packet, sizeof(packet));
		rig_close(&w); /* with a packet that nobody took */
	}
}

static void assert_refused(const struct pio_conf *conf, const char *how)
{
	struct pio_port *port = (void *)1;
	unsigned fds = open_fds();
	struct err e = {0};

	if (pio_open(conf, &port, &e) == 0)
		fail_msg("%s: opened %s", how, conf->name);
	assert_null(port);
	if (open_fds() != fds)
		fail_msg("%s: file descriptors are left", how);
	if (e.code == EXIT_DONE || !e.what[0] || !e.cause[0])
		fail_msg("%s: no reason is given", how);
}

static void failed_opens_leave_nothing(void **state)
{
	const struct rig_spec spec = {.n_tx = 2, .n_rx = 2};

	(void)state;
	for (unsigned end = 0; end < 2; end++) {
		char name[64];
		char other[96];
		struct pio_pool *pool;
		struct pio_conf conf = rig_conf(&spec, 0, end, name);
		struct pio_conf bad = conf;

		bad.max_frame = 1U << 30;
		if (bad.tx_queues)
			assert_refused(&bad, "a frame of a gigabyte");
		bad = conf;
		bad.name = other;
		snprintf(other, sizeof(other), "%s,no-such-option=1", name);
		assert_refused(&bad, "an unknown option");
		snprintf(other, sizeof(other), "%.*s:no-such-link", (int)strcspn(name, ":"), name);
		assert_refused(&bad, "an unknown device");
		/* Not enough frames for the second queue, nor for the first. */
		for (uint32_t frames = 300; frames; frames = frames > 1 ? 1 : 0) {
			bad = conf;
			assert_int_equal(pio_pool_create(&pool, frames, 1600, NULL), 0);
			bad.tx_frames = 256;
			bad.rx_frames = 256;
			bad.pool = pool;
			assert_refused(&bad, "a pool with too few frames");
			pio_pool_destroy(pool);
		}
		bad = conf;
		assert_int_equal(pio_pool_create(&pool, 4096, 100, NULL), 0);
		bad.max_frame = pool->max_frame + 1;
		bad.tx_frames = 64;
		bad.rx_frames = 64;
		bad.pool = pool;
		if (bad.tx_queues)
			assert_refused(&bad, "a pool with too small frames");
		pio_pool_destroy(pool);
		bad = conf;
		bad.filter = NULL;
		if (bad.rx_queues)
			assert_refused(&bad, "no filter");
		bad.filter = &(struct filter){0};
		if (bad.rx_queues)
			assert_refused(&bad, "an empty filter");
	}
}

/* Two ports on one end of a link: the second works too, or says what is taken. Then the first goes on. */
static void a_second_port_works_or_says_why(void **state)
{
	const struct rig_spec spec = {.n_tx = 1, .n_rx = 1};
	struct rig_wire w;

	(void)state;
	rig_link_needed();
	rig_open(&w, 0, &spec);
	for (unsigned end = 0; end < 2; end++) {
		char name[64];
		struct pio_conf conf = rig_conf(&spec, 0, end, name);
		unsigned fds = open_fds();
		struct pio_port *second;
		struct err e = {0};
		int rc = pio_open(&conf, &second, &e);

		if (rc) {
			assert_int_equal(rc, -EBUSY);
			assert_null(second);
			assert_int_equal(e.code, EXIT_RUN);
			assert_true(e.cause[0] && e.hint[0]);
			assert_string_equal(e.object, (end ? w.rx : w.tx)->name);
			assert_true(end == 1 || strstr(e.what, "queue 0"));
		} else {
			pio_close(second);
		}
		assert_int_equal(open_fds(), fds);
		rig_send_numbers(w.tx->tx[0], end, 1, RIG_MIN_LEN);
		assert_int_equal(rig_receive_packet(w.rx->rx[0]).number, end);
	}
	rig_close(&w);
}

int conform_opening(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_opens_and_closes),    cmocka_unit_test(one_direction_is_enough),
		cmocka_unit_test(can_be_opened_again_and_again),   cmocka_unit_test(failed_opens_leave_nothing),
		cmocka_unit_test(a_second_port_works_or_says_why),
	};

	return RIG_RUN("opening", tests);
}
