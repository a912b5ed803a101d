/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_bytes: how large a source's packets are together. Their sizes follow from the plan and their number alone, so that
 * nobody has to add them up while they are sent. Pure.
 */
#ifndef SQUALL_GEN_TX_BYTES_H
#define SQUALL_GEN_TX_BYTES_H

#include "tx_source.h"

/* The bytes without FCS of the first `packets` packets of a source of flows. Any thread, once the source is set up. */
uint64_t tx_source_bytes(const struct tx_source *s, uint64_t packets);

#endif
