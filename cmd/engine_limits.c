/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_limits.h"

#include "lib/limits.h"

#define QUEUES_TOLD 4U

static struct limits_time time_of(const struct worker *w)
{
	return (struct limits_time){.ran_ns = worker_cpu_ns(w), .waited_ns = worker_waited_ns(w)};
}

static void tell_receivers(struct engine *en)
{
	unsigned told = 0, more = 0;
	char text[256];

	for (unsigned i = 0; i < en->n_rx; i++) {
		struct limits_rx q = {.queue = i,
				      .windows = en->rx[i].w.windows,
				      .full = en->rx[i].w.full_windows,
				      .time = time_of(&en->rx[i].thread)};
		struct rx_counts c;

		rx_counts_read(&en->rx_port->rx[i]->stats.rx, &c);
		q.packets = c.packets;
		q.dropped = c.dropped_ring + c.dropped_buffer;
		if (!limits_rx_tell(&q, text, sizeof(text)))
			continue;
		if (told++ < QUEUES_TOLD)
			report_warn(&en->warnings, "%s", text);
		else
			more++;
	}
	if (more)
		report_warn(&en->warnings, "and so it was with %u more receive queues", more);
}

void engine_limits_tell(struct engine *en, const struct report_end *end)
{
	const struct tx_counts *tx = &en->now.tx;
	struct limits_tx sender = {.due = end->unsent + tx->queued,
				   .unsent = end->unsent,
				   .calls = tx->batches,
				   .ring_full = tx->ring_full};
	struct host_drops pauses;
	char text[256];

	/* A link that was away was the limit, and has been told of. */
	const bool link_went = en->link[0].went || en->link[1].went;

	for (unsigned i = 0; i < en->n_tx; i++) {
		struct limits_time one = time_of(&en->tx[i].thread);

		sender.time.ran_ns += one.ran_ns;
		sender.time.waited_ns += one.waited_ns;
	}
	if (en->n_tx && !link_went && en->err.code == EXIT_DONE && limits_tx_tell(&sender, text, sizeof(text)))
		report_warn(&en->warnings, "%s", text);
	tell_receivers(en);
	if (end->device_drops && limits_counter_tell(LIMITS_NO_ROOM, end->device_drops, text, sizeof(text)))
		report_warn(&en->warnings, "%s", text);
	if (!engine_link_grew(en, ENGINE_PAUSES, &pauses))
		return;
	if (limits_counter_tell(LIMITS_PAUSE, &pauses, text, sizeof(text)))
		report_warn(&en->warnings, "%s", text);
	host_drops_free(&pauses);
}
