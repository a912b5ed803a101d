/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp: AF_XDP sockets. "afxdp:IFACE[,mode=auto|native-zc|native|generic][,multi-buffer=off]" */
#ifndef SQUALL_PIO_AFXDP_H
#define SQUALL_PIO_AFXDP_H

extern const struct pio_backend pio_afxdp;

#endif
