/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "engine_capture.h"
#include "engine_end.h"
#include "engine_live.h"
#include "engine_measure.h"
#include "engine_queues.h"
#include "engine_rate.h"
#include "engine_replay.h"
#include "engine_respond.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/placement.h"
#include "signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often the run looks at its workers and its limits. */
#define TICK_NS (20 * NS_PER_MS)
/* From the start of the threads to the first departure: so that all of them are there. */
#define LEAD_NS (2 * NS_PER_MS)
/* Threads that sleep between packets are late as a rule: so much of it is no stall. */
#define SLEEP_CATCH_UP_NS (10 * NS_PER_MS)
/* Receivers of a sending run listen until nothing has come for so long (a pair has --linger), */
#define RX_TAIL_NS (100 * NS_PER_MS)
/* or so many times as long where packets go on coming. */
#define RX_TAILS_MAX 10

_Static_assert(WORKER_CPU_ANY == -1, "what placement calls no place is no place for worker_start()");

/* A processor for each sender, then for each receiver. */
static void find_cpus(const struct engine *en, const struct host_link *tx, const struct host_link *rx, int *cpu)
{
	const unsigned senders = en->cfg->verb == VERB_REFLECT ? en->n_rx : en->n_tx;
	const struct config_cpus *given = &en->cfg->cpus;

	if (!given->n) {
		placement_of_threads("", NULL, tx, en->n_tx, rx, en->n_rx, cpu);
		/* One that was moved would go on by another queue, and overtake what it sent before. */
		if (en->tx_port && en->tx_port->caps.queue_by_cpu)
			placement_stay(senders, cpu);
		return;
	}
	for (unsigned i = 0; i < en->n_tx + en->n_rx; i++)
		cpu[i] = given->cpu[i % given->n];
}

/* The ports that the run uses, each once. */
static void take_ports(struct engine *en, const struct engine_port *tx, const struct engine_port *rx)
{
	en->tx_port = tx->port->n_tx ? tx->port : NULL;
	en->rx_port = rx->port->n_rx ? rx->port : NULL;
	en->n_tx = en->set ? tx->port->n_tx : 0;
	en->n_rx = en->rx_port ? en->rx_port->n_rx : 0;
	en->link[0] = (struct engine_link){.port = tx->port, .link = tx->link};
	if (rx->port != tx->port)
		en->link[1] = (struct engine_link){.port = rx->port, .link = rx->link};
	for (unsigned i = 0; i < 2; i++)
		engine_link_begin(&en->link[i]);
}

const char *engine_name(const struct engine *en)
{
	return en->tx_port ? en->tx_port->name : en->rx_port ? en->rx_port->name : NULL;
}

static int init_sender(struct engine *en, unsigned i, struct err *e)
{
	const struct stream *only = &en->set->streams[0];
	struct tx_worker *w = &en->tx[i].w;

	w->queue = en->tx_port->tx[i];
	w->limiter = &en->limiters[0];
	w->stop = &en->stop_tx;
	w->hurry = &signals_stop;
	w->sleeps = en->cfg->pacing == PACING_SLEEP;
	w->stamps_tai = en->cfg->clock == CLOCK_CHOICE_PTP;
	if (en->set->n > 1)
		return tx_worker_init_several(w, en->set, en->limiters, i, en->n_tx, e);
	if (only->replay)
		return tx_worker_init_replay(w, only->plan, only->replay, engine_replay_ring(en, i), i, en->n_tx, e);
	return tx_worker_init(w, only->plan, i, en->n_tx, en->count, only->cfg->flow_order == FLOW_ORDER_RANDOM, e);
}

int engine_init(struct engine *en, const struct config *cfg, const struct engine_port *tx, const struct engine_port *rx,
		const struct stream_set *set, struct err *e)
{
	int *cpu = NULL;
	int rc = 0;

	memset(en, 0, sizeof(*en));
	en->cfg = cfg;
	en->set = set;
	en->replay = set ? set->streams[0].replay : NULL;
	en->count = set ? stream_set_count(set) : cfg->count;
	take_ports(en, tx, rx);
	en->tx = aligned_alloc(128, (en->n_tx + 1) * sizeof(*en->tx));
	en->rx = aligned_alloc(128, (en->n_rx + 1) * sizeof(*en->rx));
	en->limiters = aligned_alloc(128, (set ? set->n_groups : 1) * sizeof(*en->limiters));
	cpu = calloc(en->n_tx + en->n_rx + 1, sizeof(*cpu));
	if (!en->tx || !en->rx || !en->limiters || !cpu) {
		rc = err_set(e, -ENOMEM, EXIT_RUN, "cannot start the run", engine_name(en), "no memory");
		goto out;
	}
	memset(en->tx, 0, (en->n_tx + 1) * sizeof(*en->tx));
	memset(en->rx, 0, (en->n_rx + 1) * sizeof(*en->rx));
	find_cpus(en, tx->link, rx->link, cpu);
	rc = engine_replay_init(en, e);
	for (unsigned i = 0; !rc && i < en->n_tx; i++) {
		en->tx[i].cpu = cpu[i];
		rc = init_sender(en, i, e);
	}
	en->rx_shared.stop = &en->stop_rx;
	en->rx_shared.limit = set ? 0 : cfg->count;
	for (unsigned i = 0; i < en->n_rx; i++) {
		en->rx[i].cpu = cpu[en->n_tx + i];
		en->rx[i].w.queue = en->rx_port->rx[i];
		en->rx[i].w.shared = &en->rx_shared;
		if (cfg->verb != VERB_REFLECT)
			continue;
		en->rx[i].w.reflector = &en->rx[i].reflector;
		en->rx[i].reflector.tx = en->rx_port->tx[i];
		en->rx[i].reflector.own = rx->link->mac;
	}
	if (!rc)
		rc = engine_capture_init(en, e);
	if (!rc)
		rc = engine_measure_init(en, e);
out:
	free(cpu);
	if (rc)
		engine_free(en);
	return rc;
}

