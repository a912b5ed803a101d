/* SPDX-License-Identifier: Apache-2.0 */
#include "addr.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Separators are all ':' or all '-' after every byte, or '.' after every second one. */
int mac_parse(const char *s, struct mac *out)
{
	char sep = '\0';

	for (unsigned i = 0; i < 6; i++) {
		if (i == 1)
			sep = *s;
		if (i > 0 && (sep == ':' || sep == '-' || i % 2 == 0)) {
			if (i == 2 && sep != ':' && sep != '-')
				sep = *s == '.' ? '.' : '\0';
			if (*s != sep || (sep != ':' && sep != '-' && sep != '.'))
				return -EINVAL;
			s++;
		}
		int hi = hex_digit(s[0]);
		int lo = hi < 0 ? -1 : hex_digit(s[1]);

		if (lo < 0)
			return -EINVAL;
		out->b[i] = (uint8_t)(hi << 4 | lo);
		s += 2;
	}
	return *s ? -EINVAL : 0;
}

int ip_parse(const char *s, struct ip *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(out, 0, sizeof(*out));
	if (inet_pton(AF_INET, s, out->b) == 1) {
		out->family = 4;
		return 0;
	}
	if (inet_pton(AF_INET6, s, out->b) != 1)
		return -EINVAL;
	if (memcmp(out->b, mapped, sizeof(mapped)) != 0) {
		out->family = 6;
		return 0;
	}
	memmove(out->b, out->b + 12, 4);
	memset(out->b + 4, 0, 12);
	out->family = 4;
	return 0;
}

static void mask_host_bits(struct prefix *p)
{
	unsigned bits = ip_bits(&p->ip);

	for (unsigned i = p->len; i < bits; i++)
		p->ip.b[i / 8] &= (uint8_t) ~(0x80U >> (i % 8));
}

int prefix_parse(const char *s, struct prefix *out)
{
	char buf[IP_STRLEN];
	const char *slash = strchr(s, '/');
	size_t n = slash ? (size_t)(slash - s) : strlen(s);

	if (n >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, s, n);
	buf[n] = '\0';
	if (ip_parse(buf, &out->ip))
		return -EINVAL;
	unsigned long max = ip_bits(&out->ip);
	unsigned long len = max;

	if (slash) {
		char *end;

		if (!isdigit((unsigned char)slash[1]))
			return -EINVAL;
		len = strtoul(slash + 1, &end, 10);
		if (*end)
			return -EINVAL;
		if (out->ip.family == 4 && strchr(buf, ':')) {
			if (len < 96 || len > 128)
				return -EINVAL;
			len -= 96;
		}
	}
	if (len > max)
		return -EINVAL;
	out->len = (uint8_t)len;
	mask_host_bits(out);
	return 0;
}

char *mac_format(const struct mac *m, char buf[MAC_STRLEN])
{
	snprintf(buf, MAC_STRLEN, "%02x:%02x:%02x:%02x:%02x:%02x", m->b[0], m->b[1], m->b[2], m->b[3], m->b[4],
		 m->b[5]);
	return buf;
}

char *ip_format(const struct ip *ip, char buf[IP_STRLEN])
{
	if (!ip->family || !inet_ntop(ip->family == 4 ? AF_INET : AF_INET6, ip->b, buf, IP_STRLEN))
		snprintf(buf, IP_STRLEN, "-");
	return buf;
}

char *prefix_format(const struct prefix *p, char buf[PREFIX_STRLEN])
{
	char ip[IP_STRLEN];

	ip_format(&p->ip, ip);
	if (p->len == ip_bits(&p->ip))
		snprintf(buf, PREFIX_STRLEN, "%s", ip);
	else
		snprintf(buf, PREFIX_STRLEN, "%s/%u", ip, p->len);
	return buf;
}

bool mac_is_zero(const struct mac *m)
{
	static const struct mac zero;

	return mac_equal(m, &zero);
}

bool mac_is_multicast(const struct mac *m)
{
	return m->b[0] & 1;
}

bool mac_equal(const struct mac *a, const struct mac *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool ip_equal(const struct ip *a, const struct ip *b)
{
	return a->family == b->family && memcmp(a->b, b->b, ip_bits(a) / 8) == 0;
}

bool ip_is_multicast(const struct ip *ip)
{
	return ip->family == 4 ? (ip->b[0] & 0xf0) == 0xe0 : ip->family == 6 && ip->b[0] == 0xff;
}

bool ip_is_link_local(const struct ip *ip)
{
	if (ip->family == 4)
		return ip->b[0] == 169 && ip->b[1] == 254;
	return ip->family == 6 && ip->b[0] == 0xfe && (ip->b[1] & 0xc0) == 0x80;
}

bool ip_is_loopback(const struct ip *ip)
{
	static const uint8_t loop6[16] = {[15] = 1};

	return ip->family == 4 ? ip->b[0] == 127 : ip->family == 6 && memcmp(ip->b, loop6, 16) == 0;
}

bool ip_is_unspecified(const struct ip *ip)
{
	static const uint8_t zero[16];

	return memcmp(ip->b, zero, ip_bits(ip) / 8) == 0;
}

unsigned ip_bits(const struct ip *ip)
{
	return ip->family == 6 ? 128 : 32;
}

bool prefix_contains(const struct prefix *p, const struct ip *ip)
{
	unsigned whole = p->len / 8;
	unsigned rest = p->len % 8;

	if (p->ip.family != ip->family || memcmp(p->ip.b, ip->b, whole) != 0)
		return false;
	return !rest || ((p->ip.b[whole] ^ ip->b[whole]) & (0xff00U >> rest) & 0xff) == 0;
}

struct mac ip_multicast_mac(const struct ip *ip)
{
	struct mac m = {{0x01, 0x00, 0x5e, ip->b[1] & 0x7f, ip->b[2], ip->b[3]}};

	if (ip->family == 6)
		m = (struct mac){{0x33, 0x33, ip->b[12], ip->b[13], ip->b[14], ip->b[15]}};
	return m;
}

uint64_t prefix_hosts(const struct prefix *p, struct ip *first)
{
	unsigned free_bits = ip_bits(&p->ip) - p->len;
	uint64_t n = 1ULL << (free_bits < 32 ? free_bits : 32);

	*first = p->ip;
	if (p->ip.family == 4 && free_bits >= 2) {
		first->b[3] |= 1;
		n -= 2;
	}
	return n;
}
