/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The XDP program from load to close, on links of a namespace of our own: va and vb are a veth pair, i0 is an ifb,
 * whose driver knows no native XDP. Everything is gone with the process.
 */
#include "lib/pio/afxdp_program.h"

#include "xdp_links.h"

#include "lib/log.h"
#include "lib/pio/bpf_load.h"

#include "afxdp_refused.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/syscall.h>

/* Stands before libbpf's own: a kernel from before 5.18, which knows no packets of several buffers. */
static bool old_kernel;

int bpf_object__load(struct bpf_object *obj)
{
	void *symbol = dlsym(RTLD_NEXT, "bpf_object__load");
	int (*load)(struct bpf_object *);
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);

	if (old_kernel && bpf_program__flags(prog) & BPF_F_XDP_HAS_FRAGS)
		return -EINVAL;
	memcpy(&load, &symbol, sizeof(load));
	return load(obj);
}

static void attached_until_closed(void **state)
{
	(void)state;
	need_bpf();
	for (int native = 0; native <= 1; native++) {
		struct afxdp_program *p = must_load(native ? &all : NULL);

		assert_int_not_equal(afxdp_program_id(p), 0);
		must_attach(p, "va", native);
		assert_int_equal(id_on("va", native), afxdp_program_id(p));
		assert_int_equal(id_on("va", !native), 0);
		afxdp_program_close(p);
		assert_int_equal(id_on("va", native), 0);
	}
	afxdp_program_close(NULL);
}

/* Killed, not asked: nothing of the process's own runs. */
static bool attach_to_va(void *arg)
{
	struct afxdp_program *p;

	(void)arg;
	return !afxdp_program_load(&p, "afxdp:va", &all, 1, false, NULL) &&
	       !afxdp_program_attach(p, (int)if_nametoindex("va"), "va", true, NULL);
}

static void gone_with_its_process(void **state)
{
	(void)state;
	need_bpf();
	pid_t pid = child_that(attach_to_va, NULL);

	assert_int_not_equal(id_on("va", true), 0);
	end_child(pid);
	assert_int_equal(id_on("va", true), 0);

	struct afxdp_program *p = must_load(&all);

	must_attach(p, "va", true);
	afxdp_program_close(p);
}

static void no_native_mode(void **state)
{
	struct afxdp_program *p;

	(void)state;
	need_bpf();
	p = must_load(&all);
	assert_int_equal(attach(p, "i0", true), -EOPNOTSUPP);
	assert_int_equal(err.code, EXIT_CAPABILITY);
	expect_in(err.cause, "no native XDP");
	must_attach(p, "i0", false);
	afxdp_program_close(p);
}

/* What veth wants: a receive queue for each that the peer sends on. */
static void too_few_queues_for_the_peer(void **state)
{
	struct afxdp_program *p;

	(void)state;
	need_bpf();
	run(here, "ip link add vc numtxqueues 2 numrxqueues 1 type veth peer name vd numtxqueues 2 numrxqueues 2");
	p = must_load(&all);
	assert_int_equal(attach(p, "vc", true), -ENOSPC);
	expect_in(err.cause, "more transmit queues");
	expect_in(err.hint, "ethtool -L vc rx");
	afxdp_program_close(p);
	run(here, "ip link del vc");
}

static void a_large_mtu(void **state)
{
	struct afxdp_program *p;

	(void)state;
	need_bpf();
	run(here, "ip link set va mtu 9000; ip link set vb mtu 9000");
	p = must_load(&all);
	assert_true(afxdp_program_multi_buffer(p));
	must_attach(p, "va", true);
	afxdp_program_close(p);

	old_kernel = true;
	p = must_load(&all);
	old_kernel = false;
	assert_false(afxdp_program_multi_buffer(p));
	assert_int_equal(attach(p, "va", true), -ERANGE);
	assert_int_equal(err.code, EXIT_CAPABILITY);
	expect_in(err.cause, "MTU 9000");
	expect_in(err.hint, "ip link set dev va mtu");
	run(here, "ip link set va mtu 1500"); /* it is the peer's that counts on veth */
	assert_int_equal(attach(p, "va", true), -ERANGE);
	expect_in(err.cause, "peer");
	must_attach(p, "va", false);
	afxdp_program_close(p);
	run(here, "ip link set vb mtu 1500");
}

