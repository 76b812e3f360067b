/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of uverbs commands and the three forms in which they arrive:
 * write(), extended write() and the ioctl's INVOKE_WRITE (UABI: mode B).
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "uapi/uverbs_ioctl.h"

#define EX(n) (IB_USER_VERBS_CMD_FLAG_EXTENDED | (n))

struct command {
	uint32_t number;
	const char *name;
	ucmd_handler handler;
	uint16_t in;	  /* least core input, bytes */
	uint16_t out;	  /* core response, bytes; 0: none */
	bool before_open; /* allowed before GET_CONTEXT */
};

#define IN(s)  sizeof(struct ib_uverbs_##s)
#define OUT(s) sizeof(struct ib_uverbs_##s##_resp)
#define CMD(NUM, fn, in, out)                                            \
	{                                                                \
		IB_USER_VERBS_CMD_##NUM, #NUM, ucmd_##fn, in, out, false \
	}
#define CMD_EX(NUM, fn, in, out)                                                         \
	{                                                                                \
		EX(IB_USER_VERBS_EX_CMD_##NUM), "EX_" #NUM, ucmd_ex_##fn, in, out, false \
	}

static const struct command commands[] = {
	{IB_USER_VERBS_CMD_GET_CONTEXT, "GET_CONTEXT", ucmd_get_context, IN(get_context),
	 OUT(get_context), true},
	CMD(QUERY_DEVICE, query_device, IN(query_device), OUT(query_device)),
	CMD_EX(QUERY_DEVICE, query_device, IN(ex_query_device), OUT(ex_query_device)),
	CMD(QUERY_PORT, query_port, IN(query_port), OUT(query_port)),
	CMD(ALLOC_PD, alloc_pd, IN(alloc_pd), OUT(alloc_pd)),
	CMD(DEALLOC_PD, dealloc_pd, IN(dealloc_pd), 0),
	CMD(REG_MR, reg_mr, IN(reg_mr), OUT(reg_mr)),
	CMD(DEREG_MR, dereg_mr, IN(dereg_mr), 0),
	CMD(REREG_MR, rereg_mr, IN(rereg_mr), OUT(rereg_mr)),
	CMD(ALLOC_MW, alloc_mw, IN(alloc_mw), OUT(alloc_mw)),
	CMD(DEALLOC_MW, dealloc_mw, IN(dealloc_mw), 0),
	CMD(CREATE_AH, create_ah, IN(create_ah), OUT(create_ah)),
	CMD(DESTROY_AH, destroy_ah, IN(destroy_ah), 0),
	CMD(CREATE_COMP_CHANNEL, create_comp_channel, IN(create_comp_channel),
	    OUT(create_comp_channel)),
	CMD(CREATE_CQ, create_cq, IN(create_cq), OUT(create_cq)),
	CMD_EX(CREATE_CQ, create_cq, IN(ex_create_cq), OUT(ex_create_cq)),
	CMD(RESIZE_CQ, resize_cq, IN(resize_cq), OUT(resize_cq)),
	CMD(DESTROY_CQ, destroy_cq, IN(destroy_cq), OUT(destroy_cq)),
	CMD(REQ_NOTIFY_CQ, req_notify_cq, IN(req_notify_cq), 0),
	CMD(CREATE_SRQ, create_srq, IN(create_srq), OUT(create_srq)),
	CMD(CREATE_XSRQ, create_xsrq, IN(create_xsrq), OUT(create_srq)),
	CMD(MODIFY_SRQ, modify_srq, IN(modify_srq), 0),
	CMD(QUERY_SRQ, query_srq, IN(query_srq), OUT(query_srq)),
	CMD(DESTROY_SRQ, destroy_srq, IN(destroy_srq), OUT(destroy_srq)),
	CMD(CREATE_QP, create_qp, IN(create_qp), OUT(create_qp)),
	CMD_EX(CREATE_QP, create_qp, IN(ex_create_qp), OUT(ex_create_qp)),
	CMD(MODIFY_QP, modify_qp, IN(modify_qp), 0),
	CMD_EX(MODIFY_QP, modify_qp, IN(modify_qp), OUT(ex_modify_qp)),
	CMD(QUERY_QP, query_qp, IN(query_qp), OUT(query_qp)),
	CMD(DESTROY_QP, destroy_qp, IN(destroy_qp), OUT(destroy_qp)),
	CMD(ATTACH_MCAST, attach_mcast, IN(attach_mcast), 0),
	CMD(DETACH_MCAST, detach_mcast, IN(detach_mcast), 0),
};

static const struct command *find_command(uint32_t number)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].number == number)
			return &commands[i];
	return NULL;
}

