/* SPDX-License-Identifier: Apache-2.0 */
/*
 * addr: MAC addresses, IP addresses and prefixes: parse, print, compare, walk.
 *
 * Pure and thread-safe. Bytes are in network order; nothing is looked up.
 */
#ifndef SQUALL_ADDR_H
#define SQUALL_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mac {
	uint8_t b[6];
};

/* family 0: unset. IPv4 uses the first 4 bytes, the rest are 0. */
struct ip {
	uint8_t family; /* 0, 4 or 6 */
	uint8_t b[16];
};

struct prefix {
	struct ip ip; /* host bits are 0 */
	uint8_t len;  /* 0..32 or 0..128 */
};

#define MAC_STRLEN    18 /* with the final NUL */
#define IP_STRLEN     46
#define PREFIX_STRLEN 50

/* All parsers take the whole string (no trailing junk) and return 0 or -EINVAL. */
int mac_parse(const char *s, struct mac *out);       /* aa:bb:cc:dd:ee:ff, aa-bb-…, aabb.ccdd.eeff */
int ip_parse(const char *s, struct ip *out);         /* a v4-mapped IPv6 address becomes IPv4 */
int prefix_parse(const char *s, struct prefix *out); /* a bare address is its own prefix; host bits are masked */

char *mac_format(const struct mac *m, char buf[MAC_STRLEN]);
char *ip_format(const struct ip *ip, char buf[IP_STRLEN]);
char *prefix_format(const struct prefix *p, char buf[PREFIX_STRLEN]);

bool mac_is_zero(const struct mac *m);
bool mac_is_multicast(const struct mac *m); /* broadcast included */
bool mac_equal(const struct mac *a, const struct mac *b);
bool ip_equal(const struct ip *a, const struct ip *b);
bool ip_is_multicast(const struct ip *ip);  /* 224.0.0.0/4 (not 255.255.255.255), ff00::/8 */
bool ip_is_link_local(const struct ip *ip); /* 169.254.0.0/16, fe80::/10 */
bool ip_is_loopback(const struct ip *ip);
bool ip_is_unspecified(const struct ip *ip);
unsigned ip_bits(const struct ip *ip); /* 32 or 128 */
bool prefix_contains(const struct prefix *p, const struct ip *ip);

/* The multicast MAC of a multicast address: RFC 1112 section 6.4, RFC 2464 section 7. */
struct mac ip_multicast_mac(const struct ip *ip);

/*
 * The usable hosts of a prefix: IPv4 /30 and shorter without network and broadcast address, /31 both, /32 one; all
 * of an IPv6 prefix. The count saturates at 2^32: flows walk the low 32 bits only. *first is the first usable host.
 */
uint64_t prefix_hosts(const struct prefix *p, struct ip *first);

#endif
