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

/* Writes the file anew. EXIT_RUN when it cannot be written. Main thread. */
int report_histograms_write(const char *path, const struct report_measure *m, struct err *e);

#endif
