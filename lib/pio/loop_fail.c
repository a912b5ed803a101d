/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues that fail on purpose (fail, rx-fail): they work as the others do until they have had so many packets, and are
 * dead from the next call on. What is left of the healthy queue stays as it was, so that the others pay nothing.
 */
#include "loop_wire.h"

#include <errno.h>
#include <inttypes.h>

/* How many of n packets the queue still lives for; none: it is dead from now on. */
static unsigned alive(struct pio_queue *q, struct loop_failing *fail, unsigned n, const char *what)
{
	uint64_t left = fail->after - fail->had;

	if (!left)
		pio_queue_fail(q, -EIO, EXIT_RUN, what, "the loop was told to fail here after %" PRIu64 " packets",
			       fail->after);
	return n < left ? n : (unsigned)left;
}

static unsigned failing_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct loop_failing *fail = &((struct loop_tx *)q)->fail;
	unsigned live = alive(q, fail, n, "cannot send");
	unsigned done = live ? fail->healthy->tx(q, f, live) : 0;

	fail->had += done;
	return done;
}

static unsigned failing_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	struct loop_failing *fail = &((struct loop_rx *)q)->fail;
	unsigned live = alive(q, fail, n, "cannot receive");
	unsigned got = live ? fail->healthy->rx(q, f, live) : 0;

	fail->had += got;
	return got;
}

static int failing_poll(struct pio_queue *q, int timeout_ms)
{
	int rc = pio_queue_error(q, NULL);

	return rc ? rc : ((struct loop_rx *)q)->fail.healthy->poll(q, timeout_ms);
}

void loop_fail_after(struct pio_queue *q, struct loop_failing *fail, uint64_t packets)
{
	fail->after = packets;
	fail->healthy = q->ops;
	fail->ops = *q->ops;
	if (q->is_tx) {
		fail->ops.tx = failing_tx;
	} else {
		fail->ops.rx = failing_rx;
		fail->ops.poll = failing_poll;
	}
	q->ops = &fail->ops;
}
