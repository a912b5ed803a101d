/* SPDX-License-Identifier: Apache-2.0 */
#include "afpacket_bpf.h"
#include "afpacket_queue.h"
#include "promisc.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A block goes to the reader when it is full, or 1 ms old however little it holds: a reader that is kept off its
 * processor is covered for as many ms as there are blocks. A block holds the largest super-frame.
 */
#define BLOCK_BYTES 131072U
#define BLOCKS      256U
#define BLOCKS_MIN  2U
#define RETIRE_MS   1U

/* Older headers lack it; a group has one receive hook, which does not inherit its sockets' PACKET_IGNORE_OUTGOING. */
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif

static int set_option(int fd, int option, const void *value, size_t size)
{
	return setsockopt(fd, SOL_PACKET, option, value, (socklen_t)size) ? -errno : 0;
}

static int set_int(int fd, int option, int value)
{
	return set_option(fd, option, &value, sizeof(value));
}

static int attach(int fd, struct sock_filter *insn, unsigned n)
{
	struct sock_fprog prog = {.len = (unsigned short)n, .filter = insn};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) ? -errno : 0;
}

int afpacket_attach_nothing(int fd)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);

	return attach(fd, &drop, 1);
}

static int map_ring(struct afpacket_rx *rx, uint32_t frames)
{
	struct tpacket_req3 req = {
		.tp_block_size = BLOCK_BYTES,
		.tp_block_nr = BLOCKS,
		.tp_frame_size = TPACKET_ALIGNMENT << 7, /* packets are packed; the kernel only checks it */
		.tp_retire_blk_tov = RETIRE_MS,
	};

	if (frames) {
		uint64_t blocks = ((uint64_t)frames * rx->room + BLOCK_BYTES - 1) / BLOCK_BYTES;

		req.tp_block_nr = blocks < BLOCKS_MIN ? BLOCKS_MIN : blocks > BLOCKS ? BLOCKS : (unsigned)blocks;
	}
	req.tp_frame_nr = req.tp_block_size / req.tp_frame_size * req.tp_block_nr;
	int rc = set_option(rx->fd, PACKET_RX_RING, &req, sizeof(req));

	if (rc)
		return rc;
	rx->block_size = req.tp_block_size;
	rx->blocks = req.tp_block_nr;
	rx->ring_size = (size_t)rx->block_size * rx->blocks;
	void *map = mmap(NULL, rx->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, rx->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	rx->ring = map;
	return 0;
}

static int bind_to(int fd, int ifindex)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};

	return bind(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

/* The first socket makes a group with an id that no other process has; the others join it. */
static int join_group(int fd, int *group)
{
	const int type = PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
	socklen_t size = sizeof(*group);
	int rc;

	if (*group >= 0)
		return set_int(fd, PACKET_FANOUT, type << 16 | *group);
	rc = set_int(fd, PACKET_FANOUT, (type | PACKET_FANOUT_FLAG_UNIQUEID) << 16);
	if (!rc && getsockopt(fd, SOL_PACKET, PACKET_FANOUT, group, &size))
		rc = -errno;
	*group &= 0xffff;
	return rc;
}

static int open_one(struct afpacket_rx *rx, int ifindex, uint32_t frames, struct err *e)
{
	const char *port = rx->q.port->name;
	int rc = afpacket_socket(port, &rx->fd, e);

	if (rc)
		return rc;
	rc = set_int(rx->fd, PACKET_VERSION, TPACKET_V3);
	if (!rc)
		rc = set_int(rx->fd, PACKET_VNET_HDR, 1);
	if (!rc)
		rc = map_ring(rx, frames);
	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot set up the receive ring", port, "%s", strerror(-rc));
	rc = set_int(rx->fd, PACKET_IGNORE_OUTGOING, 1);
	if (!rc)
		rc = afpacket_attach_nothing(rx->fd);
	if (!rc)
		rc = bind_to(rx->fd, ifindex);
	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot bind a packet socket", port, "%s", strerror(-rc));
	return 0;
}

int afpacket_rx_open(struct afpacket_rx *const *rx, unsigned n, int ifindex, uint32_t frames, struct err *e)
{
	struct sock_filter insn[AFPACKET_BPF_MAX];
	int group = -1;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		rc = open_one(rx[i], ifindex, frames, e);
		if (rc)
			return rc;
	}
	/* A group takes bound sockets only. Until all are in it, a filter that takes nothing keeps them empty. */
	for (unsigned i = 0; n > 1 && i < n; i++) {
		rc = join_group(rx[i]->fd, &group);
		if (rc)
			return err_set(e, rc, EXIT_RUN, "cannot share the traffic between queues", rx[i]->q.port->name,
				       "%s", strerror(-rc));
	}
	rc = pio_promisc_join(rx[0]->fd, ifindex);
	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot receive for all addresses", rx[0]->q.port->name, "%s",
			       strerror(-rc));
	unsigned len = afpacket_bpf_compile(&rx[0]->filter->filter, insn);

	for (unsigned i = 0; i < n; i++) {
		rc = attach(rx[i]->fd, insn, len);
		if (rc)
			return err_set(e, rc, EXIT_RUN, "cannot attach the filter", rx[i]->q.port->name, "%s",
				       strerror(-rc));
	}
	return 0;
}

void afpacket_rx_close(struct afpacket_rx *rx)
{
	if (rx->ring)
		munmap(rx->ring, rx->ring_size);
	if (rx->fd >= 0)
		close(rx->fd);
	rx->ring = NULL;
	rx->fd = -1;
}
