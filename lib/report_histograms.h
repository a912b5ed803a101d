/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_histograms: the histograms of a measurement as a table of comma-separated values. A header, then a row for
 * each bucket that holds something: what, stream, from, to, count. stream is empty for all packets together; what is
 * latency_ns, ipdv_ns, gap_ns or extent (packets); a bucket holds values from `from` up to, but without, `to`, which is
 * empty for the last.
 */
#ifndef SQUALL_REPORT_HISTOGRAMS_H
#define SQUALL_REPORT_HISTOGRAMS_H

#include "err.h"
#include "report_measure.h"

#include <stdio.h>

/*
 * Before the run, so that a long one is not for nothing: a file that can be written to, made if there is none. What it
 * holds stays until report_histograms_write(). EXIT_RUN. Main thread.
 */
int report_histograms_open(const char *path, FILE **out, struct err *e);

/* Writes the file anew, and closes it. EXIT_RUN when it cannot be written. Main thread. */
int report_histograms_write(FILE *f, const char *path, const struct report_measure *m, struct err *e);

#endif
