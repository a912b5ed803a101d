/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_judge: reads a frame from the outside inwards, as the RFCs tell a receiver to, and says what it holds: words as
 * "eth vlan ip4 udp". Shares nothing with the code that is tested. A word is followed by
 *   !   a checksum that is wrong
 *   #   a length that is not the rest of the frame, or a version that is not its type's
 *   -   a UDP checksum of 0, which is none
 *   ?   more than is there, or a type that is not known; nothing is read behind it
 */
#ifndef SQUALL_TESTS_FRAME_JUDGE_H
#define SQUALL_TESTS_FRAME_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct judged {
	char words[256];
	const unsigned char *payload; /* behind the last header */
	size_t payload_len;
	unsigned check; /* of the innermost transport header, as it stands there */
};

static inline void judge_word(struct judged *j, const char *word, const char *marks)
{
	size_t n = strlen(j->words);

	snprintf(j->words + n, sizeof(j->words) - n, "%s%s%s", n ? " " : "", word, marks);
}

static inline unsigned judge_be16(const unsigned char *p)
{
	return p[0] * 256U + p[1];
}

/* RFC 1071 section 4.1, word by word in network order. */
static inline unsigned long judge_add(unsigned long sum, const unsigned char *p, size_t n)
{
	for (; n > 1; n -= 2, p += 2)
		sum += judge_be16(p);
	if (n)
		sum += p[0] * 256U;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static inline void judge_payload(struct judged *j, const unsigned char *p, size_t n)
{
	j->payload = p;
	j->payload_len = n;
}

static inline void judge_type(struct judged *j, unsigned type, const unsigned char *p, size_t n);
static inline void judge_ethernet(struct judged *j, const unsigned char *p, size_t n);

/* RFC 768; RFC 7348 and RFC 8926 by their ports. pseudo: the sum of the addresses, and the protocol's. */
static inline void judge_udp(struct judged *j, const unsigned char *p, size_t n, unsigned long pseudo)
{
	char marks[8] = "";

	if (n < 8) {
		judge_word(j, "udp", "?");
		return;
	}
	j->check = judge_be16(p + 6);
	if (judge_be16(p + 4) != n)
		strcat(marks, "#");
	if (!j->check)
		strcat(marks, "-");
	else if (judge_add(pseudo + judge_be16(p + 4), p, n) != 0xffff)
		strcat(marks, "!");
	judge_word(j, "udp", marks);
	judge_payload(j, p + 8, n - 8);
	if (judge_be16(p + 2) == 4789 && n >= 16) {
		judge_word(j, "vxlan", p[8] == 8 ? "" : "?");
		judge_ethernet(j, p + 16, n - 16);
	} else if (judge_be16(p + 2) == 6081 && n >= 16) {
		size_t options = (p[8] & 63U) * 4U;

		judge_word(j, "geneve", "");
		if (n >= 16 + options)
			judge_type(j, judge_be16(p + 10), p + 16 + options, n - 16 - options);
	}
}

/* TCP, ICMP and ICMPv6 differ by where their checksum is. */
static inline void judge_summed(struct judged *j, const char *word, const unsigned char *p, size_t n, size_t header,
				size_t check, unsigned long pseudo)
{
	if (n < header) {
		judge_word(j, word, "?");
		return;
	}
	j->check = judge_be16(p + check);
	judge_word(j, word, judge_add(pseudo, p, n) == 0xffff ? "" : "!");
	judge_payload(j, p + header, n - header);
}

/* RFC 2784 and 2890: the flags say which words follow. */
static inline void judge_gre(struct judged *j, const unsigned char *p, size_t n)
{
	size_t header = n < 4 ? 0 : 4 + 4 * (((size_t)p[0] >> 7) + (p[0] >> 5 & 1) + (p[0] >> 4 & 1));

	if (!header || n < header) {
		judge_word(j, "gre", "?");
		return;
	}
	judge_word(j, "gre", "");
	judge_type(j, judge_be16(p + 2), p + header, n - header);
}

/* pseudo: the sum of the addresses. */
static inline void judge_protocol(struct judged *j, unsigned protocol, const unsigned char *p, size_t n,
				  unsigned long pseudo)
{
	judge_payload(j, p, n);
	switch (protocol) {
	case 1:
		judge_summed(j, n && p[0] == 8 ? "echo" : "icmp", p, n, 8, 2, 0);
		break;
	case 4:
		judge_type(j, 0x0800, p, n);
		break;
	case 6:
		judge_summed(j, "tcp", p, n, n < 13 ? 20U : p[12] / 16U * 4U, 16, pseudo + 6 + n);
		break;
	case 17:
		judge_udp(j, p, n, pseudo + 17);
		break;
	case 41:
		judge_type(j, 0x86dd, p, n);
		break;
	case 47:
		judge_gre(j, p, n);
		break;
	case 58:
		judge_summed(j, n && p[0] == 128 ? "echo" : "icmp6", p, n, 8, 2, pseudo + 58 + n);
		break;
	default:
		judge_word(j, "protocol", "?");
	}
}

static inline void judge_ip4(struct judged *j, const unsigned char *p, size_t n)
{
	char marks[8] = "";

	if (n < 20) {
		judge_word(j, "ip4", "?");
		return;
	}
	if (p[0] != 0x45 || judge_be16(p + 2) != n)
		strcat(marks, "#");
	if (judge_add(0, p, 20) != 0xffff)
		strcat(marks, "!");
	judge_word(j, "ip4", marks);
	judge_protocol(j, p[9], p + 20, n - 20, judge_add(0, p + 12, 8));
}

static inline void judge_ip6(struct judged *j, const unsigned char *p, size_t n)
{
	if (n < 40) {
		judge_word(j, "ip6", "?");
		return;
	}
	judge_word(j, "ip6", p[0] >> 4 == 6 && judge_be16(p + 4) == n - 40 ? "" : "#");
	judge_protocol(j, p[6], p + 40, n - 40, judge_add(0, p + 8, 32));
}

/* RFC 3032: labels down to the bottom of the stack; what is below tells its kind by the first four bits. */
static inline void judge_mpls(struct judged *j, const unsigned char *p, size_t n)
{
	bool bottom = false;

	for (; n >= 4 && !bottom; p += 4, n -= 4) {
		judge_word(j, "mpls", "");
		bottom = p[2] & 1;
	}
	judge_payload(j, p, n);
	if (n && p[0] >> 4 == 4)
		judge_ip4(j, p, n);
	else if (n && p[0] >> 4 == 6)
		judge_ip6(j, p, n);
}

static inline void judge_type(struct judged *j, unsigned type, const unsigned char *p, size_t n)
{
	judge_payload(j, p, n);
	switch (type) {
	case 0x8100:
	case 0x88a8:
		judge_word(j, type == 0x8100 ? "vlan" : "svlan", n < 4 ? "?" : "");
		if (n >= 4)
			judge_type(j, judge_be16(p + 2), p + 4, n - 4);
		break;
	case 0x0800:
		judge_ip4(j, p, n);
		break;
	case 0x86dd:
		judge_ip6(j, p, n);
		break;
	case 0x8847:
		judge_mpls(j, p, n);
		break;
	case 0x6558:
		judge_ethernet(j, p, n);
		break;
	default:
		judge_word(j, "type", "?");
	}
}

static inline void judge_ethernet(struct judged *j, const unsigned char *p, size_t n)
{
	judge_word(j, "eth", n < 14 ? "?" : "");
	if (n >= 14)
		judge_type(j, judge_be16(p + 12), p + 14, n - 14);
}

/* A whole frame, without FCS. */
static inline struct judged judge_frame(const unsigned char *p, size_t n)
{
	struct judged j = {.words = ""};

	judge_ethernet(&j, p, n);
	return j;
}

#endif
