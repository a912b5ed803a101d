/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_load: has the kernel take a BPF object, and says in few words why it does not.
 *
 * libbpf's warnings go to lib/log.h as debug lines, and so does the whole of the verifier's log. Main thread.
 */
#ifndef SQUALL_PIO_BPF_LOAD_H
#define SQUALL_PIO_BPF_LOAD_H

#include "lib/err.h"

#include <stddef.h>

struct bpf_object;

/* To be called before anything else of libbpf; more than once does no harm. */
void bpf_log_quiet(void);

/* The ELF bytes outlive the object. object_name: on what it is to work, for errors. EXIT_RUN. */
int bpf_open(struct bpf_object **out, const void *elf, size_t size, const char *object_name, struct err *e);

/*
 * Creates the maps and loads the programs. After a failure the object can only be closed. -EPERM: EXIT_CAPABILITY,
 * naming the capabilities that are missing (CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN); else EXIT_RUN, with the verifier's
 * last telling line where it refused.
 */
int bpf_load(struct bpf_object *obj, const char *object_name, struct err *e);

/* Sets e for an operation on XDP that the kernel forbids (EPERM). Returns -EPERM. */
int bpf_forbidden(const char *what, const char *object_name, struct err *e);

#endif
