/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err: one failure, told so that a person can act on it.
 *
 * Functions that can fail return 0 or a negative errno and fill the struct err that the caller owns: what was being
 * done, on which object, why it failed, what to try. Nothing here allocates, prints or exits. A struct err is used
 * by one thread at a time.
 */
#ifndef SQUALL_ERR_H
#define SQUALL_ERR_H

#include <stddef.h>

/* Process exit codes; docs/exit-codes.md lists them for users. */
enum exit_code {
	EXIT_DONE = 0,       /* finished; also after a first Ctrl-C */
	EXIT_RUN = 1,        /* failed while running */
	EXIT_USAGE = 2,      /* usage or configuration */
	EXIT_REFUSED = 3,    /* a safety question was not answered */
	EXIT_THRESHOLD = 4,  /* a threshold was not met */
	EXIT_RATE = 5,       /* the requested rate was not reached (--strict-rate) */
	EXIT_CAPABILITY = 6, /* a capability, privilege, mode or backend is missing */
	EXIT_LINK = 7,       /* admin down or no carrier */
	EXIT_SECOND_SIGNAL = 130,
};

struct err {
	enum exit_code code; /* EXIT_DONE: no error */
	char what[96];       /* what was being done: "cannot open the transmit ring" */
	char object[96];     /* on which object: "afpacket:va queue 1" */
	char cause[768];     /* why: "Operation not permitted" */
	char hint[512];      /* what to try; may be empty */
};

/* Fills *e and returns rc, so that a failing function ends in `return err_set(...)`. e may be NULL. The hint is
 * emptied. */
int err_set(struct err *e, int rc, enum exit_code code, const char *what, const char *object, const char *cause_fmt,
	    ...) __attribute__((format(printf, 6, 7)));

/* Adds what to try to an error already set. */
void err_hint(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One line without newline or control characters: "what: object: cause; try: hint". Returns buf. */
char *err_format(const struct err *e, char *buf, size_t size);

/* Every problem of one configuration, told together. object is the option as the user would type it ("--pps"). */
#define PROBLEMS_MAX 32
struct problems {
	unsigned n; /* may exceed PROBLEMS_MAX; only the first ones are kept */
	struct err e[PROBLEMS_MAX];
};

/* Adds one problem (EXIT_USAGE). */
struct err *problem_add(struct problems *p, const char *object, const char *cause_fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * The same for something that was not given; passed over when a problem about it is known already, or when what was
 * given may not have been understood (an unknown verb, an unreadable file).
 */
void problem_missing(struct problems *p, const char *object, const char *cause);

/* One error for all of them: for the report and the exit code. */
void problems_merge(const struct problems *p, struct err *out);

#endif
