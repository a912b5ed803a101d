/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the XDP program takes, decided in the kernel, is what filter_matches() takes: for the cases of the filter's own
 * test, each cut short at every length, and for packets and filters drawn at random. Where the program does not see the
 * whole packet it may leave one to the kernel, never take one more.
 */
#include "filter_cases.h"

#include "lib/log.h"
#include "lib/pio/afxdp_rules.h"
#include "lib/pio/bpf_load.h"

#include "afxdp_decide.skel.h"

#include <bpf/bpf.h>
#include <errno.h>

#define ETH_MIN 14U /* the kernel runs programs on no less */

/* Where the kernel cuts a packet in a test run, at most: a page without headroom and skb_shared_info. */
#define LINEAR_MAX 4096U

static struct afxdp_decide *skel;
static struct rules loaded;
static int load_error;

static void unload(void)
{
	afxdp_decide__destroy(skel);
	skel = NULL;
}

static bool try_load(const struct filter *f)
{
	struct rules wanted;

	afxdp_rules_compile(f, &wanted);
	wanted.fragmented = true;
	if (skel && memcmp(&wanted, &loaded, sizeof(loaded)) == 0)
		return true;
	unload();
	bpf_log_quiet();
	skel = afxdp_decide__open();
	load_error = errno;
	if (!skel)
		return false;
	skel->rodata_rules->rules = wanted;
	load_error = -afxdp_decide__load(skel);
	if (load_error)
		unload();
	loaded = wanted;
	return !load_error;
}

static void need_bpf(void)
{
	static const struct filter all = {.all = true};
	const char *required = getenv("SQUALL_REQUIRE");

	if (try_load(&all))
		return;
	if (required && (strstr(required, "bpf") || strstr(required, "afxdp")))
		fail_msg("BPF is required, and the program was not loaded: %s", strerror(load_error));
	print_message("not compared with the kernel: BPF needs root (%s)\n", strerror(load_error));
	skip();
}

static bool kernel_takes(const struct filter *f, const unsigned char *data, uint32_t len)
{
	struct bpf_test_run_opts opts = {
		.sz = sizeof(opts),
		.data_in = data,
		.data_size_in = len,
		.repeat = 1,
	};
	char text[256];

	if (!try_load(f))
		fail_msg("%s: not loaded: %s", f ? filter_describe(f, text, sizeof(text)) : "no filter",
			 strerror(load_error));
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.afxdp_decide), &opts), 0);
	if (opts.retval != XDP_TX && opts.retval != XDP_PASS)
		fail_msg("the program answers %u", opts.retval);
	return opts.retval == XDP_TX;
}

static void print_packet(const unsigned char *data, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		print_error("%02x%s", data[i], i % 32 == 31 || i == len - 1 ? "\n" : "");
}

static bool compare(const struct filter *f, const unsigned char *data, uint32_t len)
{
	bool want = matches_exact(f, data, len);
	char text[256];

	if (kernel_takes(f, data, len) != want) {
		print_packet(data, len);
		fail_msg("%s: %u bytes: the kernel says %d, filter_matches() %d",
			 filter_describe(f, text, sizeof(text)), len, !want, want);
	}
	return want;
}

/* For the shared cases: each packet is also compared at every shorter length. */
static bool decides(const struct filter *f, const unsigned char *data, uint32_t len)
{
	need_bpf();
	for (uint32_t n = ETH_MIN; n < len; n++)
		compare(f, data, n);
	return compare(f, data, len);
}

static void everything_and_nothing(void **state)
{
	const struct filter all = {.all = true};
	struct packet d = {.family = 4};
	unsigned char buf[PACKET_MAX];
	uint32_t len = packet_build(&d, buf);

	(void)state;
	assert_true(decides(&all, buf, len));
	assert_false(kernel_takes(NULL, buf, len));
}

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525U + 1013904223U;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

static bool one_in(uint32_t n)
{
	return draw(n) == 0;
}

/* Few values, so that filters and packets meet. */
static const char *const values[FILTER_KINDS][6] = {
	{"02:00:00:00:00:02", "02:00:00:00:00:03", "02:00:00:00:00:02", "ff:ff:ff:ff:ff:ff", "02:00:00:00:01:02",
	 "00:00:00:00:00:02"},
	{"0", "5", "6", "100", "4095", "1"},
	{"0x0800", "0x86dd", "0x8100", "0x88a8", "0x88b5", "0x0806"},
	{"udp", "tcp", "icmp6", "sctp", "44", "60"},
	{"10.0.0.1", "10.0.0.0/31", "0.0.0.0/0", "fd00::/64", "::/0", "fd00::/127"},
	{"10.0.0.2", "10.0.0.0/8", "128.0.0.0/1", "fd00::2", "fd00::/9", "fd00:0:0:0:8000::/65"},
	{"80", "0-1000", "1000-65535", "65535", "22", "53"},
	{"80", "0-1000", "1000-65535", "65535", "22", "53"},
};
static const char *const kinds[FILTER_KINDS] = {"dst-mac", "vlan", "ethertype", "proto",
						"src",     "dst",  "src-port",  "dst-port"};

