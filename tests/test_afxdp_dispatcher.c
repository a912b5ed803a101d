/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libxdp's dispatcher: joined where the kernel lets a program stand for a function of another one, with a neighbour
 * that libxdp itself has put there; told of where not.
 */
#include "xdp_sockets.h"

#include "filters.h"

#include "lib/log.h"
#include "lib/pio/afxdp_foreign.h"

#include "xdp_neighbour.skel.h"

#include <sys/mount.h>
#include <xdp/libxdp.h>

static struct bpf_object *neighbour_obj;
static struct xdp_program *neighbour;

static int va(void)
{
	return (int)if_nametoindex("va");
}

static int quiet(enum libxdp_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

static void remove_neighbour(enum xdp_attach_mode mode)
{
	assert_int_equal(xdp_program__detach(neighbour, va(), mode, 0), 0);
	xdp_program__close(neighbour);
	bpf_object__close(neighbour_obj);
}

/* Skips where libxdp itself is refused and attaches the neighbour alone. */
static void need_neighbour(enum xdp_attach_mode mode)
{
	struct xdp_program_opts opts = {.sz = sizeof(opts)};
	struct afxdp_foreign f;
	size_t size;
	const void *elf = xdp_neighbour__elf_bytes(&size);

	need_bpf();
	libxdp_set_print(quiet);
	neighbour_obj = bpf_object__open_mem(elf, size, NULL);
	assert_non_null(neighbour_obj);
	opts.obj = neighbour_obj;
	neighbour = xdp_program__create(&opts);
	assert_int_equal(libxdp_get_error(neighbour), 0);
	assert_int_equal(xdp_program__attach(neighbour, va(), mode, 0), 0);
	assert_int_equal(afxdp_foreign_find(va(), &f), 0);
	if (strcmp(f.name, "xdp_dispatcher") == 0)
		return;
	remove_neighbour(mode);
	print_message("not joined: this kernel lets no program stand for another one's function\n");
	skip();
}

static uint64_t seen_by_neighbour(void)
{
	int fd = bpf_map__fd(bpf_object__find_map_by_name(neighbour_obj, ".bss"));
	uint32_t key = 0;
	uint64_t seen;

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &seen), 0);
	return seen;
}

static int programs_there(void)
{
	struct xdp_multiprog *all_there = xdp_multiprog__get_from_ifindex(va());
	int n = libxdp_get_error(all_there) ? 0 : xdp_multiprog__program_count(all_there);

	xdp_multiprog__close(all_there);
	return n;
}

static void check_joined(bool native)
{
	enum xdp_attach_mode mode = native ? XDP_MODE_NATIVE : XDP_MODE_SKB;
	struct afxdp_program *p;
	struct socket_pair s = {0};
	struct filter f;

	need_neighbour(mode);
	filter_from(&f, "proto=udp dst-port=9000");
	p = must_load(&f);
	must_attach(p, "va", native);
	assert_true(afxdp_program_joined(p));
	assert_false(afxdp_program_multi_buffer(p)); /* the neighbour takes no such packets */
	assert_int_equal(programs_there(), 2);
	open_sockets(&s);
	assert_int_equal(afxdp_program_put_socket(p, 0, xsk_socket__fd(s.xsk), &err), 0);
	uint64_t seen = seen_by_neighbour();

	assert_int_equal(send_to(&s, 9000), SOCKET);
	assert_int_equal(seen_by_neighbour(), seen);
	assert_int_equal(send_to(&s, 9001), KERNEL);
	assert_int_equal(seen_by_neighbour(), seen + 1);
	afxdp_program_drop_socket(p, 0);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	assert_int_equal(seen_by_neighbour(), seen + 2);
	afxdp_program_close(p);
	assert_int_equal(programs_there(), 1);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	assert_int_equal(seen_by_neighbour(), seen + 3);
	close_sockets(&s);
	remove_neighbour(mode);
	assert_int_equal(programs_there(), 0);
}

static void joined_in_native_mode(void **state)
{
	(void)state;
	check_joined(true);
}

static void joined_in_generic_mode(void **state)
{
	(void)state;
	check_joined(false);
}

static bool join_dispatcher(void *watched)
{
	struct afxdp_program *p;
	struct restore *r;

	return !afxdp_program_load(&p, "afxdp:va", &all, 2, false, NULL) && !restore_create(&r, NULL) &&
	       (!*(bool *)watched || !afxdp_program_restore(p, r, NULL)) && !restore_arm(r, NULL) &&
	       !afxdp_program_attach(p, va(), "va", true, NULL);
}

