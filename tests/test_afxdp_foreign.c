/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of somebody else: none is replaced, and the error says whose it is and what to do. */
#include "xdp_links.h"

__attribute__((format(printf, 2, 3))) static void expect_part(const char *text, const char *fmt, ...)
{
	char part[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(part, sizeof(part), fmt, ap);
	va_end(ap);
	expect_in(text, part);
}

static int load_foreign(const char *name)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, name, "GPL", pass, 2, NULL);

	assert_true(fd >= 0);
	return fd;
}

static uint32_t prog_id(int fd)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return info.id;
}

/* Neither mode of ours gets on, the error says whose program it is, and it stays. */
static void refused_for(uint32_t id, const char *name, bool native, const char *by, const char *way_out)
{
	for (int ours = 0; ours <= 1; ours++) {
		struct afxdp_program *p = must_load(&all);
		int rc = attach(p, "va", ours);

		assert_true(rc == -EBUSY || rc == -EEXIST);
		assert_int_equal(err.code, EXIT_RUN);
		expect_part(err.cause, "%s (id %u)", name, id);
		expect_in(err.cause, native ? "in native mode" : "in generic mode");
		expect_in(err.cause, by);
		expect_in(err.hint, way_out);
		afxdp_program_close(p);
		assert_int_equal(id_on("va", native), id);
	}
}

static void foreign_by_netlink(void **state)
{
	(void)state;
	need_bpf();
	for (int native = 0; native <= 1; native++) {
		int flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
		int fd = load_foreign("their_own");
		int va = (int)if_nametoindex("va");

		assert_int_equal(bpf_xdp_attach(va, fd, (uint32_t)flags, NULL), 0);
		refused_for(prog_id(fd), "their_own", native, "by netlink",
			    native ? "ip link set dev va xdp off" : "ip link set dev va xdpgeneric off");
		assert_int_equal(bpf_xdp_detach(va, (uint32_t)flags, NULL), 0);
		close(fd);
	}
}

static void foreign_by_link(void **state)
{
	(void)state;
	need_bpf();
	for (int native = 0; native <= 1; native++) {
		struct bpf_link_create_opts opts = {.sz = sizeof(opts),
						    .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE};
		struct bpf_link_info info = {0};
		uint32_t size = sizeof(info);
		int fd = load_foreign("linked_one");
		int link = bpf_link_create(fd, (int)if_nametoindex("va"), BPF_XDP, &opts);
		char by[64];
		char way_out[64];

		assert_true(link >= 0);
		assert_int_equal(bpf_obj_get_info_by_fd(link, &info, &size), 0);
		snprintf(by, sizeof(by), "by BPF link id %u", info.id);
		snprintf(way_out, sizeof(way_out), "bpftool link detach id %u", info.id);
		refused_for(prog_id(fd), "linked_one", native, by, way_out);
		close(link);
		close(fd);
	}
}

/* No program on the link itself, but on one above it. */
static void foreign_above(void **state)
{
	struct afxdp_program *above;
	struct afxdp_program *p;

	(void)state;
	need_bpf();
	run(here, "ip link add link va name above type macvlan");
	above = must_load(&all);
	must_attach(above, "above", false);
	p = must_load(&all);
	assert_int_equal(attach(p, "va", true), -EEXIST);
	assert_int_equal(err.code, EXIT_RUN);
	expect_in(err.cause, "on top of it");
	afxdp_program_close(above);
	must_attach(p, "va", true);
	afxdp_program_close(p);
	run(here, "ip link del above");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_by_netlink),
		cmocka_unit_test(foreign_by_link),
		cmocka_unit_test(foreign_above),
	};

	return cmocka_run_group_tests(tests, xdp_links_make, NULL);
}
