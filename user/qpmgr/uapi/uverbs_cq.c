/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion channels and completion queues. */
#include "uapi/uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CQE_SIZE sizeof(struct ib_uverbs_wc)

int ucmd_create_comp_channel(struct ucmd *cmd)
{
	struct uchan *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->ch = uchannel_new(sizeof(uint64_t), &cmd->fd);
	if (!c->ch)
		goto fail;
	if (uobj_add(cmd->ctx, UOBJ_CHANNEL, &c->o))
		goto fail_channel;
	cmd->fd_offset = offsetof(struct ib_uverbs_create_comp_channel_resp, fd);
	cmd->channel_id = c->o.handle;
	return 0;
fail_channel:
	uchannel_free(c->ch);
fail:
	free(c);
	return -ENOMEM;
}

void uverbs_channel_drop(struct uobj *o)
{
	struct uchan *c = (struct uchan *)o;

	uchannel_free(c->ch);
	uobj_remove(o);
	free(c);
}

void uverbs_channel_close(struct uctx *ctx, uint32_t id)
{
	struct uchan *c = uobj_find(ctx, UOBJ_CHANNEL, id);

	if (!c)
		return;
	c->closed = true;
	if (!c->o.uses)
		uverbs_channel_drop(&c->o);
}

static struct ushm *make_ring(struct uctx *ctx, uint32_t cqe, struct rxe_ring *ring,
			      struct mminfo *mi)
{
	uint32_t slots, log2_elem;
	size_t size = rxe_ring_size(cqe, CQE_SIZE, &slots, &log2_elem);

	return ushm_new_ring(ctx, size, slots, log2_elem, ring, mi);
}

/* The entries that it is said to have: all that it holds, as the driver says. */
static uint32_t ring_cqe(const struct rxe_ring *ring)
{
	return ring->mask;
}

/* What both create commands ask for. */
struct cq_request {
	uint64_t user_handle;
	uint32_t cqe, vector;
	int32_t channel;
};

static int create(struct ucmd *cmd, const struct cq_request *req,
		  struct ib_uverbs_create_cq_resp *resp)
{
	struct rxe_create_cq_resp *uresp = (void *)cmd->uhw_out;
	struct rxe_dev *dev = cmd->ctx->dev;
	struct uchan *chan = NULL;
	struct rxe_ring ring;
	struct ucq *cq;
	int err;

	if (!req->cqe || req->cqe > dev->hca.limits.max_cqe || req->vector >= RXE_COMP_VECTORS)
		return -EINVAL;
	if (dev->nr_cq >= dev->hca.limits.max_cq)
		return uverbs_limit(cmd, "a CQ", "max_cq", dev->hca.limits.max_cq);
	if (req->channel >= 0) {
		chan = uobj_find(cmd->ctx, UOBJ_CHANNEL, (uint32_t)req->channel);
		if (!chan)
			return -EINVAL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	err = -ENOMEM;
	cq->ring = make_ring(cmd->ctx, req->cqe, &ring, &uresp->mi);
	if (!cq->ring)
		goto out_free;
	cq->channel = chan;
	cq->o.user_handle = req->user_handle;
	err = uobj_add(cmd->ctx, UOBJ_CQ, &cq->o);
	if (err)
		goto out_ring;
	err = rxe_cq_create(&dev->hca, &ring, req->cqe, cq, &cq->cq);
	if (err)
		goto out_obj;
	if (chan)
		chan->o.uses++;
	dev->nr_cq++;
	resp->cq_handle = cq->o.handle;
	resp->cqe = cq->cqe = ring_cqe(&ring);
	cmd->uhw_out_len = sizeof(*uresp);
	return 0;
out_obj:
	uobj_remove(&cq->o);
out_ring:
	ushm_free(cmd->ctx, cq->ring);
out_free:
	free(cq);
	return err;
}

int ucmd_create_cq(struct ucmd *cmd)
{
	const struct ib_uverbs_create_cq *in = cmd->in;
	struct cq_request req = {in->user_handle, in->cqe, in->comp_vector, in->comp_channel};

	return create(cmd, &req, (void *)cmd->out);
}

int ucmd_ex_create_cq(struct ucmd *cmd)
{
	const struct ib_uverbs_ex_create_cq *in = cmd->in;
	struct ib_uverbs_ex_create_cq_resp *r = (void *)cmd->out;
	struct cq_request req = {in->user_handle, in->cqe, in->comp_vector, in->comp_channel};

	if (in->comp_mask || in->reserved)
		return -EINVAL;
	if (in->flags) /* timestamps: the driver has none either */
		return -EOPNOTSUPP;
	r->response_length = sizeof(*r);
	return create(cmd, &req, &r->base);
}

#define SETTLE_NS 20000000ull /* for sends that complete soon */
#define LOOK_NS	  100000ull

/* Send WQEs that are still to complete in it, as the client has it. */
static uint32_t sends_due(const struct ucq *cq)
{
	const struct uhandles *h = &cq->o.ctx->handles[UOBJ_QP];
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->room; i++) {
		const struct uqp *qp = h->slot[i];
		const struct rxe_queue_buf *sq = qp && qp->scq == cq ? qp->sq->map : NULL;

		if (sq)
			n += (__atomic_load_n(&sq->producer_index, __ATOMIC_RELAXED) -
			      __atomic_load_n(&sq->consumer_index, __ATOMIC_RELAXED)) &
			     (qp->geo.sq_slots - 1);
	}
	return n;
}

