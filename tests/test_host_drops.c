/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers' own counters of lost packets: which names are such, as Linux' drivers write them; what grew; and a veth
 * whose program drops, against ethtool(8) and ip(8).
 */
#include "lib/host.h"

#include "tests/host_namespaces.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* By driver, each as ethtool -S shows it. */
static const char *const losses[] = {
	/* veth */
	"rx_queue_0_drops",
	"rx_queue_12_xdp_drops",
	"rx_queue_0_xdp_tx_errors",
	"tx_queue_0_xdp_xmit_errors",
	/* virtio_net, before and after its names changed, and what the device itself counts */
	"rx_queue_0_xdp_drops",
	"tx_queue_0_xdp_tx_drops",
	"rx0_drops",
	"rx0_xdp_drops",
	"tx0_xdp_tx_drops",
	"rx_hw_drops",
	"rx_hw_drop_overruns",
	"tx0_hw_drop_malformed",
	/* mlx5 */
	"rx_out_of_buffer",
	"dev_out_of_buffer",
	"dev_internal_queue_oob",
	"rx_steer_missed_packets",
	"rx_discards_phy",
	"tx_discards_phy",
	"rx_prio0_discards",
	"rx_prio3_buf_discard",
	"rx_prio0_cong_discard",
	"tx_queue_dropped",
	"tx0_dropped",
	"rx_xdp_drop",
	"rx0_xdp_drop",
	"rx_xsk_xdp_drop",
	"rx_xdp_tx_full",
	"rx_xdp_tx_err",
	"tx_xdp_full",
	"tx_xdp_err",
	"rx_oversize_pkts_sw_drop",
	"outbound_pci_buffer_overflow",
	/* ice */
	"rx_dropped",
	"tx_dropped",
	"rx_dropped.nic",
	"tx_dropped_link_down.nic",
	/* i40e */
	"rx_missed_errors",
	"port.rx_discards",
	"port.rx_dropped",
	"port.tx_dropped_link_down",
	"veb.rx_discards",
	"veb.tx_discards",
	/* ixgbe, igb, e1000e */
	"rx_over_errors",
	"rx_fifo_errors",
	"tx_fifo_errors",
	"tx_aborted_errors",
	"rx_no_buffer_count",
	"rx_no_dma_resources",
	"dropped_smbus",
	/* ena */
	"rx_drops",
	"tx_drops",
	"queue_0_rx_xdp_drop",
	"queue_0_rx_xdp_aborted",
	"bw_in_allowance_exceeded",
	"bw_out_allowance_exceeded",
	"pps_allowance_exceeded",
	"conntrack_allowance_exceeded",
	"linklocal_allowance_exceeded",
	/* bnxt_en */
	"[0]: rx_discard_pkts",
	"[15]: tx_discard_pkts",
	"[0]: rx_drop_pkts",
	"rx_total_discard_pkts",
	"rx_total_ring_discards",
	"tx_total_ring_discards",
	"rx_total_oom_discards",
	"rx_total_netpoll_discards",
	"tx_fifo_underruns",
	"rx_stat_discard",
	/* gve, mana, netvsc, vmxnet3, mlx4 */
	"rx_queue_drop_cnt[0]",
	"rx_drops_packet_over_mru[1]",
	"rx_no_buffers_posted[0]",
	"rx_xdp_redirect_errors[0]",
	"rx_desc_err_dropped_pkt",
	"hc_rx_discards_no_wqe",
	"rx_0_xdp_drop",
	"tx_no_memory",
	"tx_no_space",
	"vf_tx_dropped",
	"drv dropped rx total",
	"  pkts rx OOB",
	"rx_xdp_redirect_fail",
	/* sfc, be2net, enic, cxgb4, stmmac, gianfar */
	"port_rx_nodesc_drops",
	"port_rx_overflow",
	"port_rx_missed",
	"rx_drops_no_pbuf",
	"rxpp_fifo_overflow_drop",
	"rx_no_bufs",
	"rx_bg0_frames_dropped  ",
	"rx_missed_cntr",
	"mmc_rx_fifo_overflow",
	"rx-dropped-by-kernel",
};

