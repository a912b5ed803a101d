/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include "lib/clock.h"
#include "lib/err.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

volatile int signals_stop;

static void on_stop(int sig)
{
	if (signals_stop)
		_exit(EXIT_SECOND_SIGNAL);
	signals_stop = sig;
}

void signals_install(void)
{
	struct sigaction stop = {.sa_handler = on_stop};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	sigfillset(&stop.sa_mask);
	sigaction(SIGHUP, NULL, &before);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		if (stop_signals[i] != SIGHUP || before.sa_handler != SIG_IGN) /* nohup(1) asks to live on */
			sigaction(stop_signals[i], &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
}

/*
 * The signals are blocked while the flag is looked at and let in only by ppoll(), so that none can come between the
 * look and the sleep.
 */
static int wait_open(struct pollfd *p, const struct timespec *timeout, int seen)
{
	sigset_t block, before;
	int rc = -1;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		sigaddset(&block, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	if (signals_stop == seen)
		rc = ppoll(p, p ? 1 : 0, timeout, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void signals_sleep(unsigned long long ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};

	wait_open(NULL, &ts, signals_stop);
}

bool signals_wait_input(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return wait_open(&p, NULL, 0) > 0;
}
