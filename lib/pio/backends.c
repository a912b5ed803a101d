/* SPDX-License-Identifier: Apache-2.0 */
#include "absent.h"
#include "afpacket.h"
#include "afxdp.h"
#include "loop.h"
#include "pio.h"

#ifdef WITH_AFXDP
#define AFXDP &pio_afxdp
#else
#define AFXDP &pio_afxdp_absent
#endif

const struct pio_backend *const pio_backends[] = {
	&pio_mlx5_absent, AFXDP, &pio_xdp_absent, &pio_afpacket, &pio_dpdk_absent, &pio_loop, NULL,
};