static void draw_conditions(struct filter *f)
{
	char text[64];

	do {
		memset(f, 0, sizeof(*f));
		for (unsigned kind = 0; kind < FILTER_KINDS; kind++) {
			unsigned n = one_in(2) ? 0 : 1 + draw(3);

			for (unsigned i = 0; i < n; i++) {
				snprintf(text, sizeof(text), "%s=%s", kinds[kind], values[kind][draw(6)]);
				assert_int_equal(filter_add_text(f, text, NULL), 0);
			}
		}
	} while (filter_check(f, NULL));
}

static void draw_locals(struct filter *f)
{
	static const char *const locals[] = {"10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "192.0.2.7"};

	*f = (struct filter){.keep_management = true, .n_locals = draw(4)};
	for (unsigned i = 0; i < f->n_locals; i++)
		assert_int_equal(ip_parse(locals[draw(5)], &f->locals[i]), 0);
}

static uint16_t draw_port(void)
{
	static const uint16_t ports[] = {80, 22, 53, 65535, 1000, 999};

	return one_in(8) ? (uint16_t)draw(65536) : ports[draw(6)];
}

static uint32_t draw_packet(unsigned char *buf)
{
	static const uint16_t types[] = {0x0800, 0x0806, 0x86dd, 0x88b5};
	static const uint16_t vlans[] = {0, 5, 6, 100, 0xe064, 0xffff};
	static const uint8_t protos[] = {17, 17, 17, 6, 6, 58, 132, 1, 44, 60};
	static const uint8_t exts[] = {0, 43, 44, 51, 60, 50};
	struct packet d = {
		.dst_mac = one_in(4) ? "\2\0\0\0\0\3" : NULL,
		.type = types[draw(4)],
		.family = one_in(8)   ? 0
			  : one_in(2) ? 4
				      : 6,
		.proto = protos[draw(10)],
		.ihl = (uint8_t)(one_in(2) ? 5 : 5 + draw(11)),
		.frag = (uint16_t)(one_in(8) ? draw(0x2000) : 0),
		.more = one_in(8),
		.sport = draw_port(),
		.dport = draw_port(),
		.icmp_type = (uint8_t)(one_in(2) ? 130 + draw(10) : 0),
		.payload = draw(30),
		.no_l4 = one_in(16),
	};
	unsigned tags = one_in(2) ? 0 : draw(5);
	unsigned n_ext = one_in(2) ? 0 : draw(11);

	for (unsigned i = 0; i < tags; i++)
		d.tag[i] = (struct packet_tag){one_in(3) ? 0x88a8 : 0x8100, vlans[draw(6)]};
	for (unsigned i = 0; i < n_ext; i++)
		d.ext[i] = (struct packet_ext){
			.type = exts[draw(one_in(4) ? 6 : 5)],
			.units = (uint8_t)draw(one_in(4) ? 13 : 3),
			.frag = (uint16_t)(one_in(12) ? draw(0x2000) : 0),
			.first = true,
		};
	uint32_t len = packet_build(&d, buf);
	unsigned char *l3 = buf + ETH_MIN + 4 * (size_t)(tags < 4 ? tags : 4);

	if (one_in(16)) /* a header length that is none, or longer than what is there */
		*l3 = (unsigned char)((*l3 & 0xf0U) | draw(16));
	/* A byte of the headers becomes another one, more often one of those that lengths and types are in. */
	for (unsigned n = one_in(2) ? 0 : 1 + draw(3); n; n--)
		buf[one_in(2) ? 12 + draw(8) : draw(len)] = (unsigned char)(one_in(2) ? draw(256) : exts[draw(6)]);
	return one_in(3) ? ETH_MIN + draw(len - ETH_MIN + 1) : len;
}

static void check_random(void (*draw_filter)(struct filter *f), unsigned filters, unsigned packets)
{
	unsigned char buf[PACKET_MAX];
	unsigned taken = 0;

	need_bpf();
	for (unsigned i = 0; i < filters; i++) {
		struct filter f;

		draw_filter(&f);
		for (unsigned k = 0; k < packets; k++) {
			uint32_t len = draw_packet(buf);

			taken += compare(&f, buf, len);
		}
	}
	/* A draw that hardly ever meets the filters, or nearly always, would show nothing. */
	if (taken < filters * packets / 50 || taken > filters * packets * 49 / 50)
		fail_msg("%u of %u packets are taken", taken, filters * packets);
	print_message("%u packets compared, %u of them taken\n", filters * packets, taken);
}

static void random_conditions(void **state)
{
	(void)state;
	seed = 1;
	check_random(draw_conditions, 150, 400);
}

static void draw_port_range(struct filter *f)
{
	filter_from(f, one_in(2) ? "proto=udp dst-port=0-1000" : "proto=tcp dst-port=80");
}

/* What has a path of its own. */
static void random_port_filters(void **state)
{
	(void)state;
	seed = 2;
	check_random(draw_port_range, 30, 400);
}

static void random_keep_management(void **state)
{
	(void)state;
	seed = 3;
	check_random(draw_locals, 40, 500);
}

static void as_many_conditions_as_there_may_be(void **state)
{
	static const char *const fill[] = {"vlan=%u", "src=fd00::%u", "proto=%u"};
	unsigned char buf[PACKET_MAX];
	char text[64];

	(void)state;
	need_bpf();
	seed = 4;
	for (unsigned i = 0; i < sizeof(fill) / sizeof(fill[0]); i++) {
		struct filter f = {0};

		for (unsigned k = 0; k < FILTER_MATCHES_MAX; k++) {
			snprintf(text, sizeof(text), fill[i], k);
			assert_int_equal(filter_add_text(&f, text, NULL), 0);
		}
		for (unsigned k = 0; k < 300; k++) {
			uint32_t len = draw_packet(buf);

			compare(&f, buf, len);
		}
	}
}

#define LARGE_LEN 9000U

/* IPv6 with as many extension headers of 2 KiB as are asked for, then TCP from port 9000 to port 22. Returns its
 * length. */
static uint32_t build_large(unsigned exts, unsigned char *buf)
{
	struct packet d = {.family = 6, .proto = 6, .sport = 9000, .dport = 22};
	unsigned char headers[PACKET_MAX];
	unsigned char *p = buf + 54;

	memset(buf, 0, LARGE_LEN);
	packet_build(&d, headers);
	memcpy(buf, headers, 54);
	if (exts)
		buf[20] = 60;
	for (unsigned i = 0; i < exts; i++, p += 2048) {
		p[0] = i == exts - 1 ? 6 : 60;
		p[1] = 255;
	}
	memcpy(p, headers + 54, 20);
	return LARGE_LEN;
}

/* A packet of several buffers is decided by the first one, if that suffices. */
static void headers_beyond_the_first_buffer(void **state)
{
	static unsigned char buf[LARGE_LEN];
	struct filter keep = {.keep_management = true, .n_locals = 1};
	struct filter tcp;
	struct filter ssh;
	struct filter mac;

	(void)state;
	need_bpf();
	filter_from(&tcp, "proto=tcp src-port=9000");
	filter_from(&ssh, "proto=tcp dst-port=22");
	filter_from(&mac, "dst-mac=02:00:00:00:00:02 ethertype=0x86dd");
	for (unsigned exts = 0; exts <= 4; exts++) {
		uint32_t len = build_large(exts, buf);
		bool seen = 54 + exts * 2048 + 20 < LINEAR_MAX - 1024;

		assert_true(matches_exact(&tcp, buf, len));
		assert_int_equal(kernel_takes(&tcp, buf, len), seen);
		assert_int_equal(kernel_takes(&ssh, buf, len), seen);
		assert_true(compare(&mac, buf, len));
		/* to another host, it may be taken; to this one, never */
		assert_int_equal(ip_parse("fd00::3", &keep.locals[0]), 0);
		assert_true(matches_exact(&keep, buf, len));
		assert_int_equal(kernel_takes(&keep, buf, len), seen);
		assert_int_equal(ip_parse("fd00::2", &keep.locals[0]), 0);
		assert_false(compare(&keep, buf, len));
	}
}

static int unload_last(void **state)
{
	(void)state;
	unload();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILTER_CASES,
		cmocka_unit_test(everything_and_nothing),
		cmocka_unit_test(random_conditions),
		cmocka_unit_test(random_port_filters),
		cmocka_unit_test(random_keep_management),
		cmocka_unit_test(as_many_conditions_as_there_may_be),
		cmocka_unit_test(headers_beyond_the_first_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, unload_last);
}