static const char *const others[] = {
	"",
	"peer_ifindex",
	"rx_packets",
	"tx_bytes",
	"rx_queue_0_xdp_packets",
	"rx_queue_0_xdp_redirect",
	"rx_queue_0_xdp_tx",
	"tx_queue_0_xdp_xmit",
	/* page_pool: what was recycled, and what was not */
	"rx_pp_alloc_fast",
	"rx_pp_alloc_empty",
	"rx_pp_recycle_ring_full",
	"rx_pp_recycle_released_ref",
	/* virtio_net */
	"rx0_kicks",
	"tx0_timeouts",
	"rx0_hw_ratelimit_packets",
	"rx0_xdp_redirects",
	/* mlx5: a full ring of AF_XDP waits, a failed allocation is one for a buffer, not a packet */
	"tx_xsk_full",
	"rx_cache_full",
	"rx_cache_empty",
	"rx_buff_alloc_err",
	"rx_out_of_range_len_phy",
	"rx_buffer_passed_thres_phy",
	"outbound_pci_stalled_wr",
	"rx_crc_errors_phy",
	"tx_queue_stopped",
	"rx_xdp_redirect",
	"rx_xdp_tx_xmit",
	"ptp_cq0_lost_cqe",
	/* ice, i40e, ixgbe, igb: a time stamp, a table of flows, errors of the wire */
	"tx_hwtstamp_discarded",
	"tx_hwtstamp_skipped",
	"rx_unknown_protocol",
	"rx_csum_bad.nic",
	"rx_crc_errors",
	"fdir_match",
	"fdir_miss",
	"fdir_overflow",
	"alloc_rx_buff_failed",
	"rx_alloc_fail",
	"tx_busy",
	"tx_restart_queue",
	"rx_flow_control_xoff",
	"non_eop_descs",
	/* ena: completions that were late, and the administration's own queue */
	"queue_0_tx_missed_tx",
	"ena_admin_q_aborted_cmd",
	"ena_admin_q_out_of_space",
	"queue_0_rx_refil_partial",
	"queue_0_tx_unmask_interrupt",
	"conntrack_allowance_available",
	/* bnxt_en */
	"[0]: missed_irqs",
	"total_missed_irqs",
	"rx_l4_csum_errors",
	"[0]: rx_ucast_packets",
	"rx_total_resets",
	/* stmmac */
	"mtl_tx_fifo_not_empty",
	"mtl_rx_fifo_fill_level_full",
	"timestamp_dropped",
	"rx_overflow_irq",
	"l3_l4_filter_no_match",
};

static void names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (!host_is_drop(losses[i]))
			fail_msg("not taken for a loss: \"%s\"", losses[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (host_is_drop(others[i]))
			fail_msg("taken for a loss: \"%s\"", others[i]);
}

static void growth(void **state)
{
	struct host_drop then[] = {{"a", 5}, {"same", 7}, {"back", 9}, {"gone", 1}, {"top", 0}};
	struct host_drop now[] = {{"back", 8}, {"new", 1000}, {"top", UINT64_MAX}, {"a", 6}, {"same", 7}};
	const struct host_drops before = {5, then};
	const struct host_drops after = {5, now};
	struct host_drops grew;

	(void)state;
	assert_int_equal(host_drops_sub(&grew, &after, &before), 0);
	assert_int_equal(grew.n, 2);
	assert_string_equal(grew.drop[0].name, "top");
	assert_true(grew.drop[0].n == UINT64_MAX);
	assert_string_equal(grew.drop[1].name, "a");
	assert_int_equal(grew.drop[1].n, 1);
	host_drops_free(&grew);
	assert_int_equal(grew.n, 0);
	assert_null(grew.drop);
	assert_int_equal(host_drops_sub(&grew, &before, &before), 0);
	assert_int_equal(grew.n, 0);
	host_drops_free(&grew);
}

static uint64_t drop_named(const struct host_drops *d, const char *name)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->drop[i].name, name) == 0)
			return d->drop[i].n;
	fail_msg("no counter %s", name);
	return 0;
}

static struct host_drops drops_of(const char *link)
{
	struct host_drops d;

	assert_int_equal(host_link_drops((int)if_nametoindex(link), &d), 0);
	return d;
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A program that drops every packet, in the link's driver until the file is closed. */
static int drop_all(const char *link)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_XDP,
		.insns = (uintptr_t)code,
		.insn_cnt = 2,
		.license = (uintptr_t) "",
	};
	union bpf_attr attach = {
		.link_create = {.attach_type = BPF_XDP, .flags = 1U << 2 /* XDP_FLAGS_DRV_MODE */},
	};
	int prog = bpf(BPF_PROG_LOAD, &load);
	int fd;

	assert_true(prog >= 0);
	attach.link_create.prog_fd = (uint32_t)prog;
	attach.link_create.target_ifindex = if_nametoindex(link);
	fd = bpf(BPF_LINK_CREATE, &attach);
	close(prog);
	assert_true(fd >= 0);
	return fd;
}

