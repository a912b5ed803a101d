/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_rules.h"

#include "lib/core/types.h"

#include <string.h>

static struct rules_range range_of(const struct filter_match *m)
{
	uint64_t v = 0;

	switch (m->kind) {
	case FILTER_DST_MAC:
		v = rules_mac(core_get32(m->mac.b), core_get16(m->mac.b + 4));
		break;
	case FILTER_VLAN:
		v = m->vlan;
		break;
	case FILTER_ETHERTYPE:
		v = m->ethertype;
		break;
	case FILTER_PROTO:
		v = m->proto;
		break;
	case FILTER_SRC_PORT:
	case FILTER_DST_PORT:
		return (struct rules_range){m->port.lo, m->port.hi};
	case FILTER_SRC:
	case FILTER_DST:
	case FILTER_KINDS:
		break;
	}
	return (struct rules_range){v, v};
}

static struct rules_net net_of(const struct ip *ip, unsigned len)
{
	unsigned char mask[16] = {0};
	struct rules_net net = {.family = ip->family};

	for (unsigned bit = 0; bit < len; bit++)
		mask[bit / 8] |= (unsigned char)(0x80U >> bit % 8);
	memcpy(net.value, ip->b, sizeof(net.value));
	memcpy(net.mask, mask, sizeof(net.mask));
	return net;
}

void afxdp_rules_compile(const struct filter *f, struct rules *out)
{
	unsigned ranges = 0;
	unsigned nets = 0;

	memset(out, 0, sizeof(*out));
	out->take = !f ? RULES_NOTHING : f->all ? RULES_ALL : f->keep_management ? RULES_UNMANAGED : RULES_MATCHES;
	if (out->take == RULES_UNMANAGED) {
		/* Both kinds name the same nets: a local address, wherever it stands. */
		for (unsigned i = 0; i < f->n_locals; i++)
			out->nets[nets++] = net_of(&f->locals[i], ip_bits(&f->locals[i]));
		out->end[FILTER_SRC] = out->end[FILTER_DST] = (uint16_t)nets;
	}
	for (unsigned i = 0; f && i < f->n; i++) {
		const struct filter_match *m = &f->match[i];
		bool is_net = m->kind == FILTER_SRC || m->kind == FILTER_DST;
		unsigned *at = is_net ? &nets : &ranges;

		if (!(out->kinds & 1U << m->kind))
			out->first[m->kind] = (uint16_t)*at;
		out->kinds |= 1U << m->kind;
		if (is_net)
			out->nets[nets] = net_of(&m->prefix.ip, m->prefix.len);
		else
			out->ranges[ranges] = range_of(m);
		out->end[m->kind] = (uint16_t)++ * at;
	}
	out->port_only = f && f->n == 2 && out->kinds == (1U << FILTER_PROTO | 1U << FILTER_DST_PORT);
}
