/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

#include "answers.h"
#include "calibrate.h"
#include "check_files.h"
#include "engine_measure.h"
#include "gen/pace.h"
#include "gen/plan_build.h"
#include "gen/stream_check.h"
#include "lib/nearest.h"
#include "lib/option.h"
#include "lib/pio/pio.h"
#include "lib/worker.h"
#include "rx/rx_filter.h"

#include <string.h>

static const struct pio_backend *backend_named(const char *name, size_t len, struct nearest *near)
{
	for (const struct pio_backend *const *b = pio_backends; *b; b++) {
		if (strlen((*b)->name) == len && memcmp((*b)->name, name, len) == 0)
			return *b;
		nearest_try(near, (*b)->name);
	}
	return NULL;
}

/* Linux gives no interface a name with a colon, so what stands before one is meant to be a backend. */
static void check_backend(const struct config *cfg, const char *option, const char *name, size_t len,
			  struct problems *p)
{
	char text[sizeof(cfg->interface)];
	struct nearest near;

	memcpy(text, name, len);
	text[len] = '\0';
	nearest_start(&near, text);
	if (backend_named(name, len, &near))
		return;
	if (near.best)
		problem_add(p, option, "there is no backend \"%s\"; did you mean %s?", text, near.best);
	else
		problem_add(p, option, "there is no backend \"%s\"; squall devices lists them", text);
}

/* The backend in an interface's name. */
static void check_name(const struct config *cfg, const char *option, const char *name, struct problems *p)
{
	const char *colon = strchr(name, ':');

	if (!colon)
		return;
	check_backend(cfg, option, name, (size_t)(colon - name), p);
	if (cfg->backend[0] &&
	    (strlen(cfg->backend) != (size_t)(colon - name) || memcmp(cfg->backend, name, strlen(cfg->backend)) != 0))
		problem_add(p, "--backend", "%s, but the interface's name says otherwise: %s", cfg->backend, name);
}

static void check_interface(const struct config *cfg, struct problems *p)
{
	if (!cfg->interface[0])
		problem_missing(p, "--interface", "missing: say which interface; squall devices lists them");
	if (cfg->backend[0])
		check_backend(cfg, "--backend", cfg->backend, strlen(cfg->backend), p);
	check_name(cfg, "--interface", cfg->interface, p);
}

/* A wire in memory: what goes in comes out of the same one. */
static bool is_wire(const struct config *cfg, const char *name)
{
	const struct pio_backend *backend;
	const char *device;

	pio_name_split(name, cfg->backend, &backend, &device);
	return backend && !backend->needs_link && backend->queues;
}

static void check_pair(const struct config *cfg, struct problems *p)
{
	bool wire = is_wire(cfg, cfg->interface);

	check_name(cfg, "--rx-interface", cfg->rx_interface, p);
	if (!cfg->rx_interface[0] && !wire)
		problem_missing(p, "--rx-interface",
				"missing: say where the packets come back (the same interface for round trips)");
	if (cfg->rx_interface[0] && strcmp(cfg->rx_interface, cfg->interface) != 0 &&
	    (wire || is_wire(cfg, cfg->rx_interface)))
		problem_add(p, "--rx-interface",
			    "what is sent comes out of the same loop, and of no other: leave it out");
	if (cfg->mode == MODE_PCAP && (cfg->rx_mode == RX_MODE_NONE || cfg->rx_mode == RX_MODE_GENERATED_FLOW) &&
	    !cfg->filters.n)
		problem_missing(p, "--filter",
				"missing: a capture holds all kinds of packets; say which of them to receive");
}

