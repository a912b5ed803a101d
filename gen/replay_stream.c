/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_stream.h"

#include "lib/clock.h"

#include <errno.h>

/* While a ring is full: the first sleep, and the longest. */
#define SLEEP_FIRST_NS 50000U
#define SLEEP_MAX_NS   5000000U
/* A ring that was full is filled again when such a part of it is free, so that the thread does not wake for each
 * packet. */
#define REFILL_PART 4U

static size_t bytes_of_one(const struct replay *r, unsigned n)
{
	size_t all = r->rules.memory < REPLAY_AHEAD_MAX ? r->rules.memory : REPLAY_AHEAD_MAX;

	return all / n > REPLAY_AHEAD_LEAST ? all / n : REPLAY_AHEAD_LEAST;
}

size_t replay_stream_bytes(const struct replay *r, unsigned n)
{
	return bytes_of_one(r, n) * n;
}

int replay_stream_init(struct replay_stream *s, const struct replay *replay, unsigned n, struct err *e)
{
	memset(s, 0, sizeof(*s));
	s->reader.replay = replay;
	s->total = replay->total;
	s->rings = aligned_alloc(128, n * sizeof(*s->rings));
	if (s->rings)
		memset(s->rings, 0, n * sizeof(*s->rings));
	for (; s->rings && s->n < n; s->n++)
		if (replay_ring_init(&s->rings[s->n], bytes_of_one(replay, n)))
			break;
	if (s->n < n)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot read the capture ahead", replay->path, "no memory");
	return 0;
}

static bool stopped(const struct replay_stream *s)
{
	return atomic_load_explicit(&s->stop, memory_order_relaxed);
}

/* False: told to stop, or nobody takes it. */
static bool wait_for_room(struct replay_stream *s, struct replay_ring *ring)
{
	long sleep_ns = SLEEP_FIRST_NS;

	atomic_store_explicit(&s->full, true, memory_order_release);
	while (replay_ring_room(ring) < ring->size / REFILL_PART) {
		const struct timespec t = {.tv_nsec = sleep_ns};

		if (stopped(s) || atomic_load_explicit(&ring->closed, memory_order_relaxed))
			return false;
		nanosleep(&t, NULL);
		sleep_ns = sleep_ns * 2 > SLEEP_MAX_NS ? SLEEP_MAX_NS : sleep_ns * 2;
	}
	return true;
}

/* What a sender that has ended would have got is passed over. */
static bool deal(struct replay_stream *s, struct replay_ring *ring, const struct capture_frame *f)
{
	while (!atomic_load_explicit(&ring->closed, memory_order_relaxed) && !replay_ring_put(ring, f))
		if (!wait_for_room(s, ring) && stopped(s))
			return false;
	return true;
}

static bool all_closed(const struct replay_stream *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!atomic_load_explicit(&s->rings[i].closed, memory_order_relaxed))
			return false;
	return true;
}

static void read_ahead(void *arg)
{
	struct replay_stream *s = arg;
	struct capture_frame f;
	unsigned q = 0;
	int rc = 0;

	for (uint64_t k = 0; (!s->total || k < s->total) && !stopped(s) && !(q == 0 && all_closed(s)); k++) {
		rc = replay_reader_next(&s->reader, &f, &s->err);
		if (rc || !deal(s, &s->rings[q], &f))
			break;
		q = q + 1 == s->n ? 0 : q + 1;
	}
	if (rc)
		atomic_store_explicit(&s->failed, true, memory_order_release);
	for (unsigned i = 0; i < s->n; i++)
		atomic_store_explicit(&s->rings[i].ended, true, memory_order_release);
	atomic_store_explicit(&s->full, true, memory_order_release);
}

int replay_stream_start(struct replay_stream *s, struct err *e)
{
	int rc = replay_reader_open(&s->reader, s->reader.replay, e);

	return rc ? rc : worker_start(&s->thread, "squall-pcap", WORKER_CPU_ANY, read_ahead, s, e);
}

bool replay_stream_is_ready(struct replay_stream *s)
{
	return atomic_load_explicit(&s->full, memory_order_acquire);
}

bool replay_stream_has_failed(struct replay_stream *s, struct err *e)
{
	if (!atomic_load_explicit(&s->failed, memory_order_acquire))
		return false;
	*e = s->err;
	return true;
}

void replay_stream_free(struct replay_stream *s)
{
	atomic_store(&s->stop, true);
	worker_join(&s->thread);
	replay_reader_close(&s->reader);
	for (unsigned i = 0; i < s->n; i++)
		replay_ring_free(&s->rings[i]);
	free(s->rings);
	s->rings = NULL;
	s->n = 0;
}
