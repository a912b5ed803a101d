/* SPDX-License-Identifier: Apache-2.0 */
#include "afxdp_tune.h"

#include "lib/claim.h"
#include "lib/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For a killed process's settings to be restored; a link that restarts takes the longest. */
#define CLAIM_MS 2000

/*
 * Up to so many queues the pointers that mlx5 sends without the flag are faster (17.5 against at most 14.3 million
 * packets per second and core); with more, all together reach what the device takes of them (75 million).
 */
#define MPWQE_OFF_QUEUES 4U

#define MPWQE "xdp_tx_mpwqe"

/* One setting of the link: a file of sysfs with a number, or a private flag. */
struct setting {
	const char *name;
	bool is_flag;
	int index; /* the link's, for a flag */
	int fd;    /* the file; for a flag any socket of the link's namespace */
	uint64_t before;
	uint64_t ours;
};

struct afxdp_tune {
	struct restore *restore;
	int claim;
	unsigned n;
	struct setting setting[3];
};

bool afxdp_wants_napi(const struct host_link *link, const struct afxdp_tune_ask *ask)
{
	return ask->napi_defer == WHEN_ON ||
	       (ask->napi_defer == WHEN_HELPFUL && ask->native && ask->receives && link->bus[0]);
}

enum afxdp_flag afxdp_wants_mpwqe(const struct host_link *link, const struct afxdp_tune_ask *ask)
{
	if (!ask->zero_copy || !ask->sends || strcmp(link->driver, "mlx5_core") != 0)
		return AFXDP_FLAG_AS_IT_IS;
	return ask->tx_queues > MPWQE_OFF_QUEUES ? AFXDP_FLAG_ON : AFXDP_FLAG_OFF;
}

/* ---- one setting; by descriptors only, so that the process that restores can do it ---- */

static int get(const struct setting *s, uint64_t *value)
{
	char text[32];
	ssize_t n;
	int rc;

	*value = 0;
	if (s->is_flag) {
		bool on;

		rc = host_flag_get(s->fd, s->index, s->name, &on);
		*value = on;
		return rc;
	}
	n = pread(s->fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*value = strtoull(text, NULL, 10);
	return n ? 0 : -EIO;
}

static int set(const struct setting *s, uint64_t value)
{
	char text[32];
	int n;

	if (s->is_flag)
		return host_flag_set(s->fd, s->index, s->name, value);
	n = snprintf(text, sizeof(text), "%" PRIu64, value);
	return pwrite(s->fd, text, (size_t)n, 0) == n ? 0 : -errno;
}

static void undo(void *arg)
{
	const struct setting *s = arg;
	uint64_t value;

	if (get(s, &value) == 0 && value == s->ours)
		set(s, s->before);
}

/* Takes note of a setting that is to become `ours`. Its descriptor belongs to t from here on. */
static int look_at(struct afxdp_tune *t, const struct setting *what)
{
	struct setting *s = &t->setting[t->n++];

	*s = *what;
	return s->fd < 0 ? s->fd : get(s, &s->before);
}

static void forget(struct afxdp_tune *t, unsigned n)
{
	while (t->n > n) {
		int fd = t->setting[--t->n].fd;

		if (fd >= 0)
			close(fd);
	}
}

/* ---- NAPI deferral ---- */

static void note_napi(struct pio_caps *caps, const char *what, const char *why)
{
	pio_note(caps, "xdp.napi", "NAPI", "deferral %s: %s", what, why);
}

static int open_napi(struct afxdp_tune *t, int dir, const char *name, uint64_t ours)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC);

	return look_at(t, &(struct setting){.name = name, .fd = fd < 0 ? -errno : fd, .ours = ours});
}

static void look_at_napi(struct afxdp_tune *t, const struct host_link *link, struct pio_caps *caps)
{
	const unsigned n = t->n;
	const struct setting *s = &t->setting[n];
	int dir = host_link_sysfs(link);
	int rc = dir < 0 ? dir : 0;

	if (!rc)
		rc = open_napi(t, dir, "napi_defer_hard_irqs", AFXDP_NAPI_DEFER_HARD_IRQS);
	if (!rc)
		rc = open_napi(t, dir, "gro_flush_timeout", AFXDP_GRO_FLUSH_TIMEOUT_NS);
	if (dir >= 0)
		close(dir);
	if (!rc && !s[0].before && !s[1].before)
		return;
	if (rc)
		note_napi(caps, "not set, its files in sysfs cannot be used", strerror(-rc));
	else
		pio_note(caps, "xdp.napi", "NAPI",
			 "deferral left as it was set before: %s %" PRIu64 ", %s %" PRIu64 " ns", s[0].name,
			 s[0].before, s[1].name, s[1].before);
	forget(t, n);
}

/* ---- mlx5 ---- */

