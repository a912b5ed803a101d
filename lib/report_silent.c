/* SPDX-License-Identifier: Apache-2.0 */
#include "report_form.h"

static void silent_begin(struct report *r, const struct report_plan *plan, uint64_t wall_ns)
{
	(void)r;
	(void)plan;
	(void)wall_ns;
}

static void silent_interval(struct report *r, const struct report_sample *prev, const struct report_sample *now)
{
	(void)r;
	(void)prev;
	(void)now;
}

static void silent_end(struct report *r, const struct report_end *end, const struct err *e, const struct problems *all)
{
	(void)r;
	(void)end;
	(void)e;
	(void)all;
}

static void silent_document(struct report *r, const struct report_document *d, const struct err *e,
			    const struct problems *all)
{
	(void)r;
	(void)d;
	(void)e;
	(void)all;
}

const struct report_ops report_silent_ops = {
	.begin = silent_begin,
	.interval = silent_interval,
	.end = silent_end,
	.document = silent_document,
};
