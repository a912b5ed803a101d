/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"
#include "lib/clock.h"
#include "loop.h"
#include "loop_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TX_FRAMES 256U /* a frame comes back at once: only the caller's burst is ever out */
#define RX_FRAMES 1024U
#define MAX_FRAME 1514U
#define LINE      64U

/* An odd number of cache lines, so that neighbours do not fall into the same sets. */
static uint32_t stride_for(size_t bytes)
{
	return (uint32_t)(((bytes + LINE - 1) / LINE | 1) * LINE);
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static void *zeroed_lines(size_t size)
{
	size = (size + 127) / 128 * 128;
	void *p = aligned_alloc(128, size);

	return p ? memset(p, 0, size) : NULL;
}

/* Untouched slots cost address space only. */
static int make_wires(struct loop *loop)
{
	size_t n = (size_t)loop->port.n_tx * loop->port.n_rx;
	uint32_t room = loop->port.caps.max_frame > LOOP_COPY_MIN ? loop->port.caps.max_frame : LOOP_COPY_MIN;
	/* One behind the other, since they are used in turn: that fetches what comes next, too. */
	uint32_t stride = (uint32_t)((offsetof(struct loop_slot, data) + room + 15) & ~15ULL);
	uint32_t slots = power_of_two(loop->options.ring);

	if (!n || loop->options.sink)
		return 0;
	loop->wires = zeroed_lines(n * sizeof(*loop->wires));
	loop->did = zeroed_lines(loop->port.n_tx * sizeof(*loop->did));
	loop->slots_size = n * slots * stride;
	loop->slots = mmap(NULL, loop->slots_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);
	if (!loop->wires || !loop->did || loop->slots == MAP_FAILED)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct loop_wire *w = &loop->wires[i];

		w->slots = loop->slots + i * slots * stride;
		w->stride = stride;
		w->mask = slots - 1;
		w->capacity = loop->options.ring;
	}
	loop->port.loop = loop->did;
	return 0;
}

static struct loop_hold *make_hold(uint32_t max_frame)
{
	struct loop_hold *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->stride = stride_for(max_frame);
	h->data = malloc((size_t)LOOP_HOLD_FRAMES * h->stride);
	if (!h->data) {
		free(h);
		return NULL;
	}
	for (uint32_t i = 0; i < LOOP_HOLD_LISTS; i++)
		h->first[i] = LOOP_HOLD_NONE;
	for (uint32_t i = 0; i < LOOP_HOLD_FRAMES; i++)
		h->held[i].next = i + 1;
	return h;
}

static const struct pio_queue_ops *tx_ops(const struct loop *loop)
{
	const struct loop_options *o = &loop->options;

	if (o->interval || (loop->wires && (o->delay_ns || o->loss || o->duplicate || o->reorder)))
		return &loop_shaped_ops;
	return loop->wires ? &loop_plain_ops : &loop_sink_ops;
}

static int make_tx(struct loop *loop, unsigned index, uint32_t frames, struct err *e)
{
	struct loop_tx *tx = (struct loop_tx *)pio_queue_create(&loop->port, sizeof(*tx), index, true, frames, e);

	if (!tx)
		return -ENOMEM;
	loop->port.tx[index] = &tx->q;
	tx->q.ops = tx_ops(loop);
	tx->loop = loop;
	tx->rand = rand_mix(loop->options.seed + rand_mix(index + 1));
	if (loop->wires) {
		tx->n_wires = loop->port.n_rx;
		tx->wires = &loop->wires[(size_t)index * loop->port.n_rx];
		tx->did = &loop->did[index];
	}
	if (loop->wires && loop->options.reorder) {
		tx->hold = make_hold(loop->port.caps.max_frame);
		if (!tx->hold)
			return -ENOMEM;
	}
	if (loop->options.fail[index] != LOOP_FAIL_NEVER)
		loop_fail_after(&tx->q, &tx->fail, loop->options.fail[index]);
	return 0;
}

static int make_rx(struct loop *loop, unsigned index, uint32_t frames, struct err *e)
{
	struct loop_rx *rx = (struct loop_rx *)pio_queue_create(&loop->port, sizeof(*rx), index, false, frames, e);

	if (!rx)
		return -ENOMEM;
	loop->port.rx[index] = &rx->q;
	rx->q.ops = &loop_rx_ops;
	rx->filter = &loop->filter;
	rx->stop_ns = UINT64_MAX;
	rx->to_wall_ns = clock_wall_ns() - clock_mono_ns();
	if (loop->wires) {
		rx->wires = &loop->wires[index];
		rx->n_wires = loop->port.n_tx;
		rx->step = loop->port.n_rx;
	}
	if (loop->options.rx_fail[index] != LOOP_FAIL_NEVER)
		loop_fail_after(&rx->q, &rx->fail, loop->options.rx_fail[index]);
	return 0;
}

