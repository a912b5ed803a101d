/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pio: packet I/O, one contract for every way to the wire.
 *
 * A port has transmit and receive queues. A queue belongs to one thread and nothing in it is locked; the thread of a
 * receive queue also drives every transmit queue that carries its frames.
 *
 * Ownership. A frame is owned by exactly one of the pool, the caller and the device:
 *
 *     transmit:  pool --get--> caller --tx--> device --(finished)--> pool
 *                              caller --put--> pool
 *     receive:   pool --(device)--> device --rx--> caller --put--> pool
 *     forward:   device --rx--> caller --tx on any port of the same pool--> device --(finished)--> its home
 *
 * A checked build (-DSQUALL_CHECKED=ON) keeps an ownership map and aborts on a violation.
 *
 * Hot calls (get, tx, kick, rx, poll, put): one indirect call per burst, arrays are the caller's, nothing is allocated,
 * nothing blocks but poll, the result is how many were done. They never fail loudly: a queue that cannot go on latches
 * an error (pio_queue_error), which tells a dead queue from a full one.
 */
#ifndef SQUALL_PIO_H
#define SQUALL_PIO_H

#include "filter.h"
#include "lib/config.h"
#include "lib/err.h"
#include "lib/host.h"
#include "lib/stats.h"
#include "pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One thing to know about an opened port that only some backends have. */
struct pio_note {
	char key[32];   /* of the report's start, "xdp.mode"; empty: a warning */
	char label[16]; /* for people */
	char text[232];
};

#define PIO_NOTES_MAX 12

enum pio_clock { PIO_CLOCK_NONE, PIO_CLOCK_MONOTONIC, PIO_CLOCK_WALL };

/* What the opened device took, never what was asked for. */
struct pio_caps {
	char mechanism[64];        /* in words: "TPACKET_V2 ring, linear copy", "native, copy" */
	char why[256];             /* why not a better one; empty when this is the best there is */
	bool zero_copy;            /* the device reads and writes the pool's memory */
	bool kernel_keeps;         /* Linux still uses the interface, for what is not received here */
	bool rx_copies;            /* and gets what is received here, too */
	bool blocking_poll;        /* poll sleeps; else it returns at once */
	bool rx_chains;            /* rx may return packets of several frames (PIO_MORE) */
	bool tx_chains;            /* tx takes packets of several frames, whole; else they end the prefix */
	bool queue_by_cpu;         /* packets leave by the queue of the processor that the sender's thread is on then */
	bool offers_again;         /* what the device has no room or carrier for waits; else it is dropped_driver */
	enum pio_clock arrivals;   /* tells when each packet came; NONE: first_ns and last_ns are when rx took them */
	const char *arrivals_by;   /* with arrivals: who does, "the kernel" */
	bool crosses_by_reference; /* a frame from another port of the pool is sent without a copy */
	uint32_t max_frame;        /* largest packet for tx in one frame, without FCS */
	uint64_t delay_ns;         /* the device holds every packet back for so long, on purpose */
	uint32_t tx_burst;         /* so many packets a call are sent at the least cost; 0: it does not matter */
	uint32_t headroom;         /* before, and after, every received packet: at least */
	uint32_t tailroom;
	bool restarts_link; /* opening may have taken the carrier away for a while */
	unsigned n_notes;
	struct pio_note notes[PIO_NOTES_MAX];
};

struct pio_queue;

struct pio_queue_ops {
	unsigned (*get)(struct pio_queue *q, struct pio_frame *f, unsigned n);
	unsigned (*tx)(struct pio_queue *q, const struct pio_frame *f, unsigned n);
	void (*kick)(struct pio_queue *q);
	unsigned (*rx)(struct pio_queue *q, struct pio_frame *f, unsigned n);
	int (*poll)(struct pio_queue *q, int timeout_ms);
	void (*sync)(struct pio_queue *q);
	void (*stop)(struct pio_queue *q); /* may be NULL */
	void (*give_up)(
		struct pio_queue *q); /* may be NULL: takes back, as dropped_end, what the device has not begun with */
};

struct pio_port;

/* A transmit or a receive queue. Backends embed it as their first member. */
struct pio_queue {
	const struct pio_queue_ops *ops;
	struct pio_port *port;
	struct pio_cache *cache;
	unsigned index;
	bool is_tx;
	_Atomic int error; /* 0, or the latched -errno; `why` is complete before it is set */
	struct err why;
	/* Receive: wall clock of the first and the last packet that rx returned (caps.arrivals); 0: none. */
	_Atomic uint64_t first_ns, last_ns;
	/*
	 * Receive, with caps.arrivals: where rx writes when each of the frames that it returns came (of a packet of
	 * several: into the first's place, at least). NULL: nowhere. The caller's, as large as the arrays it gives to
	 * rx, and set before the first call. A packet that brings no time came when it is taken, and counts as untimed.
	 */
	uint64_t *arrivals_ns;
	union { /* written by the queue's thread only */
		struct stats_tx tx;
		struct stats_rx rx;
	} stats;
};

