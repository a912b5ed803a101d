/* SPDX-License-Identifier: Apache-2.0 */
#include "pio.h"

#include "lib/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct pio_backend *backend_by_name(const char *name, size_t len)
{
	for (const struct pio_backend *const *b = pio_backends; *b; b++)
		if (strlen((*b)->name) == len && memcmp((*b)->name, name, len) == 0)
			return *b;
	return NULL;
}

void pio_name_split(const char *name, const char *preferred, const struct pio_backend **backend, const char **device)
{
	const char *colon = strchr(name, ':');

	*backend = colon ? backend_by_name(name, (size_t)(colon - name)) : NULL;
	*device = *backend ? colon + 1 : name;
	if (!*backend && preferred && preferred[0])
		*backend = backend_by_name(preferred, strlen(preferred));
}

int pio_link_name(const char *device, char name[IF_NAMESIZE], struct err *e)
{
	size_t len = strcspn(device, ",");

	if (!len || len >= IF_NAMESIZE)
		return err_set(e, -EINVAL, EXIT_USAGE, "cannot open the interface", device,
			       len ? "no interface has a name of more than 15 characters" : "the name is empty");
	memcpy(name, device, len);
	name[len] = '\0';
	return 0;
}

static int check_qdisc(const struct pio_backend *backend, const char *name, struct err *e)
{
	if (!backend->no_qdisc)
		return 0;
	err_set(e, -EOPNOTSUPP, EXIT_CAPABILITY, "cannot use --qdisc", name,
		"its packets go past the queueing discipline");
	err_hint(e, "afpacket:%s, or without --qdisc", name);
	return -EOPNOTSUPP;
}

/* Whether a backend would do, as far as can be told without opening it. -ENOSYS: this build has it not. */
static int would_do(const struct pio_backend *backend, const struct pio_conf *conf, const struct host_link *link,
		    struct err *e)
{
	int rc = backend->needs_link ? 0 : -ENOSYS;

	if (!rc && conf->qdisc)
		rc = check_qdisc(backend, link->name, e);
	return rc ? rc : backend->probe(link, e);
}

/* The named backend (NULL: the best is to be found) and the link, if any. */
static int look_up(const struct pio_conf *conf, const struct pio_backend **backend, const char **device,
		   const struct host_link **link, struct err *e)
{
	char name[IF_NAMESIZE];
	int rc;

	*link = NULL;
	pio_name_split(conf->name, conf->backend, backend, device);
	if (!*backend && conf->backend && conf->backend[0]) {
		err_set(e, -EINVAL, EXIT_USAGE, "cannot open the interface", conf->name, "there is no backend \"%s\"",
			conf->backend);
		err_hint(e, "squall devices lists them");
		return -EINVAL;
	}
	if (*backend && !(*backend)->needs_link)
		return 0;
	rc = pio_link_name(*device, name, e);
	if (rc)
		return rc;
	*link = host_usable_link(conf->host, name, e);
	return *link ? 0 : -ENODEV;
}

/* What is said when no backend has anything to say of its own. */
static void none_works(const struct host_link *link, struct err *e)
{
	err_set(e, -ENOTSUP, EXIT_CAPABILITY, "no backend works on the interface", link->name,
		"this build has none for it");
}

int pio_choose(const struct pio_conf *conf, const struct pio_backend **out, struct err *e)
{
	const struct host_link *link;
	const char *device;
	int rc = look_up(conf, out, &device, &link, e);

	if (rc || *out)
		return rc;
	none_works(link, e);
	for (const struct pio_backend *const *b = pio_backends; *b && !*out; b++) {
		struct err refusal = {0};

		rc = would_do(*b, conf, link, &refusal);
		if (!rc)
			*out = *b;
		if (rc != -ENOSYS)
			*e = refusal;
	}
	return *out ? 0 : -ENOTSUP;
}

/*
 * A lesser backend may do where this one lacks a privilege or a mode, or where its queue is taken and nothing is to be
 * received: the program that has the queue has what comes in, too.
 */
static bool may_step_down(const struct pio_conf *conf, int rc, const struct err *e)
{
	return e->code == EXIT_CAPABILITY || (rc == -EBUSY && !conf->rx_queues);
}

/* The first backend of the table that works on the link; why the better ones did not is told with the port. */
static int open_best(const struct pio_conf *conf, const char *device, const struct host_link *link,
		     struct pio_port **out, struct err *e)
{
	char why[sizeof((*out)->caps.why)] = "";
	size_t used = 0;
	int rc;

	none_works(link, e);
	for (const struct pio_backend *const *b = pio_backends; *b; b++) {
		struct err refusal = {0};

		rc = would_do(*b, conf, link, &refusal);
		if (rc == -ENOSYS)
			continue;
		if (!rc)
			rc = (*b)->open(conf, device, out, &refusal);
		if (!rc)
			break;
		*e = refusal;
		if (!may_step_down(conf, rc, e))
			return rc;
		int n = snprintf(why + used, sizeof(why) - used, "%s%s: %s", used ? "; " : "", (*b)->name,
				 refusal.cause);

		used += n > 0 && used + (size_t)n < sizeof(why) ? (size_t)n : 0;
	}
	if (!*out)
		return -ENOTSUP;
	*e = (struct err){0};
	if (why[0] && !(*out)->caps.why[0])
		snprintf((*out)->caps.why, sizeof((*out)->caps.why), "%s", why);
	return 0;
}

