/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues. Basic ones: the driver has no XRC and no tag matching. */
#include "uapi/uverbs.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

/* enum ib_srq_attr_mask of the kernel (not in its uapi headers). */
enum { RXE_SRQ_MAX_WR = 1 << 0, RXE_SRQ_LIMIT = 1 << 1 };

/* ---- create ----------------------------------------------------------------------- */

static struct ushm *make_ring(struct uctx *ctx, const struct rxe_srq_geometry *g,
			      struct rxe_ring *ring, struct mminfo *mi)
{
	return ushm_new_ring(ctx, g->bytes, g->slots, g->log2_elem, ring, mi);
}

static int create_object(struct usrq *srq, struct rxe_srq_init *init)
{
	struct rxe_dev *dev = srq->o.ctx->dev;
	int err = rxe_idmap_get(&dev->srqns, &srq->srqn);

	if (err)
		return err;
	init->pdn = srq->pd->pdn;
	init->max_sge = srq->geo.max_sge;
	init->owner = srq;
	err = rxe_srq_create(&dev->hca, init, &srq->srq);
	if (err)
		rxe_idmap_put(&dev->srqns, srq->srqn);
	return err;
}

static int create(struct ucmd *cmd, const struct ib_uverbs_create_xsrq *in)
{
	struct rxe_create_srq_resp *uresp = (void *)cmd->uhw_out;
	struct ib_uverbs_create_srq_resp *r = (void *)cmd->out;
	struct rxe_srq_init init = {.limit = in->srq_limit};
	struct uctx *ctx = cmd->ctx;
	struct upd *pd = uobj_find(ctx, UOBJ_PD, in->pd_handle);
	const struct rxe_limits *lim = &ctx->dev->hca.limits;
	struct rxe_srq_geometry geo;
	struct usrq *srq;
	int err;

	if (!pd || rxe_srq_ring_geometry(lim, in->max_wr, in->max_sge, &geo))
		return -EINVAL;
	if (ctx->dev->hca.nr_srqs >= lim->max_srq)
		return uverbs_limit(cmd, "an SRQ", "max_srq", lim->max_srq);
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	srq->pd = pd;
	srq->geo = geo;
	srq->o.user_handle = in->user_handle;
	err = -ENOMEM;
	srq->ring = make_ring(ctx, &geo, &init.ring, &uresp->mi);
	if (!srq->ring)
		goto out_free;
	err = uobj_add(ctx, UOBJ_SRQ, &srq->o);
	if (err)
		goto out_ring;
	err = create_object(srq, &init);
	if (err)
		goto out_obj;
	pd->o.uses++;
	r->srq_handle = srq->o.handle;
	r->max_wr = geo.max_wr;
	r->max_sge = geo.max_sge;
	uresp->srq_num = srq->srqn;
	cmd->uhw_out_len = sizeof(*uresp);
	return 0;
out_obj:
	uobj_remove(&srq->o);
out_ring:
	ushm_free(ctx, srq->ring);
out_free:
	free(srq);
	return err;
}

int ucmd_create_srq(struct ucmd *cmd)
{
	const struct ib_uverbs_create_srq *in = cmd->in;
	const struct ib_uverbs_create_xsrq x = {
		.user_handle = in->user_handle,
		.pd_handle = in->pd_handle,
		.max_wr = in->max_wr,
		.max_sge = in->max_sge,
		.srq_limit = in->srq_limit,
	};

	return create(cmd, &x);
}

/*
 * The kernel looks up what a type needs before it asks the driver: of XRC
 * domains there can be none.
 */
int ucmd_create_xsrq(struct ucmd *cmd)
{
	const struct ib_uverbs_create_xsrq *in = cmd->in;

	if (in->srq_type == IB_UVERBS_SRQT_XRC)
		return -EINVAL;
	if (in->srq_type == IB_UVERBS_SRQT_TM && !uobj_find(cmd->ctx, UOBJ_CQ, in->cq_handle))
		return -EINVAL;
	if (in->srq_type != IB_UVERBS_SRQT_BASIC)
		return -EOPNOTSUPP;
	return create(cmd, in);
}

