/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define LEAVE_WAIT_MS 200

/* What ends the process by itself. */
static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGQUIT};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct {
	int fd; /* plus 1 */
	volatile sig_atomic_t taken;
	struct termios before;
	char leave[TERMINAL_LEAVE_MAX];
	size_t leave_len;
	void (*on_leave)(void);
	struct sigaction old_fault[FAULTS], old_tstp, old_cont, old_winch;
	bool watching;
	bool has_stderr;
} t;

static volatile sig_atomic_t stop_asked, continued;

int terminal_fd(void)
{
	return t.fd - 1;
}

static bool device_of(int fd, unsigned *device)
{
	return ioctl(fd, TIOCGDEV, device) == 0;
}

bool terminal_open(char *why, size_t size)
{
	unsigned in, out, mine, err;
	int fd;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		snprintf(why, size, "standard %s is not a terminal", isatty(STDIN_FILENO) ? "output" : "input");
		return false;
	}
	if (!device_of(STDIN_FILENO, &in) || !device_of(STDOUT_FILENO, &out) || in != out) {
		snprintf(why, size, "standard input and output are two terminals");
		return false;
	}
	/* A descriptor of our own: O_NONBLOCK on one that others have would be theirs, too. */
	fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || !device_of(fd, &mine) || mine != out) {
		snprintf(why, size, "standard output is not the terminal that this process belongs to");
		if (fd >= 0)
			close(fd);
		return false;
	}
	t.fd = fd + 1;
	t.has_stderr = device_of(STDERR_FILENO, &err) && err == mine;
	if (!terminal_is_ours()) {
		snprintf(why, size, "this is a job in the background");
		terminal_close();
		return false;
	}
	return true;
}

static void unwatch_all(void);

void terminal_close(void)
{
	if (t.fd)
		close(terminal_fd());
	t.fd = 0;
	unwatch_all();
}

bool terminal_has_stderr(void)
{
	return t.has_stderr;
}

bool terminal_is_ours(void)
{
	return tcgetpgrp(terminal_fd()) == getpgrp();
}

static void on_stop(int sig)
{
	(void)sig;
	stop_asked = 1;
}

static void on_continue(int sig)
{
	(void)sig;
	continued = 1;
}

/* Only so that a sleep ends, and the new size is seen. */
static void on_winch(int sig)
{
	(void)sig;
}

static void on_fault(int sig)
{
	terminal_leave();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Who watches already (a sanitizer) goes on, and a signal that came ignored stays so. */
static void watch(int sig, void (*fn)(int), struct sigaction *old)
{
	struct sigaction act = {.sa_handler = fn, .sa_flags = SA_RESTART};

	sigfillset(&act.sa_mask);
	if (sigaction(sig, NULL, old) == 0 && old->sa_handler == SIG_DFL)
		sigaction(sig, &act, NULL);
}

/* Once; from then on until the end, so that nobody else comes to set his own in between. */
static void watch_all(void)
{
	if (t.watching)
		return;
	t.watching = true;
	for (size_t i = 0; i < FAULTS; i++)
		watch(faults[i], on_fault, &t.old_fault[i]);
	watch(SIGTSTP, on_stop, &t.old_tstp);
	watch(SIGCONT, on_continue, &t.old_cont);
	watch(SIGWINCH, on_winch, &t.old_winch);
}

/* Who was asked to stop while nobody looked stops now. */
static void unwatch_all(void)
{
	if (!t.watching)
		return;
	t.watching = false;
	for (size_t i = 0; i < FAULTS; i++)
		sigaction(faults[i], &t.old_fault[i], NULL);
	sigaction(SIGTSTP, &t.old_tstp, NULL);
	sigaction(SIGCONT, &t.old_cont, NULL);
	sigaction(SIGWINCH, &t.old_winch, NULL);
	if (stop_asked)
		kill(getpid(), SIGTSTP);
	stop_asked = 0;
}

int terminal_enter(void)
{
	struct termios now;

	if (tcgetattr(terminal_fd(), &t.before))
		return -errno;
	now = t.before;
	/* Ctrl-C and Ctrl-Z stay signals; Ctrl-S must not hold the run up. */
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
	now.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR);
	now.c_oflag &= ~(tcflag_t)(ONLCR | TABDLY);
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	watch_all();
	continued = 0;
	t.leave_len = 0;
	t.taken = 1;
	if (tcsetattr(terminal_fd(), TCSANOW, &now)) {
		int rc = -errno;

		t.taken = 0;
		return rc;
	}
	return 0;
}

void terminal_set_leave(const char *text, size_t len)
{
	if (len > sizeof(t.leave))
		return;
	t.leave_len = 0; /* a signal in between leaves without */
	memcpy(t.leave, text, len);
	t.leave_len = len;
}

void terminal_on_leave(void (*fn)(void))
{
	t.on_leave = fn;
}

/* As much as it takes within the time. */
static bool write_within(const char *text, size_t n)
{
	struct pollfd p = {.fd = terminal_fd(), .events = POLLOUT};

	for (int tries = 0; n && tries < 4; tries++) {
		ssize_t done = write(terminal_fd(), text, n);

		if (done > 0) {
			text += done;
			n -= (size_t)done;
		} else if (poll(&p, 1, LEAVE_WAIT_MS / 4) < 0 && errno != EINTR) {
			break;
		}
	}
	return n == 0;
}

void terminal_leave(void)
{
	sigset_t block, before;

	if (!t.taken)
		return;
	t.taken = 0;
	/* In the background the shell has the terminal, and its own settings on it. */
	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	if (!write_within(t.leave, t.leave_len)) {
		tcflush(terminal_fd(), TCOFLUSH);
		write_within(t.leave, t.leave_len);
	}
	if (terminal_is_ours())
		tcsetattr(terminal_fd(), TCSANOW, &t.before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (t.on_leave)
		t.on_leave();
}

bool terminal_stop_if_asked(void)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, ours;

	if (!stop_asked)
		return false;
	stop_asked = 0;
	terminal_leave();
	sigaction(SIGTSTP, &stop, &ours);
	kill(getpid(), SIGTSTP); /* returns when somebody says to go on; at once where there is nobody to say it */
	sigaction(SIGTSTP, &ours, NULL);
	continued = 0;
	return true;
}

bool terminal_was_stopped(void)
{
	bool was = continued;

	continued = 0;
	return was;
}

void terminal_size(unsigned *rows, unsigned *cols)
{
	struct winsize size = {0};

	ioctl(terminal_fd(), TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : 24;
	*cols = size.ws_col ? size.ws_col : 80;
}
