/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threshold: what a run must keep to be good (--max-loss and its like), judged by what it was. Pure.
 *
 * A value that is not known does not pass, nor one that tells of a part of the packets only: who asks for a limit wants
 * to know that it was kept.
 */
#ifndef SQUALL_THRESHOLD_H
#define SQUALL_THRESHOLD_H

#include "config.h"
#include "err.h"
#include "report.h"

#include <stdbool.h>

/* What is known of a run when its end record is filled. */
struct threshold_values {
	const struct report_measure *measure; /* NULL: nothing was measured */
	double rx_pps;                        /* from the first to the last counted packet; NAN: not defined */
	bool sent;                            /* the run has a schedule: */
	double requested_pps;                 /* negative: unlimited */
	double tx_pps;
	bool rate_missed; /* some of it was not sent when it was due */
};

/* Those of cfg, in the order of its options. Returns how many. */
unsigned threshold_judge(const struct config *cfg, const struct threshold_values *v,
			 struct report_threshold out[REPORT_THRESHOLDS_MAX]);

/*
 * Fills *e (EXIT_THRESHOLD) with a sentence for all that were not met, each with its value and its limit. Of
 * strict-rate the sender knows more: rate is what it has to say (EXIT_RATE), or EXIT_DONE. Where both were missed, *e
 * has both, and EXIT_RATE. False: all were met, and *e is as it was.
 */
bool threshold_tell(const struct report_threshold *t, unsigned n, const char *object, const struct err *rate,
		    struct err *e);

/* "1.02 %", "2.5 ms", "99.8 kpps", as the threshold's kind has it; "unknown". Returns buf. */
char *threshold_format(const struct report_threshold *t, double v, char *buf, size_t size);

#endif
