/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_check: what can be judged of a list of streams before any interface is looked at. Main thread.
 */
#ifndef SQUALL_GEN_STREAM_CHECK_H
#define SQUALL_GEN_STREAM_CHECK_H

#include "lib/config.h"
#include "lib/err.h"

/*
 * Takes from a stream of its own rate what the run's options say of rates, and gives the others the run's; then checks
 * each as gen_check() does, and what they say about each other. Adds to *p, naming the stream and its place in the
 * file.
 */
void stream_check(struct config *cfg, struct problems *p);

/* "stream web", for an error about it: in front of its object. */
void stream_name_err(const struct config *stream, struct err *e);

#endif
