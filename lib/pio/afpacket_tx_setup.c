/* SPDX-License-Identifier: Apache-2.0 */
#include "afpacket_queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BLOCK_BYTES 65536U
#define SLOTS_MIN        64U
#define SLOTS            1024U
#define SLOTS_LARGE      256U /* of large packets: a ring that stays in the cache is worth more than a longer one */
#define SLOT_LARGE_SHIFT 9U
#define SLOTS_MAX        65536U
#define SEND_BUFFER      (8 << 20) /* a device that keeps packets is to be held up by its own queue, not by this */

static int set_option(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) ? -errno : 0;
}

int afpacket_socket(const char *port, int *fd, struct err *e)
{
	*fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (*fd >= 0)
		return 0;
	int rc = -errno;

	if (rc == -EPERM || rc == -EACCES) {
		err_set(e, rc, EXIT_CAPABILITY, "cannot open a packet socket", port, "this needs CAP_NET_RAW");
		err_hint(e, "sudo, or once: sudo setcap cap_net_raw,cap_net_admin+ep $(command -v squall)");
		return rc;
	}
	if (rc == -EAFNOSUPPORT)
		return err_set(e, rc, EXIT_CAPABILITY, "cannot open a packet socket", port,
			       "this kernel has no AF_PACKET");
	return err_set(e, rc, EXIT_RUN, "cannot open a packet socket", port, "%s", strerror(-rc));
}

static int bind_to(int fd, int ifindex)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = ifindex};

	return bind(fd, (struct sockaddr *)&to, sizeof(to)) ? -errno : 0;
}

/* Never fails: without CAP_NET_ADMIN the second call gives what the system allows. */
static void enlarge_send_buffer(int fd)
{
	int size = SEND_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* A power of two, of at least `asked` as far as it is sensible. */
static uint32_t ring_slots(uint32_t asked, unsigned slot_shift)
{
	uint32_t slots = SLOTS_MIN;

	if (!asked)
		asked = slot_shift > SLOT_LARGE_SHIFT ? SLOTS_LARGE : SLOTS;
	while (slots < asked && slots < SLOTS_MAX)
		slots *= 2;
	return slots;
}

static int map_ring(struct afpacket_tx *tx, uint32_t slots, bool linear)
{
	const uint32_t header = (uint32_t)sizeof(struct tpacket2_hdr);
	struct tpacket_req req = {.tp_block_size = RING_BLOCK_BYTES};
	int rc;

	tx->data_offset = header + (linear ? (uint32_t)sizeof(struct virtio_net_hdr) : 0);
	/* The kernel wants room for its address structure in every slot, too. */
	uint32_t need = tx->data_offset + (uint32_t)sizeof(struct sockaddr_ll) + tx->q.port->caps.max_frame;

	/* A power of two: a packet then crosses no page boundary that it need not. */
	for (tx->slot_shift = 7; (1U << tx->slot_shift) < need; tx->slot_shift++)
		;
	tx->slots = ring_slots(slots, tx->slot_shift);
	if ((1U << tx->slot_shift) > req.tp_block_size)
		req.tp_block_size = 1U << tx->slot_shift;
	if ((uint64_t)tx->slots << tx->slot_shift < req.tp_block_size)
		tx->slots = req.tp_block_size >> tx->slot_shift;
	tx->ring_size = (size_t)tx->slots << tx->slot_shift;
	req.tp_frame_size = 1U << tx->slot_shift;
	req.tp_frame_nr = tx->slots;
	req.tp_block_nr = (unsigned)(tx->ring_size / req.tp_block_size);

	rc = set_option(tx->fd, PACKET_VERSION, TPACKET_V2);
	if (!rc && linear)
		rc = set_option(tx->fd, PACKET_VNET_HDR, 1);
	if (!rc && setsockopt(tx->fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)))
		rc = -errno;
	if (rc)
		return rc;
	void *map = mmap(NULL, tx->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, tx->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	tx->ring = map;
	return 0;
}

static int make_messages(struct afpacket_tx *tx)
{
	tx->msgs = calloc(AFPACKET_TX_BATCH, sizeof(*tx->msgs));
	tx->iov = calloc(AFPACKET_TX_BATCH, sizeof(*tx->iov));
	if (!tx->msgs || !tx->iov)
		return -ENOMEM;
	for (unsigned i = 0; i < AFPACKET_TX_BATCH; i++)
		tx->msgs[i].msg_hdr = (struct msghdr){.msg_iov = &tx->iov[i], .msg_iovlen = 1};
	return 0;
}

static int open_as(struct afpacket_tx *tx, enum afpacket_mechanism mechanism, uint32_t slots, struct err *e)
{
	static const struct pio_queue_ops *const ops[] = {
		[AFPACKET_RING] = &afpacket_ring_ops,
		[AFPACKET_LINEAR] = &afpacket_linear_ops,
		[AFPACKET_SENDMMSG] = &afpacket_sendmmsg_ops,
	};
	const char *port = tx->q.port->name;
	int rc = afpacket_socket(port, &tx->fd, e);

	if (rc)
		return rc;
	tx->q.ops = ops[mechanism];
	enlarge_send_buffer(tx->fd);
	if (!tx->qdisc) {
		rc = set_option(tx->fd, PACKET_QDISC_BYPASS, 1);
		if (rc)
			return err_set(e, rc, EXIT_RUN, "cannot bypass the queueing discipline", port, "%s",
				       strerror(-rc));
	}
	rc = mechanism == AFPACKET_SENDMMSG ? make_messages(tx) : map_ring(tx, slots, mechanism == AFPACKET_LINEAR);
	if (rc)
		return err_set(e, rc, EXIT_RUN,
			       mechanism == AFPACKET_SENDMMSG ? "cannot set up sendmmsg"
							      : "cannot set up the transmit ring",
			       port, "%s", strerror(-rc));
	rc = bind_to(tx->fd, tx->ifindex);
	if (rc)
		return err_set(e, rc, EXIT_RUN, "cannot bind a packet socket", port, "%s", strerror(-rc));
	return 0;
}

int afpacket_tx_open(struct afpacket_tx *tx, int ifindex, uint32_t slots, bool qdisc,
		     enum afpacket_mechanism *mechanism, char *why, size_t why_size, struct err *e)
{
	int rc;

	tx->ifindex = ifindex;
	tx->qdisc = qdisc;
	rc = open_as(tx, *mechanism, slots, e);
	if (rc && tx->fd >= 0 && *mechanism != AFPACKET_SENDMMSG) {
		snprintf(why, why_size, "%s: %s", e->what, e->cause);
		afpacket_tx_close(tx);
		*mechanism = AFPACKET_SENDMMSG;
		rc = open_as(tx, *mechanism, slots, e);
	}
	return rc;
}

void afpacket_tx_close(struct afpacket_tx *tx)
{
	if (tx->ring)
		munmap(tx->ring, tx->ring_size);
	if (tx->fd >= 0)
		close(tx->fd);
	free(tx->msgs);
	free(tx->iov);
	tx->ring = NULL;
	tx->fd = -1;
	tx->msgs = NULL;
	tx->iov = NULL;
}
