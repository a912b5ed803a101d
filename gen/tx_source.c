/* SPDX-License-Identifier: Apache-2.0 */
#include "tx_source.h"

#include "gcd.h"
#include "lib/core/patch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How many flows are made between two looks at the stop. */
#define STOP_FLOWS 4096U

/* A step that visits all n once, near n / golden ratio so that neighbours lie far apart. */
static uint64_t scatter_step(uint64_t n)
{
	uint64_t step = (uint64_t)((double)n * 0.6180339887) | 1;

	while (gcd(step, n) != 1)
		step += 2;
	return step;
}

/* Packet k belongs to flow k mod flows: each flow gets count / flows packets, the first count % flows one more. */
static uint64_t quota_of(uint64_t count, uint64_t flows, unsigned q, unsigned n, uint64_t own)
{
	uint64_t rest = count % flows;
	uint64_t with_one_more = rest > q ? (rest - q + n - 1) / n : 0;

	return count / flows * own + with_one_more;
}

static void put_mix_size(const struct tx_plan *plan, const struct tx_size *size, struct tx_mix_size *m)
{
	*m = (struct tx_mix_size){
		.len = (uint16_t)size->len,
		.length = {size->length[0], size->length[1]},
		.sum = {size->sum[0], size->sum[1]},
	};
	if (!plan->stamped)
		return;
	m->stamp = (uint16_t)(size->len - STAMP_LEN);
	m->turn = (m->stamp - plan->l4) & 1 ? 8 : 0;
	for (uint32_t i = 0; i < plan->n_sizes && plan->n_sizes <= TX_FEW_SIZES; i++)
		if (plan->sizes[i].len < size->len)
			m->smaller[m->n_smaller++] = (uint16_t)(plan->sizes[i].len - STAMP_LEN);
}

static int make_sizes(struct tx_source *s, struct err *e)
{
	const struct tx_plan *plan = s->plan;
	const uint32_t n = plan->n_cycle + TX_BURST_MAX;

	s->sizes = aligned_alloc(sizeof(*s->sizes), plan->n_sizes * sizeof(*s->sizes));
	s->cycle = malloc(n * sizeof(*s->cycle));
	if (!s->sizes || !s->cycle)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot make the cycle of sizes", NULL, "no memory for %u sizes",
			       plan->n_sizes);
	for (uint32_t i = 0; i < plan->n_sizes; i++)
		put_mix_size(plan, &plan->sizes[i], &s->sizes[i]);
	for (uint32_t i = 0; i < n; i++)
		s->cycle[i] = plan->cycle[i % plan->n_cycle];
	return 0;
}

int tx_source_init(struct tx_source *s, const struct tx_plan *plan, unsigned q, unsigned n, uint64_t count,
		   bool random_order, const volatile int *stop, struct err *e)
{
	uint64_t own = plan->flows > q ? (plan->flows - q + n - 1) / n : 0;
	uint64_t step = random_order && own > 2 ? scatter_step(own) : 1;
	uint32_t together = (uint32_t)gcd(own, plan->n_cycle ? plan->n_cycle : 1);

	*s = (struct tx_source){
		.plan = plan,
		.n_flows = own,
		.cycle_rounds = plan->n_cycle / together,
		.cycle_shifts = together,
		.quota = count != TX_QUOTA_NONE ? quota_of(count, plan->flows, q, n, own) : TX_QUOTA_NONE,
		.step = step,
		.q = q,
		.n = n,
		.number = plan->first_flow + q,
		.number_step = (uint32_t)(step * n),
		.number_span = (uint32_t)(own * n),
		.at.number = plan->first_flow + q,
		.entries = aligned_alloc(128, own * plan->entry / 128 * 128 + 128),
	};
	if (!s->entries) {
		err_set(e, -ENOMEM, EXIT_RUN, "cannot make the flow table", "--flows",
			"no memory for %" PRIu64 " flows", own);
		err_hint(e, "fewer of them: each takes %u bytes", plan->entry);
		return -ENOMEM;
	}
	for (uint64_t i = 0, at = 0; i < own; i++, at = (at + step) % own) {
		if (i % STOP_FLOWS == 0 && stop && *stop)
			return err_set(e, -EINTR, EXIT_DONE, "stopped", "--flows", "while the flow table was made");
		tx_entry_at(plan, q + at * n, s->entries + i * plan->entry);
	}
	if (make_sizes(s, e)) {
		tx_source_free(s);
		return -ENOMEM;
	}
	return 0;
}

void tx_source_init_replay(struct tx_source *s, const struct tx_plan *plan, const struct replay *replay,
			   struct replay_ring *ring, unsigned q, unsigned n)
{
	const uint64_t total = replay->total;

	*s = (struct tx_source){
		.plan = plan,
		.quota = !total      ? TX_QUOTA_NONE
			 : total > q ? (total - q + n - 1) / n
				     : 0,
	};
	replay_cursor_init(&s->replay, replay, ring, q, n);
}

/* The place of flow n in the table: k with k * step = n / s->n, modulo the flows. */
static uint64_t place_of(const struct tx_source *s, uint64_t n)
{
	uint64_t r = s->n_flows, new_r = s->step;
	int64_t t = 0, new_t = 1;

	if (s->step == 1)
		return n / s->n;
	/* The inverse of the step, by Euclid's algorithm. */
	while (new_r) {
		uint64_t quotient = r / new_r;
		int64_t next_t = t - (int64_t)quotient * new_t;
		uint64_t next_r = r - quotient * new_r;

		t = new_t;
		new_t = next_t;
		r = new_r;
		new_r = next_r;
	}
	/* No overflow: both are below GEN_FLOWS_MAX. */
	return n / s->n * (uint64_t)(t < 0 ? t + (int64_t)s->n_flows : t) % s->n_flows;
}

uint64_t tx_source_sent(const struct tx_source *s, uint64_t packets, uint64_t n)
{
	if (!s->n_flows || n % s->n != s->q || n / s->n >= s->n_flows)
		return 0;
	return packets / s->n_flows + (place_of(s, n) < packets % s->n_flows);
}

void tx_source_free(struct tx_source *s)
{
	free(s->cycle);
	free(s->sizes);
	free(s->entries);
	s->cycle = NULL;
	s->sizes = NULL;
	s->entries = NULL;
}

void tx_source_prime(const struct tx_source *s, struct pio_frame *f)
{
	memcpy(f->data, s->plan->frame, s->plan->max_len);
	if (s->n_flows)
		tx_put(s->plan, s->entries, &s->plan->sizes[0], f->data, 0);
}
