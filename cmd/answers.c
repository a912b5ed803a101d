/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <errno.h>
#include <string.h>

static const char *flaw_of(const struct ip *ip)
{
	if (ip_is_unspecified(ip) || ip_is_loopback(ip))
		return "is no address that others can ask for";
	if (ip_is_multicast(ip) || (ip->family == 4 && ip->b[0] >= 240))
		return "is no address of one host";
	return NULL;
}

void answers_check(const struct config *cfg, struct problems *p)
{
	for (unsigned i = 0; i < cfg->respond.n; i++) {
		const char *text = cfg->respond.text[i];
		struct ip ip;

		if (ip_parse(text, &ip))
			problem_add(p, "--respond", "'%s' is no IPv4 or IPv6 address", text);
		else if (flaw_of(&ip))
			problem_add(p, "--respond", "%s %s", text, flaw_of(&ip));
	}
}

int answers_check_host(const struct config *cfg, const struct ends *ends, struct err *e)
{
	for (unsigned i = 0; i < cfg->respond.n; i++) {
		struct ip ip;

		ip_parse(cfg->respond.text[i], &ip);
		for (size_t k = 0; k < ends->host.n_addrs; k++) {
			const struct host_link *at = host_link_by_index(&ends->host, ends->host.addrs[k].link);

			if (!ip_equal(&ip, &ends->host.addrs[k].ip))
				continue;
			err_set(e, -EADDRINUSE, EXIT_USAGE, "cannot answer for this address", cfg->respond.text[i],
				"it is %s's own: the kernel answers for it", at ? at->name : "this machine");
			err_hint(e, "leave it out, or an address that no interface of this machine has");
			return -EADDRINUSE;
		}
	}
	return 0;
}

int answers_open(const struct config *cfg, const struct ends *ends, const struct pio_port *port, struct responder **out,
		 struct err *e)
{
	struct respond_set set = {.n = 0};

	*out = NULL;
	if (!cfg->respond.n)
		return 0;
	set.own = ends->link->mac;
	for (unsigned i = 0; i < cfg->respond.n; i++)
		ip_parse(cfg->respond.text[i], &set.ip[set.n++]);
	return responder_open(out, &set, port->ifindex, port->name, e);
}
