/* SPDX-License-Identifier: Apache-2.0 */
#include "absent.h"
#include "afpacket.h"
#include "loop.h"
#include "pio.h"

const struct pio_backend *const pio_backends[] = {
	&pio_mlx5_absent, &pio_afxdp_absent, &pio_xdp_absent, &pio_afpacket, &pio_dpdk_absent, &pio_loop, NULL,
};
