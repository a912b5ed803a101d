/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every mode in every surrounding: link layers, label stacks, tunnels, both families, payloads, sizes and fields that
 * vary, from the options that ask for them to the frames that leave, each read as the RFCs tell a receiver to.
 */
#include "frame_judge.h"
#include "tx_wire.h"

#include <stdio.h>

#define PACKETS 77U

/* One way of a kind: its options, and what a receiver must read there. */
struct way {
	const char *options;
	const char *words;
};

static const struct way links[] = {
	{"", "eth"},
	{" --vlan 5 --vlan-priority 7", "eth vlan"},
	{" --vlan 5 --outer-vlan 6 --vlan-dei", "eth svlan vlan"},
	{" --vlan 4094 --outer-vlan 1 --outer-type 0x8100", "eth vlan vlan"},
};

static const struct way labels[] = {
	{"", ""},
	{" --mpls 16", " mpls"},
	{" --mpls 100:7:1,1048575,17:0:255", " mpls mpls mpls"},
};

static const struct way tunnels[] = {
	{"", ""},
	{" --tunnel vxlan,dst=192.0.2.9,vni=16777215", " ip4 udp- vxlan eth"},
	{" --tunnel vxlan,dst=2001:db8::9", " ip6 udp vxlan eth"},
	{" --tunnel geneve,dst=192.0.2.9,vni=77", " ip4 udp- geneve eth"},
	{" --tunnel geneve,dst=2001:db8::9,src=2001:db8::1", " ip6 udp geneve eth"},
	{" --tunnel gre,dst=192.0.2.9", " ip4 gre"},
	{" --tunnel gre,dst=2001:db8::9,key=4294967295", " ip6 gre"},
};

static const struct way families[] = {
	{" --dst-ip 10.7.0.0/24 --src-ip 10.9.0.0/28", " ip4"},
	{" --dst-ip fd00::/64 --src-ip fd01::/120", " ip6"},
};

static const struct way modes[] = {
	{" --mode udp", " udp"},
	{" --mode udp --udp-checksum bad", " udp!"},
	{" --mode udp --udp-checksum off", " udp-"},
	{" --mode tcp-syn", " tcp"},
	{" --mode tcp-syn --tcp-flags syn,ack,cwr", " tcp"},
	{" --mode icmp-echo", " echo"},
	{" --mode imix --imix 301:1,222:2,1518:1", " udp"},
};

static const char *const payloads[] = {
	" --payload-byte 0xff",      " --payload-byte 0",          " --payload-text odd", " --payload-hex 00ff1b", "",
	" --payload-pattern count8", " --payload-pattern count16",
};

/* With and without flows, and with all that can vary. Fields of tags and of one family are added where they are. */
enum varying { ONE_FLOW, PORTS_VARY, ALL_VARY, ALL_CROSS, VARYINGS };

static struct way way_of(const struct way *ways, unsigned i)
{
	return ways[i];
}

static void add(char line[1024], const char *more)
{
	size_t n = strlen(line);

	snprintf(line + n, 1024 - n, "%s", more);
}

static void add_varying(char line[1024], enum varying how, bool tag, bool outer, bool six, bool echo)
{
	if (how == ONE_FLOW)
		return;
	add(line, " --flows 24");
	if (how == PORTS_VARY)
		return;
	add(line, how == ALL_CROSS ? " --flow-walk cross" : "");
	add(line, " --vary dscp=random:0-63,ttl=dec:1-255,src-mac=02:00:00:00:00:fe-02:00:00:00:01:fe,dst-mac=random:"
		  "02:00:00:00:00:00-02:ff:00:00:00:00,payload@3:5=random:0-1099511627775,payload@8:2=0-65535");
	add(line, tag ? ",vlan=dec:1-4094" : "");
	add(line, outer ? ",outer-vlan=1,4094,77" : "");
	add(line, six ? ",flow-label=random:0-1048575" : ",ip-id=65530-65535");
	add(line, echo ? "" : ",dst-port=0,65535,255,256");
}

