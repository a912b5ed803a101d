/* SPDX-License-Identifier: Apache-2.0 */
#include "engine_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

int engine_capture_init(struct engine *en, struct err *e)
{
	const struct capture_file_conf conf = {.path = en->cfg->capture,
					       .threads = en->n_rx,
					       .limit = en->cfg->capture_limit,
					       .snaplen = en->cfg->snaplen};
	int rc;

	if (!conf.path[0])
		return 0;
	rc = capture_file_open(&en->capture, &conf, e);
	for (unsigned i = 0; !rc && i < en->n_rx; i++)
		en->rx[i].w.capture = capture_file_ring(en->capture, i);
	return rc;
}

void engine_capture_free(struct engine *en)
{
	capture_file_close(en->capture);
	en->capture = NULL;
}

static void run_capture(void *arg)
{
	struct engine *en = arg;

	capture_file_run(en->capture, &en->stop_capture);
}

int engine_capture_start(struct engine *en, struct err *e)
{
	if (!en->capture)
		return 0;
	return worker_start(&en->capturing, "squall-capture", WORKER_CPU_ANY, run_capture, en, e);
}

void engine_capture_stop(struct engine *en)
{
	atomic_store(&en->stop_capture, true);
	worker_join(&en->capturing);
}

/* The reader of a pipe may have had enough. Else what was asked for is not there. */
static void tell_error(struct engine *en, const struct report_capture *c, int error)
{
	if (error == EPIPE || error == ETIMEDOUT) {
		engine_warn(en, "the reader of %s %s: it got %" PRIu64 " packets of the capture", c->file,
			    error == EPIPE ? "has gone" : "takes no more", c->packets);
		return;
	}
	engine_warn(en, "the capture ends after %" PRIu64 " packets: %s: %s", c->packets, c->file, strerror(error));
	if (en->err.code != EXIT_DONE)
		return;
	err_set(&en->err, -error, EXIT_RUN, "cannot write the capture", c->file, "%s, after %" PRIu64 " packets",
		strerror(error), c->packets);
	err_hint(&en->err, "%s",
		 error == ENOSPC || error == EDQUOT ? "free some space, or --capture-limit, or --snaplen"
						    : "--capture with a file elsewhere");
}

void engine_capture_end(struct engine *en, struct report_end *end)
{
	int error;

	if (!en->capture)
		return;
	error = capture_file_result(en->capture, &en->captured);
	end->capture = &en->captured;
	if (error)
		tell_error(en, &en->captured, error);
	else if (en->captured.dropped)
		engine_warn(en,
			    "%" PRIu64 " of the packets received are not in the capture: %s was written more slowly "
			    "than they came",
			    en->captured.dropped, en->captured.file);
}