/* Takes capabilities away from the thread, or gives all of those permitted back. */
static void without(uint64_t caps)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	for (unsigned i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & ~(uint32_t)(caps >> 32 * i);
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

#define CAP(name) (1ULL << (name))

static void missing_capabilities(void **state)
{
	static const struct {
		uint64_t without;
		const char *says; /* NULL: it works */
	} cases[] = {
		{CAP(CAP_SYS_ADMIN) | CAP(CAP_BPF), "CAP_BPF is missing"},
		{CAP(CAP_SYS_ADMIN) | CAP(CAP_PERFMON), "CAP_PERFMON is missing"},
		{CAP(CAP_SYS_ADMIN) | CAP(CAP_NET_ADMIN), "CAP_NET_ADMIN is missing"},
		{CAP(CAP_SYS_ADMIN) | CAP(CAP_BPF) | CAP(CAP_NET_ADMIN), "CAP_BPF and CAP_NET_ADMIN are missing"},
		{CAP(CAP_BPF) | CAP(CAP_PERFMON), NULL},
		{CAP(CAP_SYS_ADMIN), NULL},
	};
	static const struct filter keep = {.keep_management = true};

	(void)state;
	need_bpf();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct afxdp_program *p;

		without(cases[i].without);
		int rc = afxdp_program_load(&p, "afxdp:va", &keep, 1, false, &err);

		without(0);
		assert_int_equal(rc, cases[i].says ? -EPERM : 0);
		afxdp_program_close(p);
		if (!cases[i].says)
			continue;
		assert_null(p);
		assert_int_equal(err.code, EXIT_CAPABILITY);
		assert_string_equal(err.cause, cases[i].says);
	}
}

static char logged[1 << 20];

static void keep_log(enum log_level level, const char *line)
{
	size_t n = strlen(logged);

	assert_int_equal(level, LOG_LEVEL_DEBUG);
	snprintf(logged + n, sizeof(logged) - n, "%s\n", line);
}

static void refused_by_the_verifier(void **state)
{
	struct bpf_object *obj;
	size_t size;
	const void *elf = afxdp_refused__elf_bytes(&size);

	(void)state;
	need_bpf();
	log_set_sink(keep_log);
	assert_int_equal(bpf_open(&obj, elf, size, "afxdp:va", &err), 0);
	assert_int_equal(bpf_load(obj, "afxdp:va", &err), -EACCES);
	log_set_sink(NULL);
	bpf_object__close(obj);
	assert_int_equal(err.code, EXIT_RUN);
	assert_string_equal(err.object, "afxdp:va");
	/* the reason, and nothing of the rest of the log */
	expect_in(err.cause, "outside of the packet");
	assert_null(strchr(err.cause, '\n'));
	assert_null(strstr(err.cause, "processed"));
	expect_in(err.hint, "--verbose");
	/* the log from its first line (the registers at the start) to its last */
	expect_in(logged, "R1=ctx(");
	expect_in(logged, "outside of the packet");
	expect_in(logged, "processed ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached_until_closed),
		cmocka_unit_test(gone_with_its_process),
		cmocka_unit_test(no_native_mode),
		cmocka_unit_test(too_few_queues_for_the_peer),
		cmocka_unit_test(a_large_mtu),
		cmocka_unit_test(missing_capabilities),
		cmocka_unit_test(refused_by_the_verifier),
	};

	return cmocka_run_group_tests(tests, xdp_links_make, NULL);
}
