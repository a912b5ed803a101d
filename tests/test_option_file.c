/* SPDX-License-Identifier: Apache-2.0 */
#include "option_case.h"

#include <stdlib.h>
#include <unistd.h>

static char file[] = "/tmp/squall-test-option-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(file);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

static void write_file(const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Parses "VERB -c file MORE". */
static void parse_with(const char *verb, const char *more)
{
	char line[512];

	snprintf(line, sizeof(line), "%s -c %s %s", verb, file, more);
	parse(line);
}

static void good_file(const char *text, const char *more)
{
	write_file(text);
	parse_with("send", more);
	if (problems.n)
		fail_msg("%s: %s", problems.e[0].object, problems.e[0].cause);
}

/* One problem at that line. */
static void bad_file(const char *text, unsigned at, const char *object, const char *word)
{
	char place[64];

	write_file(text);
	parse_with("send", "");
	snprintf(place, sizeof(place), "%s:%u: ", file, at);
	if (problems.n != 1 || strcmp(problems.e[0].object, object) != 0 ||
	    strstr(problems.e[0].cause, place) != problems.e[0].cause || !strstr(problems.e[0].cause, word))
		fail_msg("%u problems, the first: %s: %s", problems.n, problems.e[0].object, problems.e[0].cause);
}

static void file_values(void **state)
{
	(void)state;
	good_file("# a comment\n---\ninterface: eth1\ndst-ip: 192.0.2.0/24\npps: 1M\nflows: '1000'\njson: yes\n"
		  "ethertype: 0x0800\nrx-port:\n  - 53\n  - 9000\ncpus: [0-3, 5]\nfilter: proto=udp,vlan=3\n",
		  "");
	assert_string_equal(cfg.interface, "eth1");
	assert_int_equal(cfg.dst_ip.len, 24);
	assert_int_equal(cfg.pps.micro, 1000000000000);
	assert_int_equal(cfg.flows, 1000);
	assert_true(cfg.json);
	assert_int_equal(cfg.ethertype, 0x800);
	assert_int_equal(cfg.rx_ports.n, 2);
	assert_int_equal(cfg.cpus.n, 5);
	assert_int_equal(cfg.filters.n, 2);
	assert_true(option_given(&cfg, OPTION_PPS));
	assert_false(option_given(&cfg, OPTION_DURATION));
	assert_int_equal(cfg.duration_ns, 30000000000);
	good_file("", "");
	good_file("---\n", "--flows 2");
	good_file("{pps: 5, flows: 2}\n", "");
	assert_int_equal(cfg.pps.micro, 5000000);
	good_file("mode: receive\n", "");
	assert_int_equal(cfg.verb, VERB_RECV);
	assert_int_equal(cfg.duration_ns, 0);
}

static void command_line_comes_after(void **state)
{
	(void)state;
	good_file("pps: 1M\nflows: 7\nrx-port: [1, 2]\njson: true\n", "--pps 3k --rx-port 8 --rx-port 9 --no-json");
	assert_int_equal(cfg.pps.micro, 3000000000);
	assert_int_equal(cfg.flows, 7);
	assert_int_equal(cfg.rx_ports.n, 2);
	assert_int_equal(cfg.rx_ports.port[0], 8);
	assert_false(cfg.json);
	/* Wherever --config stands. */
	char line[512];

	snprintf(line, sizeof(line), "--pps 3k --config=%s", file);
	good(line);
	assert_int_equal(cfg.pps.micro, 3000000000);
	assert_int_equal(cfg.flows, 7);
}

static void file_problems(void **state)
{
	(void)state;
	bad_file("pps: 1M\nppss: 3\n", 2, "ppss", "did you mean pps?");
	bad_file("pps: 1M\n\n# x\nxyzzy: 3\n", 4, "xyzzy", "unknown option");
	bad_file("flows: 3\npps: 1x\n", 2, "pps", "'1x' is not a rate");
	bad_file("pps:\n", 1, "pps", "is not a rate");
	bad_file("vlan: 5000\n", 1, "vlan", "0 to 4094");
	bad_file("rx-port:\n  - 53\n  - x\n", 3, "rx-port", "a list of ports");
	bad_file("rx-port: [[1]]\n", 1, "rx-port", "a list of ports");
	bad_file("flows: [3]\n", 1, "flows", "takes a whole number");
	bad_file("flows: {a: 3}\n", 1, "flows", "takes a whole number");
	bad_file("flows: 3\npps: 5\nflows: 3\n", 3, "flows", "given twice");
	bad_file("pps: 5\nconfig: other.yaml\n", 2, "config", "belongs on the command line");
	bad_file("help: true\n", 1, "help", "belongs on the command line");
	bad_file("idle: 5s\n", 1, "idle", "not an option of squall send");
	bad_file("[1]: 3\n", 1, "key", "name of an option");
	bad_file("- pps\n", 1, "file", "lines such as");
	bad_file("pps\n", 1, "file", "lines such as");
	bad_file("pps: 1M\nflows: [1\n", 3, "file", "is not YAML");
	bad_file("pps: \"1\\0M\"\n", 1, "pps", "takes a rate");
	bad_file("\"\": 1\n", 1, "key", "name of an option");
	bad_file("&interface: x\n", 1, "key", "name of an option");
	bad_file("interface: !!binary \"AGE=\"\n", 1, "interface", "takes");
	bad_file("interface: !!binary \"YQ=\"\n", 1, "interface", "takes");
	bad_file("interface: !!binary \"YQ===\"\n", 1, "interface", "takes");
	bad_file("interface: !!binary \"Y\"\n", 1, "interface", "takes");
	bad_file("interface: !!binary \"YQ==YQ==\"\n", 1, "interface", "takes");
	bad_file("pps: 1M\n---\npps: 2M\n", 2, "file", "one document");
	bad("-c /nonexistent/x.yaml", "--config", "cannot read /nonexistent/x.yaml: No such file");
	bad("-c /tmp", "file", "is not YAML");

	write_file("ppss: 1\npps: 1x\nflows: 0\n");
	parse_with("", "--vlan 9999");
	assert_int_equal(problems.n, 4);
	assert_string_equal(problems.e[3].object, "--vlan");
}

static uint64_t tried[sizeof(cfg.given) / sizeof(cfg.given[0])];

static void round_trip(const char *line)
{
	static struct config first;
	FILE *f = fopen(file, "w");

	good(line);
	first = cfg;
	assert_non_null(f);
	option_dump_config(&first, f);
	fclose(f);
	parse_with(option_verb_name(cfg.verb), "");
	if (problems.n)
		fail_msg("%s: %s: %s", line, problems.e[0].object, problems.e[0].cause);
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];

		if (row->command_line_only || !(row->verbs & first.verb))
			continue;
		if (option_given(&first, i))
			option_bit_set(tried, i);
		if (option_given(&first, i) != option_given(&cfg, i) ||
		    memcmp(option_field(row, &first), option_field(row, &cfg), row->size) != 0)
			fail_msg("%s: --%s came back changed", line, row->name);
	}
}

