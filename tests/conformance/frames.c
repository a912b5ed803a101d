/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a transmit queue: what get gives, what tx takes, and that none is ever lost. */
#include "rig.h"

#include <stdlib.h>

#define ROUNDS 50U

static struct rig_wire wire;
static struct pio_queue *tx;

static int setup(void **state)
{
	(void)state;
	rig_open(&wire, 0, &(struct rig_spec){.n_tx = 1});
	tx = wire.tx->tx[0];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_close(&wire);
	return 0;
}

static void drain(void)
{
	pio_drain(tx, clock_mono_ns() + RIG_WAIT_NS);
}

/* All frames that can be had now; the caller frees the array. */
static struct pio_frame *get_all(unsigned *n)
{
	unsigned all = rig_gettable(tx);
	struct pio_frame *f = calloc(all, sizeof(*f));
	unsigned got;

	assert_non_null(f);
	for (*n = 0; (got = pio_get(tx, f + *n, all - *n)); *n += got)
		;
	assert_int_equal(*n, all);
	return f;
}

static int by_address(const void *a, const void *b)
{
	const struct pio_frame *x = a;
	const struct pio_frame *y = b;

	return x->data < y->data ? -1 : x->data > y->data;
}

static void get_gives_distinct_empty_frames_of_the_pool(void **state)
{
	const struct pio_pool *pool = wire.tx->pool;
	uint32_t max = wire.tx->caps.max_frame;
	unsigned n;
	struct pio_frame *f = get_all(&n);

	(void)state;
	assert_true(n >= RIG_BURST);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(f[i].len, 0);
		assert_int_equal(f[i].flags, 0);
		assert_int_not_equal(pio_slot_of(pool, f[i].data, max), UINT32_MAX);
		memset(f[i].data, (int)i, max);
	}
	qsort(f, n, sizeof(*f), by_address);
	for (unsigned i = 1; i < n; i++) {
		assert_true(f[i].data >= f[i - 1].data + max);
		assert_int_not_equal(pio_slot_of(pool, f[i].data, 1), pio_slot_of(pool, f[i - 1].data, 1));
	}
	pio_put(tx, f, n);
	free(f);
}

static void get_gives_no_more_than_there_are(void **state)
{
	struct pio_frame more[RIG_BURST];
	unsigned n;
	struct pio_frame *f = get_all(&n);

	(void)state;
	assert_int_equal(pio_get(tx, more, RIG_BURST), 0);
	pio_put(tx, f, 3);
	assert_int_equal(pio_get(tx, more, RIG_BURST), 3);
	pio_put(tx, more, 3);
	pio_put(tx, f + 3, n - 3);
	assert_int_equal(rig_gettable(tx), n);
	free(f);
}

static void frames_are_sticky(void **state)
{
	const unsigned char *of[3];
	struct pio_frame *all;
	struct pio_frame f[3];
	unsigned char want[3][128];
	unsigned seen = 0;
	unsigned n;

	(void)state;
	assert_int_equal(pio_get(tx, f, 3), 3);
	for (unsigned i = 0; i < 3; i++) {
		rig_fill(f[i].data, sizeof(want[i]), 1, i);
		memcpy(want[i], f[i].data, sizeof(want[i]));
		f[i].len = 100;
		of[i] = f[i].data;
	}
	rig_send(tx, f, 2);
	pio_put(tx, &f[2], 1);
	drain();
	all = get_all(&n);
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < 3; k++) {
			if (all[i].data == of[k]) {
				assert_memory_equal(all[i].data, want[k], sizeof(want[k]));
				seen++;
			}
		}
	}
	assert_int_equal(seen, 3);
	pio_put(tx, all, n);
	free(all);
}

static void note_prime(void *arg, struct pio_frame *f)
{
	unsigned *calls = arg;

	assert_true(f->len >= wire.tx->caps.max_frame);
	f->data[0]++;
	memset(f->data + 1, 0x5a, wire.tx->caps.max_frame - 1);
	(*calls)++;
	f->len = 0;
}