static void join_and_be_killed(bool watched)
{
	pid_t pid = child_that(join_dispatcher, &watched);

	assert_int_equal(programs_there(), 2);
	end_child(pid);
}

static void killed_and_watched(void **state)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)WAIT_MS * 5 * NS_PER_MS;

	(void)state;
	need_neighbour(XDP_MODE_NATIVE);
	join_and_be_killed(true);
	while (programs_there() != 1 && clock_mono_ns() < deadline)
		;
	assert_int_equal(programs_there(), 1);
	remove_neighbour(XDP_MODE_NATIVE);
}

/* Left behind it passes everything on, and does not keep the next one from joining. */
static void killed_and_left_behind(void **state)
{
	struct afxdp_program *p;
	struct socket_pair s = {0};

	(void)state;
	need_neighbour(XDP_MODE_NATIVE);
	join_and_be_killed(false);
	assert_int_equal(programs_there(), 2);
	p = must_load(&all);
	must_attach(p, "va", true);
	assert_int_equal(programs_there(), 3);
	open_sockets(&s);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	assert_int_equal(afxdp_program_put_socket(p, 0, xsk_socket__fd(s.xsk), &err), 0);
	assert_int_equal(send_to(&s, 9000), SOCKET);
	afxdp_program_close(p);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	close_sockets(&s);

	struct xdp_multiprog *left = xdp_multiprog__get_from_ifindex(va());

	assert_int_equal(xdp_multiprog__detach(left), 0);
	xdp_multiprog__close(left);
	xdp_program__close(neighbour);
	bpf_object__close(neighbour_obj);
}

static void other_mode(void **state)
{
	struct afxdp_program *p;

	(void)state;
	need_neighbour(XDP_MODE_SKB);
	p = must_load(&all);
	assert_int_equal(attach(p, "va", true), -EOPNOTSUPP); /* generic may do */
	assert_int_equal(err.code, EXIT_CAPABILITY);
	expect_in(err.cause, "in generic mode");
	expect_in(err.cause, "it would be in native mode");
	must_attach(p, "va", false);
	assert_true(afxdp_program_joined(p));
	afxdp_program_close(p);
	remove_neighbour(XDP_MODE_SKB);
}

/* Called so, but not one that libxdp could add to: what every kernel refuses. */
static void not_to_be_joined(void **state)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct afxdp_program *p;
	struct afxdp_foreign f;
	char id[32];
	int fd;

	(void)state;
	need_bpf();
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "xdp_dispatcher", "GPL", pass, 2, NULL);
	assert_true(fd >= 0);
	assert_int_equal(bpf_xdp_attach(va(), fd, XDP_FLAGS_DRV_MODE, NULL), 0);
	assert_int_equal(afxdp_foreign_find(va(), &f), 0);
	snprintf(id, sizeof(id), "(id %u)", f.id);
	p = must_load(&all);
	for (int native = 0; native <= 1; native++) {
		int rc = attach(p, "va", native);

		assert_true(rc == -EBUSY || rc == -EEXIST);
		assert_int_equal(err.code, EXIT_RUN);
		expect_in(err.cause, "libxdp's dispatcher");
		expect_in(err.cause, id);
		expect_in(err.cause, "in native mode by netlink");
		expect_in(err.cause, native ? "can't replace" : "it would be in generic mode");
		expect_in(err.hint, "xdp-loader unload va");
		assert_int_equal(id_on("va", true), f.id);
	}
	afxdp_program_close(p);
	assert_int_equal(bpf_xdp_detach(va(), XDP_FLAGS_DRV_MODE, NULL), 0);
	must_attach(p = must_load(&all), "va", true);
	assert_false(afxdp_program_joined(p));
	afxdp_program_close(p);
	close(fd);
}

/* libxdp keeps what it attaches in bpffs; ours goes with the process. */
static int set_up(void **state)
{
	int rc = xdp_links_make(state);

	if (rc || !have_bpf)
		return rc;
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			       mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL)
		       ? -1
		       : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_to_be_joined),       cmocka_unit_test(joined_in_native_mode),
		cmocka_unit_test(joined_in_generic_mode), cmocka_unit_test(other_mode),
		cmocka_unit_test(killed_and_watched),     cmocka_unit_test(killed_and_left_behind),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
