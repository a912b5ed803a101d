/* SPDX-License-Identifier: Apache-2.0 */
/* measures: stamped packets by hand, and what a measurement makes of them, for tests. */
#ifndef SQUALL_TESTS_MEASURES_H
#define SQUALL_TESTS_MEASURES_H

#include "lib/core/stamp.h"
#include "packets.h"
#include "rx/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MEASURE_TEST_RUN 4711

struct stamped {
	unsigned char data[PACKET_MAX];
	struct pio_frame frame;
};

/* A packet as d says, with a stamp behind it and `pad` bytes of padding. */
static inline void stamped_make(struct stamped *s, const struct packet *d, const struct stamp *stamp, uint32_t pad)
{
	uint32_t len = packet_build(d, s->data);

	stamp_write(s->data + len - STAMP_LEN, stamp);
	s->frame = (struct pio_frame){.data = s->data, .len = len + pad};
}

/* The usual packet of a flow, sent at sent_ns. */
static inline void stamped_usual(struct stamped *s, uint32_t flow, uint32_t sequence, uint64_t sent_ns)
{
	const struct stamp stamp = {.run = MEASURE_TEST_RUN, .flow = flow, .sequence = sequence, .time_ns = sent_ns};

	stamped_make(s, &(struct packet){.family = 4, .dport = 9000, .payload = 18}, &stamp, 0);
}

static inline struct measure *measure_ok(const struct measure_conf *conf)
{
	struct measure *m;
	struct err e;

	if (measure_open(&m, conf, &e))
		fail_msg("%s", e.cause);
	return m;
}

/* One packet of a flow that comes at came_ns. */
static inline void came(struct measure *m, unsigned thread, uint32_t flow, uint32_t sequence, uint64_t sent_ns,
			uint64_t came_ns)
{
	struct stamped s;

	stamped_usual(&s, flow, sequence, sent_ns);
	measure_frames(measure_worker(m, thread), &s.frame, 1, &came_ns, 0);
}

static inline struct report_measure result_of(struct measure *m, const struct measure_sent *sent, uint64_t n_flows)
{
	struct report_measure r;
	struct err e;

	if (measure_result(m, sent, n_flows, &r, &e))
		fail_msg("%s", e.cause);
	assert_string_equal(r.books, "");
	return r;
}

#endif