int pio_open(const struct pio_conf *conf, struct pio_port **out, struct err *e)
{
	const struct pio_backend *backend;
	const struct host_link *link;
	const char *device;
	int rc = 0;

	*out = NULL;
	if (conf->rx_queues)
		rc = conf->filter ? filter_check(conf->filter, e)
				  : err_set(e, -EINVAL, EXIT_USAGE, "cannot receive", conf->name, "there is no filter");
	if (!rc)
		rc = look_up(conf, &backend, &device, &link, e);
	if (rc)
		return rc;
	if (!backend)
		return open_best(conf, device, link, out, e);
	rc = conf->qdisc ? check_qdisc(backend, device, e) : 0;
	return rc ? rc : backend->open(conf, device, out, e);
}

void pio_close(struct pio_port *port)
{
	if (port)
		port->backend->close(port);
}

void pio_put_any(struct pio_queue *q, const struct pio_frame *f, unsigned n)
{
	struct pio_pool *pool = q->port->pool;

	for (unsigned i = 0; i < n; i++) {
		const uint32_t id = pio_slot_of(pool, f[i].data, 1);

		pio_owner_change(pool, id, PIO_OWNER_CALLER, PIO_OWNER_POOL, "put");
		if (id != UINT32_MAX)
			pio_slot_home(pool, q->cache, id);
	}
}

void pio_prime(struct pio_queue *q, pio_prime_fn *fn, void *arg)
{
	struct pio_cache *cache = q->cache;

	for (uint32_t i = 0; i < cache->count; i++) {
		struct pio_frame f = {.data = pio_slot_start(cache, cache->first + i), .len = q->port->caps.max_frame};

		fn(arg, &f);
	}
}

static uint64_t in_flight(const struct pio_queue *q)
{
	struct tx_counts c;

	tx_counts_read(&q->stats.tx, &c);
	return c.queued - c.completed - c.dropped_driver - c.dropped_end - c.undecided;
}

void pio_stop(struct pio_queue *q)
{
	if (q->ops->stop)
		q->ops->stop(q);
}

void pio_drain(struct pio_queue *q, uint64_t deadline_ns)
{
	pio_stop(q);
	while (in_flight(q) && !pio_queue_error(q, NULL) && clock_mono_ns() < deadline_ns)
		pio_kick(q);
	if (in_flight(q) && q->ops->give_up)
		q->ops->give_up(q);
	stats_add(&q->stats.tx.undecided, in_flight(q));
}

static void note(struct pio_caps *caps, const char *key, const char *label, const char *fmt, va_list ap)
{
	struct pio_note *n = &caps->notes[caps->n_notes];

	if (caps->n_notes == PIO_NOTES_MAX)
		return;
	caps->n_notes++;
	snprintf(n->key, sizeof(n->key), "%s", key);
	snprintf(n->label, sizeof(n->label), "%s", label);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
}

void pio_note(struct pio_caps *caps, const char *key, const char *label, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(caps, key, label, fmt, ap);
	va_end(ap);
}

void pio_warn(struct pio_caps *caps, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(caps, "", "", fmt, ap);
	va_end(ap);
}

int pio_queue_error(struct pio_queue *q, struct err *e)
{
	int rc = atomic_load_explicit(&q->error, memory_order_acquire);

	if (rc && e)
		*e = q->why;
	return rc;
}

static int latch(struct pio_queue *q, int rc, enum exit_code code, const char *what, const char *cause,
		 const char *hint)
{
	char object[sizeof(q->why.object)];

	if (atomic_load_explicit(&q->error, memory_order_relaxed))
		return rc;
	snprintf(object, sizeof(object), "%s queue %u", q->port->name, q->index);
	err_set(&q->why, rc, code, what, object, "%s", cause);
	err_hint(&q->why, "%s", hint);
	stats_add(q->is_tx ? &q->stats.tx.errors : &q->stats.rx.errors, 1);
	atomic_store_explicit(&q->error, rc, memory_order_release);
	return rc;
}

int pio_queue_fail(struct pio_queue *q, int rc, enum exit_code code, const char *what, const char *cause_fmt, ...)
{
	char cause[sizeof(q->why.cause)];
	va_list ap;

	va_start(ap, cause_fmt);
	vsnprintf(cause, sizeof(cause), cause_fmt, ap);
	va_end(ap);
	return latch(q, rc, code, what, cause, "");
}

int pio_queue_gone(struct pio_queue *q)
{
	return latch(q, -ENODEV, EXIT_RUN, "cannot go on", "the interface is gone",
		     "squall devices shows what is there now; one that was made anew takes a new run");
}
