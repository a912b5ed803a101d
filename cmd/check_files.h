/* SPDX-License-Identifier: Apache-2.0 */
/* check_files: a file that a run writes is none that it reads, and none that it writes otherwise. */
#ifndef SQUALL_CMD_CHECK_FILES_H
#define SQUALL_CMD_CHECK_FILES_H

#include "lib/config.h"
#include "lib/err.h"

/* Looks at the files themselves, whatever name they are given. Opens none. */
void check_files(const struct config *cfg, struct problems *p);

#endif
