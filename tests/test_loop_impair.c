/* SPDX-License-Identifier: Apache-2.0 */
/* What the loop's impairments did, counted again from what arrived. */
#include "loops.h"

#include <stdlib.h>

#define PACKETS   200000U
#define FLOWS_MAX 3000U

struct arrivals {
	unsigned flows;
	uint32_t n;
	uint32_t *number; /* in order of arrival; the flow is number mod flows */
};

static void receive_all(struct pio_port *port, struct arrivals *a)
{
	struct pio_frame f[LOOP_BURST];

	for (unsigned q = 0; q < port->n_rx; q++) {
		for (unsigned n; (n = pio_rx(port->rx[q], f, LOOP_BURST));) {
			for (unsigned i = 0; i < n; i++) {
				assert_true(a->n < 2 * PACKETS);
				a->number[a->n] = packet_number(f[i].data);
				assert_int_equal(packet_flow(f[i].data), a->number[a->n] % a->flows);
				a->n++;
			}
			pio_put(port->rx[q], f, n);
		}
	}
}

/* Sends PACKETS numbered packets in bursts of that size and drains. */
static struct pio_port *run(const char *name, unsigned flows, unsigned burst, struct arrivals *a)
{
	struct pio_port *port = loop_open_ok(name, 1, 4);
	struct pio_queue *q = port->tx[0];
	struct pio_frame f[LOOP_BURST];
	uint32_t sent = 0;

	a->flows = flows;
	a->n = 0;
	a->number = calloc(2 * (size_t)PACKETS, sizeof(*a->number));
	assert_non_null(a->number);
	while (sent < PACKETS) {
		unsigned n = pio_get(q, f, burst < PACKETS - sent ? burst : PACKETS - sent);
		unsigned done;

		for (unsigned i = 0; i < n; i++)
			f[i].len = numbered_packet(f[i].data, (uint16_t)((sent + i) % flows), sent + i);
		done = pio_tx(q, f, n);
		if (done < n) {
			pio_put(q, f + done, n - done);
			receive_all(port, a);
		}
		sent += done;
	}
	receive_all(port, a);
	pio_drain(q, clock_mono_ns() + NS_PER_S);
	receive_all(port, a);
	return port;
}

struct seen {
	uint32_t lost, duplicate, reordered;
	unsigned most_overtakers;
	uint64_t overtakers; /* of all */
};

/* Per flow: a packet is reordered when a later one of its flow came before it. A second copy only counts as such. */
static struct seen judge(const struct arrivals *a)
{
	struct seen s = {0};
	uint32_t highest[FLOWS_MAX] = {0};
	uint8_t *times = calloc(PACKETS, 1);

	assert_non_null(times);
	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t n = a->number[i];
		uint32_t *high = &highest[n % a->flows];

		assert_true(n < PACKETS);
		if (times[n]++) {
			s.duplicate++;
			assert_true(times[n] == 2);
			continue;
		}
		if (n + 1 < *high) {
			unsigned overtakers = 0;

			/* copies put aside; the 16 that may overtake came in the last 16 rounds over the flows */
			uint32_t rounds = 20 * a->flows + 100;

			for (uint32_t k = i < rounds ? 0 : i - rounds; k < i; k++)
				overtakers += a->number[k] > n && a->number[k] % a->flows == n % a->flows &&
					      a->number[k] != a->number[k - (k > 0)];
			s.overtakers += overtakers;
			if (overtakers > s.most_overtakers)
				s.most_overtakers = overtakers;
			s.reordered++;
		} else {
			*high = n + 1;
		}
	}
	for (uint32_t n = 0; n < PACKETS; n++)
		s.lost += !times[n];
	free(times);
	return s;
}

/* p of PACKETS, give or take 6 standard deviations. */
static void assert_about(uint32_t n, double p)
{
	double want = PACKETS * p;
	double off = n - want;

	if (off * off > 36 * want * (1 - p))
		fail_msg("%u, should be about %.0f", n, want);
}