/* What was given must have an effect. */
static void check_given(const struct config *cfg, struct problems *p)
{
	int forms = cfg->json + cfg->json_stream + cfg->csv;

	if (option_given(cfg, OPTION_DST_MAC) && mac_is_zero(&cfg->dst_mac))
		problem_missing(p, "--dst-mac",
				"all zero is nobody's address; leave it out to have the next hop found");
	if (option_given(cfg, OPTION_SRC_MAC) && mac_is_zero(&cfg->src_mac))
		problem_missing(p, "--src-mac",
				"all zero is nobody's address; leave it out to use the interface's own");
	if (cfg->rx_ports.n && cfg->rx_mode != RX_MODE_UDP_PORT && cfg->rx_mode != RX_MODE_TCP_PORT)
		problem_add(p, "--rx-port", "goes with --rx-mode udp-port or tcp-port");
	if (cfg->rx_cidr.ip.family && cfg->rx_mode != RX_MODE_CIDR)
		problem_add(p, "--rx-cidr", "goes with --rx-mode cidr");
	if (!verb_sends(cfg->verb) && option_given(cfg, OPTION_RX_MODE) && cfg->rx_mode == RX_MODE_NONE)
		problem_add(p, "--rx-mode", "none receives nothing; leave it out to receive UDP to port %u",
			    RX_DEFAULT_PORT);
	if (cfg->dry_run && cfg->write_file[0])
		problem_add(p, "--dry-run", "writes nothing: leave out --write");
	if (cfg->verb == VERB_PAIR && cfg->mode == MODE_RECEIVE)
		problem_add(p, "--mode", "receive stands for squall recv; a pair sends as well");
	if (strcmp(cfg->write_file, "-") == 0 && forms)
		problem_add(p, "--write", "- and a report cannot both have the standard output");
	if (cfg->start && (forms || cfg->no_tui || cfg->quiet || cfg->dry_run || cfg->write_file[0]))
		problem_add(p, "--start",
			    "the dashboard and --no-tui, --quiet, --json, --json-stream, --csv, --dry-run and "
			    "--write exclude each other");
	if (forms > 1)
		problem_add(p, "--json", "--json, --json-stream and --csv exclude each other");
}

/* Frames that are not made here have no place for a stamp. */
static bool cannot_stamp(const struct config *cfg)
{
	bool cannot = !cfg->n_streams && (cfg->mode == MODE_RAW || cfg->mode == MODE_PCAP);

	for (unsigned i = 0; i < cfg->n_streams; i++)
		cannot = cannot || cfg->streams[i].mode == MODE_RAW;
	return cannot;
}

/* A pair stamps where it can, unless it was told what to do. All streams of a run are stamped, or none. */
static void settle_stamp(struct config *cfg)
{
	if (cannot_stamp(cfg) && !option_given(cfg, OPTION_STAMP))
		cfg->stamp = false;
	for (unsigned i = 0; i < cfg->n_streams; i++)
		cfg->streams[i].stamp = cfg->stamp;
}

static void check_measure(const struct config *cfg, struct problems *p)
{
	static const struct {
		enum option_id id;
		const char *name;
	} of_it[] = {{OPTION_PER_FLOW, "--per-flow"},           {OPTION_FLOW_REPORT, "--flow-report"},
		     {OPTION_FLOW_LIMIT, "--flow-limit"},       {OPTION_WINDOW, "--window"},
		     {OPTION_HISTOGRAMS, "--histograms"},       {OPTION_HOST_TIMES, "--host-times"},
		     {OPTION_MAX_LOSS, "--max-loss"},           {OPTION_MAX_DUPLICATES, "--max-duplicates"},
		     {OPTION_MAX_REORDERED, "--max-reordered"}, {OPTION_MAX_LATENCY_P99, "--max-latency-p99"}};

	for (unsigned i = 0; !engine_measures(cfg) && i < sizeof(of_it) / sizeof(of_it[0]); i++)
		if (option_given(cfg, of_it[i].id))
			problem_add(p, of_it[i].name,
				    cfg->verb != VERB_PAIR ? "goes with --measure"
				    : cannot_stamp(cfg) ? "goes by stamps, and packets of --mode raw and pcap have none"
				    : !cfg->measure     ? "goes without --no-measure"
							: "goes without --no-stamp");
	if (cfg->verb == VERB_PAIR && option_given(cfg, OPTION_MEASURE) && cfg->measure && !cfg->stamp)
		problem_add(p, "--measure", "goes by stamps, and nothing is stamped");
	if (cfg->flow_report && option_given(cfg, OPTION_FLOW_REPORT) && !cfg->per_flow)
		problem_add(p, "--flow-report", "goes with --per-flow");
	if (cfg->verb == VERB_SEND && !cfg->stamp &&
	    (option_given(cfg, OPTION_RUN_ID) || option_given(cfg, OPTION_CLOCK)))
		problem_add(p, option_given(cfg, OPTION_RUN_ID) ? "--run-id" : "--clock", "goes with --stamp");
	if (cfg->verb == VERB_RECV && !cfg->measure &&
	    (option_given(cfg, OPTION_RUN_ID) || option_given(cfg, OPTION_CLOCK)))
		problem_add(p, option_given(cfg, OPTION_RUN_ID) ? "--run-id" : "--clock", "goes with --measure");
}