static void note_mpwqe(struct pio_caps *caps, const char *why)
{
	pio_note(caps, "xdp.mpwqe", "mlx5", "%s left as it is: %s", MPWQE, why);
}

static void look_at_mpwqe(struct afxdp_tune *t, const struct host_link *link, bool want, struct pio_caps *caps)
{
	const unsigned n = t->n;
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = look_at(t, &(struct setting){.name = MPWQE,
					      .is_flag = true,
					      .index = link->index,
					      .fd = sock < 0 ? -errno : sock,
					      .ours = want});

	if (!rc && t->setting[n].before != want)
		return;
	if (rc)
		note_mpwqe(caps, rc == -ENOENT ? "the driver has no such flag" : strerror(-rc));
	forget(t, n);
}

/* ---- all of them ---- */

/* After it, and not before, the settings may be changed. The claim is the first step, so it is held to the end. */
static int watch(struct afxdp_tune *t, struct err *e)
{
	int rc = restore_create(&t->restore, e);

	if (!rc)
		rc = restore_add(t->restore, NULL, NULL, t->claim, e);
	for (unsigned i = 0; i < t->n && !rc; i++)
		rc = restore_add(t->restore, undo, &t->setting[i], t->setting[i].fd, e);
	return rc ? rc : restore_arm(t->restore, e);
}

static int change(struct afxdp_tune *t, const struct host_link *link, struct pio_caps *caps, struct err *e)
{
	unsigned files = 0;

	for (unsigned i = 0; i < t->n; i++) {
		const struct setting *s = &t->setting[i];
		int rc = set(s, s->ours);

		if (!s->is_flag && rc) {
			err_set(e, rc, EXIT_RUN, "cannot set NAPI deferral", link->name, "%s: %s", s->name,
				strerror(-rc));
			err_hint(e, "--napi-defer off");
			return rc;
		}
		if (!s->is_flag) {
			files++;
		} else if (rc) {
			note_mpwqe(caps, strerror(-rc));
		} else {
			caps->restarts_link = true;
			pio_note(caps, "xdp.mpwqe", "mlx5", "%s %s until the end of the run (was %s)", MPWQE,
				 s->ours ? "on" : "off", s->before ? "on" : "off");
		}
	}
	if (files)
		pio_note(caps, "xdp.napi", "NAPI",
			 "napi_defer_hard_irqs %u, gro_flush_timeout %u ns until the end of the run (both were 0)",
			 AFXDP_NAPI_DEFER_HARD_IRQS, AFXDP_GRO_FLUSH_TIMEOUT_NS);
	return 0;
}

static int take_claim(struct afxdp_tune *t, const struct host_link *link, char *why, size_t size)
{
	char name[32];
	pid_t holder;

	snprintf(name, sizeof(name), "tune/%d", link->index);
	t->claim = claim_take(name, CLAIM_MS, &holder);
	if (t->claim == -EBUSY && holder)
		snprintf(why, size, "the settings of process %d are in force", (int)holder);
	else if (t->claim == -EBUSY)
		snprintf(why, size, "the settings of a process of another container are in force");
	else if (t->claim < 0)
		snprintf(why, size, "%s", strerror(-t->claim));
	return t->claim < 0 ? t->claim : 0;
}

int afxdp_tune_begin(struct afxdp_tune **out, const struct host_link *link, const struct afxdp_tune_ask *ask,
		     struct pio_caps *caps, struct err *e)
{
	const bool napi = afxdp_wants_napi(link, ask);
	const enum afxdp_flag mpwqe = afxdp_wants_mpwqe(link, ask);
	struct afxdp_tune *t;
	char why[128];
	int rc = 0;

	*out = NULL;
	if (!napi && mpwqe == AFXDP_FLAG_AS_IT_IS)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return err_set(e, -ENOMEM, EXIT_RUN, "cannot open the interface", link->name, "no memory");
	if (take_claim(t, link, why, sizeof(why)) == 0) {
		if (napi)
			look_at_napi(t, link, caps);
		if (mpwqe != AFXDP_FLAG_AS_IT_IS)
			look_at_mpwqe(t, link, mpwqe == AFXDP_FLAG_ON, caps);
	} else {
		if (napi)
			note_napi(caps, "not set", why);
		if (mpwqe != AFXDP_FLAG_AS_IT_IS)
			note_mpwqe(caps, why);
	}
	if (t->n)
		rc = watch(t, e);
	if (t->n && !rc)
		rc = change(t, link, caps, e);
	if (t->n && !rc)
		*out = t;
	else
		afxdp_tune_end(t);
	return rc;
}

void afxdp_tune_end(struct afxdp_tune *t)
{
	if (!t)
		return;
	restore_end(t->restore);
	forget(t, 0);
	if (t->claim >= 0)
		close(t->claim);
	free(t);
}