static void prime_touches_every_frame_once(void **state)
{
	unsigned calls = 0;
	unsigned n;
	struct pio_frame *f = get_all(&n);

	(void)state;
	for (unsigned i = 0; i < n; i++)
		f[i].data[0] = 0;
	pio_put(tx, f, n);
	free(f);
	pio_prime(tx, note_prime, &calls);
	assert_int_equal(calls, n);
	f = get_all(&n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(f[i].data[0], 1);
		assert_int_equal(f[i].data[1], 0x5a);
		assert_int_equal(f[i].data[wire.tx->caps.max_frame - 1], 0x5a);
		assert_int_equal(f[i].len, 0);
	}
	pio_put(tx, f, n);
	free(f);
}

static void frames_are_conserved(void **state)
{
	unsigned before = rig_gettable(tx);
	struct pio_frame f[RIG_BURST];

	(void)state;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		unsigned n = 0;

		while (n < RIG_BURST) {
			unsigned got = pio_get(tx, f + n, RIG_BURST - n);

			n += got;
			if (!got)
				pio_kick(tx);
		}
		for (unsigned i = 0; i < n; i++) {
			rig_fill(f[i].data, RIG_MIN_LEN, 1, i);
			f[i].len = RIG_MIN_LEN;
		}
		/* some unsent, some sent */
		pio_put(tx, f, round % 8);
		rig_send(tx, f + round % 8, n - round % 8);
	}
	drain();
	assert_int_equal(rig_gettable(tx), before);
}

enum badness { FOREIGN, BEFORE_POOL, PAST_SLOT, EMPTY, TOO_LONG, CHAIN, BADNESSES };

/* The frame's own data and length are kept by the caller. */
static void spoil(struct pio_frame *f, enum badness how, unsigned char *foreign)
{
	const struct pio_pool *pool = wire.tx->pool;
	uint64_t slot = 1ULL << pool->shift;
	uint64_t at = (uint64_t)(f->data - pool->base);

	switch (how) {
	case FOREIGN:
		f->data = foreign;
		break;
	case BEFORE_POOL:
		f->data = pool->base - 1;
		break;
	case PAST_SLOT:
		f->data = pool->base + (at | (slot - 1)) + 1 - (RIG_MIN_LEN - 1);
		break;
	case EMPTY:
		f->len = 0;
		break;
	case TOO_LONG:
		f->len = wire.tx->caps.max_frame + 1;
		break;
	case CHAIN:
		f->flags = PIO_MORE;
		break;
	case BADNESSES:
		break;
	}
}

static void tx_takes_the_prefix_before_a_bad_frame(void **state)
{
	unsigned before = rig_gettable(tx);
	unsigned char foreign[PACKET_MAX];

	(void)state;
	rig_fill(foreign, RIG_MIN_LEN, 1, 0);
	for (enum badness how = 0; how < BADNESSES; how++) {
		struct pio_frame f[8];
		struct pio_frame good;
		struct tx_counts c;
		uint64_t queued;
		unsigned sent = 0;

		if (how == CHAIN && wire.tx->caps.tx_chains)
			continue;
		assert_int_equal(pio_get(tx, f, 8), 8);
		for (unsigned i = 0; i < 8; i++) {
			rig_fill(f[i].data, RIG_MIN_LEN, 1, i);
			f[i].len = RIG_MIN_LEN;
		}
		good = f[3];
		tx_counts_read(&tx->stats.tx, &c);
		queued = c.queued;
		spoil(&f[3], how, foreign);
		for (unsigned tries = 0; sent < 3 && tries < 1000; tries++) {
			sent += pio_tx(tx, f + sent, 8 - sent);
			pio_kick(tx);
		}
		assert_int_equal(sent, 3);
		assert_int_equal(pio_tx(tx, f + 3, 5), 0);
		assert_int_equal(pio_queue_error(tx, NULL), 0);
		tx_counts_read(&tx->stats.tx, &c);
		assert_int_equal(c.queued - queued, 3);
		/* the suffix is still ours: it can be sent or put */
		f[3] = good;
		rig_send(tx, f + 3, 3);
		pio_put(tx, f + 6, 2);
		drain();
		assert_int_equal(rig_gettable(tx), before);
	}
}