/* What follows the last header, but for what varies in it. */
static void payload_is_right(const char *line, const struct judged *j, enum varying how)
{
	for (size_t i = 0; i < j->payload_len; i++) {
		unsigned want = cfg.payload_byte;

		if (how >= ALL_VARY && i >= 3 && i < 10)
			continue;
		if (cfg.payload_text[0])
			want = (unsigned char)cfg.payload_text[i % strlen(cfg.payload_text)];
		else if (cfg.payload_hex[0])
			want = i % 3 == 0 ? 0 : i % 3 == 1 ? 0xff : 0x1b;
		else if (cfg.payload_pattern == PATTERN_COUNT8)
			want = i & 255;
		else if (cfg.payload_pattern == PATTERN_COUNT16)
			want = (unsigned)(i % 2 ? (i / 2) & 255 : i / 512);
		if (j->payload[i] != want)
			fail_msg("%s: byte %zu of the payload is %02x and not %02x", line, i, j->payload[i], want);
	}
}

struct expected {
	const char *line, *words;
	enum varying how;
	uint64_t packets, bytes;
	uint32_t lengths[3]; /* that frames may have; 0: none */
};

static void saw(void *arg, const unsigned char *frame, uint32_t len)
{
	struct expected *x = arg;
	struct judged j = judge_frame(frame, len);

	if (strcmp(j.words, x->words) != 0)
		fail_msg("%s: packet %u reads as %s", x->line, (unsigned)x->packets, j.words);
	if (len != x->lengths[0] && len != x->lengths[1] && len != x->lengths[2])
		fail_msg("%s: packet %u has %u bytes", x->line, (unsigned)x->packets, len);
	payload_is_right(x->line, &j, x->how);
	x->packets++;
	x->bytes += len;
}

/* The sizes rotate through odd and even ones, and the payloads through all kinds, so that every pair comes to meet. */
static void try_one(const struct way *w, enum varying how, unsigned turn)
{
	static const uint32_t sizes[] = {301, 222, 1518};
	static struct tx_plan plan;
	const bool imix = strstr(w->options, "imix") != NULL, six = strstr(w->options, "fd00::") != NULL;
	struct expected x = {.line = w->options, .words = w->words, .how = how};
	struct tx_wire *wire = tx_wire_new(saw, &x);
	char line[1024] = "send -i loop:sink --seed 3";
	char size[32] = "";

	for (unsigned i = 0; i < 3; i++)
		x.lengths[i] = (imix ? sizes[i] : sizes[turn % 3]) - 4;
	if (!imix)
		snprintf(size, sizeof(size), " --packet-size %u", sizes[turn % 3]);
	add(line, w->options);
	add(line, payloads[turn % (sizeof(payloads) / sizeof(payloads[0]))]);
	add(line, size);
	add_varying(line, how, strstr(w->options, "--vlan ") != NULL, strstr(w->options, "--outer-vlan") != NULL, six,
		    strstr(w->options, "icmp-echo") != NULL);
	x.line = line;
	tx_wire_plan(line, &plan);
	tx_wire_send(wire, &plan, 0, 1, PACKETS, turn & 1);
	assert_int_equal(x.packets, PACKETS);
	tx_wire_free(wire);
}

/* Over IPv6 a tunnel has a checksum, but for around a packet that has none. */
static struct way unchecked(struct way tunnel, const char *inside)
{
	static char words[64];
	const char *udp = strstr(tunnel.words, " ip6 udp ");
	int n = udp ? (int)(udp - tunnel.words) + 8 : 0;

	if (!udp || !strchr(inside, '-'))
		return tunnel;
	snprintf(words, sizeof(words), "%.*s-%s", n, tunnel.words, tunnel.words + n);
	tunnel.words = words;
	return tunnel;
}

static void every_combination_is_right(void **state)
{
	unsigned turn = 0;
	char options[512], words[128];

	(void)state;
	for (unsigned i = 0; i < 4 * 3 * 7 * 2 * 7; i++) {
		struct way link = way_of(links, i % 4), label = way_of(labels, i / 4 % 3);
		struct way tunnel = way_of(tunnels, i / 12 % 7), family = way_of(families, i / 84 % 2);
		struct way mode = way_of(modes, i / 168);
		const struct way all = {options, words};

		if (strcmp(mode.words, " udp-") == 0 && strcmp(family.words, " ip6") == 0)
			continue; /* RFC 8200 section 8.1 */
		tunnel = unchecked(tunnel, mode.words);
		snprintf(options, sizeof(options), "%s%s%s%s%s", family.options, mode.options, link.options,
			 label.options, tunnel.options);
		snprintf(words, sizeof(words), "%s%s%s%s%s", link.words, label.words, tunnel.words, family.words,
			 mode.words);
		for (enum varying how = ONE_FLOW; how < VARYINGS; how++)
			try_one(&all, how, turn++);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_combination_is_right)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