void engine_free(struct engine *en)
{
	for (unsigned i = 0; en->tx && i < en->n_tx; i++)
		tx_worker_free(&en->tx[i].w);
	replay_stream_free(&en->stream);
	engine_capture_free(en);
	engine_measure_free(en);
	for (unsigned i = 0; i < 2; i++)
		engine_link_free(&en->link[i]);
	free(en->limiters);
	free(en->tx);
	free(en->rx);
	en->limiters = NULL;
	en->tx = NULL;
	en->rx = NULL;
}

static void run_tx(void *arg)
{
	tx_worker_run(arg);
}

static void run_rx(void *arg)
{
	rx_worker_run(arg);
}

void engine_warn(struct engine *en, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_warn("%s", line);
	report_warn(&en->warnings, "%s", line);
}

static void stop(struct engine *en, enum end_reason reason)
{
	if (!en->stopped_ns) {
		en->stopped_ns = clock_mono_ns();
		en->reason = reason;
	}
	atomic_store(&en->stop_tx, true);
}

void engine_fail(struct engine *en, const struct err *e)
{
	if (en->err.code == EXIT_DONE)
		en->err = *e;
	stop(en, END_ERROR);
}

static uint64_t catch_up_of(const struct config *cfg)
{
	bool rule = cfg->pacing == PACING_SLEEP && cfg->catch_up_ns < SLEEP_CATCH_UP_NS;

	return rule ? SLEEP_CATCH_UP_NS : cfg->catch_up_ns;
}

static void begin_sender(struct engine *en, unsigned i, uint64_t end_ns)
{
	const struct tx_pace *pace = &en->set->groups[0].pace;
	struct tx_worker *w = &en->tx[i].w;

	w->end_ns = end_ns;
	if (w->merge)
		tx_merge_begin(w->merge, en->set, en->start_ns, i, en->n_tx);
	else if (pace->poisson && !w->limiter->unlimited)
		poisson_init(&w->poisson, w->limiter, pace->seed, i, en->n_tx);
}

/* Receivers first, so that they miss nothing of what the senders send. */
static void start(struct engine *en)
{
	const struct config *cfg = en->cfg;
	struct err e = {0};
	uint64_t end_ns;
	char name[32];

	en->start_ns = clock_mono_ns() + (en->n_tx ? LEAD_NS : 0);
	end_ns = cfg->duration_ns ? en->start_ns + cfg->duration_ns : UINT64_MAX;
	en->last_rx_ns = en->start_ns;
	en->reported_ns = en->start_ns;
	for (unsigned i = 0; en->n_tx && i < en->set->n_groups; i++)
		limiter_init(&en->limiters[i], &en->set->groups[i].pace, catch_up_of(cfg),
			     en->start_ns + en->set->groups[i].delay_ns, end_ns);
	if (engine_capture_start(en, &e) || engine_respond_start(en, &e)) {
		engine_fail(en, &e);
		return;
	}
	for (unsigned i = 0; i < en->n_rx; i++) {
		snprintf(name, sizeof(name), "squall-rx%u", i);
		if (worker_start(&en->rx[i].thread, name, en->rx[i].cpu, run_rx, &en->rx[i].w, &e)) {
			engine_fail(en, &e);
			return;
		}
	}
	if (signals_stop) { /* while all this was made ready: nothing is sent then */
		stop(en, END_SIGNAL);
		return;
	}
	for (unsigned i = 0; i < en->n_tx; i++) {
		begin_sender(en, i, end_ns);
		snprintf(name, sizeof(name), "squall-tx%u", i);
		if (worker_start(&en->tx[i].thread, name, en->tx[i].cpu, run_tx, &en->tx[i].w, &e)) {
			engine_fail(en, &e);
			return;
		}
	}
}

static bool receivers_done(const struct engine *en)
{
	for (unsigned i = 0; i < en->n_rx; i++)
		if (!atomic_load_explicit(&en->rx[i].w.done, memory_order_acquire))
			return false;
	return true;
}

