/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xdp_sockets: who gets a packet that comes in on va: an AF_XDP socket or the kernel. Packets are sent on the other
 * end, vb, and go to queue 0, since they come from its only queue.
 */
#ifndef SQUALL_TESTS_XDP_SOCKETS_H
#define SQUALL_TESTS_XDP_SOCKETS_H

#include "packets.h"
#include "xdp_links.h"

#include "lib/clock.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <xdp/xsk.h>

#define FRAMES     64U
#define FRAME_SIZE 2048U
#define WAIT_MS    2000

struct socket_pair {
	void *memory;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_prod fill;
	struct xsk_ring_cons completion;
	struct xsk_ring_cons rx;
	int kernel; /* a packet socket: what the kernel gets */
	int sender; /* on vb */
};

static inline int packet_socket(const char *link, int protocol)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons((uint16_t)protocol),
		.sll_ifindex = (int)if_nametoindex(link),
	};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static inline void open_sockets(struct socket_pair *s)
{
	const struct xsk_umem_config umem = {.fill_size = FRAMES, .comp_size = FRAMES, .frame_size = FRAME_SIZE};
	const struct xsk_socket_config conf = {
		.rx_size = FRAMES,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_COPY,
	};
	uint64_t deadline = clock_mono_ns() + (uint64_t)WAIT_MS * NS_PER_MS;
	uint32_t at = 0;
	int rc;

	s->memory = mmap(NULL, (size_t)FRAMES * FRAME_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(s->memory, MAP_FAILED);
	assert_int_equal(
		xsk_umem__create(&s->umem, s->memory, (uint64_t)FRAMES * FRAME_SIZE, &s->fill, &s->completion, &umem),
		0);
	do { /* the queue of a socket closed just before is given back a little later */
		rc = xsk_socket__create(&s->xsk, "va", 0, s->umem, &s->rx, NULL, &conf);
	} while (rc == -EBUSY && clock_mono_ns() < deadline);
	assert_int_equal(rc, 0);
	assert_int_equal(xsk_ring_prod__reserve(&s->fill, FRAMES, &at), FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++)
		*xsk_ring_prod__fill_addr(&s->fill, at + i) = (uint64_t)i * FRAME_SIZE;
	xsk_ring_prod__submit(&s->fill, FRAMES);
	s->kernel = packet_socket("va", ETH_P_ALL);
	s->sender = packet_socket("vb", 0);
}

static inline void close_sockets(struct socket_pair *s)
{
	xsk_socket__delete(s->xsk);
	xsk_umem__delete(s->umem);
	munmap(s->memory, (size_t)FRAMES * FRAME_SIZE);
	close(s->kernel);
	close(s->sender);
}

enum taker { NOBODY, SOCKET, KERNEL };

static inline void must_be(const unsigned char *got, uint32_t got_len, const unsigned char *want, uint32_t len)
{
	assert_int_equal(got_len, len);
	assert_memory_equal(got, want, len);
}

/* Sends a datagram to a port and says who got it, whole and unchanged. */
static inline enum taker send_to(struct socket_pair *s, uint16_t port)
{
	struct packet d = {.family = 4, .sport = 1024, .dport = port, .payload = 32};
	unsigned char frame[PACKET_MAX];
	unsigned char got[PACKET_MAX];
	uint32_t len = packet_build(&d, frame);
	struct pollfd fds[] = {{.fd = xsk_socket__fd(s->xsk), .events = POLLIN}, {.fd = s->kernel, .events = POLLIN}};
	uint32_t at = 0;

	assert_int_equal(send(s->sender, frame, len, 0), len);
	if (poll(fds, 2, WAIT_MS) < 1)
		return NOBODY;
	if (fds[1].revents) {
		must_be(got, (uint32_t)recv(s->kernel, got, sizeof(got), 0), frame, len);
		return KERNEL;
	}
	assert_int_equal(xsk_ring_cons__peek(&s->rx, 1, &at), 1);
	const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&s->rx, at);

	must_be((unsigned char *)s->memory + desc->addr, desc->len, frame, len);
	xsk_ring_cons__release(&s->rx, 1);
	return SOCKET;
}

#endif
