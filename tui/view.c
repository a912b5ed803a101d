/* SPDX-License-Identifier: Apache-2.0 */
#include "view.h"

#include "lib/clock.h"

#include <math.h>
#include <string.h>

void view_begin(struct view *v, const struct config *cfg, const struct report_plan *plan)
{
	memset(v, 0, sizeof(*v));
	v->cfg = cfg;
	v->plan = *plan;
	v->n_samples = 1;
	v->requested_pps = NAN;
	for (unsigned i = 0; i < plan->warnings.n; i++) {
		const char *text = plan->warnings.text[i];

		messages_add(&v->messages, "warning: ", strlen("warning: "));
		messages_add(&v->messages, text, strlen(text));
		messages_add(&v->messages, "\n", 1);
	}
}

const struct report_sample *view_now(const struct view *v)
{
	return &v->samples[(v->n_samples - 1) % VIEW_SAMPLES];
}

static double per_second(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * NS_PER_S / (double)ns : NAN;
}

static void queue_rates(struct view *v, const struct report_sample *then, const struct report_sample *now)
{
	uint64_t ns = now->elapsed_ns - then->elapsed_ns;

	for (unsigned i = 0; i < now->n_queues; i++) {
		const struct report_queue *a = &then->queues[i], *b = &now->queues[i];

		v->queue[i] = (struct view_queue){
			.tx_pps = per_second(b->tx_counts.completed - a->tx_counts.completed, ns),
			.rx_pps = per_second(b->rx_counts.packets - a->rx_counts.packets, ns),
			.busy = b->cpu_ns ? per_second(b->cpu_ns - a->cpu_ns, ns) / (double)NS_PER_S : NAN,
		};
	}
}

void view_sample(struct view *v, const struct report_live *live)
{
	const struct report_sample *then, *now;

	v->samples[v->n_samples++ % VIEW_SAMPLES] = *live->now;
	now = view_now(v);
	then = &v->samples[v->n_samples < VIEW_SAMPLES ? 0 : v->n_samples % VIEW_SAMPLES];
	report_span_interval(&v->last, then, now);
	queue_rates(v, then, now);
	v->tx_run = calc_over(now->tx.completed, now->tx.completed_bytes, now->elapsed_ns);
	v->rx_run = calc_over(now->rx.packets, now->rx.bytes, now->elapsed_ns);
	history_add(&v->tx, now->elapsed_ns, now->tx.completed);
	history_add(&v->rx, now->elapsed_ns, now->rx.packets);
	v->requested_pps = live->requested_pps;
	v->rate_changes = live->rate_changes;
	v->count = live->count;
	v->stopping = live->stopping;
}

const char *view_page_title(enum view_page page)
{
	static const char *const titles[] = {
#define VIEW_PAGE_TITLE(id, title) title,
		VIEW_PAGES(VIEW_PAGE_TITLE)
#undef VIEW_PAGE_TITLE
	};

	return titles[page];
}

const char *view_fact(const struct view *v, const char *key)
{
	for (unsigned i = 0; i < v->plan.n_facts; i++)
		if (strcmp(v->plan.facts[i].key, key) == 0)
			return v->plan.facts[i].value;
	return NULL;
}
