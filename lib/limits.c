/* SPDX-License-Identifier: Apache-2.0 */
#include "limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A thread is said to have been full when it was for most of the time, and for more than a moment. */
#define WINDOWS_MIN 3U
#define FULL_SHARE  90U /* % */
/* It had its processor for less than half of the time that it could have used it, and that was not a moment either. */
#define CROWDED_SHARE 50U /* % */
#define CROWDED_NS    100000000ULL

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static bool was_full(const struct limits_rx *q)
{
	return q->windows >= WINDOWS_MIN && q->full * 100 >= q->windows * FULL_SHARE;
}

static uint64_t wanted_ns(const struct limits_time *t)
{
	return t->ran_ns + t->waited_ns;
}

static bool was_crowded(const struct limits_time *t)
{
	return t->waited_ns >= CROWDED_NS && t->waited_ns * 100 >= wanted_ns(t) * CROWDED_SHARE;
}

bool limits_rx_tell(const struct limits_rx *q, char *buf, size_t size)
{
	double lost = percent(q->dropped, q->packets + q->dropped);

	if (q->dropped && was_crowded(&q->time))
		snprintf(buf, size,
			 "receive queue %u's core was full of other work: its thread waited for it %.3g %% of the time "
			 "that it had something to do, and %.3g %% of its packets (%" PRIu64
			 ") were dropped before us; a processor of its own (--cpus)",
			 q->queue, percent(q->time.waited_ns, wanted_ns(&q->time)), lost, q->dropped);
	else if (q->dropped && was_full(q))
		snprintf(buf, size,
			 "receive queue %u's core was full: %.3g %% of its packets (%" PRIu64
			 ") were dropped before us; spread flows over more queues, or add --queues",
			 q->queue, lost, q->dropped);
	else if (q->dropped)
		snprintf(buf, size,
			 "receive queue %u was not emptied in time now and then: %.3g %% of its packets (%" PRIu64
			 ") were dropped before us; --rx-frames, and a processor of its own (--cpus), hold more",
			 q->queue, lost, q->dropped);
	else if (was_full(q))
		snprintf(buf, size,
			 "receive queue %u's core was full for %.3g %% of the time: it took everything, and could not "
			 "take more",
			 q->queue, percent(q->full, q->windows));
	else
		return false;
	return true;
}

bool limits_tx_tell(const struct limits_tx *t, char *buf, size_t size)
{
	if (!t->unsent)
		return false;
	if (t->ring_full * 10 > t->calls + t->ring_full)
		snprintf(buf, size,
			 "the device was the limit: %.3g %% of the packets that were due (%" PRIu64
			 ") were not sent, and %.3g %% of the calls found its transmit ring full",
			 percent(t->unsent, t->due), t->unsent, percent(t->ring_full, t->calls + t->ring_full));
	else if (was_crowded(&t->time))
		snprintf(buf, size,
			 "the sender was the limit: %.3g %% of the packets that were due (%" PRIu64
			 ") were not sent in time, since other work had its cores for %.3g %% of the time that it had "
			 "something to do; processors of its own (--cpus)",
			 percent(t->unsent, t->due), t->unsent, percent(t->time.waited_ns, wanted_ns(&t->time)));
	else
		snprintf(buf, size,
			 "the sender was the limit: %.3g %% of the packets that were due (%" PRIu64
			 ") were not sent in time, though the device had room; more --queues, or processors of their "
			 "own (--cpus)",
			 percent(t->unsent, t->due), t->unsent);
	return true;
}

/* The counter that grew most, of those that `wanted` takes (NULL: all). NULL: none did. */
static const struct host_drop *most(const struct host_drops *d, bool (*wanted)(const char *name))
{
	const struct host_drop *best = NULL;

	for (unsigned i = 0; i < d->n; i++)
		if (d->drop[i].n && (!wanted || wanted(d->drop[i].name)) && (!best || d->drop[i].n > best->n))
			best = &d->drop[i];
	return best;
}

/* The device had nowhere to put a packet. Other drops may be of packets that were nobody's. */
static bool is_no_room(const char *name)
{
	static const char *const words[] = {"rx_missed", "rx_over", "rx_fifo",    "no_buf", "nobuf",
					    "no_desc",   "nodesc",  "out_of_buf", "no_dma", "allowance_exceeded"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Before and behind the number and the counter's name. */
static const struct counter_text {
	bool (*wanted)(const char *name); /* NULL: each of them */
	const char *before, *behind;
} texts[] = {
	[LIMITS_NO_ROOM] = {is_no_room, "the device dropped packets for want of room", "before us and before Linux"},
	[LIMITS_PAUSE] = {NULL, "pause frames held the link",
			  "rates are then the other end's, and ethtool -A turns them off"},
};

bool limits_counter_tell(enum limits_counter what, const struct host_drops *grown, char *buf, size_t size)
{
	const struct host_drop *d = most(grown, texts[what].wanted);

	if (!d)
		return false;
	snprintf(buf, size, "%s: %" PRIu64 " by the device's counter %s; %s", texts[what].before, d->n, d->name,
		 texts[what].behind);
	return true;
}
