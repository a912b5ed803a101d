/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_queue.h"

#include "lib/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* A socket that was closed, or whose process died, leaves its queue some ms later (measured: 1 to 19; more
 * than 500 under heavy load). */
#define BIND_PATIENCE_NS (2 * NS_PER_S)
/* Of a direction that is not in use. */
#define RING_UNUSED 64U
#define RING_MIN    512U
/* In a pool that ports share, frames of others are in the ring too. */
#define RING_SHARED 2048U
/* Packets that one call sends at most in copy mode; the kernel's own choice is 32. */
#define TX_BUDGET 512
/* In copy mode packets that the device still holds count against the socket's buffer, which by default is 200 KB. */
#define SEND_BUFFER (8 << 20)
/* The record of what was sent shares no cache line with another queue's. */
#define SENT_LINE 128U
/* Packets that one busy poll takes. */
#define BUSY_POLL_BUDGET 64

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

static uint32_t ring_size(uint32_t frames)
{
	uint32_t size = RING_UNUSED;

	while (size < frames)
		size *= 2;
	return size;
}

/* As far as this process may. */
static bool raise_lock_limit(void)
{
	struct rlimit all = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
	struct rlimit now;

	if (setrlimit(RLIMIT_MEMLOCK, &all) == 0)
		return true;
	if (getrlimit(RLIMIT_MEMLOCK, &now) || now.rlim_cur == now.rlim_max)
		return false;
	now.rlim_cur = now.rlim_max;
	return setrlimit(RLIMIT_MEMLOCK, &now) == 0;
}

static int refuse_umem(const struct afxdp_port *ap, unsigned i, int rc, struct err *e)
{
	const char *port = ap->port.name;
	uint64_t kib = (ap->sockets[i].size * ap->n + 1023) / 1024;

	if (rc == -EPERM)
		err_set(e, rc, EXIT_CAPABILITY, "cannot open an AF_XDP socket", port,
			"the capability CAP_NET_RAW is missing");
	else if (rc == -ENOBUFS)
		err_set(e, rc, EXIT_CAPABILITY, "cannot lock the frames' memory", port,
			"the limit of locked memory is lower than the %llu KiB of %u queue%s, and CAP_IPC_LOCK, which "
			"lifts it, is missing",
			(unsigned long long)kib, ap->n, ap->n == 1 ? "" : "s");
	else
		err_set(e, rc, EXIT_RUN, "cannot register the frames' memory", port, "%s", strerror(-rc));
	if (rc == -EPERM)
		err_hint(e, "run it as root, or with CAP_NET_RAW%s",
			 ap->port.n_rx ? ", CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN" : "");
	if (rc == -ENOMEM)
		err_hint(e, "fewer --queues or --rx-frames: those of all queues take %llu KiB that cannot be swapped",
			 (unsigned long long)kib);
	if (rc == -ENOBUFS)
		err_hint(e, "ulimit -l %llu (or unlimited), CAP_IPC_LOCK, fewer --queues, or fewer --rx-frames",
			 (unsigned long long)kib);
	return rc;
}

static int make_umem(struct afxdp_port *ap, unsigned i, struct err *e)
{
	struct afxdp_socket *s = &ap->sockets[i];
	const struct pio_port *port = &ap->port;
	/* Twice the frames: then there is room for all of them without a look at how far the kernel has come. */
	const struct xsk_umem_config config = {
		.fill_size = i < port->n_rx ? ring_size(2 * port->rx[i]->cache->count) : RING_UNUSED,
		.comp_size =
			i < port->n_tx
				? ring_size(port->tx[i]->cache->count < RING_MIN ? RING_MIN : port->tx[i]->cache->count)
				: RING_UNUSED,
		.frame_size = 1U << ap->chunk_shift,
	};
	int rc = xsk_umem__create(&s->umem, s->base, s->size, &s->fill, &s->comp, &config);

	if (rc == -ENOBUFS && raise_lock_limit())
		rc = xsk_umem__create(&s->umem, s->base, s->size, &s->fill, &s->comp, &config);
	return rc ? refuse_umem(ap, i, rc, e) : 0;
}