/* The first frame of all is a bad one: it is refused as well, and a good one can still be sent. */
static void a_bad_first_frame_is_refused(void **state)
{
	unsigned before = rig_gettable(tx);
	unsigned char foreign[PACKET_MAX];
	struct tx_counts c;

	(void)state;
	rig_fill(foreign, RIG_MIN_LEN, 1, 0);
	for (enum badness how = 0; how < BADNESSES; how++) {
		struct pio_frame good;
		struct pio_frame bad;

		teardown(NULL);
		setup(NULL);
		if (how == CHAIN && wire.tx->caps.tx_chains)
			continue;
		assert_int_equal(pio_get(tx, &good, 1), 1);
		rig_fill(good.data, RIG_MIN_LEN, 1, 0);
		good.len = RIG_MIN_LEN;
		bad = good;
		spoil(&bad, how, foreign);
		assert_int_equal(pio_tx(tx, &bad, 1), 0);
		assert_int_equal(pio_tx(tx, &bad, 1), 0);
		rig_send(tx, &good, 1);
		drain();
		tx_counts_read(&tx->stats.tx, &c);
		assert_int_equal(c.queued, 1);
		assert_int_equal(c.completed, 1);
		assert_int_equal(c.completed_bytes, RIG_MIN_LEN);
		assert_int_equal(rig_gettable(tx), before);
	}
}

static void longest_frame_can_be_sent(void **state)
{
	uint32_t max = wire.tx->caps.max_frame;
	struct tx_counts c;
	struct pio_frame f;

	(void)state;
	assert_int_equal(pio_get(tx, &f, 1), 1);
	rig_fill(f.data, max, 1, 0);
	f.len = max;
	rig_send(tx, &f, 1);
	drain();
	tx_counts_read(&tx->stats.tx, &c);
	assert_int_equal(c.completed, 1);
	assert_int_equal(c.completed_bytes, max);
}

static void counters_add_up(void **state)
{
	uint64_t bytes = 0;
	uint32_t packets = 0;
	unsigned calls = 0;
	struct pio_frame f[RIG_BURST];
	struct tx_counts c;

	(void)state;
	for (uint32_t round = 1; round <= 20; round++) {
		unsigned n = pio_get(tx, f, round);

		for (unsigned i = 0; i < n; i++) {
			f[i].len = RIG_MIN_LEN + (packets + i) % 900;
			rig_fill(f[i].data, f[i].len, 1, packets + i);
			bytes += f[i].len;
		}
		for (unsigned sent = 0; sent < n; calls++) {
			sent += pio_tx(tx, f + sent, n - sent);
			pio_kick(tx);
		}
		packets += n;
		tx_counts_read(&tx->stats.tx, &c);
		assert_int_equal(c.queued, packets);
		assert_true(c.completed + c.dropped_driver <= c.queued);
	}
	drain();
	pio_sync(tx);
	tx_counts_read(&tx->stats.tx, &c);
	assert_int_equal(c.queued, packets);
	assert_int_equal(c.completed, packets);
	assert_int_equal(c.completed_bytes, bytes);
	assert_int_equal(c.dropped_driver + c.dropped_end + c.undecided, 0);
	assert_in_range(c.batches, 1, calls);
	assert_true(c.ring_full <= calls);
}

static void drain_ends_at_once_when_there_is_nothing(void **state)
{
	uint64_t start = clock_mono_ns();

	(void)state;
	pio_drain(tx, start + 60 * NS_PER_S);
	assert_true(clock_mono_ns() - start < 10 * NS_PER_S);
}

int conform_frames(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(get_gives_distinct_empty_frames_of_the_pool),
		TEST(get_gives_no_more_than_there_are),
		TEST(frames_are_sticky),
		TEST(prime_touches_every_frame_once),
		TEST(frames_are_conserved),
		TEST(tx_takes_the_prefix_before_a_bad_frame),
		TEST(a_bad_first_frame_is_refused),
		TEST(longest_frame_can_be_sent),
		TEST(counters_add_up),
		TEST(drain_ends_at_once_when_there_is_nothing),
	};
#undef TEST

	return RIG_RUN("frames", tests);
}
