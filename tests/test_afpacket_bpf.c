/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic BPF that a filter becomes, run by a small interpreter: it must let through whatever filter_matches()
 * accepts, and keep most strangers out. The packets are as a packet socket sees them: the outer tag beside the data.
 */
#include "lib/core/rand.h"
#include "lib/pio/afpacket_bpf.h"
#include "tests/filters.h"
#include "tests/packets.h"

#include <sys/socket.h>
#include <unistd.h>

/* A packet as the kernel hands it to the program. */
struct seen {
	const unsigned char *data;
	uint32_t len;
	bool tagged;
	uint16_t tpid, tci;
};

static void take_tag_out(const unsigned char *wire, uint32_t len, unsigned char *buf, struct seen *s)
{
	uint16_t type = (uint16_t)(wire[12] << 8 | wire[13]);

	*s = (struct seen){.data = buf, .len = len};
	memcpy(buf, wire, len);
	if (len < 18 || (type != 0x8100 && type != 0x88a8))
		return;
	s->tagged = true;
	s->tpid = type;
	s->tci = (uint16_t)(wire[14] << 8 | wire[15]);
	s->len = len - 4;
	memmove(buf + 12, buf + 16, len - 16);
}

/* -1: outside the packet, which ends a program with 0. */
static int64_t load(const struct seen *s, uint32_t at, unsigned size)
{
	uint32_t v = 0;

	if (at == (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT))
		return s->tagged;
	if (at == (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG))
		return s->tagged ? s->tci : 0;
	if (at > s->len || size > s->len - at)
		return -1;
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | s->data[at + i];
	return v;
}

static unsigned size_of(uint16_t code)
{
	return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

static uint32_t run(const struct sock_filter *prog, unsigned n, const struct seen *s)
{
	uint32_t a = 0;
	uint32_t x = 0;
	uint32_t m[BPF_MEMWORDS] = {0};
	int64_t v;

	for (unsigned pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &prog[pc];
		uint32_t k = i->k;
		bool yes;

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
		case BPF_LD | BPF_H | BPF_ABS:
		case BPF_LD | BPF_B | BPF_ABS:
		case BPF_LD | BPF_W | BPF_IND:
		case BPF_LD | BPF_H | BPF_IND:
		case BPF_LD | BPF_B | BPF_IND:
			v = load(s, BPF_MODE(i->code) == BPF_IND ? x + k : k, size_of(i->code));
			if (v < 0)
				return 0;
			a = (uint32_t)v;
			break;
		case BPF_LD | BPF_MEM:
			a = m[k];
			break;
		case BPF_ST:
			m[k] = a;
			break;
		case BPF_LDX | BPF_IMM:
			x = k;
			break;
		case BPF_MISC | BPF_TAX:
			x = a;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			break;
		case BPF_ALU | BPF_LSH | BPF_K:
			a <<= k;
			break;
		case BPF_ALU | BPF_ADD | BPF_X:
			a += x;
			break;
		case BPF_JMP | BPF_JA:
			pc += k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = BPF_OP(i->code) == BPF_JEQ   ? a == k
			      : BPF_OP(i->code) == BPF_JGT ? a > k
			      : BPF_OP(i->code) == BPF_JGE ? a >= k
							   : (a & k) != 0;
			pc += yes ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return k;
		default:
			fail_msg("instruction %u: code 0x%x", pc, i->code);
		}
	}
	fail_msg("the program has no end");
	return 0;
}

struct compiled {
	struct filter f;
	struct sock_filter prog[AFPACKET_BPF_MAX];
	unsigned n;
};

/* The kernel itself checks the program: a datagram socket takes the same programs as a packet socket. */
static void compile(struct compiled *c)
{
	int pair[2];

	c->n = afpacket_bpf_compile(&c->f, c->prog);
	assert_in_range(c->n, 1, AFPACKET_BPF_MAX);
	struct sock_fprog p = {.len = (unsigned short)c->n, .filter = c->prog};

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	assert_int_equal(setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p)), 0);
	close(pair[0]);
	close(pair[1]);
}

static void compile_text(struct compiled *c, const char *text)
{
	filter_from(&c->f, text);
	compile(c);
}

static bool passes(const struct compiled *c, const unsigned char *wire, uint32_t len)
{
	unsigned char buf[PACKET_MAX];
	struct seen s;
	uint32_t rc;

	take_tag_out(wire, len, buf, &s);
	rc = run(c->prog, c->n, &s);
	assert_true(rc == 0 || rc >= 0x40000);
	return rc != 0;
}

