/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static log_sink *the_sink;

void log_set_sink(log_sink *sink)
{
	the_sink = sink;
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!the_sink)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	the_sink(level, line);
}
