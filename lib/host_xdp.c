/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "host_internal.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <string.h>

/* Linux' include/uapi/linux/netdev.h, which came with 6.3; the headers that we build with may be older. */
#define FAMILY         "netdev"
#define FAMILY_VERSION 1
enum { CMD_DEV_GET = 1 };
enum { DEV_IFINDEX = 1, DEV_XDP_FEATURES = 3, DEV_XDP_ZC_MAX_SEGS = 4 };
enum {
	ACT_BASIC = 1 << 0,
	ACT_REDIRECT = 1 << 1,
	ACT_NDO_XMIT = 1 << 2,
	ACT_XSK_ZEROCOPY = 1 << 3,
	ACT_RX_SG = 1 << 5,
};

int host_xdp_parse(const void *msg, size_t len, struct host_xdp *out)
{
	const struct nlmsghdr *nlh = msg;
	const struct nlattr *tb[DEV_XDP_ZC_MAX_SEGS + 1];
	uint64_t features = 0;
	uint32_t segments = 0;

	memset(out, 0, sizeof(*out));
	if (len < sizeof(*nlh) || nlh->nlmsg_len < sizeof(*nlh) || nlh->nlmsg_len > len ||
	    !host_nl_open_message(nlh, GENL_HDRLEN, tb, DEV_XDP_ZC_MAX_SEGS) ||
	    host_nl_read_attr(tb[DEV_XDP_FEATURES], &features, sizeof(features)) ||
	    host_nl_read_attr(tb[DEV_XDP_ZC_MAX_SEGS], &segments, sizeof(segments)))
		return -EBADMSG;
	if (!tb[DEV_XDP_FEATURES])
		return 0;
	*out = (struct host_xdp){
		.known = true,
		.native = features & ACT_BASIC,
		.redirect = features & ACT_REDIRECT,
		.ndo_xmit = features & ACT_NDO_XMIT,
		.zero_copy = features & ACT_XSK_ZEROCOPY,
		.multi_buffer = features & ACT_RX_SG,
		.zc_segments = segments,
	};
	return 0;
}

static int take_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *tb[CTRL_ATTR_FAMILY_ID + 1];

	if (!host_nl_open_message(nlh, GENL_HDRLEN, tb, CTRL_ATTR_FAMILY_ID) ||
	    host_nl_read_attr(tb[CTRL_ATTR_FAMILY_ID], data, sizeof(uint16_t))) {
		errno = EBADMSG;
		return MNL_CB_ERROR;
	}
	return MNL_CB_OK;
}

static int take_device(const struct nlmsghdr *nlh, void *data)
{
	int rc = host_xdp_parse(nlh, nlh->nlmsg_len, data);

	if (!rc)
		return MNL_CB_OK;
	errno = -rc;
	return MNL_CB_ERROR;
}

/* A request of a generic netlink family, in buf. */
static struct nlmsghdr *request(void *buf, uint16_t family, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *req = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	req->nlmsg_type = family;
	genl = mnl_nlmsg_put_extra_header(req, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return req;
}

int host_link_xdp(int index, struct host_xdp *out)
{
	_Alignas(struct nlmsghdr) char buf[64];
	struct mnl_socket *nl = host_nl_open(NETLINK_GENERIC);
	struct nlmsghdr *req;
	uint16_t family = 0;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!nl)
		return errno == EPROTONOSUPPORT ? 0 : -errno;
	req = request(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	mnl_attr_put_strz(req, CTRL_ATTR_FAMILY_NAME, FAMILY);
	rc = host_nl_talk(nl, req, take_family, &family);
	if (!rc && family) {
		req = request(buf, family, CMD_DEV_GET, FAMILY_VERSION);
		mnl_attr_put_u32(req, DEV_IFINDEX, (uint32_t)index);
		rc = host_nl_talk(nl, req, take_device, out);
	} else if (rc == -ENOENT) {
		rc = 0;
	}
	mnl_socket_close(nl);
	return rc;
}