static const char *const filters[] = {
	"dst-mac=02:00:00:00:00:02",
	"dst-mac=02:00:00:00:00:03 dst-mac=02:00:00:00:00:02",
	"vlan=100",
	"vlan=0 vlan=4095",
	"ethertype=0x0806",
	"ethertype=0x0806 ethertype=0x86dd ethertype=0x88b5",
	"proto=udp",
	"proto=tcp proto=icmp6 proto=sctp",
	"proto=47",
	"src=10.0.0.0/8",
	"dst=10.0.0.2 dst=fd00::/64",
	"dst=0.0.0.0/0",
	"src=::/0",
	"src=fd00::1 dst=fd00::2/127",
	"proto=udp dst-port=9000",
	"proto=udp proto=tcp src-port=1000-2000 dst-port=9000-9010 dst-port=53",
	"vlan=100 proto=udp dst=10.0.0.2/31 dst-port=9000",
	"dst-mac=02:00:00:00:00:02 vlan=100 ethertype=0x0800 proto=udp proto=tcp src=10.0.0.0/8 src-port=53-65535",
};
#define N_FILTERS (sizeof(filters) / sizeof(filters[0]))

/* Draws from few values, so that matches and near misses are both frequent. */
static uint32_t draw(uint64_t *r, uint32_t n)
{
	return (uint32_t)(rand_next(r) % n);
}

