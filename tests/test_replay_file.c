/* SPDX-License-Identifier: Apache-2.0 */
/* A capture that is streamed: a file that becomes another one on the way, and senders that end before the others. */
#include "stream_case.h"

/* Takes what comes until it ends; how many. */
static uint64_t drain(struct replay_stream *s, unsigned q)
{
	static unsigned char room[ROOM];
	struct pio_frame f = {.data = room};
	struct replay_cursor c;

	replay_cursor_init(&c, &streamed, &s->rings[q], q, s->n);
	for (;;) {
		wait_ready(&c);
		if (!replay_ready(&c))
			return c.at.taken;
		replay_fill_streamed(&c, &f, 1);
	}
}

/* The first pass is of the file as it was opened; what is done to it in between is met by the second. */
static void meets(void (*change)(void), const char *word)
{
	struct replay_stream s;

	write_capture(DLT_EN10MB, PACKETS, false);
	load(&streamed, 4096);
	memset(&error, 0, sizeof(error));
	assert_int_equal(replay_stream_init(&s, &streamed, 1, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	while (!replay_stream_is_ready(&s))
		cpu_relax();
	change();
	drain(&s, 0);
	assert_true(replay_stream_has_failed(&s, &error));
	assert_int_equal(error.code, EXIT_RUN);
	assert_string_equal(error.object, path);
	if (!strstr(error.cause, word))
		fail_msg("%s", error.cause);
	replay_stream_free(&s);
}

static void cut_short(void)
{
	assert_int_equal(truncate(path, 2000000), 0);
}

static void cut_behind_a_packet(void)
{
	/* Record 0 is 40 bytes, and 16 of header; what is read has been buffered. */
	assert_int_equal(truncate(path, 24 + 16 + 40), 0);
}

static void put_another_in_its_place(void)
{
	char other[sizeof(path) + 2];

	snprintf(other, sizeof(other), "%s-2", path);
	assert_int_equal(rename(path, other), 0);
	write_capture(DLT_EN10MB, PACKETS, false);
	assert_int_equal(unlink(other), 0);
}

static void remove_it(void)
{
	assert_int_equal(unlink(path), 0);
}

static void write_larger_packets(void)
{
	struct bytes b = {0};
	FILE *f = fopen(path, "r+");

	pcap_header(&b, PCAP_NS, 65535, 1);
	pcap_record_put(&b, 0, 0, packet, 1500, 1500);
	assert_non_null(f);
	assert_int_equal(fwrite(b.at, 1, b.n, f), b.n);
	assert_int_equal(fclose(f), 0);
	bytes_free(&b);
}

static void break_a_record(void)
{
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, 24, SEEK_SET), 0);
	for (unsigned i = 0; i < 16; i++)
		putc(0xff, f);
	assert_int_equal(fclose(f), 0);
}

static void files_that_change(void **state)
{
	(void)state;
	meets(cut_short, "it ends after packet ");
	meets(cut_behind_a_packet, "it ends after packet ");
	meets(put_another_in_its_place, "another file has its name");
	meets(remove_it, "No such file");
	meets(write_larger_packets, "other packets are in it after packet 1");
	meets(break_a_record, "broken after packet 0");
}

/* What has grown is replayed as it was. */
static void a_file_that_grows(void **state)
{
	struct replay_stream s;
	struct bytes b = {0};
	FILE *f;

	(void)state;
	write_capture(DLT_EN10MB, PACKETS, false);
	load(&streamed, 4096);
	f = fopen(path, "a");
	assert_non_null(f);
	pcap_record_put(&b, 99, 0, packet, 1500, 1500);
	assert_int_equal(fwrite(b.at, 1, b.n, f), b.n);
	assert_int_equal(fclose(f), 0);
	bytes_free(&b);
	assert_int_equal(replay_stream_init(&s, &streamed, 1, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	assert_int_equal(drain(&s, 0), 3 * PACKETS);
	assert_false(replay_stream_has_failed(&s, &error));
	replay_stream_free(&s);
}

/* The others get all that is theirs; and with all of them gone, or told to stop, the reader ends. */
static void senders_that_end(void **state)
{
	struct replay_stream s;

	(void)state;
	write_capture(DLT_EN10MB, PACKETS, false);
	load(&streamed, 4096);
	assert_int_equal(replay_stream_init(&s, &streamed, 3, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	while (!replay_stream_is_ready(&s))
		cpu_relax();
	atomic_store(&s.rings[0].closed, true);
	atomic_store(&s.rings[2].closed, true);
	assert_int_equal(drain(&s, 1), PACKETS);
	replay_stream_free(&s);

	cfg.loop = 0;
	cfg.pcap_loop = true;
	load(&streamed, 4096);
	assert_int_equal(replay_stream_init(&s, &streamed, 1, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	atomic_store(&s.rings[0].closed, true);
	drain(&s, 0);
	replay_stream_free(&s);
	assert_int_equal(replay_stream_init(&s, &streamed, 2, &error), 0);
	assert_int_equal(replay_stream_start(&s, &error), 0);
	while (!replay_stream_is_ready(&s))
		cpu_relax();
	replay_stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(files_that_change, fresh),
		cmocka_unit_test_setup(a_file_that_grows, fresh),
		cmocka_unit_test_setup(senders_that_end, fresh),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
