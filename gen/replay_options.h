/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_options: the texts among the options of a replay. Cold; pure.
 */
#ifndef SQUALL_GEN_REPLAY_OPTIONS_H
#define SQUALL_GEN_REPLAY_OPTIONS_H

#include "capture.h"

/* Reads --pcap-speed and the rewrites, --src-mac and --dst-mac among them, into rules. Problems go to p, if given. */
void replay_options_read(const struct config *cfg, struct capture_rules *rules, struct problems *p);

#endif