static void counts_are_what_arrives(void **state)
{
	static const struct {
		const char *name;
		unsigned flows;
		double loss, duplicate, reorder;
	} cases[] = {
		{"loop:queues=4", 5, 0, 0, 0},
		{"loop:queues=4,loss=1%", 5, 0.01, 0, 0},
		{"loop:queues=4,loss=50%", 5, 0.5, 0, 0},
		{"loop:queues=4,duplicate=0.5%", 5, 0, 0.005, 0},
		{"loop:queues=4,reorder=0.2%", 1, 0, 0, 0.002},
		{"loop:queues=4,reorder=0.2%", FLOWS_MAX, 0, 0, 0.002},
		{"loop:queues=4,loss=1%,duplicate=0.5%,reorder=0.3%,seed=11", 1, 0.01, 0.00495, 0.00296},
		{"loop:queues=4,loss=1%,duplicate=0.5%,reorder=0.3%,seed=12", 7, 0.01, 0.00495, 0.00296},
		{"loop:queues=4,ring=32,loss=5%,duplicate=5%,reorder=1%,seed=3", 3, 0.05, 0.0475, 0.0090},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arrivals a;
		struct pio_port *port = run(cases[i].name, cases[i].flows, LOOP_BURST, &a);
		struct seen s = judge(&a);
		struct loop_counts did;
		struct tx_counts c;

		loop_counts_read(&port->loop[0], &did);
		tx_counts_read(&port->tx[0]->stats.tx, &c);
		assert_int_equal(s.lost, did.lost);
		assert_int_equal(s.duplicate, did.duplicated);
		assert_int_equal(s.reordered, did.reordered);
		assert_about(s.lost, cases[i].loss);
		assert_about(s.duplicate, cases[i].duplicate);
		assert_about(s.reordered, cases[i].reorder);
		assert_int_equal(c.queued, PACKETS);
		assert_int_equal(c.completed, PACKETS);
		assert_int_equal(c.completed_bytes, 60ULL * PACKETS);
		assert_int_equal(a.n, PACKETS - s.lost + s.duplicate);
		if (cases[i].reorder > 0) {
			assert_int_equal(s.most_overtakers, 16);
			/* 1 to 16, all equally often: 8.5 give or take 6 standard deviations of the mean of 400 */
			assert_in_range(s.overtakers, s.reordered * 7.1, s.reordered * 9.9);
		}
		free(a.number);
		pio_close(port);
	}
}

static bool same(const struct arrivals *a, const struct arrivals *b)
{
	return a->n == b->n && memcmp(a->number, b->number, a->n * sizeof(*a->number)) == 0;
}

/* One flow, so that the order over all is the order of the flow. */
static void seed_decides_and_nothing_else(void **state)
{
	static const struct {
		const char *name;
		unsigned burst;
		bool equal;
	} cases[] = {
		{"loop:queues=4,loss=2%,duplicate=1%,reorder=1%,seed=5", LOOP_BURST, true},
		{"loop:queues=4,loss=2%,duplicate=1%,reorder=1%,seed=5", 1, true},
		{"loop:queues=4,loss=2%,duplicate=1%,reorder=1%,seed=5,ring=50", 17, true},
		{"loop:queues=4,loss=2%,duplicate=1%,reorder=1%,seed=6", LOOP_BURST, false},
	};
	struct arrivals first = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arrivals a;

		pio_close(run(cases[i].name, 1, cases[i].burst, &a));
		if (i == 0) {
			first = a;
			continue;
		}
		assert_int_equal(same(&a, &first), cases[i].equal);
		free(a.number);
	}
	free(first.number);
}

/* Two transmit queues throw their own dice. */
static void queues_differ(void **state)
{
	struct pio_port *port = loop_open_ok("loop:queues=2,loss=50%,seed=4", 2, 1);
	uint32_t got[2] = {0};
	struct pio_frame f;

	(void)state;
	for (unsigned q = 0; q < 2; q++) {
		for (uint32_t n = 0; n < 32; n++)
			assert_true(send_one(port->tx[q], 1, n));
		while (pio_rx(port->rx[0], &f, 1)) {
			got[q] |= 1U << packet_number(f.data);
			pio_put(port->rx[0], &f, 1);
		}
		assert_int_equal(__builtin_popcount(got[q]) +
					 (int)atomic_load_explicit(&port->loop[q].lost, memory_order_relaxed),
				 32);
	}
	assert_int_not_equal(got[0], got[1]);
	pio_close(port);
}

