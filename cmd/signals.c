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

/* Only ever written by the handlers. */
static volatile sig_atomic_t rate_steps;
static uint64_t stop_ns;

/* timeout(1) sends its signal to the process and to its group: what comes twice at once is one. */
#define AT_ONCE_NS 100000000U

static void (*volatile before_leaving)(void);

static void on_stop(int sig)
{
	const uint64_t now = clock_mono_ns();

	if (signals_stop && (sig != signals_stop || now - stop_ns >= AT_ONCE_NS)) {
		if (before_leaving)
			before_leaving();
		_exit(EXIT_SECOND_SIGNAL);
	}
	if (!signals_stop)
		stop_ns = now;
	signals_stop = sig;
}

static void on_rate(int sig)
{
	rate_steps += sig == SIGUSR1 ? 1 : -1;
}

void signals_before_leaving(void (*fn)(void))
{
	before_leaving = fn;
}

int signals_rate_steps(void)
{
	static int taken;
	int now = rate_steps;
	int steps = now - taken;

	taken = now;
	return steps;
}

void signals_install(void)
{
	struct sigaction rate = {.sa_handler = on_rate, .sa_flags = SA_RESTART};
	struct sigaction stop = {.sa_handler = on_stop};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	sigfillset(&stop.sa_mask);
	sigfillset(&rate.sa_mask);
	sigaction(SIGHUP, NULL, &before);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		if (stop_signals[i] != SIGHUP || before.sa_handler != SIG_IGN) /* nohup(1) asks to live on */
			sigaction(stop_signals[i], &stop, NULL);
	sigaction(SIGUSR1, &rate, NULL);
	sigaction(SIGUSR2, &rate, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);
}

void signals_let_writes_finish(void)
{
	struct sigaction now;

	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++) {
		if (sigaction(stop_signals[i], NULL, &now) || now.sa_handler != on_stop)
			continue;
		now.sa_flags |= SA_RESTART; /* waits by ppoll() are interrupted all the same */
		sigaction(stop_signals[i], &now, NULL);
	}
}

/*
 * The signals are blocked while the flag is looked at and let in only by ppoll(), so that none can come between the
 * look and the sleep. Those about the rate can wait until after it.
 */
static int wait_open(struct pollfd *p, const struct timespec *timeout, int seen)
{
	sigset_t block, before, during;
	int rc = -1;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		sigaddset(&block, stop_signals[i]);
	sigprocmask(SIG_BLOCK, &block, &before);
	during = before;
	sigaddset(&during, SIGUSR1);
	sigaddset(&during, SIGUSR2);
	if (signals_stop == seen)
		rc = ppoll(p, p ? 1 : 0, timeout, &during);
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
