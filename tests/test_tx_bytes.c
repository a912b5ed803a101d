/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a source's packets as they are derived are those of the packets as they are written. */
#include "streams_case.h"

#include "gen/tx_bytes.h"
#include "gen/tx_fill.h"

static struct streams s;

/* After each of the first `packets` packets of queue q of n. */
static void sum_is_derived(unsigned stream, unsigned q, unsigned n, unsigned packets)
{
	static unsigned char data[TX_TEMPLATE_MAX];
	const struct tx_plan *plan = &s.plans[stream];
	struct pio_frame f = {.data = data};
	struct tx_source source;
	uint64_t sum = 0;

	memcpy(data, plan->frame, plan->max_len);
	assert_int_equal(tx_source_init(&source, plan, q, n, TX_QUOTA_NONE, stream % 2, NULL, NULL), 0);
	for (unsigned k = 0; k < packets; k++) {
		assert_int_equal(tx_source_bytes(&source, k), sum);
		tx_fill(&source, &source.at, &f, 1, 0, TX_SHAPE_SIZES);
		sum += f.len;
	}
	assert_int_equal(tx_source_bytes(&source, packets), sum);
	tx_source_free(&source);
}

static void bytes_are_those_of_the_packets(void **state)
{
	(void)state;
	streams_make(&s, "streams:\n"
			 "  - {dst-ip: 10.0.0.1, packet-size: 333}\n"
			 "  - {dst-ip: 10.0.1.0/24, flows: 24, mode: imix}\n"
			 "  - {dst-ip: 10.0.2.0/24, flows: 24, mode: imix, imix: 7a4dg}\n"
			 "  - {dst-ip: 10.0.3.0/24, flows: 35, mode: imix, imix: \"64:2,1000:3\"}\n"
			 "  - {dst-ip: \"fd00::/64\", flows: 9, mode: imix, imix: \"100:5,594:4,1400:3\"}\n"
			 "  - {dst-ip: 10.0.5.9, flows: 10, vary: [\"size=64:128:2\"]}\n");
	for (unsigned stream = 0; stream < s.set.n; stream++)
		for (unsigned n = 1; n <= 3; n++)
			for (unsigned q = 0; q < n && q < s.plans[stream].flows; q++)
				sum_is_derived(stream, q, n, 3000);
	streams_free(&s);
}

static void nobody_has_sent_nothing(void **state)
{
	const struct tx_source none = {0};

	(void)state;
	assert_int_equal(tx_source_bytes(&none, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_those_of_the_packets),
		cmocka_unit_test(nobody_has_sent_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
