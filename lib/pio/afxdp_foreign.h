/* SPDX-License-Identifier: Apache-2.0 */
/* afxdp_foreign: whose XDP program is on an interface. Nothing is changed. Main thread. */
#ifndef SQUALL_PIO_AFXDP_FOREIGN_H
#define SQUALL_PIO_AFXDP_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

enum foreign_mode { FOREIGN_NATIVE, FOREIGN_GENERIC, FOREIGN_OFFLOADED };

struct afxdp_foreign {
	uint32_t id; /* of the program; 0: there is none */
	char name[16];
	enum foreign_mode mode;
	uint32_t link_id; /* of the BPF link that holds it; 0: netlink, or not allowed to look */
	bool looked;      /* allowed to see programs and links: else name is empty and link_id 0 */
};

/* A negative errno when the kernel does not say. */
int afxdp_foreign_find(int ifindex, struct afxdp_foreign *out);

/* For people: "the program xdp_drop (id 7), attached in native mode by netlink". Returns buf. */
char *afxdp_foreign_describe(const struct afxdp_foreign *f, char *buf, unsigned size);

#endif