static int refuse_bind(const struct afxdp_port *ap, unsigned i, bool zero_copy, int rc, struct err *e)
{
	const struct host_link *link = ap->link;
	const char *driver = link->driver[0] ? link->driver : link->kind;
	char what[sizeof(e->what)];

	snprintf(what, sizeof(what), "cannot bind queue %u", i);
	switch (rc) {
	case -EBUSY:
		err_set(e, rc, EXIT_RUN, what, ap->port.name, "another AF_XDP socket has it");
		err_hint(e, "end the program that holds it (ss --xdp -e lists them), or take another interface");
		break;
	case -EINVAL:
		if (ap->want_multi_buffer)
			return afxdp_refuse_multi_buffer(ap, rc, "this kernel has none (Linux 6.6 does)", e);
		err_set(e, rc, EXIT_RUN, what, ap->port.name, "the interface has not so many queues in use");
		err_hint(e, "ethtool -l %s shows them; fewer --queues, or ethtool -L %s for more", link->name,
			 link->name);
		break;
	case -EOPNOTSUPP:
		err_set(e, rc, EXIT_CAPABILITY, what, ap->port.name, "the driver %s has no %s%s for AF_XDP", driver,
			zero_copy ? "zero-copy" : "copy mode",
			zero_copy && ap->want_multi_buffer ? " of packets of several buffers" : "");
		break;
	case -ENETDOWN:
		err_set(e, rc, EXIT_LINK, what, ap->port.name, "the interface is down");
		err_hint(e, "ip link set %s up", link->name);
		break;
	case -EPERM:
		err_set(e, rc, EXIT_CAPABILITY, what, ap->port.name, "the capability CAP_NET_RAW is missing");
		err_hint(e, "run as root");
		break;
	default:
		err_set(e, rc, EXIT_RUN, what, ap->port.name, "%s", strerror(-rc));
	}
	return rc;
}

/* One direction of a device queue. */
static int make_socket(struct afxdp_port *ap, unsigned i, bool zero_copy, struct xsk_ring_cons *rx,
		       struct xsk_ring_prod *tx, struct xsk_socket **out, struct err *e)
{
	struct afxdp_socket *s = &ap->sockets[i];
	uint32_t tx_frames = tx ? ap->port.tx[i]->cache->count : 0;
	const uint32_t tx_least = ap->port.own_pool ? RING_MIN : RING_SHARED;
	const struct xsk_socket_config config = {
		.rx_size = rx ? ring_size(ap->port.rx[i]->cache->count) : 0,
		.tx_size = tx ? ring_size(tx_frames < tx_least ? tx_least : tx_frames) : 0,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)((zero_copy ? XDP_ZEROCOPY : XDP_COPY) | XDP_USE_NEED_WAKEUP |
					 (ap->want_multi_buffer ? XDP_USE_SG : 0)),
	};
	const uint64_t give_up = clock_mono_ns() + BIND_PATIENCE_NS;
	const struct timespec pause = {.tv_nsec = NS_PER_MS};
	int rc;

	for (;;) {
		rc = xsk_socket__create_shared(out, ap->link->name, i, s->umem, rx, tx, &s->fill, &s->comp, &config);
		if (rc != -EBUSY || clock_mono_ns() >= give_up)
			break;
		nanosleep(&pause, NULL);
	}
	if (rc)
		return refuse_bind(ap, i, zero_copy, rc, e);
	fcntl(xsk_socket__fd(*out), F_SETFD, FD_CLOEXEC);
	return 0;
}

