/* SPDX-License-Identifier: Apache-2.0 */
/* Any words as a command line, one a line: what is taken holds (fuzz_config.h), what is not is told in sentences. */
#include "fuzz_config.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* What reads a file of the machine is left out: fuzz_yaml does the reading. "-qc" is a -c, too. */
static bool names_a_file(const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		return strncmp(word + 2, "config", 6) == 0;
	return word[0] == '-' && strchr(word, 'c');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config cfg;
	static struct problems problems;
	static FILE *nowhere;
	char name[] = "squall";
	char *argv[WORDS_MAX + 1] = {name};
	char *text = malloc(size + 1);
	int argc = 1;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	must(text && nowhere, "no memory");
	memcpy(text, data, size);
	text[size] = '\0';
	for (char *word = text; word && argc < WORDS_MAX; argc++) {
		argv[argc] = strsep(&word, "\n");
		if (names_a_file(argv[argc]))
			goto out;
	}
	problems.n = 0;
	switch (option_parse(&cfg, argc, argv, &problems)) {
	case OPTION_HELP:
		option_help(cfg.verb, nowhere);
		break;
	case OPTION_VERSION:
		break;
	case OPTION_RUN:
		if (problems.n)
			must(problems.e[0].object[0] && problems.e[0].cause[0], "a problem without a sentence");
		else
			config_try(&cfg);
	}
out:
	free(text);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return fuzz_mutate(data, size, max, seed, "\n--", "\n");
}
