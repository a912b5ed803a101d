/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_respond.h"

void engine_set_responder(struct engine *en, struct responder *r)
{
	en->responder = r;
	for (unsigned i = 0; r && i < en->n_rx; i++) {
		bool taken = !en->rx_port->caps.rx_copies;

		/* Where the kernel sees it all, who sends nothing back need not look. */
		if (taken || en->rx[i].w.reflector)
			en->rx[i].w.responder = r;
		en->rx[i].w.answers = taken;
	}
}

static void run_responder(void *arg)
{
	struct engine *en = arg;

	responder_run(en->responder, &en->stop_rx);
}

int engine_respond_start(struct engine *en, struct err *e)
{
	if (!en->responder)
		return 0;
	return worker_start(&en->answering, "squall-answer", WORKER_CPU_ANY, run_responder, en, e);
}
