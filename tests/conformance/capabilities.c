/* SPDX-License-Identifier: Apache-2.0 */
/* What a port says that it can is what it does. */
#include "rig.h"

static struct rig_wire wire;

static void capabilities_are_possible(void **state)
{
	const struct pio_caps *caps;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 2, .n_rx = 2});
	caps = &wire.tx->caps;
	assert_true(caps->mechanism[0]);
	assert_true(caps->max_frame >= 1514);
	assert_true(caps->max_frame <= wire.tx->pool->max_frame);
	assert_true(wire.rx->caps.headroom >= 80);
	assert_true(wire.rx->caps.tailroom >= 32);
	assert_int_equal(wire.tx->n_tx, 2);
	assert_int_equal(wire.rx->n_rx, 2);
	assert_true(wire.tx->tx[1]->is_tx && !wire.rx->rx[1]->is_tx);
	assert_int_equal(wire.tx->tx[1]->index, 1);
	assert_int_equal(wire.rx->rx[1]->index, 1);
	assert_ptr_equal(wire.rx->rx[1]->port, wire.rx);
	assert_true(!wire.tx->ifindex == (rig_subject->kind != WIRE_VETH));
	rig_close(&wire);
}

/* A poll that sleeps takes its time and no processor; one that does not is back at once. */
static void poll_blocks_as_it_says(void **state)
{
	uint64_t cpu;
	uint64_t took;
	unsigned tries = 0;

	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	do { /* a busy machine may keep the thread off its processor in between */
		cpu = clock_read(CLOCK_THREAD_CPUTIME_ID);
		took = clock_mono_ns();
		assert_int_equal(pio_poll(wire.rx->rx[0], 50), 0);
		took = clock_mono_ns() - took;
		cpu = clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu;
	} while (!wire.rx->caps.blocking_poll && took > 25 * NS_PER_MS && ++tries < 20);
	if (wire.rx->caps.blocking_poll)
		assert_in_range(took, 50 * NS_PER_MS, RIG_WAIT_NS);
	else
		assert_in_range(took, 0, 25 * NS_PER_MS);
	assert_in_range(cpu, 0, 20 * NS_PER_MS);
	rig_close(&wire);
}

/* A device that copies has its copy when tx returns. */
static void what_is_copied_is_copied(void **state)
{
	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	for (uint32_t number = 0; number < 20 && !wire.tx->caps.zero_copy; number++) {
		struct pio_frame f;
		uint16_t flow;

		assert_int_equal(pio_get(wire.tx->tx[0], &f, 1), 1);
		rig_fill(f.data, 1000, 1, number);
		f.len = 1000;
		while (!pio_tx(wire.tx->tx[0], &f, 1))
			pio_kick(wire.tx->tx[0]);
		memset(f.data, 0xee, 1000);
		pio_kick(wire.tx->tx[0]);
		f = rig_receive_one(wire.rx->rx[0]);
		assert_int_equal(f.len, 1000);
		assert_int_equal(rig_check(f.data, f.len, &flow), number);
		pio_put(wire.rx->rx[0], &f, 1);
	}
	rig_close(&wire);
}

/* The shortest way of twenty packets: not shorter than the delay on purpose, and not much longer. */
static void delay_is_what_it_says(void **state)
{
	unsigned char packet[RIG_MIN_LEN];
	uint64_t shortest = UINT64_MAX;

	(void)state;
	rig_needs_receiver();
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1, .n_rx = 1});
	rig_fill(packet, sizeof(packet), 1, 0);
	for (unsigned i = 0; i < 20; i++) {
		uint64_t took = clock_mono_ns();
		struct pio_frame f;

		rig_send_packet(wire.tx->tx[0], packet, sizeof(packet));
		while (!pio_rx(wire.rx->rx[0], &f, 1))
			assert_true(clock_mono_ns() - took < RIG_WAIT_NS);
		took = clock_mono_ns() - took;
		pio_put(wire.rx->rx[0], &f, 1);
		shortest = took < shortest ? took : shortest;
	}
	assert_in_range(shortest, wire.tx->caps.delay_ns, wire.tx->caps.delay_ns + 50 * NS_PER_MS);
	rig_close(&wire);
}

int conform_capabilities(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_are_possible),
		cmocka_unit_test(poll_blocks_as_it_says),
		cmocka_unit_test(what_is_copied_is_copied),
		cmocka_unit_test(delay_is_what_it_says),
	};

	return RIG_RUN("capabilities", tests);
}
