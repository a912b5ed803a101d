/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_dispatcher.h"
#include "afxdp_program_parts.h"
#include "afxdp_rules.h"
#include "bpf_load.h"

#include "bpf/times.h"

#include "afxdp.skel.h" /* needs struct rules */
#include "afxdp_timed.skel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#define WHAT_LOAD   "cannot load the XDP program"
#define WHAT_SOCKET "cannot give the socket to the XDP program"

/* The object's own maps are found by the names in bpf/hand_over.h and afxdp_timed.bpf.c. */
static int prepare(struct bpf_object *obj, const struct afxdp_program *p)
{
	const struct rules *rules = &p->rules;
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);
	struct bpf_map *constants = bpf_object__find_map_by_name(obj, ".rodata.rules");
	struct bpf_map *sockets = bpf_object__find_map_by_name(obj, "sockets");
	struct bpf_map *key = bpf_object__find_map_by_name(obj, ".rodata.times");
	int rc;

	if (!prog || !constants || !sockets || !key != !p->timed)
		return -ENOENT;
	rc = bpf_map__set_initial_value(constants, rules, sizeof(*rules));
	if (!rc && key)
		rc = bpf_map__set_initial_value(key, &p->times.key, sizeof(p->times.key));
	if (rc)
		return rc;
	if (rules->fragmented)
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_XDP_HAS_FRAGS);
	return bpf_map__set_max_entries(sockets, p->queues);
}

int afxdp_program_open(const struct afxdp_program *p, struct bpf_object **out, struct err *e)
{
	size_t size;
	const void *elf = p->timed ? afxdp_timed__elf_bytes(&size) : afxdp__elf_bytes(&size);
	int rc = bpf_open(out, elf, size, p->name, e);

	if (rc)
		return rc;
	rc = prepare(*out, p);
	if (!rc)
		return 0;
	bpf_object__close(*out);
	*out = NULL;
	return err_set(e, rc, EXIT_RUN, WHAT_LOAD, p->name, "%s", strerror(-rc));
}

/* The program's counter, in the kernel's own memory: libbpf's pointer to it leads elsewhere, but for skeletons. */
static int see_untimed(const struct bpf_object *obj, const uint64_t **out)
{
	int fd = bpf_map__fd(bpf_object__find_map_by_name(obj, ".bss"));
	void *seen = mmap(NULL, sizeof(**out), PROT_READ, MAP_SHARED, fd, 0);

	*out = seen == MAP_FAILED ? NULL : seen;
	return *out ? 0 : -errno;
}

static void forget_untimed(struct afxdp_program *p)
{
	if (p->times.untimed)
		munmap((void *)(uintptr_t)p->times.untimed, sizeof(*p->times.untimed));
	p->times.untimed = NULL;
}

int afxdp_program_use(struct afxdp_program *p, struct bpf_object *obj, struct err *e)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int prog_fd = bpf_program__fd(bpf_object__next_program(obj, NULL));
	const uint64_t *untimed = NULL;
	int rc = bpf_obj_get_info_by_fd(prog_fd, &info, &size) ? -errno : 0;

	if (!rc && p->timed)
		rc = see_untimed(obj, &untimed);
	if (rc)
		return err_set(e, rc, EXIT_RUN, WHAT_LOAD, p->name, "%s", strerror(-rc));
	forget_untimed(p);
	bpf_object__close(p->obj);
	p->obj = obj;
	p->prog_fd = prog_fd;
	p->sockets_fd = bpf_map__fd(bpf_object__find_map_by_name(obj, "sockets"));
	p->id = info.id;
	p->times.untimed = untimed;
	return 0;
}

static int load(struct afxdp_program *p, struct err *e)
{
	struct bpf_object *obj;
	int rc;

	p->rules.fragmented = p->multi_buffer;
	rc = afxdp_program_open(p, &obj, e);
	if (rc)
		return rc;
	rc = bpf_load(obj, p->name, e);
	if (!rc)
		rc = afxdp_program_use(p, obj, e);
	if (rc)
		bpf_object__close(obj);
	return rc;
}

static int load_best(struct afxdp_program *p, struct err *e)
{
	int rc;

	p->multi_buffer = true;
	rc = load(p, e);
	if (rc == -EINVAL) { /* kernels before 5.18 refuse the flag for packets of several buffers */
		p->multi_buffer = false;
		rc = load(p, NULL) ? rc : 0;
	}
	return rc;
}

int afxdp_program_load(struct afxdp_program **out, const char *object_name, const struct filter *filter,
		       unsigned queues, bool times, struct err *e)
{
	struct afxdp_program *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return err_set(e, -ENOMEM, EXIT_RUN, WHAT_LOAD, object_name, "no memory");
	snprintf(p->name, sizeof(p->name), "%s", object_name);
	afxdp_rules_compile(filter, &p->rules);
	p->queues = queues;
	p->link_fd = -1;
	p->timed = times && getrandom(&p->times.key, sizeof(p->times.key), GRND_NONBLOCK) == sizeof(p->times.key);
	p->times.key |= TIMES_KEY_BIT;
	rc = load_best(p, e);
	if (rc && rc != -EPERM && p->timed) {
		p->timed = false;
		rc = load_best(p, e);
	}
	if (rc)
		afxdp_program_close(p);
	else
		*out = p;
	return rc;
}

int afxdp_program_put_socket(struct afxdp_program *p, unsigned queue, int xsk_fd, struct err *e)
{
	uint32_t key = queue;

	if (bpf_map_update_elem(p->sockets_fd, &key, &xsk_fd, BPF_ANY) == 0)
		return 0;
	return err_set(e, -errno, EXIT_RUN, WHAT_SOCKET, p->name, "queue %u: %s", queue, strerror(errno));
}

void afxdp_program_drop_socket(struct afxdp_program *p, unsigned queue)
{
	uint32_t key = queue;

	bpf_map_delete_elem(p->sockets_fd, &key);
}

uint32_t afxdp_program_id(const struct afxdp_program *p)
{
	return p->id;
}

bool afxdp_program_multi_buffer(const struct afxdp_program *p)
{
	return p->multi_buffer;
}

bool afxdp_program_joined(const struct afxdp_program *p)
{
	return p->joined;
}

const struct afxdp_times *afxdp_program_times(const struct afxdp_program *p)
{
	return p->times.untimed ? &p->times : NULL;
}

int afxdp_program_restore(struct afxdp_program *p, struct restore *r, struct err *e)
{
	int rc = p->dispatcher ? 0 : afxdp_dispatcher_create(&p->dispatcher);

	if (rc)
		return err_set(e, rc, EXIT_RUN, WHAT_LOAD, p->name, "%s", strerror(-rc));
	return restore_add(r, afxdp_dispatcher_undo, p->dispatcher, -1, e);
}

void afxdp_program_close(struct afxdp_program *p)
{
	if (!p)
		return;
	if (p->link_fd >= 0)
		close(p->link_fd);
	afxdp_dispatcher_destroy(p->dispatcher);
	forget_untimed(p);
	bpf_object__close(p->obj);
	free(p);
}
