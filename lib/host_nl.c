/* SPDX-License-Identifier: Apache-2.0 */
#include "host_internal.h"

#include <errno.h>
#include <string.h>

struct mnl_socket *host_nl_open(int protocol)
{
	struct mnl_socket *nl = mnl_socket_open2(protocol, SOCK_CLOEXEC);

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

int host_nl_index_attrs(const void *data, size_t len, const struct nlattr **tb, unsigned max)
{
	const char *p = data;

	memset(tb, 0, (max + 1) * sizeof(*tb));
	while (len > 0) {
		const struct nlattr *a = (const void *)p;

		if (len < sizeof(*a) || a->nla_len < sizeof(*a) || a->nla_len > len)
			return -EBADMSG;
		if (mnl_attr_get_type(a) <= max)
			tb[mnl_attr_get_type(a)] = a;
		size_t step = host_nl_align(a->nla_len);

		if (step >= len)
			break;
		p += step;
		len -= step;
	}
	return 0;
}

const void *host_nl_open_message(const struct nlmsghdr *nlh, size_t header, const struct nlattr **tb, unsigned max)
{
	size_t len = nlh->nlmsg_len - sizeof(struct nlmsghdr);
	const char *p = mnl_nlmsg_get_payload(nlh);

	if (len < header || host_nl_index_attrs(p + header, len - header, tb, max))
		return NULL;
	return p;
}

int host_nl_read_attr(const struct nlattr *a, void *out, size_t size)
{
	if (!a)
		return 0;
	if (mnl_attr_get_payload_len(a) < size)
		return -EBADMSG;
	memcpy(out, mnl_attr_get_payload(a), size);
	return 0;
}
