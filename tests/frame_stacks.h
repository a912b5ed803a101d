/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_stacks: the headers inside others that tests go through, and how one packet of them is judged.
 */
#ifndef SQUALL_TESTS_FRAME_STACKS_H
#define SQUALL_TESTS_FRAME_STACKS_H

#include "frame_judge.h"
#include "frame_words.h"
#include "lib/core/patch.h"

static const char *const stacks[] = {
	"eth ip4 udp",
	"eth ip6 udp",
	"eth ip4 tcp",
	"eth ip6 tcp",
	"eth ip4 echo",
	"eth ip6 echo",
	"eth ip4 udp-",
	"eth ip6 udp-",
	"eth ip4 udp!",
	"eth ip6 udp!",
	"eth vlan ip4 udp",
	"eth vlan ip6 tcp",
	"eth svlan vlan ip4 tcp",
	"eth vlan vlan ip6 udp",
	"eth mpls ip4 udp",
	"eth mpls mpls mpls ip6 udp",
	"eth svlan vlan mpls mpls ip4 echo",
	"eth ip4 ip4 udp",
	"eth ip4 ip6 tcp",
	"eth ip6 ip4 udp-",
	"eth ip6 ip6 echo",
	"eth ip4 gre ip4 udp",
	"eth vlan ip4 gre ip6 udp",
	"eth ip6 gre ip4 tcp",
	"eth ip4 gre eth vlan ip4 udp!",
	"eth ip4 gre mpls ip6 udp",
	"eth ip4 udp- vxlan eth ip4 udp",
	"eth ip4 udp- vxlan eth ip6 tcp",
	"eth ip6 udp- vxlan eth ip4 echo",
	"eth vlan ip6 udp- vxlan eth svlan vlan ip6 udp",
	"eth ip4 udp- vxlan eth ip4 udp-",
	"eth ip4 udp- vxlan eth ip4 udp!",
	"eth ip4 udp- geneve eth ip4 udp",
	"eth ip4 udp- geneve ip6 udp",
	"eth ip4 udp- vxlan eth ip4 gre ip4 tcp",
	"eth mpls ip4 udp- vxlan eth vlan ip4 gre ip6 udp",
};
#define STACKS (sizeof(stacks) / sizeof(stacks[0]))

/* Makes `frame` the packet of flow n in size s, over what it held before, and has it read. */
static inline struct judged packet(const struct made *m, uint64_t n, unsigned s, unsigned char *frame)
{
	unsigned char entry[TX_ENTRY_MAX];

	tx_entry_at(m->plan, n, entry);
	tx_put(m->plan, entry, &m->plan->sizes[s], frame, 0);
	return judge_frame(frame, m->plan->sizes[s].len);
}

static inline void check_read(const struct made *m, const struct judged *j, const char *stack, unsigned s)
{
	uint32_t len = m->plan->sizes[s].len;

	if (strcmp(j->words, stack) != 0)
		fail_msg("%s, of %u bytes, reads as %s", stack, len, j->words);
	assert_int_equal(j->payload_len, len - m->headers);
	for (size_t i = 0; i < j->payload_len; i++)
		assert_int_equal(j->payload[i], made_filler(i));
}

#endif