static uint32_t draw_packet(uint64_t *r, unsigned char *buf)
{
	static const char *const ip4[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3", "11.0.0.2", "192.168.1.1"};
	static const char *const ip6[] = {"fd00::1", "fd00::2", "fd00::3", "fd00:0:0:1::2", "fe80::1"};
	static const uint8_t protos[] = {17, 17, 6, 132, 1, 58, 47};
	static const uint16_t ports[] = {0, 53, 999, 1000, 1500, 2000, 2001, 8999, 9000, 9005, 9010, 9011, 65535};
	static const uint16_t ids[] = {0, 7, 100, 101, 4095};
	static const uint16_t types[] = {0x0806, 0x88b5, 0x0800, 0x86dd, 0x8100, 0x9100, 0x05dc};
	static const uint8_t exts[] = {0, 43, 44, 51, 60};
	struct packet d = {0};
	uint32_t tags = draw(r, 4);

	d.dst_mac = draw(r, 3) ? NULL : draw(r, 2) ? "\2\0\0\0\0\3" : "\2\0\0\0\1\2";
	for (uint32_t i = 0; i < tags && draw(r, 2); i++) {
		d.tag[i].tpid = draw(r, 2) ? 0x8100 : 0x88a8;
		d.tag[i].tci = (uint16_t)(ids[draw(r, 5)] | draw(r, 16) << 12);
	}
	d.family = draw(r, 5) == 0 ? 0 : draw(r, 2) ? 4 : 6;
	d.type = types[draw(r, 7)];
	d.src = d.family == 4 ? ip4[draw(r, 5)] : ip6[draw(r, 5)];
	d.dst = d.family == 4 ? ip4[draw(r, 5)] : ip6[draw(r, 5)];
	d.proto = protos[draw(r, 7)];
	d.ihl = (uint8_t)(draw(r, 4) ? 5 : 5 + draw(r, 11));
	d.frag = (uint16_t)(draw(r, 6) ? 0 : draw(r, 100));
	d.more = draw(r, 6) == 0;
	for (uint32_t i = 0, n = draw(r, 3) ? 0 : draw(r, 4); i < n; i++)
		d.ext[i] = (struct packet_ext){
			.type = exts[draw(r, 5)], .units = (uint8_t)draw(r, 3), .frag = d.frag, .first = true};
	d.sport = ports[draw(r, 13)];
	d.dport = ports[draw(r, 13)];
	d.payload = draw(r, 64);
	d.no_l4 = draw(r, 20) == 0;
	uint32_t len = packet_build(&d, buf);

	if (draw(r, 8) == 0)
		buf[14 + draw(r, 20)] ^= (unsigned char)(1U << draw(r, 8));
	if (draw(r, 4) == 0)
		len = 14 + draw(r, len - 13);
	return len;
}

/* Never drops what the filter's exact meaning accepts; and the draw is good enough to meet each filter. */
static void never_too_narrow(void **state)
{
	static struct compiled c;
	unsigned char buf[PACKET_MAX];
	uint64_t r;

	(void)state;
	for (unsigned i = 0; i < N_FILTERS; i++) {
		unsigned accepted = 0;
		unsigned let_through = 0;
		unsigned total = 40000;

		compile_text(&c, filters[i]);
		r = i + 1;
		for (unsigned k = 0; k < total; k++) {
			uint32_t len = draw_packet(&r, buf);
			bool exact = matches_exact(&c.f, buf, len);
			bool coarse = passes(&c, buf, len);

			if (exact && !coarse)
				fail_msg("%s: packet %u of %u bytes matches and is dropped", filters[i], k, len);
			accepted += exact;
			let_through += coarse;
		}
		if (!accepted)
			fail_msg("%s: nothing matched", filters[i]);
		/* Extension headers and heaps of tags are what it is allowed to leave to user space. */
		if (let_through - accepted > (total - accepted) / 4)
			fail_msg("%s: %u strangers of %u come through", filters[i], let_through - accepted,
				 total - accepted);
	}
}

/* Near misses that the kernel itself must keep out, since they are what a receiver sees most of. */
static void keeps_strangers_out(void **state)
{
	static const struct {
		const char *filter;
		struct packet in, out;
	} cases[] = {
		{"proto=udp dst-port=9000", {.family = 4, .dport = 9000}, {.family = 4, .dport = 9001}},
		{"proto=udp dst-port=9000", {.family = 6, .dport = 9000}, {.family = 6, .dport = 8999}},
		{"proto=udp dst-port=9000", {.family = 4, .dport = 9000}, {.family = 4, .dport = 9000, .proto = 6}},
		{"proto=udp dst-port=9000", {.family = 4, .dport = 9000}, {.family = 4, .dport = 9000, .frag = 1}},
		{"proto=udp dst-port=9000",
		 {.family = 4, .dport = 9000, .ihl = 15},
		 {.family = 4, .dport = 53, .ihl = 15}},
		{"proto=udp dst-port=9000-9010", {.family = 4, .dport = 9010}, {.family = 4, .dport = 9011}},
		{"proto=udp dst-port=9000",
		 {.family = 4, .dport = 9000, .tag = {PACKET_TAG(5), PACKET_TAG(6)}},
		 {.family = 4, .dport = 9001, .tag = {PACKET_TAG(5), PACKET_TAG(6)}}},
		{"vlan=100", {.family = 4, .tag = {PACKET_TAG(0xe064)}}, {.family = 4, .tag = {PACKET_TAG(101)}}},
		{"vlan=100", {.family = 4, .tag = {PACKET_SERVICE_TAG(100)}}, {.family = 4}},
		{"vlan=100",
		 {.family = 4, .tag = {PACKET_TAG(100), PACKET_TAG(7)}},
		 {.family = 4, .tag = {PACKET_TAG(7), PACKET_TAG(100)}}},
		{"dst=fd00::/64", {.family = 6}, {.family = 6, .dst = "fd00:0:0:1::2"}},
		{"dst=fd00::/64", {.family = 6}, {.family = 6, .dst = "fd01::2"}},
		{"src=fd00::1", {.family = 6}, {.family = 6, .src = "fd00:1::1"}},
		{"src=fd00::1", {.family = 6}, {.family = 6, .src = "fd00::1:0:0:1"}},
		{"dst=10.0.0.0/31", {.family = 4, .dst = "10.0.0.1"}, {.family = 4}},
		{"src=10.0.0.1", {.family = 4}, {.family = 6}},
		{"dst-mac=02:00:00:00:00:02", {.family = 4}, {.family = 4, .dst_mac = "\2\0\0\0\0\3"}},
		{"ethertype=0x0806", {.type = 0x0806, .payload = 46}, {.family = 4}},
	};
	static struct compiled c;
	unsigned char buf[PACKET_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		compile_text(&c, cases[i].filter);
		if (!passes(&c, buf, packet_build(&cases[i].in, buf)))
			fail_msg("case %u: the match is dropped", i);
		if (passes(&c, buf, packet_build(&cases[i].out, buf)))
			fail_msg("case %u: the near miss comes through", i);
	}
}

/* Without conditions of its own (all, keep_management) the decision is user space's. */
static void lets_all_through(void **state)
{
	static struct compiled c;
	unsigned char buf[PACKET_MAX];
	struct packet d = {.family = 4};

	(void)state;
	c.f = (struct filter){.all = true};
	compile(&c);
	assert_true(passes(&c, buf, packet_build(&d, buf)));
	c.f = (struct filter){.keep_management = true};
	compile(&c);
	assert_true(passes(&c, buf, packet_build(&d, buf)));
}

/* The longest program there can be stays within its array, and the kernel takes it. */
static void largest(void **state)
{
	static struct compiled c;
	struct packet d = {.family = 6, .src = "fd00::2f"};
	unsigned char buf[PACKET_MAX];

	(void)state;
	c.f = (struct filter){.n = FILTER_MATCHES_MAX};
	for (unsigned i = 0; i < FILTER_MATCHES_MAX; i++) {
		c.f.match[i].kind = FILTER_SRC;
		c.f.match[i].prefix.len = 128;
		c.f.match[i].prefix.ip = (struct ip){.family = 6, .b = {0xfd, [15] = (uint8_t)i}};
	}
	compile(&c);
	assert_true(passes(&c, buf, packet_build(&d, buf)));
	d.src = "fd00::30";
	assert_false(passes(&c, buf, packet_build(&d, buf)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_too_narrow),
		cmocka_unit_test(keeps_strangers_out),
		cmocka_unit_test(lets_all_through),
		cmocka_unit_test(largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