static bool all_done(const struct engine *en)
{
	for (unsigned i = 0; i < en->n_tx; i++)
		if (en->tx[i].thread.running && !atomic_load_explicit(&en->tx[i].w.done, memory_order_acquire))
			return false;
	return en->n_tx || receivers_done(en);
}

/* For how long nothing has come. */
static uint64_t silence(struct engine *en, uint64_t now)
{
	struct rx_counts c;
	uint64_t packets = 0;

	for (unsigned i = 0; i < en->n_rx; i++) {
		rx_counts_read(&en->rx_port->rx[i]->stats.rx, &c);
		packets += c.packets;
	}
	if (packets != en->last_rx_packets) {
		en->last_rx_packets = packets;
		en->last_rx_ns = now;
	}
	return now - en->last_rx_ns;
}

static void interval(struct engine *en, struct report *report, uint64_t now)
{
	struct err e = {0};

	if (!en->cfg->interval_ns || now < en->reported_ns + en->cfg->interval_ns || now < en->start_ns)
		return;
	en->reported_ns += en->cfg->interval_ns;
	if (now >= en->reported_ns + en->cfg->interval_ns) /* this process was stopped for a while */
		en->reported_ns = now;
	engine_sample(en, now, &en->now);
	report_interval(report, &en->prev, &en->now);
	en->prev = en->now;
	if (report_failed(report, &e))
		engine_fail(en, &e);
}

static void tick(struct engine *en, struct report *report)
{
	uint64_t now = clock_mono_ns();
	struct report_wish wish = engine_follow(en, report, now);

	if (signals_stop)
		stop(en, END_SIGNAL);
	if (wish.stop)
		stop(en, END_USER);
	engine_change_rate(en, signals_rate_steps() + wish.rate_steps);
	engine_check_queues(en, !all_done(en));
	if (engine_is_deaf(en))
		stop(en, END_ERROR);
	engine_replay_check(en);
	for (unsigned i = 0; i < 2; i++)
		engine_link_check(en, &en->link[i], now);
	if (en->n_rx && en->cfg->idle_ns && silence(en, now) >= en->cfg->idle_ns)
		stop(en, END_IDLE);
	if (!en->n_tx && en->cfg->duration_ns && now >= en->start_ns + en->cfg->duration_ns)
		stop(en, END_DURATION);
	interval(en, report, now);
}

static bool counted(const struct engine *en)
{
	uint64_t packets = en->n_tx ? 0 : atomic_load(&en->rx_shared.taken);

	for (unsigned i = 0; i < en->n_tx; i++)
		packets += atomic_load(&en->tx_port->tx[i]->stats.tx.queued);
	return en->count && packets >= en->count;
}

/* The workers have ended by themselves. A queue that failed is no end as long as others went on to theirs. */
static enum end_reason why_ended(const struct engine *en)
{
	bool time_is_up = en->cfg->duration_ns && clock_mono_ns() >= en->start_ns + en->cfg->duration_ns;

	if (counted(en))
		return END_COUNT;
	return en->err.code != EXIT_DONE && !time_is_up ? END_ERROR : END_DURATION;
}

/*
 * What is still on its way when the senders have ended: until nothing has come for a while. A first signal does not cut
 * it short: what was sent would count as lost.
 */
static void await_rest(struct engine *en)
{
	uint64_t quiet = en->cfg->verb == VERB_PAIR ? en->cfg->linger_ns : RX_TAIL_NS;
	uint64_t now = clock_mono_ns();
	uint64_t from = now + en->tx_port->caps.delay_ns;
	uint64_t give_up = from + RX_TAILS_MAX * quiet;

	silence(en, now);
	if (en->last_rx_ns < from)
		en->last_rx_ns = from;
	while (now < give_up && !receivers_done(en) && (now < from || silence(en, now) < quiet)) {
		signals_sleep(now < from ? from - now : quiet < TICK_NS ? quiet : TICK_NS);
		now = clock_mono_ns();
	}
}

void engine_run(struct engine *en, struct report *report)
{
	cpu_seconds_read(&en->cpu_at_start);
	engine_replay_start(en);
	start(en);
	while (!en->stopped_ns && !all_done(en)) {
		signals_sleep(TICK_NS);
		tick(en, report);
	}
	engine_check_queues(en, false);
	engine_replay_check(en);
	if (!en->stopped_ns)
		stop(en, why_ended(en));
	engine_show_stopping(en, report);
	for (unsigned i = 0; i < en->n_tx; i++)
		worker_join(&en->tx[i].thread);
	if (en->n_tx && en->n_rx)
		await_rest(en);
	atomic_store(&en->stop_rx, true);
	for (unsigned i = 0; i < en->n_rx; i++)
		worker_join(&en->rx[i].thread);
	worker_join(&en->answering);
	engine_capture_stop(en);
	engine_check_queues(en, false);
	engine_tell_queues(en);
	engine_end(en, report);
}