/* ---- one command, whatever carried it -------------------------------------------- */

/* How the answer goes back. */
struct carrier {
	struct ucmd cmd;
	ureply reply;
	void *arg;
	uint16_t core_out; /* the row's response size */
	size_t core_room;  /* what the caller has room for */
	size_t uhw_room;
	bool ioctl;
	uint16_t core_attr, uhw_attr; /* ioctl: indices of the attributes */
	_Alignas(8) uint8_t bytes[];  /* the input, kept for deferred handlers */
};

static void reply_write(struct carrier *c)
{
	struct {
		struct rxe_ipc_write_reply h;
		uint8_t bytes[UCMD_OUT_MAX + sizeof(c->cmd.uhw_out)];
	} r;
	size_t core = c->cmd.out_len < c->core_room ? c->cmd.out_len : c->core_room;
	size_t uhw = c->cmd.uhw_out_len < c->uhw_room ? c->cmd.uhw_out_len : c->uhw_room;

	r.h.fd_offset = c->cmd.fd_offset;
	r.h.channel_id = c->cmd.channel_id;
	memcpy(r.bytes, c->cmd.out, core);
	memcpy(r.bytes + core, c->cmd.uhw_out, uhw);
	c->reply(c->arg, 0, &r, sizeof(r.h) + core + uhw, c->cmd.fd);
}

static void reply_ioctl(struct carrier *c)
{
	struct uioctl_reply r;

	uioctl_reply_init(&r);
	r.hdr.channel_id = c->cmd.channel_id;
	if (c->core_room)
		uioctl_put(&r, UVERBS_ATTR_CORE_OUT, c->core_attr, c->cmd.out,
			   c->cmd.out_len < c->core_room ? c->cmd.out_len : c->core_room);
	if (c->uhw_room)
		uioctl_put(&r, UVERBS_ATTR_UHW_OUT, c->uhw_attr, c->cmd.uhw_out,
			   c->cmd.uhw_out_len < c->uhw_room ? c->cmd.uhw_out_len : c->uhw_room);
	uioctl_send(&r, c->reply, c->arg, c->cmd.fd);
}

void ucmd_finish(struct ucmd *cmd, int status)
{
	struct carrier *c = cmd->carrier;

	if (status)
		c->reply(c->arg, status, NULL, 0, -1);
	else if (c->ioctl)
		reply_ioctl(c);
	else
		reply_write(c);
	if (cmd->fd >= 0)
		close(cmd->fd);
	free(c);
}

int uverbs_limit(const struct ucmd *cmd, const char *what, const char *limit, uint32_t value)
{
	log_warn(
		"making %s on device %s for process %d (%s): all %s = %u are in use; where it is a "
		"tunable, raise it with `rxe param set %s N` and make the device anew",
		what, cmd->ctx->dev->name, cmd->ctx->peer->pid, cmd->ctx->peer->comm, limit, value,
		limit);
	return -ENOMEM;
}

static struct carrier *carrier_new(struct uctx *ctx, const void *bytes, size_t len, ureply reply,
				   void *arg)
{
	struct carrier *c = calloc(1, sizeof(*c) + len);

	if (!c)
		return NULL;
	memcpy(c->bytes, bytes, len);
	c->cmd.ctx = ctx;
	c->cmd.carrier = c;
	c->cmd.fd = -1;
	c->reply = reply;
	c->arg = arg;
	return c;
}

static int check_state(const struct uctx *ctx, const struct command *row)
{
	if (ctx->dead)
		return -EIO;
	if (!ctx->opened && !row->before_open)
		return -EINVAL;
	return 0;
}

static void run(struct carrier *c, const struct command *row)
{
	int err = check_state(c->cmd.ctx, row);

	c->cmd.name = row->name;
	c->core_out = row->out;
	c->cmd.out_len = row->out;
	if (!err && c->cmd.in_len < row->in)
		err = -EINVAL;
	/* A legacy response must fit whole; extended ones are cut to size. */
	if (!err && !(row->number & IB_USER_VERBS_CMD_FLAG_EXTENDED) && c->core_room < row->out)
		err = -ENOSPC;
	if (!err)
		err = row->handler(&c->cmd);
	if (err == -EINPROGRESS)
		return;
	if (err)
		log_debug("%s of process %d: %s", row->name, c->cmd.ctx->peer->pid, strerror(-err));
	ucmd_finish(&c->cmd, err);
}

