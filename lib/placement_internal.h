/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_internal: what the placement*.c files share. Nobody else includes it.
 */
#ifndef SQUALL_PLACEMENT_INTERNAL_H
#define SQUALL_PLACEMENT_INTERNAL_H

/* The first processor of a list as the kernel writes it ("3", "0-7,16-23"); -1 when the file does not hold one. */
int placement_first_cpu(const char *path);

#endif
