/* SPDX-License-Identifier: Apache-2.0 */
/*
 * absent: the rows of the backends that this build has not. They answer every question with how to get them.
 */
#ifndef SQUALL_PIO_ABSENT_H
#define SQUALL_PIO_ABSENT_H

#include "pio.h"

extern const struct pio_backend pio_mlx5_absent, pio_afxdp_absent, pio_dpdk_absent, pio_xdp_absent;

#endif
