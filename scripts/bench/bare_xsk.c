/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_xsk: the least that a program can do around AF_XDP's rings, for the bench to compare with. Copy mode, one
 * thread and one UMEM per queue, queues 0 to N-1, each thread on a CPU of its own of those that the process may use.
 *
 *   bare_xsk tx IFACE QUEUES SECONDS                   one written frame, sent over and over
 *   bare_xsk rx IFACE QUEUES SECONDS native|generic    takes everything, reads a byte of each packet
 *
 * Ends after SECONDS, or at SIGINT. Prints a JSON line: packets, seconds, user_ns per packet; rx: and its drops.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <xdp/xsk.h>

#define CHUNK           2048U
#define STAGGER         64U /* frames that all begin on a chunk's first byte fall into the same cache sets */
#define MAX_QUEUES      16U
#define MAX_SKB_BUDGET  9 /* XDP_MAX_TX_SKB_BUDGET, since Linux 6.17 */
#define FRAME_LEN       60U
#define REBIND_ATTEMPTS 200
#define KICKS           4096

/* 02:00:00:00:00:01 to :09, 10.77.0.1 to 10.77.0.2, UDP from port 1024 to 9000 without a checksum. */
static const unsigned char frame[FRAME_LEN] = {
	0x02, 0, 0,    0,  0,    9,    0x02, 0,  0, 0, 0,  1,  0x08, 0x00, 0x45, 0x00, 0,    46,   0, 0,
	0,    0, 0x40, 17, 0x66, 0x23, 10,   77, 0, 1, 10, 77, 0,    2,    0x04, 0x00, 0x23, 0x28, 0, 26,
};

/*
 * What can be tried; the values here are the best that were found. Sending: a budget of 512 saves 5 % of 32's time;
 * 2048 frames, other batches and doing without need-wakeup bring nothing. Receiving: all batches from 16 on and all
 * ways of spinning are alike, poll(2) costs the sender a third more.
 */
static struct {
	unsigned frames, ring, batch, budget;
} conf = {.batch = 512, .budget = 512};

struct bare {
	pthread_t thread;
	unsigned queue;
	int fd;
	unsigned char *area;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons comp, rx;
	_Alignas(128) uint64_t packets, seen, user_ns;
	uint64_t first_ns, last_ns;
};

static _Atomic bool stop;
static struct bare bares[MAX_QUEUES];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void on_signal(int sig)
{
	(void)sig;
	atomic_store(&stop, true);
}

static void bare_open(struct bare *b, const char *ifname, bool tx)
{
	/* The kernel tells of what it took from a ring a while later: fill and transmit rings have room for all twice.
	 */
	struct xsk_umem_config u = {
		.fill_size = tx ? 64 : 2 * conf.ring, .comp_size = tx ? conf.ring : 64, .frame_size = CHUNK};
	struct xsk_socket_config s = {
		.rx_size = conf.ring,
		.tx_size = 2 * conf.ring,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP,
	};
	const size_t size = (size_t)conf.frames * CHUNK;
	int rc;

	b->area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b->area == MAP_FAILED)
		errx(1, "%zu bytes of memory: %s", size, strerror(errno));
	rc = xsk_umem__create(&b->umem, b->area, size, &b->fill, &b->comp, &u);
	if (rc)
		errx(1, "UMEM: %s", strerror(-rc));
	/* The kernel lets go of a queue some milliseconds after its last user has gone. */
	for (int i = 0; i < REBIND_ATTEMPTS; i++) {
		rc = xsk_socket__create(&b->xsk, ifname, b->queue, b->umem, tx ? NULL : &b->rx, tx ? &b->tx : NULL, &s);
		if (rc != -EBUSY)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	if (rc)
		errx(1, "socket on %s, queue %u: %s", ifname, b->queue, strerror(-rc));
	b->fd = xsk_socket__fd(b->xsk);
	if (tx && conf.budget)
		(void)setsockopt(b->fd, SOL_XDP, MAX_SKB_BUDGET, &conf.budget, sizeof(conf.budget));
}

