/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of each stream of a list. */
#include "json_check.h"
#include "report_fixture.h"

static json_t *document(struct fixture *f)
{
	f->cfg.json = true;
	fixture_play(f);
	return parsed(f->text);
}

/* Of a list of streams each has what was handed over of it; without one there is nothing to tell. */
static void streams_have_their_own_figures(void **state)
{
	static const struct report_stream ends[] = {
		{.name = "web", .requested_pps = 30000},
		{.name = "2", .requested_pps = -1, .have_unsent = true, .unsent = 4}};
	struct config list[2];
	struct fixture f;
	json_t *o;

	(void)state;
	fixture_run(&f);
	o = document(&f);
	is_null(o, "intervals.0.streams");
	is_null(o, "end.streams");
	json_decref(o);
	fixture_close(&f);

	fixture_run(&f);
	memset(list, 0, sizeof(list));
	snprintf(list[0].name, sizeof(list[0].name), "web");
	snprintf(list[1].name, sizeof(list[1].name), "2");
	f.cfg.streams = list;
	f.cfg.n_streams = f.half.n_streams = f.full.n_streams = f.end.n_streams = 2;
	f.end.streams = ends;
	f.half.streams[0] = (struct report_sent){.queued = 30000, .bytes = 1800000};
	f.full.streams[0] = (struct report_sent){.queued = 60000, .bytes = 3600000};
	f.full.streams[1] = (struct report_sent){.queued = 1000, .bytes = 1000000};
	o = document(&f);
	assert_int_equal(json_array_size(at(o, "intervals.0.streams")), 2);
	is_count(o, "intervals.0.streams.0.stream", 0);
	is_text(o, "intervals.0.streams.0.name", "web");
	is_count(o, "intervals.0.streams.0.queued", 30000);
	is_count(o, "intervals.0.streams.0.bytes_l2", 1920000);
	is_count(o, "intervals.0.streams.1.queued", 0);
	is_null(o, "intervals.0.streams.1.mean_bytes_l2");
	is_count(o, "intervals.1.streams.0.queued", 30000);
	is_count(o, "intervals.1.streams.1.queued", 1000);
	is_count(o, "intervals.1.streams.1.bytes_l2", 1004000);
	is_real(o, "intervals.1.streams.1.pps", 1000);
	is_real(o, "intervals.1.streams.1.bps_l2", 8032000);
	is_real(o, "intervals.1.streams.1.bps_l1", 8192000);
	is_real(o, "intervals.1.streams.1.mean_bytes_l2", 1004);
	/* Of the whole run, over the 2 s that were sent in. */
	is_text(o, "end.streams.1.name", "2");
	is_count(o, "end.streams.0.queued", 60000);
	is_count(o, "end.streams.0.bytes_l2", 3840000);
	is_real(o, "end.streams.0.pps", 30000);
	is_real(o, "end.streams.0.requested_pps", 30000);
	is_null(o, "end.streams.0.unsent");
	is_real(o, "end.streams.1.bps_l2", 4016000);
	is_null(o, "end.streams.1.requested_pps");
	is_count(o, "end.streams.1.unsent", 4);
	json_decref(o);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_have_their_own_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
