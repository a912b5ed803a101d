/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp_program: the XDP program that hands packets to AF_XDP sockets, from load to close.
 *
 * It is attached by a BPF link that this process holds: the program is gone at once when the process ends, however it
 * ends. A program of somebody else is never replaced; where that is libxdp's dispatcher, ours joins those that it calls
 * (afxdp_dispatcher.h), if the kernel can do that. Packets that the filter does not match, and those of a queue without
 * a socket, stay with the kernel.
 *
 * Main thread unless said.
 */
#ifndef SQUALL_PIO_AFXDP_PROGRAM_H
#define SQUALL_PIO_AFXDP_PROGRAM_H

#include "filter.h"
#include "lib/err.h"
#include "lib/restore.h"

#include <stdbool.h>
#include <stdint.h>

struct afxdp_program;

/*
 * object_name: for errors, "afxdp:eth1"; copied. filter: checked before; only read during the call. NULL: a program
 * that leaves every packet to the kernel, for transmitting on drivers that send for AF_XDP only with a program there.
 * queues: how many receive queues the interface has, at least 1. times: packets shall bring their times of arrival;
 * where the kernel takes no such program, they bring none (afxdp_program_times()).
 * -EPERM: EXIT_CAPABILITY, with the capabilities that are missing. What the verifier refuses: EXIT_RUN with its reason
 * in one line, and its whole log as debug lines.
 */
int afxdp_program_load(struct afxdp_program **out, const char *object_name, const struct filter *filter,
		       unsigned queues, bool times, struct err *e);

/*
 * A step for restore_arm(): takes the program out of libxdp's dispatcher if it is still there when this process has
 * ended. To be called before attaching. Errors are restore_add()'s, and -ENOMEM.
 */
int afxdp_program_restore(struct afxdp_program *p, struct restore *r, struct err *e);

/*
 * Once per program; native: in the driver, else before the network stack. A failure leaves the interface as it was.
 * -EOPNOTSUPP: the driver has no native mode, EXIT_CAPABILITY. -ERANGE, -EINVAL or -EMSGSIZE, as the driver has it: not
 * with this MTU, or another setting that the error tells of, EXIT_CAPABILITY. -EBUSY or -EEXIST: a program of somebody
 * else is there, EXIT_RUN; the error tells which, how it is attached, and the way out. -EPERM: EXIT_CAPABILITY.
 * Joining libxdp's dispatcher loads the program once more, with another number; -EOPNOTSUPP: a dispatcher in generic
 * mode when native is asked for.
 */
int afxdp_program_attach(struct afxdp_program *p, int ifindex, const char *ifname, bool native, struct err *e);

/* After attaching: a bound socket gets what comes in on its queue and matches. EXIT_RUN. */
int afxdp_program_put_socket(struct afxdp_program *p, unsigned queue, int xsk_fd, struct err *e);
/* After it the packets of that queue stay with the kernel. Any thread, also when there is no socket. */
void afxdp_program_drop_socket(struct afxdp_program *p, unsigned queue);

/* The kernel's number for it. Any thread. */
uint32_t afxdp_program_id(const struct afxdp_program *p);
/* Whether it is one of the programs that libxdp's dispatcher calls, instead of being held by a link. Any thread. */
bool afxdp_program_joined(const struct afxdp_program *p);
/* Whether it takes packets of several buffers (Linux 5.18 and later). Any thread. */
bool afxdp_program_multi_buffer(const struct afxdp_program *p);

/* What packets bring with them (bpf/times.h). */
struct afxdp_times {
	uint64_t key;
	const uint64_t *untimed; /* packets without, so far; written by the kernel */
};

/* After attaching. Good until the program is closed. NULL: they bring none. */
const struct afxdp_times *afxdp_program_times(const struct afxdp_program *p);

/* Detaches, unloads and frees. NULL is allowed. */
void afxdp_program_close(struct afxdp_program *p);

#endif
