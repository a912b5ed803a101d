/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from a template: parts that flows change, lengths and checksums of each size. */
#include "frame.h"

#include "lib/core/csum.h"
#include "lib/core/stamp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t from, to;
};

static struct range bytes_of(const struct frame_vary *v)
{
	return (struct range){.from = v->end - (v->walk.shift + v->walk.bits + 7U) / 8, .to = v->end};
}

static bool overlap(struct range r, uint32_t field)
{
	return r.from < field + 2 && field < r.to;
}

/* Lengths and checksums are this file's to write. */
static bool on_computed_field(const struct frame *f, struct range r)
{
	for (unsigned i = 0; i < f->n_lengths; i++)
		if (overlap(r, f->lengths[i].at))
			return true;
	for (unsigned i = f->has_l4_sum ? 0 : 1; i < f->n_sums; i++)
		if (overlap(r, f->plan->sums[i].at))
			return true;
	return false;
}

/* Why no plan can be made of this, or NULL. */
static const char *wrong_with(const struct frame *f, const uint32_t *sizes, unsigned n)
{
	const uint32_t stamp = f->plan->stamped ? STAMP_LEN : 0;
	uint32_t least = TX_TEMPLATE_MAX;

	if (f->wrong)
		return f->wrong;
	if (f->outer && !f->has_l4_sum)
		return "a checksum around a packet needs one in it";
	if (!n || n > TX_SIZES_MAX)
		return "so many sizes are more than a plan holds";
	for (unsigned i = 0; i < n; i++) {
		if (sizes[i] < f->at + stamp || sizes[i] > TX_TEMPLATE_MAX)
			return "a size is too small for the headers, or more than the largest frame";
		least = sizes[i] < least ? sizes[i] : least;
	}
	for (unsigned i = 0; i < f->n_varies; i++) {
		if (f->varies[i].end > least - stamp)
			return stamp ? "a field that varies lies in the stamp of the smallest frame, or behind it"
				     : "a field that varies lies behind the end of the smallest frame";
		if (on_computed_field(f, bytes_of(&f->varies[i])))
			return "a field that varies lies on a length or a checksum, which follow from the rest";
	}
	return NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a;
	const struct range *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The bytes that walks write, as parts in the frame's order. */
static void make_parts(const struct frame *f)
{
	struct tx_plan *plan = f->plan;
	struct range r[TX_WALKS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < f->n_varies; i++)
		r[i] = bytes_of(&f->varies[i]);
	qsort(r, f->n_varies, sizeof(r[0]), by_start);
	for (unsigned i = 0; i < f->n_varies; i++) {
		if (n && r[i].from <= r[n - 1].to)
			r[n - 1].to = r[i].to > r[n - 1].to ? r[i].to : r[n - 1].to;
		else
			r[n++] = r[i];
	}
	for (unsigned i = 0; i < n; i++) {
		for (uint32_t at = r[i].from; at < r[i].to; at += TX_PART_MAX) {
			uint32_t left = r[i].to - at;

			plan->parts[plan->n_parts++] = (struct tx_part){
				.at = (uint16_t)at, .len = (uint16_t)(left < TX_PART_MAX ? left : TX_PART_MAX)};
		}
	}
}

/* Where a byte of the frame is in an entry; it is in a part. */
static uint32_t in_entry(const struct tx_plan *plan, uint32_t at)
{
	uint32_t start = 0;

	for (unsigned i = 0; i < plan->n_parts; i++) {
		const struct tx_part *p = &plan->parts[i];

		if (at >= p->at && at < p->at + (uint32_t)p->len)
			return start + at - p->at;
		start += p->len;
	}
	return start;
}

/* False: an entry would be too long. */
static bool make_walks(const struct frame *f)
{
	struct tx_plan *plan = f->plan;

	plan->n_walks = f->n_varies;
	for (unsigned i = 0; i < f->n_varies; i++) {
		plan->walks[i] = f->varies[i].walk;
		plan->walks[i].end = (uint8_t)(in_entry(plan, f->varies[i].end - 1U) + 1);
	}
	for (unsigned i = 0; i < plan->n_parts; i++)
		plan->entry_sums += plan->parts[i].len;
	plan->entry_sums = (plan->entry_sums + 1) / 2 * 2;
	plan->entry = (plan->entry_sums + 2 * plan->n_sums + 3) / 4 * 4;
	return plan->entry <= TX_ENTRY_MAX;
}

/* The bytes of parts that lie in a piece of what a checksum is over. */
static bool cover(struct tx_plan *plan, unsigned sum, uint32_t from, uint32_t to, bool less)
{
	uint32_t start = 0;

	for (unsigned i = 0; i < plan->n_parts; start += plan->parts[i].len, i++) {
		const struct tx_part *p = &plan->parts[i];
		uint32_t a = p->at > from ? p->at : from;
		uint32_t b = p->at + (uint32_t)p->len < to ? p->at + (uint32_t)p->len : to;

		if (a >= b)
			continue;
		if (plan->n_covers == TX_COVERS_MAX)
			return false;
		plan->covers[plan->n_covers++] = (struct tx_cover){
			.sum = (uint8_t)sum,
			.at = (uint8_t)(start + a - p->at),
			.len = (uint8_t)(b - a),
			.odd = (uint8_t)((a - from) & 1),
			.less = less,
		};
	}
	return true;
}

static bool make_covers(const struct frame *f)
{
	struct tx_plan *plan = f->plan;
	bool fits = true;

	for (unsigned i = 0; i < f->n_sums && fits; i++) {
		const struct frame_sum *s = &f->sums[i];

		fits = cover(plan, i, s->from, s->to ? s->to : TX_TEMPLATE_MAX, false) &&
		       cover(plan, i, s->addresses, s->addresses + (uint32_t)s->addresses_len, false) &&
		       cover(plan, i, s->less_addresses, s->less_addresses + (uint32_t)s->less_addresses_len, true);
	}
	return fits;
}

/* What a checksum is over in a frame of `len` bytes: with the parts 0, lengths in place. */
static uint16_t sum_of(const struct frame_sum *s, const unsigned char *frame, uint32_t len)
{
	uint32_t to = s->to ? s->to : len;
	uint64_t sum = csum_bytes(frame + s->from, to - s->from, TX_TEMPLATE_MAX);

	if (s->addresses_len) {
		sum += csum_bytes(frame + s->addresses, s->addresses_len, TX_TEMPLATE_MAX);
		sum += (uint64_t)core_be16((s->outer ? len : to) - s->from) + core_be16(s->protocol);
	}
	if (s->less_from) {
		uint64_t less = csum_bytes(frame + s->less_addresses, s->less_addresses_len, TX_TEMPLATE_MAX);

		less += (uint64_t)core_be16(len - s->less_from) + core_be16(s->less_protocol);
		sum += (uint16_t)~csum_fold(less);
	}
	return csum_fold(sum);
}

static void make_size(const struct frame *f, struct tx_size *size, uint32_t len)
{
	unsigned char frame[TX_TEMPLATE_MAX];

	size->len = len;
	memcpy(frame, f->plan->frame, sizeof(frame));
	for (unsigned i = 0; i < f->plan->n_parts; i++)
		memset(frame + f->plan->parts[i].at, 0, f->plan->parts[i].len);
	if (f->plan->stamped)
		memset(frame + len - STAMP_LEN, 0, STAMP_LEN);
	for (unsigned i = 0; i < f->n_lengths; i++) {
		size->length[i] = core_be16(len - f->lengths[i].from);
		core_put16(frame + f->lengths[i].at, size->length[i]);
	}
	for (unsigned i = 0; i < f->n_sums; i++)
		size->sum[i] = sum_of(&f->sums[i], frame, len);
}

/* One size: everything of it is in the template and in what is fixed. */
static void settle(struct tx_plan *plan, bool payload_changes)
{
	struct tx_size *size = &plan->sizes[0];

	for (unsigned i = 0; i < plan->n_lengths; i++)
		core_put16(plan->frame + plan->lengths[i], size->length[i]);
	for (unsigned i = 0; i < plan->n_sums; i++) {
		plan->sums[i].fixed += size->sum[i];
		size->sum[i] = 0;
	}
	plan->sums[0].follows = payload_changes ? TX_FOLLOWS_PAYLOAD : 0;
}

/* Without a transport checksum the first place is empty: the others move up. */
static void drop_l4_sum(struct frame *f)
{
	struct tx_plan *plan = f->plan;

	f->n_sums--;
	memmove(f->sums, f->sums + 1, f->n_sums * sizeof(f->sums[0]));
	memmove(plan->sums, plan->sums + 1, f->n_sums * sizeof(plan->sums[0]));
	memset(&plan->sums[f->n_sums], 0, sizeof(plan->sums[0]));
}

int frame_finish(struct frame *f, const uint32_t *sizes, unsigned n, bool payload_changes, struct err *e)
{
	struct tx_plan *plan = f->plan;
	const char *wrong = wrong_with(f, sizes, n);
	const bool l4_follows = payload_changes && f->has_l4_sum;

	if (!f->has_l4_sum)
		drop_l4_sum(f);
	plan->n_sums = f->n_sums;
	plan->n_lengths = f->n_lengths;
	plan->n_sizes = n;
	if (!wrong)
		make_parts(f);
	if (!wrong && (!make_walks(f) || !make_covers(f)))
		wrong = "so many bytes that vary are more than a plan holds";
	if (wrong)
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot build the frames", NULL, "%s", wrong);
	for (unsigned i = 0; i < n; i++) {
		make_size(f, &plan->sizes[i], sizes[i]);
		plan->max_len = sizes[i] > plan->max_len ? sizes[i] : plan->max_len;
		plan->min_len = !i || sizes[i] < plan->min_len ? sizes[i] : plan->min_len;
	}
	for (unsigned i = 0; i < f->n_lengths; i++)
		plan->lengths[i] = f->lengths[i].at;
	if (!plan->n_cycle)
		plan->n_cycle = 1; /* of cycle[0], the first size */
	if (n == 1) {
		settle(plan, l4_follows);
		return 0;
	}
	for (unsigned i = 0; i < plan->n_sums; i++)
		plan->sums[i].follows = TX_FOLLOWS_SIZE;
	if (l4_follows)
		plan->sums[0].follows |= TX_FOLLOWS_PAYLOAD;
	return 0;
}
