/* SPDX-License-Identifier: Apache-2.0 */
#include "write.h"

#include "gen/pace.h"
#include "gen/replay_stream.h"
#include "gen/tx_loop.h"
#include "gen/tx_several.h"
#include "lib/clock.h"
#include "lib/option.h"
#include "lib/pio/backend.h"
#include "signals.h"

#include <pcap/pcap.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES  256U
#define SNAPLEN 65535

struct file_queue {
	struct pio_queue q; /* first */
	pcap_dumper_t *dumper;
	struct limiter schedule; /* that a run would have, from 0 on */
	struct poisson poisson;
	const struct replay *replay; /* with original timing; else NULL */
	bool several;
	bool over;                  /* the next one would depart at end_ns or later */
	uint64_t now;               /* of several streams: when the packet that is written departs */
	uint64_t end_ns;            /* what departs then or later is not written */
	struct replay_reader times; /* of one that is streamed: reads it a second time, for the departures */
	uint64_t written;
	int failed;     /* errno of a write, or of reading the capture, */
	struct err err; /* which is told here */
	_Atomic bool stop;
};

static unsigned file_get(struct pio_queue *q, struct pio_frame *f, unsigned n)
{
	return pio_cache_get(q->cache, f, n);
}

static uint64_t when_streamed(struct file_queue *w)
{
	struct capture_frame f = {0};

	if (!w->times.file)
		w->failed = replay_reader_open(&w->times, w->replay, &w->err);
	if (!w->failed)
		w->failed = replay_reader_next(&w->times, &f, &w->err);
	return f.at_ns;
}

/* The departure of the next packet, after the start. */
static uint64_t when(struct file_queue *w)
{
	if (w->several)
		return w->now;
	if (w->replay && w->replay->capture.streamed)
		return when_streamed(w);
	if (w->replay)
		return replay_departure(w->replay, w->written);
	if (w->poisson.queues)
		return poisson_claim(&w->poisson, &w->schedule, 1, 0).departure_ns;
	return limiter_departure(&w->schedule, w->written);
}

static unsigned file_tx(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct file_queue *w = (struct file_queue *)q;

	for (unsigned i = 0; i < n; i++) {
		uint64_t at = w->over ? 0 : when(w);
		/* A reader of nanoseconds finds them in tv_usec (pcap-savefile(5)). */
		const struct pcap_pkthdr h = {
			.ts = {.tv_sec = (time_t)(at / NS_PER_S), .tv_usec = (suseconds_t)(at % NS_PER_S)},
			.caplen = f[i].len,
			.len = f[i].len,
		};

		w->over |= at >= w->end_ns;
		if (!w->over) {
			w->written++;
			pcap_dump((unsigned char *)w->dumper, &h, f[i].data);
		}
		stats_add(&q->stats.tx.completed_bytes, f[i].len);
		pio_slot_done(q->port->pool, q->cache, pio_slot_of(q->port->pool, f[i].data, 1));
	}
	stats_add(&q->stats.tx.queued, n);
	stats_add(&q->stats.tx.completed, n);
	if (ferror(pcap_dump_file(w->dumper)))
		w->failed = errno;
	if (signals_stop || w->failed || w->over)
		atomic_store(&w->stop, true);
	return n;
}

static void file_nothing(struct pio_queue *q)
{
	(void)q;
}

static const struct pio_queue_ops file_ops = {
	.get = file_get, .tx = file_tx, .kick = file_nothing, .sync = file_nothing};

static int refuse(struct err *e, const char *path, const char *cause)
{
	err_set(e, -EIO, EXIT_RUN, "cannot write the capture", strcmp(path, "-") == 0 ? "standard output" : path, "%s",
		cause);
	err_hint(e, "--write with a file elsewhere");
	return -EIO;
}

