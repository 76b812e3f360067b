/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading and writing netlink messages without trusting either side's
 * lengths: attribute policies in one table, answers in one bounded buffer.
 */
#include "nldev_msg.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include "rxed.h"

/* ---- requests ------------------------------------------------------------- */

enum policy_kind { POLICY_NONE, POLICY_U8, POLICY_U32, POLICY_STR };

/* size: of the value; of a string, with its NUL, at most. */
static const struct {
	enum policy_kind kind;
	uint16_t size;
} policies[RDMA_NLDEV_ATTR_MAX] = {
	[RDMA_NLDEV_ATTR_DEV_INDEX] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_DEV_NAME] = {POLICY_STR, RXE_DEV_NAME_MAX},
	[RDMA_NLDEV_ATTR_PORT_INDEX] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_NDEV_NAME] = {POLICY_STR, IF_NAMESIZE},
	[RDMA_NLDEV_ATTR_LINK_TYPE] = {POLICY_STR, 32},
	[RDMA_NLDEV_ATTR_CHARDEV_TYPE] = {POLICY_STR, 128},
	[RDMA_NLDEV_ATTR_RES_LQPN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_CM_IDN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_CQN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_MRN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_PDN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_CTXN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_RES_SRQN] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_STAT_MODE] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_STAT_RES] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_STAT_COUNTER_ID] = {POLICY_U32, 4},
	[RDMA_NLDEV_ATTR_DEV_DIM] = {POLICY_U8, 1},
	[RDMA_NLDEV_NET_NS_FD] = {POLICY_U32, 4},
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = {POLICY_U8, 1},
};

static size_t attr_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static const void *attr_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static bool policy_holds(int type, const struct nlattr *a)
{
	size_t len = attr_len(a), size = policies[type].size;

	if (policies[type].kind != POLICY_STR)
		return len >= size;
	return len && memchr(attr_data(a), 0, len < size ? len : size);
}

int nldev_parse(const struct nlmsghdr *nlh, struct nldev_attrs *attrs)
{
	const char *pos = (const char *)nlh + NLMSG_HDRLEN;
	size_t left = nlh->nlmsg_len - NLMSG_HDRLEN, step;
	const struct nlattr *a;
	int type;

	memset(attrs, 0, sizeof(*attrs));
	while (left >= sizeof(*a)) {
		a = (const void *)pos;
		if (a->nla_len < sizeof(*a) || a->nla_len > left)
			return -EINVAL;
		type = a->nla_type & NLA_TYPE_MASK;
		if (type < RDMA_NLDEV_ATTR_MAX && policies[type].kind != POLICY_NONE) {
			if (!policy_holds(type, a))
				return -EINVAL;
			attrs->tb[type] = a;
		}
		step = NLA_ALIGN(a->nla_len);
		if (step > left)
			break;
		pos += step;
		left -= step;
	}
	return 0;
}

bool nldev_has(const struct nldev_attrs *attrs, int type)
{
	return attrs->tb[type];
}

uint8_t nldev_u8(const struct nldev_attrs *attrs, int type)
{
	return *(const uint8_t *)attr_data(attrs->tb[type]);
}

uint32_t nldev_u32(const struct nldev_attrs *attrs, int type)
{
	uint32_t v;

	memcpy(&v, attr_data(attrs->tb[type]), sizeof(v));
	return v;
}

const char *nldev_str(const struct nldev_attrs *attrs, int type)
{
	return attr_data(attrs->tb[type]);
}

/* ---- answers -------------------------------------------------------------- */

/* Room for len bytes, zero-padded to the alignment; NULL: it overflowed. */
static void *reserve(struct nldev_out *out, size_t len)
{
	size_t aligned = NLMSG_ALIGN(len);
	void *p = out->buf + out->len;

	if (out->overflow || aligned > sizeof(out->buf) - out->len) {
		out->overflow = true;
		return NULL;
	}
	memset(p, 0, aligned);
	out->len += aligned;
	return p;
}

void nldev_flush(struct nldev_out *out)
{
	if (out->len)
		out->reply(out->arg, out->buf, out->len);
	out->len = 0;
}

void nldev_begin(struct nldev_out *out, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh;

	/* Most messages are far smaller than this: a batch ends here. */
	if (out->len > sizeof(out->buf) / 2)
		nldev_flush(out);
	out->msg = out->len;
	out->overflow = false;
	nlh = reserve(out, sizeof(*nlh));
	if (!nlh)
		return;
	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	nlh->nlmsg_seq = out->req->nlmsg_seq;
	nlh->nlmsg_pid = out->req->nlmsg_pid;
}

void nldev_cancel(struct nldev_out *out)
{
	out->len = out->msg;
	out->overflow = false;
}

int nldev_end(struct nldev_out *out)
{
	struct nlmsghdr *nlh = (void *)(out->buf + out->msg);

	if (out->overflow) {
		out->len = out->msg;
		return -EMSGSIZE;
	}
	nlh->nlmsg_len = out->len - out->msg;
	return 0;
}

void nldev_put(struct nldev_out *out, int type, const void *data, size_t len)
{
	struct nlattr *a = reserve(out, NLA_HDRLEN + len);

	if (!a)
		return;
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
}

void nldev_put_u8(struct nldev_out *out, int type, uint8_t v)
{
	nldev_put(out, type, &v, sizeof(v));
}

void nldev_put_u32(struct nldev_out *out, int type, uint32_t v)
{
	nldev_put(out, type, &v, sizeof(v));
}

void nldev_put_u64(struct nldev_out *out, int type, uint64_t v)
{
	nldev_put(out, type, &v, sizeof(v));
}

void nldev_put_str(struct nldev_out *out, int type, const char *s)
{
	nldev_put(out, type, s, strlen(s) + 1);
}

/* Nested attributes carry no NLA_F_NESTED here, as the kernel's do not. */
size_t nldev_nest_begin(struct nldev_out *out, int type)
{
	size_t nest = out->len;

	nldev_put(out, type, NULL, 0);
	return nest;
}

void nldev_nest_end(struct nldev_out *out, size_t nest)
{
	struct nlattr *a = (void *)(out->buf + nest);

	if (!out->overflow)
		a->nla_len = out->len - nest;
}

bool nldev_take_back(struct nldev_out *out, size_t mark, bool unwanted)
{
	bool overflow = out->overflow;

	if (overflow || unwanted)
		out->len = mark;
	out->overflow = false;
	return overflow;
}

void nldev_ack(struct nldev_out *out, int err)
{
	bool text = err && out->err[0];
	struct nlmsgerr *e;

	nldev_flush(out);
	nldev_begin(out, NLMSG_ERROR, NLM_F_CAPPED | (text ? NLM_F_ACK_TLVS : 0));
	e = reserve(out, sizeof(*e));
	if (e) {
		e->error = err;
		e->msg = *out->req;
	}
	if (text)
		nldev_put_str(out, NLMSGERR_ATTR_MSG, out->err);
	nldev_end(out);
	nldev_flush(out);
}

void nldev_done(struct nldev_out *out, int err)
{
	int32_t *result;

	nldev_begin(out, NLMSG_DONE, NLM_F_MULTI);
	result = reserve(out, sizeof(*result));
	if (result)
		*result = err;
	nldev_end(out);
	nldev_flush(out);
}
