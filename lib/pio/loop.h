/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQUALL_PIO_LOOP_H
#define SQUALL_PIO_LOOP_H

#include "pio.h"

extern const struct pio_backend pio_loop;

#endif
