/* SPDX-License-Identifier: Apache-2.0 */
/* docgen: writes what the option table says as a page, a man page or a shell completion. Runs when squall is built. */
#include "lib/option.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(FILE *to);
	} forms[] = {{"markdown", option_markdown}, {"man", option_man}, {"completion", option_completion}};

	for (size_t i = 0; argc == 2 && i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(argv[1], forms[i].name) == 0) {
			forms[i].write(stdout);
			return fflush(stdout) || ferror(stdout);
		}
	}
	fprintf(stderr, "usage: squall-docgen markdown|man|completion\n");
	return 2;
}
