/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_measure: the measurement of a run: set up from the options and what is sent, told in the end.
 */
#ifndef SQUALL_CMD_ENGINE_MEASURE_H
#define SQUALL_CMD_ENGINE_MEASURE_H

#include "lib/err.h"
#include "lib/report.h"

struct engine;

/* Whether packets are measured: with --measure, and in a pair that stamps. */
bool engine_measures(const struct config *cfg);

/*
 * For the engine's receivers, when its ports and its plan are known. -ENOMEM, and the errors of
 * report_histograms_open(). engine_measure_free() releases it on every path.
 */
int engine_measure_init(struct engine *en, struct err *e);
void engine_measure_free(struct engine *en);

/* Between init and run: what the idle path needs, and whether that is taken off. It must outlive the run. */
void engine_set_floor(struct engine *en, const struct report_floor *floor);

/* What the plan tells of it. */
void engine_measure_facts(const struct engine *en, struct report_plan *facts);

/* What was counted so far, all zero where nothing is measured; and of a pair, whose out->tx is filled, what is missing.
 */
void engine_measure_sample(const struct engine *en, struct report_sample *out);

/* Fills end->measure when all threads are done; it is good until engine_measure_free(). */
void engine_measure_end(struct engine *en, struct report_end *end);

#endif
