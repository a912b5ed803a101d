/* SPDX-License-Identifier: Apache-2.0 */
#include "afpacket_bpf.h"

#include <linux/if_ether.h>
#include <netinet/in.h>

#define ACCEPT 0x7fffffffU /* the whole packet */
#define DROP   0U

#define M_TYPE 0U /* scratch cell: the EtherType behind the tags */
/* X holds the offset of layer 3; of layer 4 once IPv4's length is added. */

struct program {
	struct sock_filter *insn;
	unsigned n;
};

static unsigned emit_jump(struct program *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	p->insn[p->n] = (struct sock_filter){.code = code, .jt = jt, .jf = jf, .k = k};
	return p->n++;
}

static unsigned emit(struct program *p, uint16_t code, uint32_t k)
{
	return emit_jump(p, code, k, 0, 0);
}

static void emit_ancillary(struct program *p, int field)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + field));
}

/* A: the next instruction if A == k, else `skip` further on. */
static void need_equal(struct program *p, uint32_t k, unsigned skip)
{
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, (uint8_t)skip);
}

/* A list of alternatives: each one that holds leaves by a jump, which any_end() points behind the list. */
struct any {
	unsigned n;
	unsigned leave[FILTER_MATCHES_MAX];
};

static void any_holds(struct program *p, struct any *a)
{
	a->leave[a->n++] = emit(p, BPF_JMP | BPF_JA, 0);
}

static void any_end(struct program *p, const struct any *a)
{
	emit(p, BPF_RET | BPF_K, DROP);
	for (unsigned i = 0; i < a->n; i++)
		p->insn[a->leave[i]].k = p->n - a->leave[i] - 1;
}

static bool has_kind(const struct filter *f, enum filter_kind kind)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->match[i].kind == kind)
			return true;
	return false;
}

static uint32_t be(const uint8_t *b, unsigned n)
{
	uint32_t v = 0;

	while (n--)
		v = v << 8 | *b++;
	return v;
}

static void want_mac(struct program *p, const struct filter *f)
{
	struct any any = {0};

	for (unsigned i = 0; i < f->n; i++) {
		const struct filter_match *m = &f->match[i];

		if (m->kind != FILTER_DST_MAC)
			continue;
		emit(p, BPF_LD | BPF_W | BPF_ABS, 0);
		need_equal(p, be(m->mac.b, 4), 3);
		emit(p, BPF_LD | BPF_H | BPF_ABS, 4);
		need_equal(p, be(m->mac.b + 4, 2), 1);
		any_holds(p, &any);
	}
	any_end(p, &any);
}

/* A := the id of the outermost tag, beside the packet or in it; no tag: drop. */
static void want_vlan(struct program *p, const struct filter *f)
{
	struct any any = {0};

	emit_ancillary(p, SKF_AD_VLAN_TAG_PRESENT);
	need_equal(p, 0, 2);
	emit(p, BPF_LD | BPF_H | BPF_ABS, 2 * ETH_ALEN);
	emit(p, BPF_JMP | BPF_JA, 2);
	emit_ancillary(p, SKF_AD_VLAN_TAG);
	emit(p, BPF_JMP | BPF_JA, 4);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021Q, 2, 0);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021AD, 1, 0);
	emit(p, BPF_RET | BPF_K, DROP);
	emit(p, BPF_LD | BPF_H | BPF_ABS, ETH_HLEN);
	emit(p, BPF_ALU | BPF_AND | BPF_K, 0x0fff);
	for (unsigned i = 0; i < f->n; i++) {
		if (f->match[i].kind != FILTER_VLAN)
			continue;
		need_equal(p, f->match[i].vlan, 1);
		any_holds(p, &any);
	}
	any_end(p, &any);
}

/* X := offset of layer 3, M_TYPE := its type, past one tag in the data; behind more of them: accept. */
static void find_layer3(struct program *p)
{
	emit(p, BPF_LDX | BPF_IMM, ETH_HLEN);
	emit(p, BPF_LD | BPF_H | BPF_ABS, 2 * ETH_ALEN);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021Q, 1, 0);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021AD, 0, 5);
	emit(p, BPF_LDX | BPF_IMM, ETH_HLEN + 4);
	emit(p, BPF_LD | BPF_H | BPF_ABS, ETH_HLEN + 2);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021Q, 1, 0);
	emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_8021AD, 0, 1);
	emit(p, BPF_RET | BPF_K, ACCEPT);
	emit(p, BPF_ST, M_TYPE);
}

/* A: one of the values that `kind` lists. */
static void want_value(struct program *p, const struct filter *f, enum filter_kind kind)
{
	struct any any = {0};

	for (unsigned i = 0; i < f->n; i++) {
		if (f->match[i].kind != kind)
			continue;
		need_equal(p, kind == FILTER_PROTO ? f->match[i].proto : f->match[i].ethertype, 1);
		any_holds(p, &any);
	}
	any_end(p, &any);
}

