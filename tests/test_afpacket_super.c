/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels' own sockets send over a veth pair reaches a packet socket before a device would have finished it:
 * TCP in super-frames, UDP without its checksum. Needs root.
 */
#include "tests/afpacket_live.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#define PORT        9000
#define STREAM_LEN  60000U
#define TCP_HEADERS 54U

static int setup(void **state)
{
	if (live_setup(state))
		return -1;
	run(here, "ip link set va arp on && ip addr add 10.66.0.1/24 dev va");
	run(there, "ip link set vb arp on && ip addr add 10.66.0.2/24 dev vb");
	return 0;
}

static struct sockaddr_in address(const char *ip)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	assert_int_equal(inet_pton(AF_INET, ip, &a.sin_addr), 1);
	return a;
}

static int socket_in(int ns, int type)
{
	enter(ns);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	enter(here);
	assert_true(fd >= 0);
	return fd;
}

static unsigned char byte_at(uint32_t i)
{
	return (unsigned char)(i ^ i >> 8);
}

/* The stream, put together from frames. */
struct stream {
	uint32_t packet_len; /* of the packet at hand, so far */
	uint32_t stated_len; /* as its IP header says */
	uint32_t got;        /* bytes of the stream */
	uint32_t supers, packets;
	bool more;
	bool ours; /* the packet at hand is TCP to PORT */
};

static void take_payload(struct stream *s, const unsigned char *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++, s->got++)
		if (data[i] != byte_at(s->got))
			fail_msg("byte %u of the stream is wrong", s->got);
}

static void take_frame(struct stream *s, const struct pio_frame *f)
{
	if (s->more) {
		assert_false(f->flags & ~(uint32_t)PIO_MORE);
		s->packet_len += f->len;
		if (s->ours)
			take_payload(s, f->data, f->len);
	} else {
		s->ours = f->len > 40 && f->data[12] == 8 && f->data[13] == 0 && f->data[23] == IPPROTO_TCP &&
			  (f->data[36] << 8 | f->data[37]) == PORT;
		s->packet_len = f->len;
		s->stated_len = (uint32_t)(f->data[16] << 8 | f->data[17]);
		if (s->ours) {
			uint32_t headers = 14 + 20 + (f->data[46] >> 4) * 4U;

			s->packets++;
			s->supers += !!(f->flags & PIO_SUPER);
			take_payload(s, f->data + headers, f->len - headers);
		}
	}
	s->more = f->flags & PIO_MORE;
	if (s->ours && !s->more)
		assert_int_equal(s->packet_len, s->stated_len + 14);
}

/* The whole stream arrives in chains, whether the array holds the longest of them or not. */
static void tcp_stream(void **state)
{
	(void)state;
	for (uint32_t array = 3; array <= BURST; array += BURST - 3) {
		unsigned char *data = malloc(STREAM_LEN);
		int listener = socket_in(there, SOCK_STREAM);
		int client = socket_in(here, SOCK_STREAM);
		struct sockaddr_in a = address("10.66.0.2");
		struct stream s = {0};
		int one = 1;

		assert_non_null(data);
		for (uint32_t i = 0; i < STREAM_LEN; i++)
			data[i] = byte_at(i);
		assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
		assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
		assert_int_equal(listen(listener, 1), 0);
		assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof(a)), 0);

		struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &take_all);

		assert_int_equal(send(client, data, STREAM_LEN, 0), STREAM_LEN);
		uint64_t deadline = clock_mono_ns() + WAIT_NS;

		while (s.got < STREAM_LEN && clock_mono_ns() < deadline) {
			struct pio_frame f[BURST];
			uint32_t n = pio_poll(rx->rx[0], POLL_MS) == 1 ? pio_rx(rx->rx[0], f, array) : 0;

			for (uint32_t i = 0; i < n; i++)
				take_frame(&s, &f[i]);
			if (array == BURST)
				assert_false(s.more);
			pio_put(rx->rx[0], f, n);
		}
		assert_int_equal(s.got, STREAM_LEN);
		assert_true(s.supers > 0);
		assert_true(s.packets < STREAM_LEN / 1460);
		assert_int_equal(rx_counts_of(rx).super_frames, s.supers);
		pio_close(rx);
		close(client);
		close(listener);
		free(data);
	}
}

static struct pio_frame one_frame(struct pio_port *rx)
{
	uint64_t deadline = clock_mono_ns() + WAIT_NS;
	struct pio_frame f;

	while (clock_mono_ns() < deadline)
		if (pio_poll(rx->rx[0], POLL_MS) == 1 && pio_rx(rx->rx[0], &f, 1))
			return f;
	fail_msg("nothing came");
	return f;
}

static void udp_socket(void **state)
{
	static const char text[64] = "sixty-four bytes";
	struct filter udp = {.n = 1, .match[0] = {.kind = FILTER_PROTO, .proto = IPPROTO_UDP}};
	struct sockaddr_in a = address("10.66.0.2");
	int client = socket_in(here, SOCK_DGRAM);
	struct pio_port *rx = open_rx(there, "afpacket:vb", 1, &udp);
	struct pio_frame f;
	int segment = 16;

	(void)state;
	assert_int_equal(sendto(client, text, sizeof(text), 0, (struct sockaddr *)&a, sizeof(a)), sizeof(text));
	f = one_frame(rx);
	assert_int_equal(f.flags, PIO_CSUM_UNFINISHED | PIO_UDP4);
	assert_int_equal(f.len, 42 + sizeof(text));
	pio_put(rx->rx[0], &f, 1);

	/* Four datagrams that the kernel leaves to the device to cut: shorter than many a single packet. */
	assert_int_equal(setsockopt(client, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)), 0);
	assert_int_equal(sendto(client, text, sizeof(text), 0, (struct sockaddr *)&a, sizeof(a)), sizeof(text));
	f = one_frame(rx);
	assert_int_equal(f.flags, PIO_CSUM_UNFINISHED | PIO_SUPER);
	assert_int_equal(f.len, 42 + sizeof(text));
	pio_put(rx->rx[0], &f, 1);
	struct rx_counts c = rx_counts_of(rx);

	assert_int_equal(c.packets, 2);
	assert_int_equal(c.csum_unfinished, 2);
	assert_int_equal(c.super_frames, 1);
	pio_close(rx);
	close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_stream),
		cmocka_unit_test(udp_socket),
	};

	if (geteuid() != 0) {
		puts("skipped: packet sockets and network namespaces need root");
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
