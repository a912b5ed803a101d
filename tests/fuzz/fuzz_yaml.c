/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a configuration file, of the verb that the first byte says: what is taken holds (fuzz_config.h). */
#include "fuzz_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config cfg;
	static struct problems problems;
	struct option_source src = {.cfg = &cfg, .p = &problems, .file = "fuzz"};

	if (size < 2)
		return 0;
	memset(&cfg, 0, sizeof(cfg));
	cfg.verb = src.verb = data[0] == 'r' ? VERB_RECV : data[0] == 'p' ? VERB_PAIR : VERB_SEND;
	problems.n = 0;
	option_defaults(&cfg);
	fuzz_read(&src, (const char *)data + 1, size - 1);
	if (problems.n)
		must(problems.e[0].object[0] && problems.e[0].cause[0], "a problem without a sentence");
	else
		config_try(&cfg);
	option_free(&cfg);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return fuzz_mutate(data, size, max, seed, "\n", ": ");
}