/* Every option of each verb, with values that are hard to write. */
static void dump_reads_back(void **state)
{
	(void)state;
	round_trip("send");
	round_trip("recv");
	round_trip("send -i loop:sink,queues=4 --backend #no:~'\"x --queues 3 --cpus 9,0-3,5,5 --qdisc -m raw "
		   "--src-ip fe80:: --dst-ip :: --src-mac 02:00:00:00:00:01 --dst-mac 12:34:56:78:90:12 --src-port 0 "
		   "--dst-port 1 --vary-dst-port --flows 18446744073709551615 --flow-order random -s 0");
	round_trip(
		"send --vlan 7 --ethertype 0xffff --payload-byte 0 --pps 0.000001 --bps 33.333333%~ -d 1h0.000000001s "
		"-n 12345678901 --burst 1 --spacing poisson --burst-profile 64/10ms --pacing sleep --catch-up none "
		"--strict-rate "
		"--rx-mode keep-management "
		"--rx-port 1,2,65535 "
		"--rx-cidr 0.0.0.0/0 --filter src=2001:db8::/32,proto=udp --allow-match-all --interval 10ms");
	round_trip("send --imix 64:1,128:2 --vlan-priority 7 --vlan-dei --outer-vlan 4094 --outer-type 0x8100 "
		   "--mpls 16:7:255,99 --tunnel gre,dst=::1 --dscp 63 --ecn 3 --ttl 1 --df --ip-id 65535 --flow-label "
		   "1048575");
	round_trip("send --udp-checksum bad --tcp-flags fin,cwr --payload-text ~ --payload-hex 00:ff --payload-file "
		   "/dev/null "
		   "--payload-pattern count32 --dry-run --write x.pcap --flow-walk cross --vary vlan=1,2,dscp=3-4 "
		   "--seed 0");
	round_trip("send --pps max --bps 18.446744073709551615Tbpsl3 --catch-up 1us --json --json-stream --csv -q "
		   "--verbose "
		   "--no-tui --no-start -y --forget --no-qdisc --xdp-mode native-zc --rx-frames 1 --busy-poll 1ns "
		   "--napi-defer off");
	round_trip(
		"send --pcap \"~ --pcap-timing original --pcap-speed 0.5x --no-pcap-loop --loop 1 --pcap-truncated pad "
		"--pcap-too-large skip --pcap-max-gap none --pcap-preload 4096 --rewrite-mac src=02:00:00:00:00:01 "
		"--rewrite-ip ::/0=::/0 --rewrite-vlan none=1");
	round_trip("recv -i null --rx-mode all --idle 1ms -d 0 --count 5 --dst-ip 10.0.0.0/8 --src-ip 10.0.0.1");
	round_trip("send --stamp --run-id 65535 --clock ptp");
	round_trip("recv --measure --per-flow --flow-report 0 --flow-limit 16777216 --window 131040 --histograms x.csv "
		   "--clock same-host --host-times");
	round_trip("pair --no-stamp --no-measure --run-id 0");
	round_trip("pair --calibrate --subtract-floor --max-loss 0.000000000001 --max-duplicates 0 --max-reordered 5% "
		   "--max-latency-p99 1ns -i a -r "
		   "b --rx-queues 2 --linger 1ns --idle 3s --pps 5");
	round_trip("reflect -i a --idle 3s --respond 10.0.0.9,fd00::9 --min-rate 5 --capture x.pcap --capture-limit 5 "
		   "--snaplen 64");
	round_trip("-i \\\x01\"\xc3\xa9~~ --backend ~");
	/* No UTF-8, of each length that base64 fills up; and what YAML has no place for, or takes for the end of a
	 * line. */
	round_trip("-i \xff --backend \xff\xe9 --imix caf\xe9 --filter \xc3~x");
	round_trip("-i "
		   "\xc2\x85\xc2\x80\xc2\x9f\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf\xef\xbf\xbe\xef\xbf\xbf\xf4\x8f\xbf"
		   "\xbf\x7f\t");
	round_trip("-i \xed\xa0\x80 --backend \xc0\xaf --imix \xf4\x90\x80\x80");
	round_trip("--mode receive -i e");
	for (unsigned i = 0; i < OPTION_TOTAL; i++) {
		const struct option_row *row = &option_rows[i];

		if (!row->command_line_only && row->scope != OPTION_SCOPE_STREAM_ONLY &&
		    !option_bit(tried, i)) /* what only streams have is tried with those */
			fail_msg("--%s is not tried", row->name);
	}
}

/* The whole of a default dump is comments. */
static void defaults_are_comments(void **state)
{
	char line[256];
	FILE *f = fopen(file, "w+");

	(void)state;
	good("");
	assert_non_null(f);
	option_dump_config(&cfg, f);
	rewind(f);
	while (fgets(line, sizeof(line), f))
		assert_int_equal(line[0], '#');
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_values),           cmocka_unit_test(command_line_comes_after),
		cmocka_unit_test(file_problems),         cmocka_unit_test(dump_reads_back),
		cmocka_unit_test(defaults_are_comments),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
