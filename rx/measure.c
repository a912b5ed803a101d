/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a measurement, and its clocks. */
#include "measure.h"

#include "lib/clock.h"
#include "measure_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * What the windows of all flows together may take, when their size was not asked for, beyond the narrowest. With 64 MiB
 * those of 1,000 flows are in more pages than a processor keeps addresses of: 4 % slower (1,000 flows, loop).
 */
#define WINDOWS_BYTES (4ULL << 20)
#define WORDS_MIN     4U
#define CACHE_LINE    64U

/*
 * Of the memory for flows so much is there before they come. A receiver that has to wait for it in the midst of the
 * first packets was seen to do so for 77 ms, which is more than a ring holds.
 */
#define READY_BYTES (64ULL << 20)
#define PAGE_BYTES  4096U

/* Nobody said how many flows there are: few flows get wide windows, and as many as anyone sends have one at all. */
#define USUAL_FLOWS 1048576U
static const struct {
	uint32_t from, words;
} usual[MEASURE_TIERS] = {{0, 1024}, {1024, 64}, {65536, WORDS_MIN}};

/* A clock that drifts this far from where it was taken to be is read anew: less is the reading's own noise. */
#define CLOCK_NOISE_NS 2000

static uint32_t stride_of(uint32_t words)
{
	uint32_t size = (uint32_t)(sizeof(struct measure_record) + words * sizeof(uint64_t));

	return (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The words of a window that reaches so many packets back, whatever place in its block the newest has. */
static uint32_t words_for(uint64_t window)
{
	uint32_t words = WORDS_MIN;

	while (words < SEQWIN_WORDS_MAX && (words - 1) * (uint64_t)SEQWIN_BLOCK < window)
		words *= 2;
	return words;
}

static uint32_t words_that_fit(uint64_t flows)
{
	uint32_t words = SEQWIN_WORDS_MAX;

	while (words > WORDS_MIN && flows * stride_of(words) > WINDOWS_BYTES)
		words /= 2;
	return words;
}

/* Where the records of which flows are, from 0 on. Returns their size. */
static uint64_t lay_out(struct measure *m)
{
	const struct measure_conf *conf = &m->conf;
	uint64_t size = 0;

	m->limit = conf->flows ? conf->flows : USUAL_FLOWS;
	if (m->limit > STAMP_FLOWS)
		m->limit = STAMP_FLOWS;
	for (unsigned i = 0; i < MEASURE_TIERS; i++) {
		bool one = conf->flows || conf->window;
		uint32_t words = conf->window  ? words_for(conf->window)
				 : conf->flows ? words_that_fit(m->limit)
					       : usual[i].words;
		uint64_t end = one || i + 1 == MEASURE_TIERS ? m->limit : usual[i + 1].from;
		struct measure_tier *t = &m->tiers[i];

		*t = (struct measure_tier){.from = one && i ? UINT32_MAX : usual[i].from,
					   .mask = words - 1,
					   .stride = stride_of(words),
					   .records = m->records + size};
		if (t->from < end)
			size += (end - t->from) * t->stride;
	}
	return size;
}

/* Pages that no flow touches take no memory. Large ones spare a walk through the page tables for each packet. */
static void *map(uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static void make_ready(void *memory, uint64_t size)
{
	volatile unsigned char *p = memory;

	for (uint64_t at = 0; at < size && at < READY_BYTES; at += PAGE_BYTES)
		p[at] = 0;
}

static void *zeroed(size_t n, size_t size)
{
	void *p = aligned_alloc(128, (n * size + 127) / 128 * 128);

	if (p)
		memset(p, 0, n * size);
	return p;
}

static void follow(struct measure_worker *w, int32_t run)
{
	w->run = run;
	if (run != MEASURE_RUN_ANY)
		w->near = w->limit < w->tiers[1].from ? w->limit : w->tiers[1].from;
}

static void init_worker(struct measure *m, unsigned i)
{
	struct measure_worker *w = &m->workers[i];

	*w = (struct measure_worker){
		.m = m,
		.flows = m->flows,
		.parts = m->parts + (size_t)i * m->n_parts,
		.first_flow = m->first_flow,
		.n_parts = m->n_parts,
		.shared = m->conf.threads > 1,
		.has_clock = m->conf.clock != MEASURE_CLOCK_NONE,
		.limit = (uint32_t)m->limit,
	};
	memcpy(w->tiers, m->tiers, sizeof(w->tiers));
	follow(w, m->conf.run);
}

static void take_streams(struct measure *m)
{
	for (unsigned i = 0; i < m->conf.n_streams; i++) {
		m->streams[i] = m->conf.streams[i];
		m->first_flow[i] = m->conf.streams[i].first_flow;
	}
	m->conf.streams = m->streams;
	m->first_flow[0] = 0;
	m->first_flow[m->n_parts] = UINT32_MAX;
}

/* It is used as flows come: what this host does not have would end the process then, or another. */
static bool host_has(uint64_t size)
{
	return size <= (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int no_memory(const struct measure *m, struct err *e)
{
	int rc = err_set(e, -ENOMEM, EXIT_RUN, "cannot measure", NULL,
			 "no memory for %" PRIu64 " flows: %" PRIu64 " MiB", m->limit,
			 (m->records_size + m->flows_size) >> 20);

	err_hint(e, "a smaller --flow-limit or --window");
	return rc;
}

int measure_open(struct measure **out, const struct measure_conf *conf, struct err *e)
{
	struct measure *m = zeroed(1, sizeof(*m));
	int rc = 0;

	*out = NULL;
	if (!m)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot measure", NULL, "no memory");
	m->conf = *conf;
	m->n_parts = conf->n_streams ? conf->n_streams : 1;
	atomic_init(&m->run, conf->run);
	m->records_size = lay_out(m);
	m->flows_size = conf->per_flow ? m->limit * sizeof(*m->flows) : 0;
	if (host_has(m->records_size + m->flows_size)) {
		m->records = map(m->records_size);
		m->flows = conf->per_flow ? map(m->flows_size) : NULL;
	}
	m->streams = zeroed(m->n_parts, sizeof(*m->streams));
	m->first_flow = zeroed(m->n_parts + 1, sizeof(*m->first_flow));
	m->workers = zeroed(conf->threads, sizeof(*m->workers));
	m->parts = zeroed((size_t)conf->threads * m->n_parts, sizeof(*m->parts));
	m->sums = zeroed(m->n_parts + 1, sizeof(*m->sums));
	m->told = zeroed(m->n_parts + 1, sizeof(*m->told));
	if (!m->records || (conf->per_flow && !m->flows) || !m->streams || !m->first_flow || !m->workers || !m->parts ||
	    !m->sums || !m->told) {
		rc = no_memory(m, e);
		measure_close(m);
		return rc;
	}
	lay_out(m);
	make_ready(m->records, m->records_size);
	make_ready(m->flows, m->flows_size);
	take_streams(m);
	for (unsigned i = 0; i < conf->threads; i++)
		init_worker(m, i);
	*out = m;
	return 0;
}

void measure_close(struct measure *m)
{
	if (!m)
		return;
	if (m->records)
		munmap(m->records, m->records_size);
	if (m->flows)
		munmap(m->flows, m->flows_size);
	free(m->streams);
	free(m->first_flow);
	free(m->workers);
	free(m->parts);
	free(m->sums);
	free(m->told);
	free(m->told_flows);
	free(m);
}

struct measure_worker *measure_worker(struct measure *m, unsigned i)
{
	return &m->workers[i];
}

void measure_learn(struct measure_worker *w, uint16_t run)
{
	int32_t none = MEASURE_RUN_ANY;

	if (atomic_compare_exchange_strong(&w->m->run, &none, run)) {
		atomic_store(&w->m->run_learnt, true);
		none = run;
	}
	follow(w, none);
}

static void update(const struct measure_worker *w, uint64_t *add, clockid_t from, clockid_t to, uint64_t more)
{
	uint64_t now = clock_offset_ns(from, to) + more;
	int64_t moved = (int64_t)(now - *add);

	if (!w->clocks_read || moved > CLOCK_NOISE_NS || moved < -CLOCK_NOISE_NS)
		*add = now;
}

void measure_set_floor(struct measure *m, uint64_t ns)
{
	m->floor_ns = ns;
}

void measure_clocks(struct measure_worker *w)
{
	const struct measure_conf *conf = &w->m->conf;
	clockid_t arrivals = conf->arrivals == PIO_CLOCK_WALL ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	clockid_t stamps = conf->clock == MEASURE_CLOCK_PTP ? CLOCK_TAI : CLOCK_MONOTONIC;

	/* A floor makes every arrival so much earlier, but not by the clock that people read. */
	update(w, &w->now_add, CLOCK_MONOTONIC, stamps, -w->m->floor_ns);
	update(w, &w->arrival_add, arrivals, stamps, -w->m->floor_ns);
	update(w, &w->wall_add, stamps, CLOCK_REALTIME, w->m->floor_ns);
	w->clocks_read = true;
}

void measure_counts(const struct measure *m, struct measure_counts *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < m->conf.threads * m->n_parts; i++) {
		struct measure_counts part;

		measure_counts_read(&m->parts[i].counts, &part);
		measure_counts_add(out, &part);
	}
}
