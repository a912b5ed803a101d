/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues: which of a link's queues a backend can use, and what becomes of those that it leaves out. Pure.
 */
#ifndef SQUALL_PIO_QUEUES_H
#define SQUALL_PIO_QUEUES_H

#include "pio.h"

/*
 * How many queues the backend can open on a link. A backend whose queues are the device's own can use those that are
 * in use there; any other as many as the link was made with.
 */
void pio_queues_of_link(const struct pio_backend *backend, const struct host_link *link, uint32_t *tx, uint32_t *rx);

/*
 * For a backend with rx_by_device, which has opened the first `opened` receive queues: names those that are left to
 * Linux, and how to narrow the device to the opened ones; `or_else` is one more way out. The link's indirection table
 * counts: what it does not reach is not missed. Empty when nothing is. Returns buf.
 */
char *pio_queues_left(const struct host_link *link, uint32_t opened, const char *or_else, char *buf, size_t size);

#endif
