/* SPDX-License-Identifier: Apache-2.0 */
#include "host_internal.h"

#include <errno.h>

struct mnl_socket *host_nl_open(void)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);

	if (nl && mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		int saved = errno;

		mnl_socket_close(nl);
		errno = saved;
		return NULL;
	}
	return nl;
}

int host_nl_talk(struct mnl_socket *nl, struct nlmsghdr *req, mnl_cb_t cb, void *data)
{
	_Alignas(struct nlmsghdr) char buf[HOST_NL_BUF];
	int rc;

	req->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (mnl_socket_sendto(nl, req, req->nlmsg_len) < 0)
		return -errno;
	do {
		ssize_t n = mnl_socket_recvfrom(nl, buf, sizeof(buf));

		if (n < 0 && errno == EINTR) {
			rc = MNL_CB_OK;
			continue;
		}
		if (n < 0)
			return -errno;
		rc = mnl_cb_run(buf, (size_t)n, req->nlmsg_seq, 0, cb, data);
	} while (rc > MNL_CB_STOP);
	return rc < 0 ? -errno : 0;
}
