/* SPDX-License-Identifier: Apache-2.0 */
#include "ends.h"

#include "gen/tunnel.h"
#include "lib/clock.h"
#include "lib/link_wait.h"
#include "lib/log.h"
#include "lib/pio/pio.h"
#include "signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long the kernel may take to find a neighbour: three ARP requests a second apart, and a little. */
#define RESOLVE_MS 3500

/* A driver may restart its rings, and the port with them, when an XDP program comes; ixgbe takes some 12 s for it. */
#define RESTART_STEADY_NS (500 * NS_PER_MS)
#define RESTART_WAIT_NS   (20 * NS_PER_S)

/* Without an interface there is nobody to ask: addresses of the benchmarking ranges (RFC 2544, RFC 5180). */
#define LOOP_SRC_IP4 "198.18.0.1"
#define LOOP_SRC_IP6 "2001:2::1"
#define LOOP_SRC_MAC "02:00:00:00:00:01"
#define LOOP_DST_MAC "02:00:00:00:00:02"

int ends_find_link(struct ends *ends, const char *interface, const char *backend_name, struct err *e)
{
	const struct pio_backend *backend;
	const char *device;
	char name[IF_NAMESIZE];
	int rc;

	memset(ends, 0, sizeof(*ends));
	pio_name_split(interface, backend_name, &backend, &device);
	if (backend && !backend->needs_link) {
		uint32_t n = 1;

		rc = backend->queues ? backend->queues(device, &n, e) : 0;
		ends->tx_queues = ends->rx_queues = n;
		return rc;
	}
	rc = pio_link_name(device, name, e);
	if (!rc)
		rc = host_load(&ends->host, e);
	if (rc)
		return rc;
	ends->link = host_usable_link(&ends->host, name, e);
	if (!ends->link)
		return -ENODEV;
	ends->gen.mtu = ends->link->mtu;
	if (ends->link->speed_mbps > 0)
		ends->gen.link_bps = (uint64_t)ends->link->speed_mbps * 1000000;
	return 0;
}

static int refuse_down(const struct host_link *link, struct err *e)
{
	err_set(e, -ENETDOWN, EXIT_LINK, "cannot use the interface", link->name, "it is down");
	err_hint(e, "ip link set %s up", link->name);
	return -ENETDOWN;
}

static int refuse_late(const struct host_link *link, bool restarted, struct err *e)
{
	if (restarted) {
		err_set(e, -ENETDOWN, EXIT_LINK, "cannot use the interface", link->name,
			"attaching to it took its carrier away, and it was not back for good within 20 s");
		err_hint(e, "check the cable and the other end; --xdp-mode generic leaves the carrier alone");
	} else {
		err_set(e, -ENETDOWN, EXIT_LINK, "cannot use the interface", link->name,
			"it has no carrier, and none came within 5 s");
		err_hint(e, "check the cable, or set the other end up");
	}
	return -ENETDOWN;
}

/* For the report: how long, and why. */
static void note_wait(struct ends *ends, uint64_t ns, const char *why)
{
	size_t used = strlen(ends->waited);

	snprintf(ends->waited + used, sizeof(ends->waited) - used, "%s%.2f s: %s", used ? "; " : "", (double)ns / 1e9,
		 why);
}

int ends_wait_link(struct ends *ends, bool restarted, struct err *e)
{
	const struct host_link *link = ends->link;
	const uint64_t begin = clock_mono_ns();
	struct link_wait w;
	bool told = false;

	link_wait_begin(&w, begin, restarted ? &ends->seen : NULL, restarted ? RESTART_STEADY_NS : 0,
			restarted ? RESTART_WAIT_NS : LINK_WAIT_NS);
	for (;;) {
		int rc = host_link_state(link->index, &ends->seen);
		uint64_t now = clock_mono_ns();

		if (rc) {
			err_set(e, rc, EXIT_RUN, "cannot use the interface", link->name, "%s",
				rc == -ENODEV ? "it has vanished" : strerror(-rc));
			if (rc == -ENODEV)
				err_hint(e, "squall devices shows what is there now");
			return rc;
		}
		switch (link_wait_look(&w, now, &ends->seen)) {
		case LINK_READY:
			if (restarted)
				note_wait(ends, now - begin,
					  w.missed ? "attaching took the carrier away"
						   : "attaching might have taken the carrier away");
			else if (told)
				note_wait(ends, now - begin, "there was no carrier");
			return 0;
		case LINK_DOWN:
			return refuse_down(link, e);
		case LINK_LATE:
			return refuse_late(link, restarted, e);
		case LINK_NOT_YET:
			break;
		}
		if (signals_stop)
			return err_set(e, -EINTR, EXIT_DONE, "stopped", link->name, "while waiting for a carrier");
		if (w.missed && !told) {
			told = true;
			if (restarted)
				log_note("waiting for the carrier of %s, which attaching took away", link->name);
			else
				log_note("%s has no carrier: waiting up to 5 s for one", link->name);
		}
		signals_sleep(50 * NS_PER_MS);
	}
}