/* The address at X + offset lies in one of the prefixes that are of this family. */
static void want_prefix(struct program *p, const struct filter *f, enum filter_kind kind, uint8_t family,
			uint32_t offset)
{
	struct any any = {0};

	for (unsigned i = 0; i < f->n; i++) {
		const struct prefix *net = &f->match[i].prefix;

		if (f->match[i].kind != kind || net->ip.family != family)
			continue;
		size_t words = (net->len + 31U) / 32;

		for (size_t w = 0; w < words; w++) {
			size_t bits = w + 1 == words ? net->len - 32 * w : 32;
			size_t behind = (words - 1 - w) * 3 + 1;

			emit(p, BPF_LD | BPF_W | BPF_IND, offset + 4 * (uint32_t)w);
			emit(p, BPF_ALU | BPF_AND | BPF_K, ~0U << (32 - bits));
			need_equal(p, be(net->ip.b + 4 * w, 4), (unsigned)behind);
		}
		any_holds(p, &any);
	}
	any_end(p, &any);
}

/* The port at X + offset lies in one of the ranges. */
static void want_port(struct program *p, const struct filter *f, enum filter_kind kind, uint32_t offset)
{
	struct any any = {0};

	emit(p, BPF_LD | BPF_H | BPF_IND, offset);
	for (unsigned i = 0; i < f->n; i++) {
		if (f->match[i].kind != kind)
			continue;
		emit_jump(p, BPF_JMP | BPF_JGE | BPF_K, f->match[i].port.lo, 0, 2);
		emit_jump(p, BPF_JMP | BPF_JGT | BPF_K, f->match[i].port.hi, 1, 0);
		any_holds(p, &any);
	}
	any_end(p, &any);
}

/* Layer 4 starts at X + offset. */
static void want_ports(struct program *p, const struct filter *f, uint32_t offset)
{
	if (has_kind(f, FILTER_SRC_PORT))
		want_port(p, f, FILTER_SRC_PORT, offset);
	if (has_kind(f, FILTER_DST_PORT))
		want_port(p, f, FILTER_DST_PORT, offset + 2);
}

static bool has_ports(const struct filter *f)
{
	return has_kind(f, FILTER_SRC_PORT) || has_kind(f, FILTER_DST_PORT);
}

/* RFC 791 section 3.1 */
static void want_ipv4(struct program *p, const struct filter *f)
{
	if (has_kind(f, FILTER_SRC))
		want_prefix(p, f, FILTER_SRC, 4, 12);
	if (has_kind(f, FILTER_DST))
		want_prefix(p, f, FILTER_DST, 4, 16);
	if (has_kind(f, FILTER_PROTO)) {
		emit(p, BPF_LD | BPF_B | BPF_IND, 9);
		want_value(p, f, FILTER_PROTO);
	}
	if (has_ports(f)) {
		emit(p, BPF_LD | BPF_H | BPF_IND, 6);
		emit_jump(p, BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 0, 1);
		emit(p, BPF_RET | BPF_K, DROP);
		emit(p, BPF_LD | BPF_B | BPF_IND, 0);
		emit(p, BPF_ALU | BPF_AND | BPF_K, 0x0f);
		emit(p, BPF_ALU | BPF_LSH | BPF_K, 2);
		emit(p, BPF_ALU | BPF_ADD | BPF_X, 0);
		emit(p, BPF_MISC | BPF_TAX, 0);
		want_ports(p, f, 0);
	}
	emit(p, BPF_RET | BPF_K, ACCEPT);
}

/* RFC 8200 section 3; a packet with extension headers is let through. */
static void want_ipv6(struct program *p, const struct filter *f)
{
	static const uint8_t extension[] = {IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_AH,
					    IPPROTO_DSTOPTS};
	const unsigned n = sizeof(extension) / sizeof(extension[0]);

	if (has_kind(f, FILTER_SRC))
		want_prefix(p, f, FILTER_SRC, 6, 8);
	if (has_kind(f, FILTER_DST))
		want_prefix(p, f, FILTER_DST, 6, 24);
	if (has_kind(f, FILTER_PROTO)) {
		emit(p, BPF_LD | BPF_B | BPF_IND, 6);
		for (unsigned i = 0; i < n; i++)
			emit_jump(p, BPF_JMP | BPF_JEQ | BPF_K, extension[i], (uint8_t)(n - 1 - i), i + 1 == n);
		emit(p, BPF_RET | BPF_K, ACCEPT);
		want_value(p, f, FILTER_PROTO);
	}
	want_ports(p, f, 40);
	emit(p, BPF_RET | BPF_K, ACCEPT);
}

unsigned afpacket_bpf_compile(const struct filter *f, struct sock_filter *out)
{
	const bool ip = has_kind(f, FILTER_PROTO) || has_kind(f, FILTER_SRC) || has_kind(f, FILTER_DST) || has_ports(f);
	struct program p = {.insn = out};

	if (has_kind(f, FILTER_DST_MAC))
		want_mac(&p, f);
	if (has_kind(f, FILTER_VLAN))
		want_vlan(&p, f);
	if (ip || has_kind(f, FILTER_ETHERTYPE))
		find_layer3(&p);
	if (has_kind(f, FILTER_ETHERTYPE))
		want_value(&p, f, FILTER_ETHERTYPE);
	if (ip) {
		emit(&p, BPF_LD | BPF_MEM, M_TYPE);
		emit_jump(&p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 1);
		unsigned to_ipv4 = emit(&p, BPF_JMP | BPF_JA, 0);

		emit_jump(&p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 1, 0);
		emit(&p, BPF_RET | BPF_K, DROP);
		want_ipv6(&p, f);
		p.insn[to_ipv4].k = p.n - to_ipv4 - 1;
		want_ipv4(&p, f);
	}
	emit(&p, BPF_RET | BPF_K, ACCEPT);
	return p.n;
}