/* What helps and is no matter when the kernel has it not. */
static void tune_socket(const struct afxdp_port *ap, int fd, bool tx, uint32_t ring)
{
	int budget = ring < TX_BUDGET ? (int)ring : TX_BUDGET;
	int buffer = SEND_BUFFER;
	int prefer = 1;
	int us = (int)(ap->busy_poll_ns / 1000);
	int packets = BUSY_POLL_BUDGET;

	if (tx) {
		setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof(buffer));
	}
	if (!ap->busy_poll_ns)
		return;
	setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &prefer, sizeof(prefer));
	setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us));
	setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &packets, sizeof(packets));
}

static int open_rx(struct afxdp_port *ap, unsigned i, bool zero_copy, struct err *e)
{
	struct afxdp_rx *rx = (struct afxdp_rx *)ap->port.rx[i];
	struct afxdp_socket *s = &ap->sockets[i];

	rx->fill = &s->fill;
	rx->base = s->base;
	rx->busy_poll = ap->busy_poll_ns != 0;
	rx->zero_copy = zero_copy;
	/* Before it is bound: a driver may look for frames once, and wait for ever when there are none. */
	afxdp_rx_fill(rx);
	int rc = make_socket(ap, i, zero_copy, &rx->ring, NULL, &s->rx, e);

	if (rc)
		return rc;
	rx->fd = xsk_socket__fd(s->rx);
	tune_socket(ap, rx->fd, false, 0);
	return 0;
}

static int open_tx(struct afxdp_port *ap, unsigned i, bool zero_copy, struct err *e)
{
	struct afxdp_tx *tx = (struct afxdp_tx *)ap->port.tx[i];
	struct afxdp_socket *s = &ap->sockets[i];
	const uint64_t chunks = s->size >> ap->chunk_shift;
	int rc = make_socket(ap, i, zero_copy, NULL, &tx->ring, &s->tx, e);

	if (rc)
		return rc;
	tx->comp = &s->comp;
	tx->base = s->base;
	tx->size = s->size;
	tx->chunk_shift = ap->chunk_shift;
	tx->zero_copy = zero_copy;
	tx->same_len = ap->want_multi_buffer ? AFXDP_DIFFERENT : 0;
	tx->consumed = tx->ring.cached_prod;
	tx->fd = xsk_socket__fd(s->tx);
	free(tx->sent);
	tx->sent = aligned_alloc(SENT_LINE, (chunks * sizeof(*tx->sent) + SENT_LINE - 1) / SENT_LINE * SENT_LINE);
	if (!tx->sent)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open a queue", ap->port.name, "no memory");
	tx->q.ops = ap->want_multi_buffer ? &afxdp_tx_multi_buffer_ops : &afxdp_tx_ops;
	tune_socket(ap, tx->fd, true, tx->ring.size);
	return 0;
}

int afxdp_socket_open(struct afxdp_port *ap, unsigned i, bool zero_copy, struct err *e)
{
	int rc = make_umem(ap, i, e);

	if (!rc && i < ap->port.n_rx)
		rc = open_rx(ap, i, zero_copy, e);
	if (!rc && i < ap->port.n_tx)
		rc = open_tx(ap, i, zero_copy, e);
	if (rc)
		afxdp_socket_close(ap, i);
	return rc;
}

/* The frames that the kernel had are free again. */
static void take_back(struct pio_queue *q)
{
	struct pio_cache *cache = q->cache;

	for (cache->n = 0; cache->n < cache->count; cache->n++)
		cache->free[cache->n] = cache->first + cache->count - 1 - cache->n;
}

void afxdp_socket_close(struct afxdp_port *ap, unsigned i)
{
	struct afxdp_socket *s = &ap->sockets[i];

	xsk_socket__delete(s->tx);
	xsk_socket__delete(s->rx);
	if (s->umem)
		xsk_umem__delete(s->umem);
	s->tx = s->rx = NULL;
	s->umem = NULL;
	if (i < ap->port.n_rx && ap->port.rx[i])
		take_back(ap->port.rx[i]);
}