static void resolve_without_link(struct ends *ends, const struct config *cfg, const struct tunnel *tunnel)
{
	if (tunnel->kind && !tunnel->src.family)
		ip_parse(tunnel->dst.family == 6 ? LOOP_SRC_IP6 : LOOP_SRC_IP4, &ends->gen.outer_src);
	if (!cfg->src_ip.ip.family)
		ip_parse(cfg->dst_ip.ip.family == 6 ? LOOP_SRC_IP6 : LOOP_SRC_IP4, &ends->gen.src_ip);
	if (mac_is_zero(&cfg->src_mac))
		mac_parse(LOOP_SRC_MAC, &ends->gen.src_mac);
	if (mac_is_zero(&cfg->dst_mac))
		mac_parse(LOOP_DST_MAC, &ends->gen.dst_mac);
	snprintf(ends->how, sizeof(ends->how), "%s",
		 mac_is_zero(&cfg->dst_mac) ? "nobody to ask on this backend" : "given");
}

int ends_resolve(struct ends *ends, const struct config *cfg, struct err *e)
{
	struct host_target target = {.link = ends->link, .vlan = cfg->vlan, .dst = cfg->dst_ip};
	struct host_path path = {0};
	struct tunnel tunnel;
	int rc;

	if (cfg->src_ip.ip.family)
		prefix_hosts(&cfg->src_ip, &ends->gen.src_ip);
	target.src = ends->gen.src_ip;
	tunnel_parse(cfg->tunnel, &tunnel, NULL);
	if (tunnel.kind) {
		target.dst = (struct prefix){.ip = tunnel.dst, .len = (uint8_t)ip_bits(&tunnel.dst)};
		target.src = ends->gen.outer_src = tunnel.src;
	}
	ends->gen.src_mac = cfg->src_mac;
	ends->gen.dst_mac = cfg->dst_mac;
	target.have_dst_mac = !mac_is_zero(&cfg->dst_mac);
	if (!ends->link) {
		resolve_without_link(ends, cfg, &tunnel);
		return 0;
	}
	rc = ends_wait_link(ends, false, e);
	if (rc)
		return rc;
	if (mac_is_zero(&cfg->src_mac))
		ends->gen.src_mac = ends->link->mac;
	snprintf(ends->how, sizeof(ends->how), "given");
	if (ends->have_macs || (cfg->mode == MODE_PCAP && (target.have_dst_mac || !cfg->dst_ip.ip.family)))
		return 0;
	if (target.have_dst_mac && (cfg->mode == MODE_RAW || target.src.family))
		return 0;
	rc = host_route_to(&ends->host, &target, &path, e);
	if (rc)
		return rc;
	if (tunnel.kind)
		ends->gen.outer_src = path.src;
	else
		ends->gen.src_ip = path.src;
	if (target.have_dst_mac)
		return 0;
	rc = host_resolve(&path, RESOLVE_MS, &signals_stop, e);
	if (rc == -EINTR)
		return err_set(e, rc, EXIT_DONE, "stopped", ends->link->name, "while asking for the next hop's MAC");
	if (rc)
		return rc;
	ends->gen.dst_mac = path.dst_mac;
	snprintf(ends->how, sizeof(ends->how), "%s", path.how);
	return 0;
}

void ends_free(struct ends *ends)
{
	host_free(&ends->host);
	ends->link = NULL;
}

/* The local address of the SSH session is the third word of SSH_CONNECTION (ssh(1)), with %LINK when link-local. */
static bool carries_ssh(const struct ends *ends)
{
	const char *ssh = getenv("SSH_CONNECTION");
	char local[64];
	struct ip ip;

	if (!ssh || sscanf(ssh, "%*s %*s %63s", local) != 1)
		return false;
	local[strcspn(local, "%")] = '\0';
	if (ip_parse(local, &ip))
		return false;
	for (size_t i = 0; i < ends->host.n_addrs; i++) {
		const struct host_link *at = host_link_by_index(&ends->host, ends->host.addrs[i].link);

		if (at && ip_equal(&ends->host.addrs[i].ip, &ip) &&
		    (at->index == ends->link->index || at->parent == ends->link->index))
			return true;
	}
	return false;
}

static bool answered_yes(const char *question)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "squall: %s Type yes to go on: ", question);
	return signals_wait_input(STDIN_FILENO) && fgets(line, sizeof(line), stdin) && strcmp(line, "yes\n") == 0;
}

int ends_confirm(const struct ends *ends, const struct config *cfg, bool unlimited, struct err *e)
{
	char question[128];
	const char *why;

	if (!ends->link || !unlimited || cfg->yes)
		return 0;
	if (carries_ssh(ends))
		why = "this SSH session";
	else if (host_is_default_route(&ends->host, ends->link->index))
		why = "this machine's default route";
	else
		return 0;
	snprintf(question, sizeof(question), "%s carries %s, and no rate limit is set.", ends->link->name, why);
	if (answered_yes(question))
		return 0;
	err_set(e, -EPERM, EXIT_REFUSED, "not started", ends->link->name, "it carries %s, and no rate limit is set",
		why);
	err_hint(e, "a rate (--pps, --bps), another interface, or --yes if you mean it");
	return -EPERM;
}
