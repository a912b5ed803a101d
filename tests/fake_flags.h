/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_flags: no driver here has private flags, so this is one: ioctl() of this program answers for it as the kernel
 * would (linux/ethtool.h), in memory that child processes share, and passes all else on.
 */
#ifndef SQUALL_TESTS_FAKE_FLAGS_H
#define SQUALL_TESTS_FAKE_FLAGS_H

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fake_flags {
	const char *link; /* whose driver it is; NULL: nobody's */
	unsigned n;
	char name[40][ETH_GSTRING_LEN];
	uint32_t on;
	int refusal;       /* errno of every change */
	_Atomic bool slow; /* a change is not done while this is true */
	unsigned sets;     /* changes asked for */
};

static struct fake_flags *fake;

static int fake_make(void)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return fake == MAP_FAILED ? -1 : 0;
}

/* The n flags of those names, and which of them are on. */
static inline void fake_set(const char *link, const char *const *names, unsigned n, uint32_t on)
{
	memset(fake, 0, sizeof(*fake));
	fake->link = link;
	fake->n = n;
	fake->on = on;
	for (unsigned i = 0; i < n; i++)
		memcpy(fake->name[i], names[i], strnlen(names[i], ETH_GSTRING_LEN));
}

static int fake_refuse(int error)
{
	errno = error;
	return -1;
}

static int fake_answer(void *cmd)
{
	struct ethtool_sset_info *info = cmd;
	struct ethtool_gstrings *names = cmd;
	struct ethtool_value *value = cmd;
	uint32_t which;

	memcpy(&which, cmd, sizeof(which));
	switch (which) {
	case ETHTOOL_GSSET_INFO:
		if (info->sset_mask != 1ULL << ETH_SS_PRIV_FLAGS)
			break;
		memcpy(info->data, &fake->n, sizeof(fake->n));
		return 0;
	case ETHTOOL_GSTRINGS:
		if (names->string_set != ETH_SS_PRIV_FLAGS)
			break;
		names->len = fake->n;
		memcpy(names->data, fake->name, sizeof(fake->name[0]) * fake->n);
		return 0;
	case ETHTOOL_GPFLAGS:
		value->data = fake->on;
		return 0;
	case ETHTOOL_SPFLAGS:
		fake->sets++;
		while (fake->slow)
			poll(NULL, 0, 1);
		if (fake->refusal)
			return fake_refuse(fake->refusal);
		fake->on = value->data;
		return 0;
	default:
		break;
	}
	return fake_refuse(EOPNOTSUPP);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == SIOCETHTOOL && fake && fake->link) {
		const struct ifreq *ifr = arg;

		if (strcmp(ifr->ifr_name, fake->link) == 0)
			return fake_answer(ifr->ifr_data);
	}
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

#endif