static void loop_close(struct pio_port *port)
{
	struct loop *loop = (struct loop *)port;

	for (unsigned i = 0; port->tx && i < port->n_tx; i++) {
		struct loop_tx *tx = (struct loop_tx *)port->tx[i];

		if (!tx)
			continue;
		if (tx->hold)
			free(tx->hold->data);
		free(tx->hold);
		pio_queue_destroy(&tx->q);
	}
	for (unsigned i = 0; port->rx && i < port->n_rx; i++)
		pio_queue_destroy(port->rx[i]);
	if (loop->slots && loop->slots != MAP_FAILED)
		munmap(loop->slots, loop->slots_size);
	if (port->own_pool)
		pio_pool_destroy(port->pool);
	free(loop->wires);
	free(loop->did);
	free(port->tx);
	free(port->rx);
	free(loop);
}

static int refuse_queues(const struct loop_options *o, uint32_t asked, const char *device, struct err *e)
{
	err_set(e, -EINVAL, EXIT_USAGE, "cannot open the loop", device, "it has %u %s in each direction, %u are wanted",
		o->queues, o->queues == 1 ? "queue" : "queues", asked);
	err_hint(e, "loop:queues=%u", asked);
	return -EINVAL;
}

static int make_pool(struct pio_port *port, const struct pio_conf *conf, uint32_t frames, struct err *e)
{
	if (conf->pool) {
		port->pool = conf->pool;
		return pio_check_pool(conf->pool, port, e);
	}
	port->own_pool = true;
	return pio_pool_create_own(&port->pool, frames ? frames : 1, port->caps.max_frame, e);
}

static void describe(struct loop *loop)
{
	struct pio_caps *caps = &loop->port.caps;
	bool sink = loop->options.sink || !loop->port.n_rx;

	snprintf(caps->mechanism, sizeof(caps->mechanism), sink ? "memory, a sink" : "a wire in memory");
	caps->blocking_poll = true;
	caps->offers_again = true;
	caps->arrivals = PIO_CLOCK_MONOTONIC;
	caps->arrivals_by = "the backend";
	caps->delay_ns = loop->options.delay_ns;
	caps->crosses_by_reference = sink;
	caps->headroom = PIO_RX_HEADROOM;
	caps->tailroom = PIO_TAILROOM;
}

static int loop_open(const struct pio_conf *conf, const char *device, struct pio_port **out, struct err *e)
{
	uint32_t tx_frames = conf->tx_frames ? conf->tx_frames : TX_FRAMES;
	uint32_t rx_frames = conf->rx_frames ? conf->rx_frames : RX_FRAMES;
	uint32_t queues = conf->tx_queues > conf->rx_queues ? conf->tx_queues : conf->rx_queues;
	struct loop_options o;
	struct loop *loop;
	struct pio_port *port;
	int rc;

	*out = NULL;
	rc = loop_parse(device, &o, e);
	if (rc)
		return rc;
	if (queues > o.queues)
		return refuse_queues(&o, queues, device, e);
	loop = zeroed_lines(sizeof(*loop));
	if (!loop)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open the loop", device, "no memory");
	port = &loop->port;
	port->backend = &pio_loop;
	snprintf(port->name, sizeof(port->name), "loop:%s", device);
	port->caps.max_frame = conf->max_frame ? conf->max_frame : MAX_FRAME;
	port->n_tx = conf->tx_queues;
	port->n_rx = conf->rx_queues;
	loop->options = o;
	loop->start_ns = clock_mono_ns();
	if (conf->filter)
		filter_compile(&loop->filter, conf->filter);
	describe(loop);
	err_set(e, -ENOMEM, EXIT_RUN, "cannot open the loop", device, "no memory");
	port->tx = calloc(port->n_tx + 1, sizeof(struct pio_queue *));
	port->rx = calloc(port->n_rx + 1, sizeof(struct pio_queue *));
	rc = !port->tx || !port->rx ? -ENOMEM : make_wires(loop);
	if (!rc)
		rc = make_pool(port, conf, port->n_tx * tx_frames + port->n_rx * rx_frames, e);
	for (unsigned i = 0; i < port->n_tx && !rc; i++)
		rc = make_tx(loop, i, tx_frames, e);
	for (unsigned i = 0; i < port->n_rx && !rc; i++)
		rc = make_rx(loop, i, rx_frames, e);
	if (rc)
		loop_close(port);
	else
		*out = port;
	return rc;
}

static int loop_probe(const struct host_link *link, struct err *e)
{
	(void)link;
	(void)e;
	return 0;
}

static int loop_queues(const char *device, uint32_t *n, struct err *e)
{
	struct loop_options o;
	int rc = loop_parse(device, &o, e);

	*n = rc ? 0 : o.queues;
	return rc;
}

const struct pio_backend pio_loop = {
	.name = "loop",
	.summary = "a wire in memory: no network, no privilege",
	.probe = loop_probe,
	.queues = loop_queues,
	.open = loop_open,
	.close = loop_close,
};