/* Has the kernel send what is in the ring. It takes so many packets a call, and says EAGAIN while more are there. */
static void bare_kick(struct bare *b)
{
	for (unsigned i = 0; i < KICKS; i++) {
		if (sendto(b->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0)
			return;
		if (errno == EBUSY || errno == ENOBUFS)
			return;
		if (errno != EAGAIN)
			errx(1, "sendto: %s", strerror(errno));
	}
}

/* Takes back what was sent, and with `again` gives it to the ring again. */
static inline __attribute__((always_inline)) void bare_reap(struct bare *b, const bool again)
{
	uint32_t from, to, n;

	while ((n = xsk_ring_cons__peek(&b->comp, conf.batch, &from))) {
		if (again && xsk_ring_prod__reserve(&b->tx, n, &to)) { /* always */
			for (uint32_t i = 0; i < n; i++)
				*xsk_ring_prod__tx_desc(&b->tx, to + i) = (struct xdp_desc){
					.addr = *xsk_ring_cons__comp_addr(&b->comp, from + i), .len = FRAME_LEN};
			xsk_ring_prod__submit(&b->tx, n);
		}
		xsk_ring_cons__release(&b->comp, n);
		b->packets += n;
	}
}

static void bare_tx(struct bare *b)
{
	uint32_t to;

	if (!xsk_ring_prod__reserve(&b->tx, conf.frames, &to))
		errx(1, "the ring is too small");
	for (uint32_t i = 0; i < conf.frames; i++) {
		uint64_t addr = (uint64_t)i * CHUNK + (i % 16) * STAGGER;

		memcpy(b->area + addr, frame, FRAME_LEN);
		*xsk_ring_prod__tx_desc(&b->tx, to + i) = (struct xdp_desc){.addr = addr, .len = FRAME_LEN};
	}
	xsk_ring_prod__submit(&b->tx, conf.frames);
	b->first_ns = now_ns();
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		bare_kick(b);
		bare_reap(b, true);
	}
	b->last_ns = now_ns();
	/* Every frame is under way, here or in the kernel. */
	for (uint64_t all = b->packets + conf.frames; b->packets != all && now_ns() - b->last_ns < 1000000000;) {
		bare_kick(b);
		bare_reap(b, false);
	}
}

static void bare_rx(struct bare *b)
{
	uint64_t seen = 0, counted = 0;
	unsigned idle = 0;
	uint32_t from, to, n;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		n = xsk_ring_cons__peek(&b->rx, conf.batch, &from);
		if (!n) {
			if (++idle % 256 == 0 && b->packets != counted) {
				counted = b->packets;
				b->last_ns = now_ns();
			}
			continue;
		}
		if (!b->packets)
			b->first_ns = now_ns();
		if (!xsk_ring_prod__reserve(&b->fill, n, &to))
			errx(1, "the fill ring is full");
		for (uint32_t i = 0; i < n; i++) {
			uint64_t addr = xsk_ring_cons__rx_desc(&b->rx, from + i)->addr;

			seen += b->area[addr];
			*xsk_ring_prod__fill_addr(&b->fill, to + i) = addr & ~(uint64_t)(CHUNK - 1);
		}
		xsk_ring_prod__submit(&b->fill, n);
		xsk_ring_cons__release(&b->rx, n);
		b->packets += n;
	}
	b->seen = seen;
}

struct job {
	struct bare *bare;
	void (*run)(struct bare *b);
	cpu_set_t cpu;
};

static void *job_run(void *arg)
{
	struct job *j = arg;
	struct rusage before, after;

	(void)sched_setaffinity(0, sizeof(j->cpu), &j->cpu);
	getrusage(RUSAGE_THREAD, &before);
	j->run(j->bare);
	getrusage(RUSAGE_THREAD, &after);
	j->bare->user_ns = (uint64_t)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000000U +
			   (uint64_t)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1000U;
	return NULL;
}

/* A program that redirects every packet to the socket of its queue; without one, to the kernel. Returns its link. */
static int attach(int ifindex, uint32_t flags, unsigned n)
{
	int map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "bare_xsks", 4, 4, MAX_QUEUES, NULL);
	struct bpf_insn code[] = {
		{.code = BPF_LDX | BPF_W | BPF_MEM, .dst_reg = 2, .src_reg = 1, .off = 16}, /* rx_queue_index */
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const struct bpf_link_create_opts opts = {.sz = sizeof(opts), .flags = flags};
	int prog, link;

	if (map < 0)
		errx(1, "XSKMAP: %s", strerror(-map));
	prog = bpf_prog_load(BPF_PROG_TYPE_XDP, "bare_xsk", "Dual BSD/GPL", code, sizeof(code) / sizeof(code[0]), NULL);
	if (prog < 0)
		errx(1, "XDP program: %s", strerror(-prog));
	for (uint32_t i = 0; i < n; i++) {
		if (bpf_map_update_elem(map, &i, &bares[i].fd, BPF_ANY))
			errx(1, "XSKMAP, queue %u: %s", i, strerror(errno));
	}
	link = bpf_link_create(prog, ifindex, BPF_XDP, &opts);
	if (link < 0)
		errx(1, "attaching the XDP program: %s", strerror(-link));
	return link;
}

