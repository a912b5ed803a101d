/* SPDX-License-Identifier: Apache-2.0 */
#include "option_case.h"

#include <errno.h>

static void values(void **state)
{
	(void)state;
	good("-i loop:sink,queues=4 --backend loop --queues 0x10 --cpus 0-3,5 --qdisc");
	assert_string_equal(cfg.interface, "loop:sink,queues=4");
	assert_string_equal(cfg.backend, "loop");
	assert_int_equal(cfg.queues, 16);
	assert_int_equal(cfg.cpus.n, 5);
	assert_int_equal(cfg.cpus.cpu[3], 3);
	assert_int_equal(cfg.cpus.cpu[4], 5);
	assert_true(cfg.qdisc);

	good("-m ~RAW~ --src-ip ::ffff:10.0.0.1 --dst-ip 10.1.2.3/8 --src-mac 0200.0000.0001 --dst-mac "
	     "02-00-00-00-00-02");
	assert_int_equal(cfg.mode, MODE_RAW);
	assert_int_equal(cfg.src_ip.ip.family, 4);
	assert_int_equal(cfg.dst_ip.len, 8);
	assert_memory_equal(cfg.dst_ip.ip.b, "\x0a\0\0\0", 4);
	assert_memory_equal(cfg.src_mac.b, "\2\0\0\0\0\1", 6);
	assert_memory_equal(cfg.dst_mac.b, "\2\0\0\0\0\2", 6);

	good("--src-port 0 --dst-port 65535 --vary-dst-port --flows 1e6 --flow-order random -s 9018 --vlan 4094 "
	     "--ethertype 0x0800 --payload-byte 255");
	assert_int_equal(cfg.src_port, 0);
	assert_int_equal(cfg.dst_port, 65535);
	assert_int_equal(cfg.flows, 1000000);
	assert_int_equal(cfg.flow_order, FLOW_ORDER_RANDOM);
	assert_int_equal(cfg.packet_size, 9018);
	assert_int_equal(cfg.vlan, 4094);
	assert_int_equal(cfg.ethertype, 0x800);
	assert_int_equal(cfg.payload_byte, 255);
	good("--ethertype 2048");
	assert_int_equal(cfg.ethertype, 0x800);

	good("--pps line-rate --bps 9.5Gbpsl2 -d 1h30m -n 5k --burst 256 --catch-up NONE --strict-rate");
	assert_int_equal(cfg.pps.kind, RATE_UNLIMITED);
	assert_int_equal(cfg.bps.layer, RATE_L2);
	assert_int_equal(cfg.duration_ns, 5400000000000);
	assert_int_equal(cfg.count, 5000);
	assert_int_equal(cfg.burst, 256);
	assert_int_equal(cfg.catch_up_ns, 0);
	good("--catch-up 0");
	assert_int_equal(cfg.catch_up_ns, 0);

	good("recv --rx-mode udp-port --rx-port 53,~9000 --rx-port 77 --rx-cidr 2001:db8::/32 --filter "
	     "proto=udp,vlan=3 "
	     "--idle 2s --allow-match-all --interval 10ms -q --verbose --no-tui -y --forget --json-stream --csv");
	assert_int_equal(cfg.rx_mode, RX_MODE_UDP_PORT);
	assert_int_equal(cfg.rx_ports.n, 3);
	assert_int_equal(cfg.rx_ports.port[1], 9000);
	assert_int_equal(cfg.rx_ports.port[2], 77);
	assert_int_equal(cfg.rx_cidr.len, 32);
	assert_int_equal(cfg.filters.n, 2);
	assert_string_equal(cfg.filters.text[1], "vlan=3");
	assert_int_equal(cfg.idle_ns, 2000000000);
	assert_int_equal(cfg.interval_ns, 10000000);
	assert_true(cfg.quiet && cfg.verbose && cfg.no_tui && cfg.yes && cfg.forget && cfg.json_stream && cfg.csv &&
		    cfg.allow_match_all);
}

static void flags(void **state)
{
	(void)state;
	good("--json=true");
	assert_true(cfg.json);
	good("--json --json=FALSE");
	assert_false(cfg.json);
	assert_true(option_given(&cfg, OPTION_JSON));
	good("--json --no-json");
	assert_false(cfg.json);
	good("--no-tui=false");
	assert_false(cfg.no_tui);
	good("-qy");
	assert_true(cfg.quiet && cfg.yes);
	bad("--json=maybe", "--json", "true or false");
	bad("--no-json=true", "--json", "takes no value");
	bad("--no-no-tui", "--no-no-tui", "did you mean --no-tui?");
}