/* The run ends by itself, by what was asked for: the default duration shall not cut it. */
static bool has_end(const struct config *cfg)
{
	bool all = cfg->n_streams;

	for (unsigned i = 0; i < cfg->n_streams; i++)
		all = all && pace_count(&cfg->streams[i]);
	if (cfg->n_streams)
		return all || option_given(cfg, OPTION_COUNT);
	return option_given(cfg, OPTION_COUNT) || pace_count(cfg) ||
	       (cfg->mode == MODE_PCAP && (cfg->loop || !cfg->pcap_loop));
}

/* --strict-rate needs something that can be missed: a rate of the run or of some stream, or a capture's times. */
static bool has_rate(const struct config *cfg)
{
	if (cfg->n_streams == 0)
		return !pace_is_unlimited(cfg) || (cfg->mode == MODE_PCAP && cfg->pcap_timing == PCAP_TIMING_ORIGINAL);
	for (unsigned i = 0; i < cfg->n_streams; i++)
		if (!pace_is_unlimited(&cfg->streams[i]))
			return true;
	return false;
}

void traffic_check(struct config *cfg, struct problems *p)
{
	check_interface(cfg, p);
	check_given(cfg, p);
	if (verb_sends(cfg->verb)) {
		if (option_given(cfg, OPTION_BPS) && !option_given(cfg, OPTION_PPS))
			cfg->pps.kind = RATE_UNSET;
		if (cfg->pcap[0] && !option_given(cfg, OPTION_MODE))
			cfg->mode = MODE_PCAP;
		if (has_end(cfg) && !option_given(cfg, OPTION_DURATION))
			cfg->duration_ns = 0;
		settle_stamp(cfg);
		if (cfg->n_streams)
			stream_check(cfg, p);
		else
			gen_check(cfg, p);
	}
	if (verb_sends(cfg->verb) && cfg->strict_rate && !has_rate(cfg))
		problem_add(p, "--strict-rate", "goes with a rate: one without a limit cannot be missed");
	check_measure(cfg, p);
	if (cfg->verb == VERB_PAIR)
		check_pair(cfg, p);
	if (!cfg->capture[0] && option_given(cfg, OPTION_CAPTURE_LIMIT))
		problem_add(p, "--capture-limit", "goes with --capture");
	if (!cfg->capture[0] && option_given(cfg, OPTION_SNAPLEN))
		problem_add(p, "--snaplen", "goes with --capture");
	if (strcmp(cfg->capture, "-") == 0)
		problem_add(p, "--capture",
			    "the standard output has the report: a named pipe (mkfifo) hands packets on");
	if (strcmp(cfg->histograms, "-") == 0)
		problem_add(p, "--histograms", "the standard output has the report: a file, or a named pipe (mkfifo)");
	check_files(cfg, p);
	if (cfg->min_rate.kind != RATE_UNSET && cfg->min_rate.kind != RATE_VALUE)
		problem_add(p, "--min-rate", "a rate in packets a second, as in 100k");
	calibrate_check(cfg, p);
	answers_check(cfg, p);
	if (cfg->respond.n && is_wire(cfg, cfg->interface))
		problem_add(p, "--respond", "nobody asks on a wire in memory: leave it out");
	if (cfg->verb == VERB_REFLECT && is_wire(cfg, cfg->interface))
		problem_add(p, "--interface", "nobody is at the other end of a loop to send packets back to");
	rx_filter_check(cfg, p);
	for (unsigned i = 0; i < cfg->cpus.n; i++)
		if (!worker_cpu_usable(cfg->cpus.cpu[i]))
			problem_add(p, "--cpus", "processor %u does not exist, or this process may not run on it",
				    cfg->cpus.cpu[i]);
}
