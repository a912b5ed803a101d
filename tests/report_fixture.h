/* SPDX-License-Identifier: Apache-2.0 */
/* A run with figures that are easy to derive by hand, and its report in memory. */
#ifndef SQUALL_REPORT_FIXTURE_H
#define SQUALL_REPORT_FIXTURE_H

#include "lib/host.h"
#include "lib/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000000ULL
#define WALL   1700000000123456789ULL

struct fixture {
	struct config cfg;
	struct report_plan plan;
	struct report_sample zero, half, full;
	struct report_end end;
	struct host_drop drop[2];
	struct host_drops device_drops;
	FILE *out;
	char *text;
	size_t size;
	struct report *report;
};

/*
 * Two queues, both directions, 2 s. Sent: 100,000 frames of 60 bytes, 40,000 of them in the first second. Received: 3
 * of 60 bytes within 2 s, 1 in the first second. Queue 0 has 3/4 of what was sent and all that was received.
 */
static inline void fixture_run(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->cfg.verb = VERB_SEND;
	f->cfg.interval_ns = SECOND;
	snprintf(f->cfg.interface, sizeof(f->cfg.interface), "loop:sink");

	f->plan.verb = "send";
	f->plan.tx = f->plan.rx = true;
	report_fact_add(&f->plan, "interface", "interface", "%s", "loop:sink");
	report_fact_add(&f->plan, "next_hop", "next hop", "%s by %s", "02:00:00:00:00:09", "ARP");
	report_warn(&f->plan.warnings, "a tcpdump on %s sees nothing", "loop:sink");

	f->full.elapsed_ns = 2 * SECOND;
	f->full.tx.queued = 100005;
	f->full.tx.completed = 100000;
	f->full.tx.completed_bytes = 6000000;
	f->full.tx.dropped_driver = 3;
	f->full.tx.undecided = 2;
	f->full.rx.packets = 3;
	f->full.rx.bytes = 180;
	f->full.rx.dropped_ring = 5;
	f->full.rx.filtered = 7;
	f->full.classes.ipv4_udp = 2;
	f->full.classes.arp = 1;
	f->full.n_queues = 2;
	f->full.queues[0] = (struct report_queue){.queue = 0, .cpu = 1, .tx = true, .rx = true};
	f->full.queues[0].tx_counts.completed = 75000;
	f->full.queues[0].rx_counts.packets = 3;
	f->full.queues[1] = (struct report_queue){.queue = 1, .cpu = -1, .tx = true};
	f->full.queues[1].tx_counts.completed = 25000;

	f->half = f->full;
	f->half.elapsed_ns = SECOND;
	f->half.tx = (struct tx_counts){.queued = 40000, .completed = 40000, .completed_bytes = 2400000};
	f->half.rx = (struct rx_counts){.packets = 1, .bytes = 60};
	f->half.classes = (struct class_counts){.arp = 1};
	f->half.queues[0].tx_counts.completed = 30000;
	f->half.queues[0].rx_counts.packets = 1;
	f->half.queues[1].tx_counts.completed = 10000;

	f->end = (struct report_end){
		.reason = END_DURATION,
		.total = &f->full,
		.tx_ns = 2 * SECOND,
		.requested_pps = 50000.5,
		.last_pps = 60500.25,
		.rate_changes = 3,
		.unsent = 11,
		.lateness = {.known = true, .p50 = 90, .p99 = 12351, .max = 1500000},
		.first_ns = WALL,
		.last_ns = WALL + 2 * SECOND,
		.have_loop = true,
		.loop = {.lost = 1, .duplicated = 2, .reordered = 3},
		.device_drops = &f->device_drops,
		.cpu = {.user = 1.5, .system = 0.25, .irq = 0, .softirq = 0.5, .steal = 0.125},
	};
	f->drop[0] = (struct host_drop){"rx_queue_0_drops", 12};
	f->drop[1] = (struct host_drop){"link rx_missed", 5000000000};
	f->device_drops = (struct host_drops){2, f->drop};
	report_warn(&f->end.warnings, "one core was full");
}

static inline void fixture_open(struct fixture *f)
{
	f->out = open_memstream(&f->text, &f->size);
	assert_non_null(f->out);
	f->report = report_open(&f->cfg, f->out);
	assert_non_null(f->report);
}

/* The whole course of the run; the text is f->text. */
static inline void fixture_play(struct fixture *f)
{
	fixture_open(f);
	assert_int_equal(report_begin(f->report, &f->plan, WALL), 0);
	assert_int_equal(report_interval(f->report, &f->zero, &f->half), 0);
	assert_int_equal(report_interval(f->report, &f->half, &f->full), 0);
	assert_int_equal(report_end(f->report, &f->end, NULL, NULL), 0);
}

static inline void fixture_close(struct fixture *f)
{
	report_close(f->report);
	fclose(f->out);
	free(f->text);
}

#endif
