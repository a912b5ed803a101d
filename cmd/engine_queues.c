/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_queues.h"

#include <stdio.h>

/* How many of n queues are dead. The first one's error goes to *first unless that holds one. */
static unsigned dead(struct pio_queue *const *queues, unsigned n, struct err *first)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += pio_queue_error(queues[i], first->code == EXIT_DONE ? first : NULL) != 0;
	return sum;
}

/* "1 of 4 transmit queues", "2 of 2 transmit queues and 1 of 2 receive queues" */
static void count_text(const struct engine *en, char *buf, size_t size)
{
	int n = 0;

	if (en->dead_tx)
		n = snprintf(buf, size, "%u of %u transmit queues%s", en->dead_tx, en->tx_port->n_tx,
			     en->dead_rx ? " and " : "");
	if (en->dead_rx)
		snprintf(buf + n, size - (size_t)n, "%u of %u receive queues", en->dead_rx, en->n_rx);
}

bool engine_is_deaf(const struct engine *en)
{
	return en->cfg->verb == VERB_PAIR && en->dead_rx == en->n_rx;
}

void engine_check_queues(struct engine *en, bool others_go_on)
{
	unsigned before = en->dead_tx + en->dead_rx;
	struct err first = {.code = EXIT_DONE};
	char count[80];
	char text[256];

	en->dead_tx = en->tx_port ? dead(en->tx_port->tx, en->tx_port->n_tx, &first) : 0;
	en->dead_rx = en->n_rx ? dead(en->rx_port->rx, en->n_rx, &first) : 0;
	if (en->dead_tx + en->dead_rx == before)
		return;
	if (en->err.code == EXIT_DONE) {
		en->err = first;
		en->err_is_queues = true;
	}
	if (!others_go_on || engine_is_deaf(en))
		return;
	count_text(en, count, sizeof(count));
	engine_warn(en, "%s failed, the others go on: %s", count, err_format(&first, text, sizeof(text)));
}

void engine_tell_queues(struct engine *en)
{
	const struct err first = en->err;
	unsigned all = (en->dead_tx ? en->tx_port->n_tx : 0) + (en->dead_rx ? en->n_rx : 0);
	char count[72];
	char what[sizeof(first.what)];

	if (!en->err_is_queues || all == 1)
		return;
	count_text(en, count, sizeof(count));
	snprintf(what, sizeof(what), "%s failed; the first", count);
	err_set(&en->err, 0, first.code, what, first.object, "%s: %s", first.what, first.cause);
	if (first.hint[0])
		err_hint(&en->err, "%s", first.hint);
}