static int resize(struct ucmd *cmd, struct ucq *cq)
{
	const struct ib_uverbs_resize_cq *in = cmd->in;
	struct ib_uverbs_resize_cq_resp *r = (void *)cmd->out;
	struct rxe_resize_cq_resp *uresp = (void *)cmd->uhw_out;
	struct rxe_ring ring;
	struct ushm *mem = make_ring(cmd->ctx, in->cqe, &ring, &uresp->mi);
	int err;

	if (!mem)
		return -ENOMEM;
	err = rxe_cq_resize(&cmd->ctx->dev->hca, cq->cq, &ring, in->cqe);
	ushm_free(cmd->ctx, err ? mem : cq->ring);
	if (err)
		return err;
	cq->ring = mem;
	r->cqe = cq->cqe = ring_cqe(&ring);
	cmd->uhw_out_len = sizeof(*uresp);
	return 0;
}

static void look_again(struct rxe_timer *t);

/*
 * The kernel's driver has sent a datagram when its post returns, and finds its
 * completion in the CQ. Here it comes soon: to less than that it is not shrunk
 * before.
 */
static int resize_settled(struct ucmd *cmd, struct ucq *cq)
{
	const struct ib_uverbs_resize_cq *in = cmd->in;

	if (in->cqe >= rxe_cq_waiting(cq->cq) + sends_due(cq) || rxe_now_ns() > cmd->until)
		return resize(cmd, cq);
	cmd->idle_timer.cb = look_again;
	rxe_loop_timer(rxed.loop, &cmd->idle_timer, LOOK_NS);
	return -EINPROGRESS;
}

static void look_again(struct rxe_timer *t)
{
	struct ucmd *cmd = caa_container_of(t, struct ucmd, idle_timer);
	const struct ib_uverbs_resize_cq *in = cmd->in;
	struct uctx *ctx = cmd->ctx;
	int err = ctx->closing || ctx->dead
			  ? -EIO
			  : resize_settled(cmd, uobj_find(ctx, UOBJ_CQ, in->cq_handle));

	if (err == -EINPROGRESS)
		return;
	ucmd_finish(cmd, err);
	uctx_unhold(ctx);
}

/* The provider holds its lock, and maps the new ring once this is answered. */
int ucmd_resize_cq(struct ucmd *cmd)
{
	const struct ib_uverbs_resize_cq *in = cmd->in;
	struct ucq *cq = uobj_find(cmd->ctx, UOBJ_CQ, in->cq_handle);
	int err;

	if (!cq || !in->cqe || in->cqe > cmd->ctx->dev->hca.limits.max_cqe)
		return -EINVAL;
	cmd->until = rxe_now_ns() + SETTLE_NS;
	err = resize_settled(cmd, cq);
	if (err == -EINPROGRESS)
		cmd->ctx->holds++;
	return err;
}

void ucq_destroy(struct ucq *cq)
{
	struct uctx *ctx = cq->o.ctx;

	rxe_cq_destroy(cq->cq);
	if (cq->channel && !--cq->channel->o.uses && cq->channel->closed)
		uverbs_channel_drop(&cq->channel->o);
	ctx->dev->nr_cq--;
	uobj_remove(&cq->o);
	ushm_free(ctx, cq->ring);
	free(cq);
}

int ucmd_destroy_cq(struct ucmd *cmd)
{
	const struct ib_uverbs_destroy_cq *in = cmd->in;
	struct ib_uverbs_destroy_cq_resp *r = (void *)cmd->out;
	struct ucq *cq = uobj_find(cmd->ctx, UOBJ_CQ, in->cq_handle);

	if (!cq)
		return -EINVAL;
	if (cq->o.uses)
		return -EBUSY;
	/* The program waits until it has acknowledged what it has read. */
	r->comp_events_reported = cq->comp_sent;
	if (cq->channel)
		r->comp_events_reported -= uchannel_take_back(cq->channel->ch, cq->o.user_handle);
	r->async_events_reported = cq->async_sent;
	if (cmd->ctx->async)
		r->async_events_reported -= uchannel_take_back(cmd->ctx->async, cq->o.user_handle);
	ucq_destroy(cq);
	return 0;
}

int ucmd_req_notify_cq(struct ucmd *cmd)
{
	const struct ib_uverbs_req_notify_cq *in = cmd->in;
	struct ucq *cq = uobj_find(cmd->ctx, UOBJ_CQ, in->cq_handle);
	bool missed;

	if (!cq)
		return -EINVAL;
	rxe_cq_arm(cq->cq, in->solicited_only, &missed);
	return 0;
}