/* ---- modify, query ------------------------------------------------------------------ */

/*
 * As rxe_srq_chk_attr(): the limit is at most what the queue holds. The driver
 * compares with the old size when both change at once; here it is the new one.
 */
static int check_modify(const struct usrq *srq, const struct ib_uverbs_modify_srq *in,
			struct rxe_srq_geometry *geo)
{
	uint32_t limit =
		in->attr_mask & RXE_SRQ_LIMIT ? in->srq_limit : rxe_srq_get_limit(srq->srq);

	*geo = srq->geo;
	if (in->attr_mask & RXE_SRQ_MAX_WR &&
	    rxe_srq_ring_geometry(&srq->o.ctx->dev->hca.limits, in->max_wr, srq->geo.max_sge, geo))
		return -EINVAL;
	return limit > geo->max_wr ? -EINVAL : 0;
}

/*
 * The provider holds its lock, and maps the new ring where mminfo says: the
 * driver writes it to mmap_info_addr, here the preload library does
 * (user/verbs/command.c).
 */
static int resize(struct ucmd *cmd, struct usrq *srq, const struct rxe_srq_geometry *geo)
{
	struct rxe_ring ring;
	struct ushm *mem = make_ring(cmd->ctx, geo, &ring, (void *)cmd->uhw_out);
	int err;

	if (!mem)
		return -ENOMEM;
	err = rxe_srq_resize(srq->srq, &ring);
	ushm_free(cmd->ctx, err ? mem : srq->ring);
	if (err)
		return err;
	srq->ring = mem;
	srq->geo = *geo;
	cmd->uhw_out_len = sizeof(struct mminfo);
	return 0;
}

int ucmd_modify_srq(struct ucmd *cmd)
{
	const struct ib_uverbs_modify_srq *in = cmd->in;
	struct usrq *srq = uobj_find(cmd->ctx, UOBJ_SRQ, in->srq_handle);
	struct rxe_srq_geometry geo;
	int err;

	if (!srq || cmd->uhw_in_len < sizeof(struct rxe_modify_srq_cmd))
		return -EINVAL;
	err = check_modify(srq, in, &geo);
	if (!err && in->attr_mask & RXE_SRQ_MAX_WR)
		err = resize(cmd, srq, &geo);
	if (!err && in->attr_mask & RXE_SRQ_LIMIT)
		rxe_srq_set_limit(srq->srq, in->srq_limit);
	return err;
}

int ucmd_query_srq(struct ucmd *cmd)
{
	const struct ib_uverbs_query_srq *in = cmd->in;
	struct ib_uverbs_query_srq_resp *r = (void *)cmd->out;
	struct usrq *srq = uobj_find(cmd->ctx, UOBJ_SRQ, in->srq_handle);

	if (!srq)
		return -EINVAL;
	r->max_wr = srq->geo.max_wr;
	r->max_sge = srq->geo.max_sge;
	r->srq_limit = rxe_srq_get_limit(srq->srq);
	return 0;
}

/* ---- destroy ------------------------------------------------------------------------ */

void usrq_destroy(struct usrq *srq)
{
	struct uctx *ctx = srq->o.ctx;

	rxe_srq_destroy(&ctx->dev->hca, srq->srq);
	rxe_idmap_put(&ctx->dev->srqns, srq->srqn);
	srq->pd->o.uses--;
	uobj_remove(&srq->o);
	ushm_free(ctx, srq->ring);
	free(srq);
}

int ucmd_destroy_srq(struct ucmd *cmd)
{
	const struct ib_uverbs_destroy_srq *in = cmd->in;
	struct ib_uverbs_destroy_srq_resp *r = (void *)cmd->out;
	struct usrq *srq = uobj_find(cmd->ctx, UOBJ_SRQ, in->srq_handle);

	if (!srq)
		return -EINVAL;
	if (srq->o.uses)
		return -EBUSY;
	/* The program waits until it has acknowledged what it has read. */
	r->events_reported = srq->async_sent;
	if (cmd->ctx->async)
		r->events_reported -= uchannel_take_back(cmd->ctx->async, srq->o.user_handle);
	usrq_destroy(srq);
	return 0;
}
