/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promisc: has an interface take packets for all addresses, for as long as a packet socket lives: the kernel ends it
 * with the process, however that ends, and counts those who want it.
 */
#ifndef SQUALL_PIO_PROMISC_H
#define SQUALL_PIO_PROMISC_H

/* By a packet socket that is there. -errno. */
int pio_promisc_join(int fd, int ifindex);

/* By a socket made for it, which receives nothing; *fd is closed by the caller. -errno, and *fd is -1. */
int pio_promisc_open(int ifindex, int *fd);

#endif
