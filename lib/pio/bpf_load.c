/* SPDX-License-Identifier: Apache-2.0 */
#include "bpf_load.h"

#include "lib/log.h"

#include <bpf/libbpf.h>
#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WHAT_LOAD "cannot load the XDP program"

/* The largest that every kernel takes (kernel/bpf/verifier.c, UINT_MAX >> 8); memory is used as far as it is written.
 */
#define VERIFIER_LOG_MAX (UINT32_MAX >> 8)

/* libbpf says several lines at once, and parts of lines; log lines are short. */
static void log_text(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (n)
			log_debug("bpf: %.*s", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

__attribute__((format(printf, 2, 0))) static int log_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[900];

	if (level == LIBBPF_DEBUG) /* every relocation */
		return 0;
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	log_text(text);
	return n;
}

void bpf_log_quiet(void)
{
	libbpf_set_print(log_print);
}

int bpf_open(struct bpf_object **out, const void *elf, size_t size, const char *object_name, struct err *e)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = "squall"};

	bpf_log_quiet();
	*out = bpf_object__open_mem(elf, size, &opts);
	if (*out)
		return 0;
	return err_set(e, -errno, EXIT_RUN, "cannot open the XDP program", object_name, "%s", strerror(errno));
}

/* The state of registers ("0: R1=ctx()", "from 5 to 9: …"), instructions, source lines and sums: not why. */
static bool is_telling(const char *line, size_t n)
{
	size_t digits = 0;

	while (digits < n && isdigit((unsigned char)line[digits]))
		digits++;
	if (n == 0 || line[0] == ';' || (digits && digits < n && line[digits] == ':'))
		return false;
	return strncmp(line, "processed ", 10) != 0 && strncmp(line, "from ", 5) != 0 &&
	       strncmp(line, "verification time ", 18) != 0 && strncmp(line, "stack depth ", 12) != 0 &&
	       strncmp(line, "mark_precise: ", 14) != 0;
}

/* The last line that says what is wrong; empty when there is none. */
static void telling_line(const char *log, char *line, size_t size)
{
	line[0] = '\0';
	while (*log) {
		size_t n = strcspn(log, "\n");

		if (is_telling(log, n))
			snprintf(line, size, "%.*s", (int)n, log);
		log += n + (log[n] == '\n');
	}
}

/* Whether the thread has a capability in effect (capget(2)). */
static bool has_capability(unsigned cap)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

/*
 * What loading a program of ours takes. CAP_PERFMON: without it the verifier lets no pointer be kept where something
 * else was. CAP_SYS_ADMIN stands for the first two (include/linux/capability.h, bpf_capable() and perfmon_capable()).
 */
static const struct {
	unsigned cap;
	const char *name;
	bool of_admin;
} needed[] = {
	{CAP_BPF, "CAP_BPF", true},
	{CAP_PERFMON, "CAP_PERFMON", true},
	{CAP_NET_ADMIN, "CAP_NET_ADMIN", false},
};

/* "CAP_BPF and CAP_NET_ADMIN", and how many. */
static unsigned missing_capabilities(char *buf, size_t size)
{
	bool admin = has_capability(CAP_SYS_ADMIN);
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		size_t used = strlen(buf);

		if (has_capability(needed[i].cap) || (admin && needed[i].of_admin))
			continue;
		snprintf(buf + used, size - used, "%s%s", n++ ? " and " : "", needed[i].name);
	}
	return n;
}

int bpf_forbidden(const char *what, const char *object_name, struct err *e)
{
	char missing[64];
	unsigned n = missing_capabilities(missing, sizeof(missing));

	if (!n) {
		err_set(e, -EPERM, EXIT_CAPABILITY, what, object_name,
			"the system forbids it, although every capability for it is there");
		err_hint(e,
			 "afpacket:IFACE works without BPF programs; a container or a security module may forbid them");
		return -EPERM;
	}
	err_set(e, -EPERM, EXIT_CAPABILITY, what, object_name, "%s %s missing", missing, n > 1 ? "are" : "is");
	err_hint(e, "run it as root, or with CAP_NET_RAW, CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; afpacket:IFACE needs "
		    "CAP_NET_RAW only");
	return -EPERM;
}

static int load_refused(int rc, const char *log, const char *object_name, struct err *e)
{
	char missing[64];
	char why[512];

	log_text(log);
	telling_line(log, why, sizeof(why));
	if (rc == -EPERM || (why[0] && missing_capabilities(missing, sizeof(missing))))
		return bpf_forbidden(WHAT_LOAD, object_name, e);
	if (!why[0])
		return err_set(e, rc, EXIT_RUN, WHAT_LOAD, object_name, "%s", strerror(-rc));
	err_set(e, rc, EXIT_RUN, WHAT_LOAD, object_name, "the kernel's verifier refused it (%s): %s", strerror(-rc),
		why);
	err_hint(e, "--verbose shows the verifier's whole log; afpacket:IFACE works without a program");
	return rc;
}

int bpf_load(struct bpf_object *obj, const char *object_name, struct err *e)
{
	struct bpf_program *prog = bpf_object__next_program(obj, NULL);
	char *log = calloc(1, VERIFIER_LOG_MAX);
	int rc;

	if (!log)
		return err_set(e, -ENOMEM, EXIT_RUN, WHAT_LOAD, object_name, "no memory for the verifier's log");
	/* With a buffer of its own, libbpf asks for the log only after a refusal. */
	if (prog)
		bpf_program__set_log_buf(prog, log, VERIFIER_LOG_MAX);
	rc = bpf_object__load(obj);
	if (rc)
		rc = load_refused(rc, log, object_name, e);
	if (prog)
		bpf_program__set_log_buf(prog, NULL, 0);
	free(log);
	return rc;
}
