/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory is there before the first packet. */
#include "measures.h"
#include "rx/measure_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1ULL << 20)

/* How many of these bytes are in memory, in whole pages. */
static uint64_t resident(void *p, uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pages = (size + page - 1) / page;
	unsigned char *in = malloc(pages);
	uint64_t n = 0;

	assert_non_null(in);
	assert_int_equal(mincore(p, size, in), 0);
	for (uint64_t i = 0; i < pages; i++)
		n += in[i] & 1;
	free(in);
	return n * page;
}

static void flows_that_are_known_have_theirs(void **state)
{
	struct measure *m = measure_ok(&(struct measure_conf){.run = 1, .flows = 1000, .threads = 1, .per_flow = true});

	(void)state;
	assert_true(m->records_size > 2 * MIB && m->records_size <= 4 * MIB);
	assert_true(resident(m->records, m->records_size) >= m->records_size);
	assert_true(resident(m->flows, m->flows_size) >= m->flows_size);
	measure_close(m);
}

/* 16 million flows may be what somebody thinks of, and not what comes. A large page more may be there. */
static void it_is_not_taken_without_bounds(void **state)
{
	struct measure *m = measure_ok(&(struct measure_conf){.run = 1, .flows = STAMP_FLOWS, .threads = 1});
	uint64_t there = resident(m->records, m->records_size);

	(void)state;
	assert_true(m->records_size > 512 * MIB);
	assert_true(there >= 64 * MIB && there <= 66 * MIB);
	measure_close(m);
}

static void without_their_number_the_first_flows_have_it(void **state)
{
	struct measure *m = measure_ok(&(struct measure_conf){.run = 1, .threads = 1});
	uint64_t first = (uint64_t)(m->tiers[2].records - m->tiers[0].records);

	(void)state;
	assert_int_equal(m->tiers[2].from, 65536);
	assert_true(resident(m->records, first) >= first);
	assert_true(resident(m->records, m->records_size) <= 66 * MIB);
	measure_close(m);
}

/* As much memory as this host has is refused before the run: it would be missing in the midst of it. */
static void more_than_the_host_has_is_refused(void **state)
{
	const uint64_t has = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	struct measure_conf conf = {.run = 1, .flows = STAMP_FLOWS, .window = 131040, .threads = 1};
	const uint64_t each = 32 + 4096 * 8; /* a window of 131,040 packets, and what is kept beside it */
	struct measure *m;
	struct err e;

	(void)state;
	if (has > STAMP_FLOWS * each)
		skip(); /* more than 512 GiB: it can have them all */
	assert_int_equal(measure_open(&m, &conf, &e), -ENOMEM);
	assert_null(m);
	assert_non_null(strstr(e.cause, "16777216 flows"));
	assert_non_null(strstr(e.hint, "--flow-limit"));
	conf.flows = has / each / 2;
	m = measure_ok(&conf);
	measure_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flows_that_are_known_have_theirs),
		cmocka_unit_test(it_is_not_taken_without_bounds),
		cmocka_unit_test(without_their_number_the_first_flows_have_it),
		cmocka_unit_test(more_than_the_host_has_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