struct pio_conf {
	const char *name;        /* "eth1", "afpacket:eth1", "loop:sink,queues=4" */
	const char *backend;     /* NULL or empty: by the name's prefix, else the best that works */
	const struct host *host; /* a snapshot; may be NULL for loop */
	uint32_t tx_queues;      /* 0: none, no transmit memory */
	uint32_t rx_queues;      /* 0: none; the receive path of the kernel is not touched */
	uint32_t max_frame;      /* the largest packet of this run, without FCS; 0: 1514 */
	uint32_t tx_frames;      /* per queue; 0: the backend's choice */
	uint32_t rx_frames;
	const struct filter *filter; /* needed with rx_queues; copied */
	struct pio_pool *pool;       /* NULL: the port makes its own */
	bool qdisc;                  /* send through the queueing discipline, so that tcpdump and tc see the packets */
	bool times; /* arrivals_ns will be asked for: without it, a backend where that costs something has it not */
	/* For afxdp. */
	enum xdp_choice xdp_mode;
	enum when_helpful napi_defer;
	uint64_t busy_poll_ns; /* 0: interrupts */
};

struct pio_port {
	const struct pio_backend *backend;
	char name[64]; /* for messages: "afpacket:eth1" */
	struct pio_caps caps;
	struct pio_pool *pool;
	bool own_pool;
	int ifindex; /* 0: no Linux interface */
	uint32_t n_tx, n_rx;
	struct pio_queue **tx, **rx;
	struct stats_loop *loop; /* what impairment did, one per transmit queue; NULL but for loop */
};

struct pio_backend {
	const char *name;
	const char *summary; /* one line for `squall devices` */
	bool needs_link;     /* works on a Linux interface */
	/* A receive queue gets what the device puts on its queue of that number; else the queues share all there is. */
	bool rx_by_device;
	bool no_qdisc; /* sends past the queueing discipline, always */
	/* 0: this would work on that link; else why not and what to do; -ENOSYS: this build has it not. Changes
	 * nothing. */
	int (*probe)(const struct host_link *link, struct err *e);
	/* Without needs_link: how many queues the device has in each direction. Else NULL: the link tells. */
	int (*queues)(const char *device, uint32_t *n, struct err *e);
	int (*open)(const struct pio_conf *conf, const char *device, struct pio_port **out, struct err *e);
	void (*close)(struct pio_port *port);
};

/* Every backend, best first, the absent ones too (their probe says how to get them). NULL-terminated. */
extern const struct pio_backend *const pio_backends[];

/* ---- cold calls: main thread, before and after the queues' threads run ---- */

/*
 * The backend that pio_open() would try first for conf's name, backend and qdisc: the named one, or the first of the
 * table that could do. Changes nothing. Errors as of pio_open().
 */
int pio_choose(const struct pio_conf *conf, const struct pio_backend **out, struct err *e);

/*
 * Opens a port. Without a named backend it is the first of the table that works: one that lacks a privilege or a mode
 * is passed over, and caps.why tells. Errors: EXIT_USAGE (name, options, frame too large), EXIT_CAPABILITY (privilege,
 * backend), EXIT_LINK, EXIT_RUN. On failure *out is NULL and nothing is left behind.
 */
int pio_open(const struct pio_conf *conf, struct pio_port **out, struct err *e);
void pio_close(struct pio_port *port);

/*
 * Splits "backend:device". *device points into name. Without a backend's prefix *backend is the one that `preferred`
 * names (NULL or empty: none), or NULL.
 */
void pio_name_split(const char *name, const char *preferred, const struct pio_backend **backend, const char **device);

/* The interface in a device text: what stands before the first comma ("eth1,tx=ring"). -EINVAL with EXIT_USAGE. */
int pio_link_name(const char *device, char name[IF_NAMESIZE], struct err *e);

/*
 * Calls fn once on every frame of a transmit queue. Frames are sticky: what is written here, and what is written after
 * a get, is still there when the frame comes back. len is the room on entry; what fn writes into it is not kept.
 */
typedef void pio_prime_fn(void *arg, struct pio_frame *f);
void pio_prime(struct pio_queue *q, pio_prime_fn *fn, void *arg);

/*
 * Lets the device finish: kicks until everything queued is completed or dropped, at most until deadline (monotonic
 * ns); what it has not begun with by then is taken back as dropped_end, and what is left is undecided. The last call on
 * the queue but close. Queue's thread.
 */
void pio_drain(struct pio_queue *q, uint64_t deadline_ns);

/*
 * The run is over. A transmit queue lets go of what it holds back; a receive queue takes nothing more in, and what it
 * has taken in can still be received, the last of it within PIO_SETTLE_MS. Queue's thread.
 */
void pio_stop(struct pio_queue *q);

/* A kernel's ring hands a packet over some ms after it came; after this much silence nothing is left in it. */
#define PIO_SETTLE_MS 10

/* Any thread. 0, or the latched -errno with *e filled (e may be NULL). */
int pio_queue_error(struct pio_queue *q, struct err *e);

