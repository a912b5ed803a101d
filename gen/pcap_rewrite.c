/* SPDX-License-Identifier: Apache-2.0 */
#include "pcap_rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_MAX 128U
#define VLAN_MAX 4094U

/* One part of a list, cut at its "=". */
struct part {
	char text[PART_MAX];
	char *value; /* behind the "="; NULL: there is none */
};

/* Takes the next part off *text. 0 at the end, 1, or -EINVAL for one that is empty or too long. */
static int next_part(const char **text, struct part *p)
{
	size_t len = strcspn(*text, ",");

	if (!**text)
		return 0;
	if (!len || len >= sizeof(p->text) || ((*text)[len] == ',' && !(*text)[len + 1]))
		return -EINVAL;
	memcpy(p->text, *text, len);
	p->text[len] = '\0';
	*text += len + ((*text)[len] == ',');
	p->value = strchr(p->text, '=');
	if (p->value)
		*p->value++ = '\0';
	return 1;
}

static int refuse(char *why, unsigned size, const char *what)
{
	snprintf(why, size, "%s", what);
	return -EINVAL;
}

int pcap_rewrite_mac(struct pcap_rewrite *w, const char *text, char *why, unsigned size)
{
	static const char grammar[] = "must be src=MAC, dst=MAC or OLD=NEW, with commas between them";
	struct part p;
	int more;

	while ((more = next_part(&text, &p)) > 0) {
		bool src = strcmp(p.text, "src") == 0;
		struct mac from, to;

		if (!p.value || mac_parse(p.value, &to))
			return refuse(why, size, grammar);
		if (src || strcmp(p.text, "dst") == 0) {
			*(src ? &w->src : &w->dst) = to;
			*(src ? &w->set_src : &w->set_dst) = true;
		} else if (mac_parse(p.text, &from)) {
			return refuse(why, size, grammar);
		} else if (w->n_macs == PCAP_REWRITES_MAX) {
			return refuse(why, size, "has more than 16 parts");
		} else {
			w->macs[w->n_macs].from = from;
			w->macs[w->n_macs++].to = to;
		}
	}
	return more < 0 ? refuse(why, size, grammar) : 0;
}

int pcap_rewrite_ip(struct pcap_rewrite *w, const char *text, char *why, unsigned size)
{
	static const char grammar[] = "must be OLD/LEN=NEW/LEN, or OLD=NEW for one address, with commas between them";
	struct part p;
	int more;

	while ((more = next_part(&text, &p)) > 0) {
		struct prefix from, to;

		if (!p.value || prefix_parse(p.text, &from) || prefix_parse(p.value, &to))
			return refuse(why, size, grammar);
		if (from.ip.family != to.ip.family || from.len != to.len)
			return refuse(why, size, "both sides of = must be of one family and one length");
		if (w->n_ips == PCAP_REWRITES_MAX)
			return refuse(why, size, "has more than 16 parts");
		w->ips[w->n_ips].from = from;
		w->ips[w->n_ips++].to = to;
	}
	return more < 0 ? refuse(why, size, grammar) : 0;
}

static int vlan_parse(const char *text, uint16_t *out)
{
	char *end;
	unsigned long id;

	if (strcmp(text, "none") == 0) {
		*out = PCAP_VLAN_NONE;
		return 0;
	}
	if (text[0] < '0' || text[0] > '9')
		return -EINVAL;
	id = strtoul(text, &end, 10);
	if (*end || id > VLAN_MAX)
		return -EINVAL;
	*out = (uint16_t)id;
	return 0;
}

int pcap_rewrite_vlan(struct pcap_rewrite *w, const char *text, char *why, unsigned size)
{
	static const char grammar[] = "must be none, an id (0 to 4094), or OLD=NEW, with commas between several";
	const bool list = strchr(text, '=') != NULL;
	struct part p;
	int more;

	while ((more = next_part(&text, &p)) > 0) {
		uint16_t from, to;

		if (!list) {
			if (w->vlan_all || vlan_parse(p.text, &w->vlan_to))
				return refuse(why, size, grammar);
			w->vlan_all = true;
			continue;
		}
		if (!p.value || vlan_parse(p.text, &from) || vlan_parse(p.value, &to))
			return refuse(why, size, grammar);
		if (w->n_vlans == PCAP_REWRITES_MAX)
			return refuse(why, size, "has more than 16 parts");
		w->vlans[w->n_vlans].from = from;
		w->vlans[w->n_vlans++].to = to;
	}
	return more < 0 ? refuse(why, size, grammar) : 0;
}
