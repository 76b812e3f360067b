/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_RDMA, the frame around the commands: which bytes are a request, who
 * may send it, what it must carry, and how it is acknowledged, as the
 * kernel's rdma_nl_rcv() does it.
 */
#include "nldev.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "nldev_cmd.h"
#include "nldev_obj.h"

#define ADMIN	  1u /* needs CAP_NET_ADMIN in the caller's namespace */
#define MAX_NEEDS 5

#define OBJECTS                                                                    \
	{                                                                          \
		.doit = nldev_obj_get, .doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},  \
		.dump = nldev_obj_dump, .dump_needs = {RDMA_NLDEV_ATTR_DEV_INDEX}, \
	}
/* A driver's own dump of an object, which rxe has none of. */
#define RAW_OBJECTS                                                                              \
	{                                                                                        \
		.flags = ADMIN, .doit = nldev_no_raw, .doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX}, \
		.dump = nldev_no_raw, .dump_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},                 \
	}

/*
 * A command without a handler is known to the kernel and not offered here.
 * Attribute 0 does not exist, so it ends a list of needs.
 */
static const struct {
	unsigned int flags;
	int (*doit)(struct nldev_cmd *c);
	uint16_t doit_needs[MAX_NEEDS];
	int (*one)(struct nldev_cmd *c, struct rxe_dev *dev);
	uint16_t dump_needs[MAX_NEEDS]; /* DEV_INDEX: the dump is of that device */
	int (*dump)(struct nldev_cmd *c);
} commands[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] =
		{
			.doit = nldev_get,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
			.one = nldev_get_one,
		},
	[RDMA_NLDEV_CMD_SET] =
		{
			.flags = ADMIN,
			.doit = nldev_set,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
		},
	[RDMA_NLDEV_CMD_NEWLINK] =
		{
			.flags = ADMIN,
			.doit = nldev_newlink,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_LINK_TYPE,
				       RDMA_NLDEV_ATTR_NDEV_NAME},
		},
	[RDMA_NLDEV_CMD_DELLINK] =
		{
			.flags = ADMIN,
			.doit = nldev_dellink,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
		},
	[RDMA_NLDEV_CMD_PORT_GET] =
		{
			.doit = nldev_port_get,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX},
			.one = nldev_port_get_one,
			.dump_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
		},
	[RDMA_NLDEV_CMD_SYS_GET] = {.doit = nldev_sys_get},
	[RDMA_NLDEV_CMD_SYS_SET] =
		{
			.flags = ADMIN,
			.doit = nldev_sys_set,
			.doit_needs = {RDMA_NLDEV_SYS_ATTR_NETNS_MODE},
		},
	[RDMA_NLDEV_CMD_RES_GET] =
		{
			.doit = nldev_res_get,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
			.one = nldev_res_get_one,
		},
	[RDMA_NLDEV_CMD_GET_CHARDEV] =
		{
			.doit = nldev_get_chardev,
			.doit_needs = {RDMA_NLDEV_ATTR_CHARDEV_TYPE},
		},
	[RDMA_NLDEV_CMD_RES_QP_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_CQ_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_MR_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_PD_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_CTX_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = OBJECTS,
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = RAW_OBJECTS,
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = RAW_OBJECTS,
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = RAW_OBJECTS,
	[RDMA_NLDEV_CMD_STAT_GET] =
		{
			.doit = nldev_stat_get,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX},
			.dump = nldev_stat_dump,
			.dump_needs = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_STAT_RES},
		},
	[RDMA_NLDEV_CMD_STAT_SET] =
		{
			.flags = ADMIN,
			.doit = nldev_stat_set,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX},
		},
	[RDMA_NLDEV_CMD_STAT_DEL] =
		{
			.flags = ADMIN,
			.doit = nldev_stat_del,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX,
				       RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
				       RDMA_NLDEV_ATTR_RES_LQPN},
		},
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] =
		{
			.doit = nldev_stat_get_status,
			.doit_needs = {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX},
		},
};

/* The numbers between the first and the last command that name none. */
static bool is_command(unsigned int op)
{
	return op > RDMA_NLDEV_CMD_UNSPEC && op < RDMA_NLDEV_NUM_OPS && op != 8;
}

int nldev_fail(struct nldev_cmd *c, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->out->err, sizeof(c->out->err), fmt, ap);
	va_end(ap);
	return err;
}

/* In another namespace than the caller's, only rxed's own administrators may. */
static bool administers(const struct nldev_cmd *c, const struct rxe_dev *dev)
{
	return dev->rdma_ns == c->peer->ns ? c->peer->net_admin : c->peer->bpf_admin;
}

int nldev_may_administer(struct nldev_cmd *c, const struct rxe_dev *dev)
{
	if (administers(c, dev))
		return 0;
	return nldev_fail(c, -EPERM,
			  "device %s: changing it needs CAP_NET_ADMIN in its network namespace",
			  dev->name);
}

bool nldev_sees_keys(const struct nldev_cmd *c)
{
	return administers(c, c->dev);
}

void nldev_put_handle(struct nldev_out *out, const struct rxe_dev *dev)
{
	nldev_put_u32(out, RDMA_NLDEV_ATTR_DEV_INDEX, dev->index);
	nldev_put_str(out, RDMA_NLDEV_ATTR_DEV_NAME, dev->name);
}