/* For backends, while they open a port. Notes beyond PIO_NOTES_MAX are dropped. */
void pio_note(struct pio_caps *caps, const char *key, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void pio_warn(struct pio_caps *caps, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For backends: latches the first error. */
int pio_queue_fail(struct pio_queue *q, int rc, enum exit_code code, const char *what, const char *cause_fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* The same for a queue whose interface is there no more. -ENODEV. */
int pio_queue_gone(struct pio_queue *q);

/* ---- hot calls: the queue's thread ---- */

/* Keeps the ownership map of a checked build. An address outside the pool is left to the backend to refuse. */
static inline void pio_owner_change_all(struct pio_pool *pool, const struct pio_frame *f, unsigned n,
					enum pio_owner from, enum pio_owner to, const char *call)
{
#ifdef SQUALL_CHECKED
	for (unsigned i = 0; i < n; i++) {
		uint32_t id = pio_slot_of(pool, f[i].data, 1);

		if (id != UINT32_MAX)
			pio_owner_change(pool, id, from, to, call);
	}
#else
	(void)pool;
	(void)f;
	(void)n;
	(void)from;
	(void)to;
	(void)call;
#endif
}

/* For backends: when the first and the last packet that a rx call returns arrived. */
static inline void pio_note_arrival(struct pio_queue *q, uint64_t first_ns, uint64_t last_ns)
{
	if (!atomic_load_explicit(&q->first_ns, memory_order_relaxed))
		atomic_store_explicit(&q->first_ns, first_ns, memory_order_relaxed);
	atomic_store_explicit(&q->last_ns, last_ns, memory_order_relaxed);
}

/* Up to n frames to fill: data at the frame's start, len 0. They hold what was last written in them. */
static inline unsigned pio_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	unsigned got = q->ops->get(q, f, n);

	pio_owner_change_all(q->port->pool, f, got, PIO_OWNER_POOL, PIO_OWNER_CALLER, "get");
	return got;
}

/*
 * Sends a prefix of the array and returns its length; the rest stays the caller's. Short: the ring is full (kick and
 * come again), or the queue is dead (pio_queue_error), or the frame at the prefix's end is not a frame of this pool, is
 * empty, or is longer than its slot or caps.max_frame, or begins a packet of several frames that is not whole in the
 * array or is of more pieces than the device takes. Frames may come from any port opened on the same pool.
 */
static inline unsigned pio_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	pio_owner_change_all(q->port->pool, f, n, PIO_OWNER_CALLER, PIO_OWNER_DEVICE, "tx");
	unsigned done = q->ops->tx(q, f, n);

	pio_owner_change_all(q->port->pool, f + done, n - done, PIO_OWNER_DEVICE, PIO_OWNER_CALLER, "tx refused");
	return done;
}

/* Makes the device go on with what it was given, and takes back what it finished. */
static inline void pio_kick(struct pio_queue *q)
{
	q->ops->kick(q);
}

/* Up to n frames that were received. They are the caller's until put or tx. */
static inline unsigned pio_rx(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	unsigned got = q->ops->rx(q, f, n);

	pio_owner_change_all(q->port->pool, f, got, PIO_OWNER_POOL, PIO_OWNER_CALLER, "rx");
	return got;
}

/* Waits until rx may return something: 1, 0 after timeout_ms, -EINTR after a signal, -errno when the queue is dead. */
static inline int pio_poll(struct pio_queue *q, int timeout_ms)
{
	return q->ops->poll(q, timeout_ms);
}

/* Brings counters that the kernel keeps up to date (drops). Cheap enough for ten calls a second. */
static inline void pio_sync(struct pio_queue *q)
{
	q->ops->sync(q);
}

/* pio_put() of frames of which some may be another cache's. */
void pio_put_any(struct pio_queue *q, const struct pio_frame *f, unsigned n);

/* Gives frames back unsent. Those of another port's cache go home there. Foreign addresses abort a checked build. */
static inline void pio_put(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct pio_pool *pool = q->port->pool;
	struct pio_cache *own = q->cache;
	/* Copies, since a store into a stack could, for all the compiler knows, change what it points to. */
	const unsigned char *const memory = pool->base + ((uint64_t)own->first << pool->shift);
	const unsigned shift = pool->shift;
	const uint64_t last = (uint64_t)own->count - 1;
	const uint32_t first = own->first;
	uint32_t *const top = own->free + own->n;
	uint64_t past = 0; /* its highest bit: some slot is not one of this cache's */

	if (n > own->count - own->n) {
		pio_put_any(q, f, n);
		return;
	}
	/* No branch in it, so that compilers make it one for several frames at once. */
	for (unsigned i = 0; i < n; i++) {
		const uint64_t slot = (uint64_t)(f[i].data - memory) >> shift;

		past |= last - slot;
		top[i] = first + (uint32_t)slot;
	}
	if (past >> 63) {
		pio_put_any(q, f, n);
		return;
	}
	own->n += n;
	pio_owner_change_all(pool, f, n, PIO_OWNER_CALLER, PIO_OWNER_POOL, "put");
}

#endif