static void send_frames(const char *link, unsigned n)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(link), .sll_halen = 6};
	const uint8_t frame[60] = {0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a, 0x88, 0xb5};
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	int on = 1;

	assert_true(fd >= 0);
	/* A link that just got its carrier has no queueing discipline yet, and drops what is sent by it. */
	assert_int_equal(setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(sendto(fd, frame, sizeof(frame), 0, (void *)&to, sizeof(to)), sizeof(frame));
	close(fd);
}

/* Every counter that a command shows as "name: value" and whose name says a loss; how many. */
static unsigned same_as_ethtool(const char *link, const struct host_drops *d)
{
	char line[256];
	char name[128];
	unsigned long long value;
	unsigned n = 0;
	FILE *f;

	snprintf(line, sizeof(line), "ethtool -S %s", link);
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " %127[^:]: %llu", name, &value) == 2 && host_is_drop(name)) {
			assert_int_equal(drop_named(d, name), value);
			n++;
		}
	assert_int_equal(pclose(f), 0);
	return n;
}

/* vb's program drops what va sends; the packet is through the driver a moment after it was sent. */
static void a_program_that_drops(void **state)
{
	struct host_drops before = drops_of("vb");
	struct host_drops now = {0};
	struct host_drops grew;
	int fd = drop_all("vb");

	(void)state;
	assert_int_equal(drop_named(&before, "rx_queue_0_xdp_drops"), 0);
	send_frames("va", 3);
	for (int i = 0; i < 500 && (!now.n || drop_named(&now, "rx_queue_0_xdp_drops") < 3); i++) {
		host_drops_free(&now);
		now = drops_of("vb");
		poll(NULL, 0, 10);
	}
	assert_int_equal(host_drops_sub(&grew, &now, &before), 0);
	assert_int_equal(grew.n, 1);
	assert_string_equal(grew.drop[0].name, "rx_queue_0_xdp_drops");
	assert_int_equal(grew.drop[0].n, 3);
	assert_true(same_as_ethtool("vb", &now) >= 6); /* two receive queues: drops, xdp_drops, xdp_tx_errors each */
	host_drops_free(&grew);
	host_drops_free(&now);
	host_drops_free(&before);
	close(fd);
}

static void what_linux_itself_counts(void **state)
{
	struct host_drops before;
	struct host_drops now;
	struct host_drops grew;

	(void)state;
	run(here, "ip link set if0 up");
	before = drops_of("if0");
	/* What was not redirected to an ifb, it drops (drivers/net/ifb.c). */
	send_frames("if0", 5);
	now = drops_of("if0");
	assert_int_equal(host_drops_sub(&grew, &now, &before), 0);
	assert_int_equal(drop_named(&grew, "link rx_dropped"), 5);
	host_drops_free(&grew);
	host_drops_free(&now);
	host_drops_free(&before);
}

static void no_link(void **state)
{
	struct host_drops d;
	int index = (int)if_nametoindex("va");

	(void)state;
	run(here, "ip link del va");
	assert_int_equal(host_link_drops(index, &d), -ENODEV);
	assert_int_equal(d.n, 0);
	assert_null(d.drop);
}

static int setup(void **state)
{
	(void)state;
	if (namespaces_make())
		return -1;
	/* Nothing moves but what the test sends. */
	run(here, "sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
	run(here, "set -e; ip link add va numtxqueues 1 numrxqueues 2 type veth peer name vb numtxqueues 2 "
		  "numrxqueues 2; ip link add if0 numtxqueues 2 type ifb; for i in va vb; do "
		  "ip link set $i up; done");
	return 0;
}

int main(void)
{
	const struct CMUnitTest pure[] = {cmocka_unit_test(names), cmocka_unit_test(growth)};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(a_program_that_drops),
		cmocka_unit_test(what_linux_itself_counts),
		cmocka_unit_test(no_link),
	};
	int failed = cmocka_run_group_tests(pure, NULL, NULL);

	if (geteuid() != 0) {
		puts("skipped: network namespaces need root");
		return failed;
	}
	return failed + cmocka_run_group_tests(live, setup, NULL);
}