int nldev_no_raw(struct nldev_cmd *c)
{
	(void)c;
	return -EINVAL;
}

static bool has_needs(const struct nldev_attrs *attrs, const uint16_t needs[MAX_NEEDS])
{
	for (int i = 0; i < MAX_NEEDS && needs[i]; i++) {
		if (!nldev_has(attrs, needs[i]))
			return false;
	}
	return true;
}

/* The device that DEV_INDEX names, when there is one; false: no such device. */
static bool find_dev(struct nldev_cmd *c)
{
	if (!nldev_has(c->attrs, RDMA_NLDEV_ATTR_DEV_INDEX))
		return true;
	c->dev = rxe_dev_by_index(nldev_u32(c->attrs, RDMA_NLDEV_ATTR_DEV_INDEX));
	if (c->dev && !rxe_dev_visible(c->dev, c->peer->ns))
		c->dev = NULL;
	return c->dev;
}

static int do_dump(struct nldev_cmd *c)
{
	unsigned int op = c->op;
	bool of_dev = commands[op].dump_needs[0] == RDMA_NLDEV_ATTR_DEV_INDEX;
	struct rxe_dev *dev;
	int err = 0;

	if (!has_needs(c->attrs, commands[op].dump_needs) || (of_dev && !find_dev(c)))
		return -EINVAL;
	if (commands[op].dump)
		return commands[op].dump(c);
	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (err || (of_dev && dev != c->dev) || !rxe_dev_visible(dev, c->peer->ns))
			continue;
		nldev_begin(c->out, c->type, NLM_F_MULTI);
		commands[op].one(c, dev);
		err = nldev_end(c->out);
	}
	return err;
}

/* 0 or -errno: to be acknowledged. -EINTR: answered completely. */
static int handle_request(struct rxe_peer *peer, struct rxe_netns *netns,
			  const struct nlmsghdr *nlh, struct nldev_out *out)
{
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	struct nldev_attrs attrs;
	struct nldev_cmd c = {
		.peer = peer,
		.netns = netns,
		.attrs = &attrs,
		.out = out,
		.op = op,
		.type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, op),
	};
	int err;

	if (RDMA_NL_GET_CLIENT(nlh->nlmsg_type) != RDMA_NL_NLDEV || !is_command(op))
		return -EINVAL;
	if (commands[op].flags & ADMIN && !peer->net_admin && !peer->bpf_admin)
		return nldev_fail(&c, -EPERM,
				  "this needs CAP_NET_ADMIN in the caller's network namespace: run "
				  "it as root");
	if (!commands[op].doit)
		return -EOPNOTSUPP;
	err = nldev_parse(nlh, &attrs);
	if (nlh->nlmsg_flags & NLM_F_DUMP) {
		if (!commands[op].one && !commands[op].dump)
			return -EOPNOTSUPP;
		nldev_done(out, err ? err : do_dump(&c));
		return -EINTR;
	}
	if (err || !has_needs(&attrs, commands[op].doit_needs) || !find_dev(&c))
		return -EINVAL;
	return commands[op].doit(&c);
}

static void handle_message(struct rxe_peer *peer, struct rxe_netns *netns,
			   const struct nlmsghdr *nlh, struct nldev_out *out)
{
	int err = 0;

	out->req = nlh;
	out->len = 0;
	out->err[0] = 0;
	if (nlh->nlmsg_flags & NLM_F_REQUEST && nlh->nlmsg_type >= NLMSG_MIN_TYPE)
		err = handle_request(peer, netns, nlh, out);
	if (err && err != -EINTR)
		out->len = 0; /* an answer half written */
	nldev_flush(out);
	if (err != -EINTR && (err || nlh->nlmsg_flags & NLM_F_ACK))
		nldev_ack(out, err);
}

int rxe_nldev_handle(struct rxe_peer *peer, const void *msg, size_t len,
		     void (*reply)(void *arg, const void *msg, size_t len), void *arg)
{
	return rxe_nldev_handle_netns(peer, msg, len, NULL, reply, arg);
}

int rxe_nldev_handle_netns(struct rxe_peer *peer, const void *msg, size_t len,
			   struct rxe_netns *netns,
			   void (*reply)(void *arg, const void *msg, size_t len), void *arg)
{
	struct nldev_out out = {.reply = reply, .arg = arg};
	char copy[RXE_NLDEV_BATCH] __attribute__((aligned(8)));
	const char *pos = msg;
	struct nlmsghdr nlh;
	size_t step;

	if (len < sizeof(nlh))
		return -EINVAL;
	while (len >= sizeof(nlh)) {
		memcpy(&nlh, pos, sizeof(nlh));
		if (nlh.nlmsg_len < sizeof(nlh) || nlh.nlmsg_len > len)
			break;
		/* Aligned, and as long as any request of NLDEV can sensibly be. */
		if (nlh.nlmsg_len <= sizeof(copy)) {
			memcpy(copy, pos, nlh.nlmsg_len);
			handle_message(peer, netns, (void *)copy, &out);
		} else {
			out.req = &nlh;
			nldev_ack(&out, -EMSGSIZE);
		}
		step = NLMSG_ALIGN(nlh.nlmsg_len);
		if (step > len)
			break;
		pos += step;
		len -= step;
	}
	return 0;
}
