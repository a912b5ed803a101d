/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is killed: what it changed is put back, and what it held is let go. Needs root. */
#include "tests/restoring.h"

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

static void wait_at_gate(void *arg)
{
	char c;

	(void)arg;
	if (read(gate[0], &c, 1) != 1)
		_exit(1);
}

/* A setting: the first byte of a file. */
static int setting;

static void put_back(void *arg)
{
	if (pwrite(setting, arg, 1, 0) != 1)
		_exit(1);
}

static char setting_now(void)
{
	char c;

	assert_int_equal(pread(setting, &c, 1, 0), 1);
	return c;
}

static int make_setting(void)
{
	char name[] = "/tmp/test_restore.XXXXXX";

	setting = mkostemp(name, O_CLOEXEC);
	return setting < 0 || unlink(name) || pwrite(setting, "o", 1, 0) != 1 ? -1 : 0;
}

static void change_setting(void)
{
	struct restore *r = must_create();

	must_add(r, NULL, NULL, told[1]);
	must_add(r, put_back, &letters['o' - 'a'], setting);
	must_arm(r);
	put_back(&letters['n' - 'a']);
}

static void killed(void **state)
{
	(void)state;
	assert_int_equal(make_setting(), 0);
	pid_t pid = process_under_test(change_setting);

	assert_int_equal(setting_now(), 'n');
	assert_true(silent(told[0]));
	kill_and_reap(pid);
	assert_int_equal(next_byte(told[0]), -1);
	assert_int_equal(setting_now(), 'o');
	close(setting);
}

static void change_setting_and_exec(void)
{
	change_setting();
	if (fork() == 0) {
		dup2(gate[0], STDIN_FILENO);
		execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
}

/* A process that was started meanwhile, and outlives the killed one, does not delay it. */
static void killed_with_a_child(void **state)
{
	(void)state;
	assert_int_equal(make_setting(), 0);
	kill_and_reap(process_under_test(change_setting_and_exec));
	assert_int_equal(next_byte(told[0]), -1);
	assert_int_equal(setting_now(), 'o');
	close(setting);
}

static void end_with_a_child(void)
{
	struct restore *r = must_create();

	must_add(r, tell_letter, letters, told[1]);
	must_arm(r);
	if (fork() == 0) {
		shut(&told[1]);
		wait_at_gate(NULL);
		_exit(0);
	}
	restore_end(r);
	shut(&told[1]);
}

/* Nor does one that was only forked delay a normal end. */
static void ended_with_a_child(void **state)
{
	(void)state;
	pid_t pid = process_under_test(end_with_a_child);

	assert_int_equal(next_byte(told[0]), 'a');
	assert_int_equal(next_byte(told[0]), -1);
	kill_and_reap(pid);
}

static int listener;
static int pair[2];

/* Packet sockets of this process's namespace, by the kernel's list below its headline. */
static int packet_sockets(void)
{
	FILE *f = fopen("/proc/self/net/packet", "re");
	char line[256];
	int n = -1;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	return n;
}

/* A socket that is only held by the mapping of its ring. */
static void map_ring(void)
{
	struct tpacket_req ring = {.tp_block_size = 4096, .tp_block_nr = 1, .tp_frame_size = 2048, .tp_frame_nr = 2};
	int sock = socket(AF_PACKET, SOCK_RAW, 0);

	assert_int_equal(setsockopt(sock, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)), 0);
	assert_ptr_not_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, sock, 0), MAP_FAILED);
	close(sock);
	assert_int_equal(packet_sockets(), 1);
}

static void hold_sockets(void)
{
	struct restore *r = must_create();

	close(pair[0]);
	map_ring();
	must_add(r, tell_letter, letters, told[1]);
	must_add(r, wait_at_gate, NULL, gate[0]);
	must_arm(r);
}