/* "-" is the standard output, by a descriptor of its own: the report's stays open. */
static FILE *open_file(const char *path)
{
	FILE *f;
	int fd;

	if (strcmp(path, "-") != 0)
		return fopen(path, "we");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* A first signal ends the wait for a pipe's reader: then there is no dumper, and no error. */
static int open_dumper(struct file_queue *w, pcap_t *pcap, const char *path, struct err *e)
{
	FILE *f = open_file(path);

	if (!f)
		return signals_stop && errno == EINTR ? 0 : refuse(e, path, strerror(errno));
	w->dumper = pcap_dump_fopen(pcap, f);
	if (w->dumper)
		return 0;
	fclose(f);
	return refuse(e, path, pcap_geterr(pcap));
}

/* Nobody waits for a file: what is in memory or read ahead goes at once. */
static int init_replay(struct tx_worker *worker, const struct tx_plan *plan, struct replay *at_once,
		       struct replay_stream *stream, struct err *e)
{
	int rc = 0;

	at_once->original = false;
	at_once->total = at_once->total ? at_once->total : WRITE_FRAMES;
	if (at_once->capture.streamed) {
		rc = replay_stream_init(stream, at_once, 1, e);
		if (!rc)
			rc = replay_stream_start(stream, e);
	}
	return rc ? rc : tx_worker_init_replay(worker, plan, at_once, stream->rings, 0, 1, e);
}

/* The next packet in the order of one queue whose clock is the schedule's; its source. Negative: there is none. */
static int next_packet(struct tx_merge *m, uint64_t *now)
{
	uint64_t departure = tx_merge_departure(m, 1, *now);
	uint64_t begin;
	int source;

	if (departure != TX_MERGE_NEVER) {
		while (departure != TX_MERGE_NEVER) {
			*now = departure;
			source = tx_merge_take(m);
			if (source >= 0)
				return source;
			departure = tx_merge_departure(m, 1, *now);
		}
		return -1;
	}
	begin = tx_merge_unlimited_from(m);
	if (begin == TX_MERGE_NEVER)
		return -1;
	*now = begin > *now ? begin : *now;
	return tx_merge_take_unlimited(m, *now);
}

static int send_several(struct file_queue *w, const struct stream_set *set, uint64_t count, struct limiter *limiters,
			struct err *e)
{
	struct tx_worker worker = {.queue = &w->q, .stop = &w->stop, .hurry = &signals_stop, .end_ns = UINT64_MAX};
	int rc = tx_worker_init_several(&worker, set, limiters, 0, 1, e);
	struct pio_frame f;
	int source;

	for (unsigned i = 0; !rc && i < set->n_groups; i++)
		limiter_init(&limiters[i], &set->groups[i].pace, 0, set->groups[i].delay_ns, UINT64_MAX);
	if (!rc)
		tx_merge_begin(worker.merge, set, 0, 0, 1);
	while (!rc && w->written < count && !w->stop && (source = next_packet(worker.merge, &w->now)) >= 0) {
		if (!pio_get(&w->q, &f, 1))
			break;
		tx_several_fill(&worker, (unsigned)source, &f, w->now);
		pio_tx(&w->q, &f, 1);
	}
	tx_worker_free(&worker);
	return rc;
}

static int send_streams(struct file_queue *w, const struct config *cfg, const struct stream_set *set, struct err *e)
{
	struct limiter *limiters = aligned_alloc(128, set->n_groups * sizeof(*limiters));
	int rc;

	if (!limiters)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot write the capture", cfg->write_file, "no memory");
	w->several = true;
	rc = send_several(w, set, cfg->count ? cfg->count : WRITE_FRAMES, limiters, e);
	free(limiters);
	return rc ? rc : w->failed ? refuse(e, cfg->write_file, strerror(w->failed)) : 0;
}

static int send_to_file(struct file_queue *w, const struct config *cfg, const struct stream_set *set, struct err *e)
{
	const struct tx_plan *plan = set->streams[0].plan;
	const struct replay *replay = set->streams[0].replay;
	const uint64_t count = pace_count(cfg);
	static const struct tx_pace unlimited = {.burst = 1};
	struct tx_worker worker = {.queue = &w->q, .stop = &w->stop, .hurry = &signals_stop, .end_ns = UINT64_MAX};
	struct replay_stream stream = {0};
	struct limiter limiter;
	struct replay at_once;
	int rc;

	if (replay) {
		at_once = *replay;
		rc = init_replay(&worker, plan, &at_once, &stream, e);
	} else {
		rc = tx_worker_init(&worker, plan, 0, 1, count ? count : WRITE_FRAMES,
				    set->streams[0].cfg->flow_order == FLOW_ORDER_RANDOM, e);
	}
	if (rc)
		goto out;
	limiter_init(&limiter, &unlimited, 0, clock_mono_ns(), UINT64_MAX);
	worker.limiter = &limiter;
	tx_worker_run(&worker);
	if (w->err.code != EXIT_DONE) {
		*e = w->err;
		rc = w->failed;
	} else if (w->failed) {
		rc = refuse(e, cfg->write_file, strerror(w->failed));
	} else if (replay_stream_has_failed(&stream, e)) {
		rc = -EIO;
	}
out:
	tx_worker_free(&worker);
	replay_stream_free(&stream);
	replay_reader_close(&w->times);
	return rc;
}

/* Streams without a limit take what the others leave: how much that is nobody knows before they are sent. */
static int check_order(const struct stream_set *set, struct err *e)
{
	unsigned unlimited = 0;

	for (unsigned i = 0; i < set->n_groups; i++)
		unlimited += pace_pps(&set->groups[i].pace) < 0;
	if (!unlimited || set->n_groups == 1)
		return 0;
	err_set(e, -EINVAL, EXIT_USAGE, "cannot write the frames", "--write",
		"streams without a limit stand beside others that have one: their order shows only when they are sent");
	err_hint(e, "a rate for each stream");
	return -EINVAL;
}

int write_frames(const struct config *cfg, const struct stream_set *set, uint64_t *written, struct err *e)
{
	const uint32_t max_len = stream_set_max_len(set);
	const struct replay *replay = set->streams[0].replay;
	const struct tx_pace *pace = &set->groups[0].pace;
	struct pio_port port = {.name = "capture", .caps.max_frame = max_len, .n_tx = 1};
	struct file_queue *w = NULL;
	pcap_t *pcap = NULL;
	int rc = check_order(set, e);

	*written = 0;
	if (rc)
		return rc;
	pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, SNAPLEN, PCAP_TSTAMP_PRECISION_NANO);
	rc = pcap ? pio_pool_create(&port.pool, FRAMES, max_len, e) : refuse(e, cfg->write_file, "no memory");
	if (!rc) {
		w = (struct file_queue *)pio_queue_create(&port, sizeof(*w), 0, true, FRAMES, e);
		rc = w ? 0 : -ENOMEM;
	}
	if (!rc) {
		w->q.ops = &file_ops;
		limiter_init(&w->schedule, pace, 0, 0, UINT64_MAX);
		if (pace->poisson && !w->schedule.unlimited)
			poisson_init(&w->poisson, &w->schedule, pace->seed, 0, 1);
		w->replay = replay && replay->original ? replay : NULL;
		w->end_ns = option_given(cfg, OPTION_DURATION) && cfg->duration_ns ? cfg->duration_ns : UINT64_MAX;
		rc = open_dumper(w, pcap, cfg->write_file, e);
		if (w->dumper)
			rc = set->n > 1 ? send_streams(w, cfg, set, e) : send_to_file(w, cfg, set, e);
		*written = w->written;
	}
	if (w && w->dumper) {
		if (!rc && pcap_dump_flush(w->dumper))
			rc = refuse(e, cfg->write_file, strerror(errno));
		pcap_dump_close(w->dumper);
	}
	pio_queue_destroy(w ? &w->q : NULL);
	pio_pool_destroy(port.pool);
	if (pcap)
		pcap_close(pcap);
	return rc;
}
