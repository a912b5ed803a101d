/* SPDX-License-Identifier: Apache-2.0 */
#include "promisc.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>

int pio_promisc_join(int fd, int ifindex)
{
	struct packet_mreq m = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};

	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m)) ? -errno : 0;
}

int pio_promisc_open(int ifindex, int *fd)
{
	int rc;

	*fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return -errno;
	rc = pio_promisc_join(*fd, ifindex);
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}
