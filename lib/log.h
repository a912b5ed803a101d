/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log: the one sink for what libraries want to say while they work.
 *
 * Libraries return errors and never print; what is worth saying besides goes here. cmd/ installs the sink (stderr);
 * without one, lines are dropped. The sink may be called from any thread and must not block for long.
 */
#ifndef SQUALL_LOG_H
#define SQUALL_LOG_H

enum log_level {
	LOG_LEVEL_WARN, /* the user should know */
	LOG_LEVEL_NOTE, /* what was chosen and why */
	LOG_LEVEL_DEBUG,
};

typedef void log_sink(enum log_level level, const char *line);

/* Called before any other thread exists. */
void log_set_sink(log_sink *sink);

void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_note(...)  log_line(LOG_LEVEL_NOTE, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
