/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp_program_parts: what loading and attaching share. Private to afxdp_program.c and afxdp_attach.c. */
#ifndef SQUALL_PIO_AFXDP_PROGRAM_PARTS_H
#define SQUALL_PIO_AFXDP_PROGRAM_PARTS_H

#include "afxdp_program.h"
#include "bpf/rules.h"

struct bpf_object;
struct afxdp_dispatcher;

struct afxdp_program {
	char name[96]; /* of the object, for errors */
	struct rules rules;
	unsigned queues;
	bool multi_buffer;
	bool timed; /* the program that notes times */
	struct afxdp_times times;
	struct bpf_object *obj;
	int prog_fd;
	int sockets_fd;
	uint32_t id;
	int link_fd;                         /* -1: not attached by link */
	struct afxdp_dispatcher *dispatcher; /* NULL: not made */
	bool joined;
};

/* Opens the object and sets its constants and sizes; it can be loaded then. EXIT_RUN. */
int afxdp_program_open(const struct afxdp_program *p, struct bpf_object **out, struct err *e);

/* Takes a loaded object over, in the place of one that there was. EXIT_RUN. */
int afxdp_program_use(struct afxdp_program *p, struct bpf_object *obj, struct err *e);

#endif