static void bad_values(void **state)
{
	static const struct {
		const char *line, *object, *word;
	} cases[] = {
		{"--pps 1x", "--pps", "'1x' is not a rate"},
		{"--pps 100kq", "--pps", "'100kq'"},
		{"--pps nan", "--pps", "'nan'"},
		{"--pps -1", "--pps", "'-1'"},
		{"--pps 1e-9", "--pps", "out of range: 0.000001"},
		{"--pps=", "--pps", "is not a rate"},
		{"--bps 5pps", "--bps", "is not a bit rate"},
		{"-d 30", "--duration", "with its unit"},
		{"-d 5~parsecs", "--duration", "'5 parsecs'"},
		{"-d -3s", "--duration", "'-3s'"},
		{"--interval 9ms", "--interval", "out of range: 10ms to 292 years"},
		{"--packet-size 64x", "--packet-size", "a size in bytes"},
		{"-s 9019", "--packet-size", "0 to 9018"},
		{"--vlan 4095", "--vlan", "0 to 4094"},
		{"--vlan -1", "--vlan", "a whole number"},
		{"--flows 0", "--flows", "1 to "},
		{"--flows 1e", "--flows", "such as 1000"},
		{"--flows 1.5", "--flows", "such as 1000"},
		{"--count -5", "--count", "'-5'"},
		{"--dst-port 65536", "--dst-port", "0 to 65535"},
		{"--dst-port 1k", "--dst-port", "a whole number"},
		{"--src-port 99999999999999999999999", "--src-port", "0 to 65535"},
		{"--ethertype 0x10000", "--ethertype", "0x0 to 65535"},
		{"--ethertype 88b5", "--ethertype", "0x5a"},
		{"--ethertype 0x", "--ethertype", "0x5a"},
		{"--payload-byte 256", "--payload-byte", "0x0 to 0xff"},
		{"--burst 0", "--burst", "1 to 256"},
		{"--burst 257", "--burst", "1 to 256"},
		{"--queues 4294967297", "--queues", "0 to 65535"},
		{"--dst-ip 10.0.0.256", "--dst-ip", "address or prefix"},
		{"--dst-ip 10.0.0.0/33", "--dst-ip", "address or prefix"},
		{"--dst-mac 02:00:00:00:00", "--dst-mac", "a MAC address"},
		{"--dst-mac FF-FF-FF-FF-FF-FF", "--dst-mac", "is refused"},
		{"--src-mac 02:00:00:00:00:00:01", "--src-mac", "a MAC address"},
		{"--mode udpp", "--mode", "did you mean udp?"},
		{"--mode xyzzy", "--mode", "is not one of udp, tcp-syn, icmp-echo, imix, raw, pcap, receive"},
		{"--flow-order randm", "--flow-order", "did you mean random?"},
		{"--rx-port 0", "--rx-port", "1 to 65535"},
		{"--rx-port 1,,2", "--rx-port", "a list of ports"},
		{"--rx-port 1,2,", "--rx-port", "a list of ports"},
		{"--rx-port 1-3", "--rx-port", "a list of ports"},
		{"--rx-port 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "--rx-port", "at most 16 ports"},
		{"--cpus 3-0", "--cpus", "out of range"},
		{"--cpus 1-", "--cpus", "a list of CPUs"},
		{"--cpus 0-256", "--cpus", "at most 256 CPUs"},
		{"--cpus a", "--cpus", "a list of CPUs"},
		{"--filter a=0123456789012345678901234567890123456789012345678901234567890123"
		 "01234567890123456789012345678901",
		 "--filter", "at most 95"},
		{"--backend a-name-of-16-ch.", "--backend", "at most 15 characters"},
		{"--interface=", "--interface", "is not a name"},
		{"--pps", "--pps", "needs a value: RATE"},
		{"-i", "--interface", "needs a value: NAME"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		bad(cases[i].line, cases[i].object, cases[i].word);
	/* A bad value changes nothing, and the option still counts as given. */
	bad("--rx-port 5 --rx-port 6,x", "--rx-port", "'6,x'");
	assert_int_equal(cfg.rx_ports.n, 1);
	bad("--pps 1x", "--pps", "");
	assert_int_equal(cfg.pps.micro, 100000 * RATE_MICRO);
	assert_true(option_given(&cfg, OPTION_PPS));
}

static void long_texts(void **state)
{
	static char text[OPTION_TEXT_MAX + 2];

	(void)state;
	memset(text, '1', sizeof(text) - 1);
	memset(&cfg, 0, sizeof(cfg));
	assert_int_equal(option_read(option_find("pps"), text, &cfg.pps), -EINVAL);
	assert_int_equal(option_read(option_find("interface"), text, cfg.interface), -E2BIG);
	assert_int_equal(option_read(option_find("rx-port"), text, &cfg.rx_ports), -E2BIG);
	text[CONFIG_STR_MAX - 1] = '\0';
	assert_int_equal(option_read(option_find("interface"), text, cfg.interface), 0);
	assert_string_equal(cfg.interface, text);
}

static void near_choices(void **state)
{
	(void)state;
	bad("--pcap-timing orginal", "--pcap-timing", "did you mean original?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),     cmocka_unit_test(flags),        cmocka_unit_test(bad_values),
		cmocka_unit_test(long_texts), cmocka_unit_test(near_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
