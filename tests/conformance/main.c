/* SPDX-License-Identifier: Apache-2.0 */
/* conformance SUBJECT: does the backend keep every promise of pio.h, pool.h and filter.h? */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_SKIPPED 77

static const struct subject subjects[] = {
#define SUBJECT(name, kind, spread, format) {#name, kind, spread, format},
#include "subjects.h"
#undef SUBJECT
};

/* True when the comma list `list` names the subject's backend. */
static bool is_required(const struct subject *s, const char *list)
{
	size_t len = strcspn(s->format, ":");

	while (list && *list) {
		size_t n = strcspn(list, ",");

		if (n == len && memcmp(list, s->format, len) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static int cannot(const struct subject *s, const struct err *e)
{
	bool required = is_required(s, getenv("SQUALL_REQUIRE"));

	fprintf(stderr, "%s %s: %s: %s\n", required ? "required, but cannot open" : "skipped", s->name, e->what,
		e->cause);
	return required ? EXIT_FAILURE : EXIT_SKIPPED;
}

static int try_open(struct err *e)
{
	const struct rig_spec spec = {.n_tx = 1, .n_rx = 1};
	int rc = 0;

	for (unsigned end = 0; end < 2 && !rc; end++) {
		char name[64];
		struct pio_conf conf = rig_conf(&spec, 0, end, name);
		struct pio_port *port;

		rc = pio_open(&conf, &port, e);
		if (!rc)
			pio_close(port);
	}
	return rc;
}

int main(int argc, char **argv)
{
	const struct subject *s = NULL;
	struct err e;
	int failed;

	for (size_t i = 0; argc == 2 && i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (strcmp(subjects[i].name, argv[1]) == 0)
			s = &subjects[i];
	if (!s) {
		fprintf(stderr, "usage: conformance SUBJECT (subjects.h lists them)\n");
		return EXIT_USAGE;
	}
	if (rig_init(s, &e) || try_open(&e))
		return cannot(s, &e);
	failed = conform_frames() + conform_traffic() + conform_large() + conform_chains() + conform_capabilities() +
		 conform_keeping() + conform_forward() + conform_within() + conform_waiting() + conform_ending() +
		 conform_books() + conform_opening() + conform_filters() + conform_checked();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
