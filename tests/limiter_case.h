/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the limiter share: rates, and a start on a clock that the test turns. */
#ifndef SQUALL_TESTS_LIMITER_CASE_H
#define SQUALL_TESTS_LIMITER_CASE_H

#include "gen/limiter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define START 1000000000ULL
#define S     1000000000ULL

__extension__ typedef unsigned __int128 uint128;

/* The interval of a rate in micro packets a second, by the definition: 10^15 / micro ns, rounded up to 2^-32 ns. */
static struct tx_pace pace_of(uint64_t micro_pps, uint32_t burst)
{
	uint128 fixed = (((uint128)1000000000000000ULL << 32) + micro_pps - 1) / micro_pps;
	struct tx_pace p = {.burst = burst};

	p.interval.ns = (uint64_t)(fixed >> 32);
	p.interval.frac = (uint32_t)fixed;
	return p;
}

static uint64_t pps(uint64_t n)
{
	return n * 1000000;
}

static void init(struct limiter *l, uint64_t micro_pps, uint32_t burst, uint64_t catch_up)
{
	struct tx_pace p = pace_of(micro_pps, burst);

	limiter_init(l, &p, catch_up, START, UINT64_MAX);
}

#endif