static void open_all(const char *ifname, unsigned n, bool tx, const char *mode)
{
	unsigned ifindex = if_nametoindex(ifname);

	if (!ifindex)
		errx(1, "%s: %s", ifname, strerror(errno));
	for (unsigned i = 0; i < n; i++) {
		struct bare *b = &bares[i];
		uint32_t to;

		b->queue = i;
		bare_open(b, ifname, tx);
		if (tx)
			continue;
		if (xsk_ring_prod__reserve(&b->fill, conf.frames, &to) != conf.frames)
			errx(1, "the fill ring is too small");
		for (uint32_t k = 0; k < conf.frames; k++)
			*xsk_ring_prod__fill_addr(&b->fill, to + k) = (uint64_t)k * CHUNK;
		xsk_ring_prod__submit(&b->fill, conf.frames);
	}
	if (!tx)
		(void)attach((int)ifindex, strcmp(mode, "native") == 0 ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE, n);
}

static void run_all(unsigned n, bool tx, unsigned seconds)
{
	struct job jobs[MAX_QUEUES];
	cpu_set_t mine;
	size_t cpu = SIZE_MAX;

	CPU_ZERO(&mine);
	sched_getaffinity(0, sizeof(mine), &mine);
	fputs("bare_xsk: ready\n", stderr);
	for (unsigned i = 0; i < n; i++) {
		jobs[i] = (struct job){.bare = &bares[i], .run = tx ? bare_tx : bare_rx};
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &mine));
		CPU_ZERO(&jobs[i].cpu);
		CPU_SET(cpu, &jobs[i].cpu);
		if (pthread_create(&bares[i].thread, NULL, job_run, &jobs[i]))
			errx(1, "thread %u cannot be made", i);
	}
	for (uint64_t end = now_ns() + seconds * 1000000000ULL; !atomic_load(&stop) && now_ns() < end;)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	atomic_store(&stop, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(bares[i].thread, NULL);
}

static void report(unsigned n, bool tx)
{
	uint64_t packets = 0, user = 0, first = UINT64_MAX, last = 0;
	struct xdp_statistics sum = {0};

	for (unsigned i = 0; i < n; i++) {
		const struct bare *b = &bares[i];
		struct xdp_statistics s = {0};
		socklen_t len = sizeof(s);

		packets += b->packets;
		user += b->user_ns;
		if (b->packets && b->first_ns < first)
			first = b->first_ns;
		if (b->last_ns > last)
			last = b->last_ns;
		getsockopt(b->fd, SOL_XDP, XDP_STATISTICS, &s, &len);
		sum.rx_dropped += s.rx_dropped;
		sum.rx_ring_full += s.rx_ring_full;
		sum.rx_fill_ring_empty_descs += s.rx_fill_ring_empty_descs;
	}
	printf("{\"packets\": %llu, \"seconds\": %.6f, \"user_ns\": %.3f", (unsigned long long)packets,
	       packets ? (double)(last - first) / 1e9 : 0, packets ? (double)user / (double)packets : 0);
	if (tx)
		puts("}");
	else
		printf(", \"rx_dropped\": %llu, \"rx_ring_full\": %llu, \"rx_fill_ring_empty\": %llu}\n",
		       (unsigned long long)sum.rx_dropped, (unsigned long long)sum.rx_ring_full,
		       (unsigned long long)sum.rx_fill_ring_empty_descs);
}

static unsigned number(const char *text, unsigned least, unsigned most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || n < least || n > most)
		errx(1, "%s: a number from %u to %u is needed", text, least, most);
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"frames", required_argument, NULL, 'f'},
		{"batch", required_argument, NULL, 'b'},
		{"budget", required_argument, NULL, 'k'},
		{0},
	};
	unsigned n;
	bool tx;

	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'f':
			conf.frames = number(optarg, 64, 65536);
			break;
		case 'b':
			conf.batch = number(optarg, 1, 65536);
			break;
		case 'k':
			conf.budget = number(optarg, 0, 65536);
			break;
		default:
			return 2;
		}
	}
	argv += optind;
	argc -= optind;
	tx = argc == 4 && strcmp(argv[0], "tx") == 0;
	if (!tx && !(argc == 5 && strcmp(argv[0], "rx") == 0)) {
		fputs("usage: bare_xsk [--frames N] [--batch N] [--budget N] tx IFACE QUEUES "
		      "SECONDS | rx IFACE QUEUES SECONDS native|generic\n",
		      stderr);
		return 2;
	}
	if (!conf.frames)
		conf.frames = tx ? 512 : 16384;
	for (conf.ring = 64; conf.ring < conf.frames;)
		conf.ring *= 2;
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	n = number(argv[2], 1, MAX_QUEUES);
	open_all(argv[1], n, tx, tx ? "" : argv[4]);
	run_all(n, tx, number(argv[3], 1, 3600));
	report(n, tx);
	return 0;
}