/* The killed process's sockets and mappings are gone although the watching process is still at work. */
static void holds_no_socket(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(system("ip link set lo up"), 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &len), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid_t pid = process_under_test(hold_sockets);

	close(listener);
	close(pair[1]);
	int again = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(again, (struct sockaddr *)&a, sizeof(a)), -1);
	assert_true(silent(pair[0]));
	assert_int_equal(packet_sockets(), 1);
	kill_and_reap(pid);
	assert_int_equal(next_byte(pair[0]), -1);
	assert_int_equal(packet_sockets(), 0);
	assert_int_equal(bind(again, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_true(silent(told[0]));
	say(gate[1], 'g');
	assert_int_equal(next_byte(told[0]), 'a');
	assert_int_equal(next_byte(told[0]), -1);
	close(again);
	close(pair[0]);
}

/* From the watching process, after its parent's end: whether it is as it should be. */
static void examine(void *arg)
{
	char text[64] = "";
	bool all = true;

	(void)arg;
	say(told[1], getcwd(text, sizeof(text)) && strcmp(text, "/") == 0 ? 'y' : 'n');
	for (int fd = 0; fd < 3; fd++) {
		char name[32];

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		memset(text, 0, sizeof(text));
		all = all && readlink(name, text, sizeof(text) - 1) > 0 && strcmp(text, "/dev/null") == 0;
	}
	say(told[1], all ? 'y' : 'n');
	say(told[1], getsid(0) == getpid() ? 'y' : 'n');
	memset(text, 0, sizeof(text));
	int comm = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	say(told[1], read(comm, text, sizeof(text) - 1) > 0 && strcmp(text, "sq-restore\n") == 0 ? 'y' : 'n');
}

static void arm_examined(void)
{
	struct restore *r = must_create();

	must_add(r, examine, NULL, told[1]);
	must_arm(r);
}

static void detached(void **state)
{
	static const char *const what[] = {"working directory", "standard files", "session", "name"};

	(void)state;
	kill_and_reap(process_under_test(arm_examined));
	for (unsigned i = 0; i < 4; i++)
		if (next_byte(told[0]) != 'y')
			fail_msg("%s", what[i]);
	assert_int_equal(next_byte(told[0]), -1);
}

static void arm_without_standard_files(void)
{
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	arm_examined();
}

/* What it works with may then have their numbers. */
static void standard_files_closed(void **state)
{
	(void)state;
	kill_and_reap(process_under_test(arm_without_standard_files));
	for (unsigned i = 0; i < 4; i++)
		assert_int_not_equal(next_byte(told[0]), -1);
	assert_int_equal(next_byte(told[0]), -1);
}

static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE, SIGALRM,   SIGUSR1,
			      SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGVTALRM, SIGIO};

static void signal_all(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		kill(getpid(), signals[i]);
	say(told[1], 's');
}

static void ignore_signals_and_arm(void)
{
	struct restore *r = must_create();

	must_add(r, tell_letter, letters, told[1]);
	must_add(r, signal_all, NULL, -1);
	must_arm(r);
	/* Only now: what is ignored stays so in a copy. */
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

static void signals_do_not_end_it(void **state)
{
	(void)state;
	pid_t pid = process_under_test(ignore_signals_and_arm);

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_int_equal(kill(-pid, signals[i]), 0);
	assert_true(silent(told[0]));
	kill_and_reap(pid);
	assert_int_equal(next_byte(told[0]), 's');
	assert_int_equal(next_byte(told[0]), 'a');
	assert_int_equal(next_byte(told[0]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(killed, setup, teardown),
		cmocka_unit_test_setup_teardown(killed_with_a_child, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_with_a_child, setup, teardown),
		cmocka_unit_test_setup_teardown(holds_no_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(detached, setup, teardown),
		cmocka_unit_test_setup_teardown(standard_files_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(signals_do_not_end_it, setup, teardown),
	};

	return cmocka_run_group_tests_name("restore after a kill", tests, NULL, NULL);
}
