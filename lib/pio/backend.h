/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: what the backends share in opening and closing a port. Main thread.
 */
#ifndef SQUALL_PIO_BACKEND_H
#define SQUALL_PIO_BACKEND_H

#include "pio.h"

/* What a link's frames may have in front of the IP packet that its MTU counts: header and two tags. */
#define PIO_LINK_L2_MAX ((uint32_t)(ETH_HEADER_LEN + 2 * VLAN_TAG_LEN))

/*
 * A zeroed queue of `size` bytes (a struct that begins with struct pio_queue), on cache lines of its own, with a cache
 * of `frames` of the port's pool. NULL and *e when there is no memory, or not so many frames.
 */
struct pio_queue *pio_queue_create(struct pio_port *port, size_t size, unsigned index, bool tx, uint32_t frames,
				   struct err *e);
/* NULL is allowed. */
void pio_queue_destroy(struct pio_queue *q);

/* Frames of max_frame bytes, with a VLAN tag perhaps, fit the link's MTU. -EMSGSIZE with EXIT_USAGE. */
int pio_check_size(const struct host_link *link, uint32_t max_frame, const char *port, struct err *e);

/* The pool that ports share fits this port. -EMSGSIZE with EXIT_RUN. */
int pio_check_pool(const struct pio_pool *pool, const struct pio_port *port, struct err *e);

#endif
