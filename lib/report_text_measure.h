/* SPDX-License-Identifier: Apache-2.0 */
/* report_text_measure: what a measurement told, for people. */
#ifndef SQUALL_REPORT_TEXT_MEASURE_H
#define SQUALL_REPORT_TEXT_MEASURE_H

#include "report_form.h"

/* Nothing when m is NULL. */
void report_text_measure(struct report *r, const struct report_measure *m);

#endif
