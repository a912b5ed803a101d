/* SPDX-License-Identifier: Apache-2.0 */
/*
 * afxdp_dispatcher: being one of several XDP programs on an interface, under libxdp's dispatcher.
 *
 * Where programs share an interface, the one that is attached is libxdp's dispatcher: it calls each of them in the
 * order of their priorities until one does not pass the packet on. Joining replaces it by one that calls our program
 * too, which takes a kernel that lets a program stand for a function of another (BPF_PROG_TYPE_EXT) and a mounted
 * bpffs.
 *
 * The dispatcher holds its programs in bpffs, so that ours does not go away with the process. A process that is killed
 * leaves it there, without its sockets, which the kernel has taken out of the map: then it passes every packet on. That
 * does no harm but the time it takes; afxdp_dispatcher_undo() is for the process that watches over this one, and takes
 * it out.
 *
 * Main thread.
 */
#ifndef SQUALL_PIO_AFXDP_DISPATCHER_H
#define SQUALL_PIO_AFXDP_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_object;
struct afxdp_dispatcher;

#define AFXDP_DISPATCHER_NAME "xdp_dispatcher"

/* Its memory is shared with processes that are forked later. -ENOMEM. */
int afxdp_dispatcher_create(struct afxdp_dispatcher **out);

/*
 * Loads the first program of obj, which is open and not loaded, into the interface's dispatcher; afterwards obj is
 * loaded, and has to stay open until afxdp_dispatcher_leave(). *multi_buffer: in, whether the program takes packets of
 * several buffers; out, whether the dispatcher lets it. A negative errno: nothing has changed, obj can only be closed,
 * and why says in words why not.
 */
int afxdp_dispatcher_join(struct afxdp_dispatcher *d, struct bpf_object *obj, int ifindex, bool native,
			  bool *multi_buffer, char *why, size_t size);

/* Takes the program out again, if it joined; the others stay. What goes wrong is logged with the way out. */
void afxdp_dispatcher_leave(struct afxdp_dispatcher *d);

/* For restore_add(): the same in the watching process, for an afxdp_dispatcher that was made before restore_arm(). */
void afxdp_dispatcher_undo(void *dispatcher);

/* Leaves, too. NULL is allowed. */
void afxdp_dispatcher_destroy(struct afxdp_dispatcher *d);

#endif
