/* SPDX-License-Identifier: Apache-2.0 */
#include "absent.h"

#include <errno.h>

/* One set of functions for each absent backend, since a row's functions are not told which row they are in. */
#define ABSENT(ident, row_name, row_summary, link, reason, way_out) \
	static int ident##_absent_probe(const struct host_link *l, struct err *e) \
	{ \
		err_set(e, -ENOSYS, EXIT_CAPABILITY, "cannot use the " row_name " backend", l ? l->name : NULL, "%s", \
			reason); \
		err_hint(e, "%s", way_out); \
		return -ENOSYS; \
	} \
	static int ident##_absent_open(const struct pio_conf *conf, const char *device, struct pio_port **out, \
				       struct err *e) \
	{ \
		(void)conf; \
		*out = NULL; \
		err_set(e, -ENOSYS, EXIT_CAPABILITY, "cannot use the " row_name " backend", device, "%s", reason); \
		err_hint(e, "%s", way_out); \
		return -ENOSYS; \
	} \
	const struct pio_backend pio_##ident##_absent = { \
		.name = row_name, \
		.summary = row_summary, \
		.needs_link = link, \
		.probe = ident##_absent_probe, \
		.open = ident##_absent_open, \
	};

#define NOT_YET      "not in this version"
#define USE_AFPACKET "afpacket works on every interface: name it afpacket:IFACE"
#define LEFT_OUT     "left out of this build, and not in this version either"

#ifdef WITH_MLX5
#define MLX5_REASON NOT_YET
#define MLX5_WAY    USE_AFPACKET
#else
#define MLX5_REASON LEFT_OUT
#define MLX5_WAY    "a later version, built with -DWITH_MLX5=ON"
#endif
#ifdef WITH_AFXDP
#define XDP_REASON NOT_YET
#define XDP_WAY    USE_AFPACKET
#else
#define XDP_REASON LEFT_OUT
#define XDP_WAY    "a later version, built with -DWITH_AFXDP=ON"
#endif
#ifdef WITH_DPDK
#define DPDK_REASON NOT_YET
#define DPDK_WAY    USE_AFPACKET
#else
#define DPDK_REASON LEFT_OUT
#define DPDK_WAY    "a later version, built with -DWITH_DPDK=ON"
#endif

ABSENT(mlx5, "mlx5", "mlx5 Direct Verbs: the rings of a ConnectX, written directly", true, MLX5_REASON, MLX5_WAY)
#ifndef WITH_AFXDP
ABSENT(afxdp, "afxdp", "AF_XDP sockets", true, "left out of this build", "a build with -DWITH_AFXDP=ON")
#endif
ABSENT(xdp, "xdp", "the kernel as the engine: BPF sends and measures inside the driver", true, XDP_REASON, XDP_WAY)
ABSENT(dpdk, "dpdk", "DPDK poll-mode drivers", false, DPDK_REASON, DPDK_WAY)
