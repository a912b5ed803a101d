/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_replay.h"

#include "lib/clock.h"
#include "lib/units.h"
#include "signals.h"

#include <inttypes.h>

/* A file that is this slow is waited for no longer: the senders wait then, and say so. */
#define AHEAD_WAIT_NS (5 * NS_PER_S)
#define AHEAD_LOOK_NS NS_PER_MS

int engine_replay_init(struct engine *en, struct err *e)
{
	if (!en->replay || !en->replay->capture.streamed)
		return 0;
	return replay_stream_init(&en->stream, en->replay, en->n_tx, e);
}

struct replay_ring *engine_replay_ring(struct engine *en, unsigned q)
{
	return en->stream.n ? &en->stream.rings[q] : NULL;
}

void engine_replay_start(struct engine *en)
{
	struct err e = {0};
	uint64_t begin = clock_mono_ns();

	if (!en->stream.n)
		return;
	if (replay_stream_start(&en->stream, &e)) {
		engine_fail(en, &e);
		return;
	}
	while (!replay_stream_is_ready(&en->stream) && !signals_stop && clock_mono_ns() - begin < AHEAD_WAIT_NS)
		signals_sleep(AHEAD_LOOK_NS);
}

void engine_replay_check(struct engine *en)
{
	struct err e = {0};

	if (en->stream.n && replay_stream_has_failed(&en->stream, &e))
		engine_fail(en, &e);
}

void engine_replay_counts(const struct engine *en, struct pcap_counts *out)
{
	*out = en->replay->capture.counts;
	out->passes = en->now.tx.completed / en->replay->capture.n;
	for (unsigned i = 0; i < en->n_tx; i++)
		out->reader_late += en->tx[i].w.sources[0].replay.late;
}

uint64_t engine_replay_shifted_ns(const struct engine *en)
{
	uint64_t most = 0;

	for (unsigned i = 0; en->replay && i < en->n_tx; i++) {
		uint64_t of_queue = en->tx[i].w.sources[0].replay.shift_ns;

		most = of_queue > most ? of_queue : most;
	}
	return most;
}

void engine_replay_remark(struct engine *en)
{
	uint64_t shifted = engine_replay_shifted_ns(en), late = 0, late_ns = 0;
	char text[32];

	for (unsigned i = 0; en->replay && i < en->n_tx; i++) {
		const struct replay_cursor *c = &en->tx[i].w.sources[0].replay;

		late += c->late;
		late_ns += c->late_ns;
	}
	if (late)
		report_warn(&en->warnings,
			    "the capture's file was read too slowly: %" PRIu64
			    " times a packet was due and not yet read, and waited for, %s in all",
			    late, units_format_time(late_ns, text, sizeof(text)));
	if (shifted)
		report_warn(&en->warnings,
			    "the sender fell behind the capture's times: it ended %s later than they say",
			    units_format_time(shifted, text, sizeof(text)));
}