/* ---- write() ------------------------------------------------------------------------ */

static int split_legacy(struct carrier *c, const struct command *row,
			const struct ib_uverbs_cmd_hdr *h, size_t len)
{
	size_t in = (size_t)h->in_words * 4, out = (size_t)h->out_words * 4;

	if (in != len || in < sizeof(*h))
		return -EINVAL;
	in -= sizeof(*h);
	c->cmd.in = c->bytes + sizeof(*h);
	c->cmd.in_len = in;
	if (in > row->in) {
		c->cmd.uhw_in = c->bytes + sizeof(*h) + row->in;
		c->cmd.uhw_in_len = in - row->in;
	}
	c->core_room = out < row->out ? out : row->out;
	c->uhw_room = out - c->core_room;
	return 0;
}

static int split_extended(struct carrier *c, const struct ib_uverbs_cmd_hdr *h, size_t len)
{
	const struct ib_uverbs_ex_cmd_hdr *x = (const void *)(c->bytes + sizeof(*h));
	size_t head = sizeof(*h) + sizeof(*x), core, uhw;

	if (len < head)
		return -EINVAL;
	core = (size_t)h->in_words * 8;
	uhw = (size_t)x->provider_in_words * 8;
	if (len != head + core + uhw)
		return -EINVAL;
	c->cmd.in = c->bytes + head;
	c->cmd.in_len = core;
	c->cmd.uhw_in = uhw ? c->bytes + head + core : NULL;
	c->cmd.uhw_in_len = uhw;
	c->core_room = (size_t)h->out_words * 8;
	c->uhw_room = (size_t)x->provider_out_words * 8;
	return 0;
}

void uverbs_write(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg)
{
	const struct ib_uverbs_cmd_hdr *h = bytes;
	const struct command *row;
	struct carrier *c;
	int err;

	if (len < sizeof(*h)) {
		reply(arg, -EINVAL, NULL, 0, -1);
		return;
	}
	row = find_command(h->command);
	if (!row) {
		log_debug("command %#x of process %d is not offered", h->command, ctx->peer->pid);
		reply(arg, -EOPNOTSUPP, NULL, 0, -1);
		return;
	}
	c = carrier_new(ctx, bytes, len, reply, arg);
	if (!c) {
		reply(arg, -ENOMEM, NULL, 0, -1);
		return;
	}
	h = (const void *)c->bytes;
	err = h->command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? split_extended(c, h, len)
							   : split_legacy(c, row, h, len);
	if (err)
		ucmd_finish(&c->cmd, err);
	else
		run(c, row);
}

/* ---- ioctl INVOKE_WRITE --------------------------------------------------------------- */

/* Takes the attributes' places from the carrier's own copy of the message. */
static int invoke_attrs(struct carrier *c, size_t len, const struct command **row)
{
	struct uioctl req;
	const struct rxe_ipc_attr *a;
	int err = uioctl_parse(&req, c->bytes, len);

	if (err)
		return err;
	a = uioctl_attr(&req, UVERBS_ATTR_WRITE_CMD);
	if (!a)
		return -EINVAL;
	*row = find_command((uint32_t)a->data);
	if (!*row)
		return -EOPNOTSUPP;
	c->cmd.in = uioctl_bytes(&req, UVERBS_ATTR_CORE_IN, &c->cmd.in_len);
	c->cmd.uhw_in = uioctl_bytes(&req, UVERBS_ATTR_UHW_IN, &c->cmd.uhw_in_len);
	a = uioctl_attr(&req, UVERBS_ATTR_CORE_OUT);
	if (a) {
		c->core_room = a->len;
		c->core_attr = a->index;
	}
	a = uioctl_attr(&req, UVERBS_ATTR_UHW_OUT);
	if (a) {
		c->uhw_room = a->len;
		c->uhw_attr = a->index;
	}
	return 0;
}

void uverbs_invoke_write(struct uctx *ctx, const void *bytes, size_t len, ureply reply, void *arg)
{
	struct carrier *c = carrier_new(ctx, bytes, len, reply, arg);
	const struct command *row = NULL;
	int err;

	if (!c) {
		reply(arg, -ENOMEM, NULL, 0, -1);
		return;
	}
	c->ioctl = true;
	err = invoke_attrs(c, len, &row);
	if (err)
		ucmd_finish(&c->cmd, err);
	else
		run(c, row);
}