static void certainties(void **state)
{
	struct arrivals a;
	struct pio_port *port;
	struct loop_counts did;

	(void)state;
	port = run("loop:queues=4,loss=100%", 3, LOOP_BURST, &a);
	assert_int_equal(a.n, 0);
	free(a.number);
	pio_close(port);

	port = run("loop:queues=4,duplicate=100%", 3, LOOP_BURST, &a);
	assert_int_equal(a.n, 2 * PACKETS);
	free(a.number);
	pio_close(port);

	/* a copy is not held, nor is what was copied */
	port = run("loop:queues=4,duplicate=100%,reorder=100%", 3, LOOP_BURST, &a);
	assert_int_equal(a.n, 2 * PACKETS);
	assert_int_equal(judge(&a).reordered, 0);
	free(a.number);
	pio_close(port);

	/* held until no more fit: all of it arrives all the same, and what is counted is what is seen */
	port = run("loop:queues=4,reorder=100%", 3, LOOP_BURST, &a);
	assert_int_equal(a.n, PACKETS);
	loop_counts_read(&port->loop[0], &did);
	assert_int_equal(judge(&a).reordered, did.reordered);
	free(a.number);
	pio_close(port);
}

/* What is held is queued, not completed; the drain brings it out, and a full wire makes the drain wait. */
static void drain_delivers_what_is_held(void **state)
{
	struct pio_port *port = loop_open_ok("loop:reorder=100%,ring=32", 1, 1);
	struct pio_frame f[LOOP_BURST];
	struct tx_counts c;

	(void)state;
	for (uint32_t n = 0; n < 48; n++)
		assert_true(send_one(port->tx[0], (uint16_t)(n % 3), n));
	tx_counts_read(&port->tx[0]->stats.tx, &c);
	assert_int_equal(c.queued, 48);
	assert_int_equal(c.completed, 0);
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 0);
	port->tx[0]->ops->stop(port->tx[0]);
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 32);
	pio_put(port->rx[0], f, 32);
	pio_kick(port->tx[0]);
	assert_int_equal(pio_rx(port->rx[0], f, LOOP_BURST), 16);
	pio_put(port->rx[0], f, 16);
	tx_counts_read(&port->tx[0]->stats.tx, &c);
	assert_int_equal(c.completed, 48);
	assert_int_equal(atomic_load_explicit(&port->loop[0].reordered, memory_order_relaxed), 0);
	pio_close(port);
}

/* When its time is over the drain says how many are left. */
static void drain_gives_up(void **state)
{
	struct pio_port *port = loop_open_ok("loop:reorder=100%,ring=32", 1, 1);
	struct tx_counts c;

	(void)state;
	for (uint32_t n = 0; n < 48; n++)
		assert_true(send_one(port->tx[0], (uint16_t)(n % 3), n));
	pio_drain(port->tx[0], clock_mono_ns());
	tx_counts_read(&port->tx[0]->stats.tx, &c);
	assert_int_equal(c.completed, 32);
	assert_int_equal(c.dropped_end, 16);
	pio_close(port);
}

static unsigned waiting(struct pio_port *port)
{
	struct pio_frame f[LOOP_BURST];
	unsigned total = 0;

	for (unsigned n; (n = pio_rx(port->rx[0], f, LOOP_BURST)); total += n)
		pio_put(port->rx[0], f, n);
	return total;
}

/* 16 frames of a flow and 1024 in all are held at a time; what comes then is delivered. */
static void holding_is_bounded(void **state)
{
	struct pio_port *port = loop_open_ok("loop:reorder=100%", 1, 1);
	struct tx_counts c;
	uint32_t sent = 0;

	(void)state;
	for (; sent < 16; sent++)
		assert_true(send_one(port->tx[0], 1, sent));
	assert_int_equal(waiting(port), 0);
	assert_true(send_one(port->tx[0], 1, sent++));
	assert_true(waiting(port) > 0);
	tx_counts_read(&port->tx[0]->stats.tx, &c);
	for (uint64_t held = c.queued - c.completed; held < 1024; held++)
		assert_true(send_one(port->tx[0], (uint16_t)(100 + held), sent++));
	assert_int_equal(waiting(port), 0);
	for (uint16_t flow = 2000; flow < 2100; flow++)
		assert_true(send_one(port->tx[0], flow, sent++));
	assert_int_equal(waiting(port), 100);
	pio_drain(port->tx[0], clock_mono_ns() + NS_PER_S);
	assert_int_equal(waiting(port), 1024);
	pio_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_what_arrives),
		cmocka_unit_test(seed_decides_and_nothing_else),
		cmocka_unit_test(queues_differ),
		cmocka_unit_test(certainties),
		cmocka_unit_test(drain_delivers_what_is_held),
		cmocka_unit_test(drain_gives_up),
		cmocka_unit_test(holding_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
