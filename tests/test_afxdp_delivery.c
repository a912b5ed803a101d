/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets a packet: the socket what matches, the kernel all else, and everything when the socket is taken out. */
#include "xdp_sockets.h"

#include "filters.h"

static void check_delivery(bool native)
{
	struct afxdp_program *p;
	struct socket_pair s = {0};
	struct filter f;

	need_bpf();
	filter_from(&f, "proto=udp dst-port=9000");
	p = must_load(&f);
	must_attach(p, "va", native);
	open_sockets(&s);
	assert_int_equal(send_to(&s, 9000), KERNEL); /* no socket yet */
	assert_int_equal(afxdp_program_put_socket(p, 0, xsk_socket__fd(s.xsk), &err), 0);
	assert_int_equal(send_to(&s, 9000), SOCKET);
	assert_int_equal(send_to(&s, 9001), KERNEL);
	assert_int_equal(send_to(&s, 9000), SOCKET);
	afxdp_program_drop_socket(p, 0);
	afxdp_program_drop_socket(p, 0);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	/* in another queue's place it gets nothing of this one */
	assert_int_equal(afxdp_program_put_socket(p, 1, xsk_socket__fd(s.xsk), &err), 0);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	assert_int_equal(afxdp_program_put_socket(p, 0, xsk_socket__fd(s.xsk), &err), 0);
	assert_int_equal(send_to(&s, 9000), SOCKET);
	afxdp_program_close(p);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	close_sockets(&s);
}

static void native(void **state)
{
	(void)state;
	check_delivery(true);
}

static void generic(void **state)
{
	(void)state;
	check_delivery(false);
}

/* For transmitting only: the kernel keeps its packets, whatever sockets there are. */
static void without_a_filter(void **state)
{
	struct afxdp_program *p;
	struct socket_pair s = {0};

	(void)state;
	need_bpf();
	p = must_load(NULL);
	must_attach(p, "va", true);
	open_sockets(&s);
	assert_int_equal(afxdp_program_put_socket(p, 0, xsk_socket__fd(s.xsk), &err), 0);
	assert_int_equal(send_to(&s, 9000), KERNEL);
	afxdp_program_close(p);
	close_sockets(&s);
}

static void no_such_queue_and_no_such_socket(void **state)
{
	struct afxdp_program *p;

	(void)state;
	need_bpf();
	p = must_load(&all);
	int other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* not one of AF_XDP */

	assert_true(afxdp_program_put_socket(p, 0, other, &err) < 0);
	assert_int_equal(err.code, EXIT_RUN);
	assert_non_null(strstr(err.cause, "queue 0"));
	assert_true(afxdp_program_put_socket(p, 2, other, &err) < 0);
	afxdp_program_drop_socket(p, 2);
	close(other);
	afxdp_program_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native),
		cmocka_unit_test(generic),
		cmocka_unit_test(without_a_filter),
		cmocka_unit_test(no_such_queue_and_no_such_socket),
	};

	return cmocka_run_group_tests(tests, xdp_links_make, NULL);
}
