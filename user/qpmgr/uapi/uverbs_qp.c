/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queue pairs: made here, run by a worker. Every change reaches the QP as a
 * call on its worker's thread; steering follows the state it is in after.
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"

#define BLOCK_SELF_LB	IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
#define QKEY_PRIVILEGED 0x80000000u /* QP1's, and all with the top bit set */

/* ---- steering ------------------------------------------------------------------- */

static uint8_t op_class(enum rxe_qp_type type)
{
	static const uint8_t class[] = {
		[RXE_QPT_RC] = RXE_CLASS_RC,
		[RXE_QPT_UC] = RXE_CLASS_UC,
		[RXE_QPT_UD] = RXE_CLASS_UD,
	};

	return class[type];
}

/*
 * Posting below RTS fails (as the driver's doorbell does). Once a context has
 * so many QPs that slots are shared, a slot is never closed again.
 */
static void open_doorbell(struct uqp *qp, bool open)
{
	struct uctx *ctx = qp->o.ctx;
	struct rxe_doorbell_page *page = ctx->db_mem->map;
	uint8_t worker = open ? (uint8_t)rxe_worker_index(qp->worker) : RXE_DOORBELL_CLOSED;

	if (open || ctx->handles[UOBJ_QP].room <= RXE_DOORBELL_SLOTS)
		__atomic_store_n(&page->worker[qp->o.handle % RXE_DOORBELL_SLOTS], worker,
				 __ATOMIC_RELAXED);
}

/* After a change of state: what the XDP program and the client's doorbell let by. */
static int steer(struct uqp *qp)
{
	enum rxe_qp_state s = rxe_qp_get_state(qp->qp);
	bool receives =
		s == RXE_QPS_RTR || s == RXE_QPS_RTS || s == RXE_QPS_SQD || s == RXE_QPS_SQE;
	struct rxe_dev *dev = qp->o.ctx->dev;
	bool connected = qp->type != RXE_QPT_UD;

	open_doorbell(qp, s >= RXE_QPS_RTS);

	return dev->dp_ops->qp_set(dev->dp, qp->qpn, rxe_worker_index(qp->worker),
				   op_class(qp->type), receives, connected ? &qp->peer : NULL);
}

/* ---- create ----------------------------------------------------------------------- */

struct create_call {
	struct uqp *qp;
	struct rxe_qp_init init;
	int err;
};

static void create_on_worker(struct rxe_worker *w, void *arg)
{
	struct create_call *c = arg;
	struct uqp *qp = c->qp;
	struct uctx *ctx = qp->o.ctx;

	c->err = rxe_qp_create(rxe_worker_engine(w), &ctx->dev->hca, &c->init, &qp->qp);
	if (c->err)
		return;
	qp->db.qp = qp->qp;
	rxe_doorbell_attach(&ctx->doorbells[rxe_worker_index(w)], &qp->db, qp->o.handle);
}

static int make_rings(struct ucmd *cmd, struct uqp *qp, struct rxe_qp_init *init)
{
	struct rxe_create_qp_resp *uresp = (void *)cmd->uhw_out;

	qp->sq = ushm_new_ring(cmd->ctx, qp->geo.sq_bytes, qp->geo.sq_slots, qp->geo.sq_log2_elem,
			       &init->sq, &uresp->sq_mi);
	if (!qp->sq)
		return -ENOMEM;
	cmd->uhw_out_len = sizeof(*uresp);
	if (qp->srq)
		return 0;
	qp->rq = ushm_new_ring(cmd->ctx, qp->geo.rq_bytes, qp->geo.rq_slots, qp->geo.rq_log2_elem,
			       &init->rq, &uresp->rq_mi);
	if (!qp->rq)
		return -ENOMEM;
	return 0;
}

static int check_create(struct ucmd *cmd, const struct ib_uverbs_ex_create_qp *in)
{
	struct rxe_dev *dev = cmd->ctx->dev;

	if (in->qp_type != RXE_QPT_RC && in->qp_type != RXE_QPT_UC && in->qp_type != RXE_QPT_UD)
		return -EOPNOTSUPP; /* raw and XRC: as the driver */
	if (in->create_flags & ~BLOCK_SELF_LB || in->comp_mask)
		return -EOPNOTSUPP;
	if (in->create_flags && in->qp_type != RXE_QPT_UD)
		return -EINVAL;
	if (dev->nr_qp >= dev->hca.limits.max_qp)
		return uverbs_limit(cmd, "a QP", "max_qp", dev->hca.limits.max_qp);
	return 0;
}

static void use_objects(struct uqp *qp, int by)
{
	qp->pd->o.uses += by;
	qp->scq->o.uses += by;
	qp->rcq->o.uses += by;
	if (qp->srq)
		qp->srq->o.uses += by;
}

static int find_objects(struct uqp *qp, struct uctx *ctx, const struct ib_uverbs_ex_create_qp *in)
{
	qp->pd = uobj_find(ctx, UOBJ_PD, in->pd_handle);
	qp->scq = uobj_find(ctx, UOBJ_CQ, in->send_cq_handle);
	qp->rcq = uobj_find(ctx, UOBJ_CQ, in->recv_cq_handle);
	if (in->is_srq)
		qp->srq = uobj_find(ctx, UOBJ_SRQ, in->srq_handle);
	return qp->pd && qp->scq && qp->rcq && (qp->srq || !in->is_srq) ? 0 : -EINVAL;
}

/* With an SRQ what is asked of a receive queue is not looked at (rxe_qp_chk_cap()). */
static int size_rings(struct uqp *qp, const struct rxe_limits *lim,
		      const struct ib_uverbs_ex_create_qp *in)
{
	int err = rxe_qp_ring_geometry(lim, in->max_send_wr, qp->srq ? 0 : in->max_recv_wr,
				       in->max_send_sge, qp->srq ? 0 : in->max_recv_sge,
				       in->max_inline_data, &qp->geo);

	if (qp->srq)
		qp->geo.max_recv_wr = qp->geo.max_recv_sge = 0;
	return err;
}

static int create(struct ucmd *cmd, const struct ib_uverbs_ex_create_qp *in,
		  struct ib_uverbs_create_qp_resp *r)
{
	struct uctx *ctx = cmd->ctx;
	struct rxe_dev *dev = ctx->dev;
	struct create_call call = {0};
	struct uqp *qp;
	int err = check_create(cmd, in);

	if (err)
		return err;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	err = find_objects(qp, ctx, in);
	if (!err)
		err = size_rings(qp, &dev->hca.limits, in);
	if (err)
		goto out_free;
	err = make_rings(cmd, qp, &call.init);
	if (err)
		goto out_rings;
	err = rxe_idmap_get(&dev->qpns, &qp->qpn);
	if (err)
		goto out_rings;
	qp->o.user_handle = in->user_handle;
	qp->type = in->qp_type;
	qp->sq_sig_all = in->sq_sig_all;
	qp->ece_options = RXE_ECE_OPTIONS;
	err = uobj_add(ctx, UOBJ_QP, &qp->o);
	if (err)
		goto out_qpn;
	/* By slot, so that QPs which share one are all behind its worker's page. */
	qp->worker = rxed.workers[qp->o.handle % RXE_DOORBELL_SLOTS % rxed.nr_workers];
	open_doorbell(qp, false);

	call.qp = qp;
	call.init.type = qp->type;
	call.init.qpn = qp->qpn;
	call.init.pdn = qp->pd->pdn;
	call.init.send_cq = qp->scq->cq;
	call.init.recv_cq = qp->rcq->cq;
	call.init.srq = qp->srq ? qp->srq->srq : NULL;
	call.init.max_send_sge = qp->geo.max_send_sge;
	call.init.max_recv_sge = qp->geo.max_recv_sge;
	call.init.max_inline = qp->geo.max_inline;
	call.init.sq_sig_all = qp->sq_sig_all;
	call.init.block_self_lb = in->create_flags & BLOCK_SELF_LB;
	call.init.owner = qp;
	rxe_worker_call(qp->worker, create_on_worker, &call);
	err = call.err;
	if (err)
		goto out_obj;
	use_objects(qp, 1);
	dev->nr_qp++;
	__atomic_fetch_add(&dev->live_qps, 1, __ATOMIC_RELAXED);

	r->qp_handle = qp->o.handle;
	r->qpn = qp->qpn;
	r->max_send_wr = qp->geo.max_send_wr;
	r->max_recv_wr = qp->geo.max_recv_wr;
	r->max_send_sge = qp->geo.max_send_sge;
	r->max_recv_sge = qp->geo.max_recv_sge;
	r->max_inline_data = qp->geo.max_inline;
	return 0;
out_obj:
	uobj_remove(&qp->o);
out_qpn:
	rxe_idmap_put(&dev->qpns, qp->qpn);
out_rings:
	ushm_free(ctx, qp->sq);
	ushm_free(ctx, qp->rq);
out_free:
	free(qp);
	return err;
}

int ucmd_create_qp(struct ucmd *cmd)
{
	const struct ib_uverbs_create_qp *in = cmd->in;
	struct ib_uverbs_ex_create_qp x = {
		.user_handle = in->user_handle,
		.pd_handle = in->pd_handle,
		.send_cq_handle = in->send_cq_handle,
		.recv_cq_handle = in->recv_cq_handle,
		.srq_handle = in->srq_handle,
		.max_send_wr = in->max_send_wr,
		.max_recv_wr = in->max_recv_wr,
		.max_send_sge = in->max_send_sge,
		.max_recv_sge = in->max_recv_sge,
		.max_inline_data = in->max_inline_data,
		.sq_sig_all = in->sq_sig_all,
		.qp_type = in->qp_type,
		.is_srq = in->is_srq,
	};

	return create(cmd, &x, (void *)cmd->out);
}

int ucmd_ex_create_qp(struct ucmd *cmd)
{
	struct ib_uverbs_ex_create_qp_resp *r = (void *)cmd->out;

	r->response_length = sizeof(*r);
	return create(cmd, cmd->in, &r->base);
}

static void block_on_worker(struct rxe_worker *w, void *arg)
{
	struct uqp *qp = arg;

	(void)w;
	rxe_qp_block_self_lb(qp->qp);
}

int uqp_set_flags(struct uctx *ctx, uint32_t qp_handle, uint32_t create_flags)
{
	struct uqp *qp = uobj_find(ctx, UOBJ_QP, qp_handle);

	if (ctx->dead)
		return -EIO;
	if (create_flags & ~BLOCK_SELF_LB)
		return -EOPNOTSUPP;
	if (!qp || qp->dying || qp->type != RXE_QPT_UD || rxe_qp_get_state(qp->qp) != RXE_QPS_RESET)
		return -EINVAL;
	if (create_flags)
		rxe_worker_call(qp->worker, block_on_worker, qp);
	return 0;
}

/* ---- modify ------------------------------------------------------------------------- */

struct modify_call {
	struct uqp *qp;
	struct rxe_qp_attr attr;
	uint32_t mask;
	int err;
};

static void modify_on_worker(struct rxe_worker *w, void *arg)
{
	struct modify_call *c = arg;

	(void)w;
	c->err = rxe_qp_modify(c->qp->qp, &c->attr, c->mask);
}

/* With the address resolved: the rest of a modify. Takes over attr.addr.route. */
static int apply(struct modify_call *c)
{
	struct rxe_route *old = NULL;

	rxe_worker_call(c->qp->worker, modify_on_worker, c);
	if (c->mask & RXE_QP_AV) {
		old = c->err ? c->attr.addr.route : c->qp->route;
		if (!c->err) {
			c->qp->route = c->attr.addr.route;
			c->qp->peer = c->attr.addr.dip;
		}
		if (old)
			rxe_route_put(old);
	}
	if (!c->err && (c->mask & (RXE_QP_STATE | RXE_QP_AV)))
		c->err = steer(c->qp);
	return c->err;
}

static void modify_resolved(struct ucmd *cmd, int err, struct rxe_route *route)
{
	struct modify_call *c = cmd->priv;

	c->qp->o.uses--;
	c->attr.addr.route = route;
	if (!err)
		err = apply(c);
	free(c);
	ucmd_finish(cmd, err);
}

static void fill_attr(const struct ib_uverbs_modify_qp *in, struct rxe_qp_attr *a)
{
	a->qp_state = in->qp_state;
	a->cur_qp_state = in->cur_qp_state;
	a->path_mtu = in->path_mtu;
	a->path_mig_state = in->path_mig_state;
	a->qkey = in->qkey;
	a->rq_psn = in->rq_psn;
	a->sq_psn = in->sq_psn;
	a->dest_qp_num = in->dest_qp_num;
	a->access_flags = in->qp_access_flags;
	a->max_rd_atomic = in->max_rd_atomic;
	a->max_dest_rd_atomic = in->max_dest_rd_atomic;
	a->min_rnr_timer = in->min_rnr_timer;
	a->timeout = in->timeout;
	a->retry_cnt = in->retry_cnt;
	a->rnr_retry = in->rnr_retry;
	a->pkey_index = in->pkey_index;
	a->port_num = in->port_num;
	a->en_sqd_async_notify = in->en_sqd_async_notify;
}

/* Field by field, as ib_modify_qp() and the driver check; 0 or -EINVAL/-EPERM. */
static int check_attr(const struct uqp *qp, const struct rxe_qp_attr *a, uint32_t mask)
{
	const struct rxe_dev *dev = qp->o.ctx->dev;
	const struct rxe_limits *l = &dev->hca.limits;
	enum rxe_qp_state cur = rxe_qp_get_state(qp->qp);
	enum rxe_qp_state next = mask & RXE_QP_STATE ? a->qp_state : cur;

	if (mask & RXE_QP_CUR_STATE)
		cur = a->cur_qp_state;
	if (next > RXE_QPS_ERR || rxe_qp_modify_check(qp->type, cur, next, mask))
		return -EINVAL;
	if ((mask & RXE_QP_PORT && a->port_num != 1) ||
	    (mask & RXE_QP_PKEY_INDEX && a->pkey_index != 0) || mask & RXE_QP_ALT_PATH)
		return -EINVAL;
	if ((mask & RXE_QP_MAX_QP_RD_ATOMIC && a->max_rd_atomic > l->max_rd_atomic) ||
	    (mask & RXE_QP_MAX_DEST_RD_ATOMIC && a->max_dest_rd_atomic > l->max_rd_atomic) ||
	    (mask & RXE_QP_TIMEOUT && a->timeout > 31))
		return -EINVAL;
	if (mask & RXE_QP_PATH_MTU && (a->path_mtu < 1 || a->path_mtu > 5))
		return -EINVAL; /* no enum ib_mtu */
	if (mask & RXE_QP_PATH_MTU && a->path_mtu > rxe_mtu_to_enum(dev->hca.mtu)) {
		log_warn(
			"QP %u of device %s: path MTU %u is above the port's %u; raise the MTU of %s "
			"or ask for less",
			qp->qpn, dev->name, 128u << a->path_mtu, dev->hca.mtu, dev->netdev);
		return -EINVAL;
	}
	if (mask & RXE_QP_QKEY && a->qkey & QKEY_PRIVILEGED && !qp->o.ctx->peer->net_raw)
		return -EPERM;
	return 0;
}

static int modify(struct ucmd *cmd, const struct ib_uverbs_modify_qp *in)
{
	struct uqp *qp = uobj_find(cmd->ctx, UOBJ_QP, in->qp_handle);
	struct modify_call *c;
	int err;

	if (!qp || qp->dying)
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->qp = qp;
	c->mask = in->attr_mask;
	fill_attr(in, &c->attr);
	err = check_attr(qp, &c->attr, c->mask);
	if (err || !(c->mask & RXE_QP_AV))
		goto out;
	err = uaddr_check_grh(cmd, in->dest.is_global, in->dest.port_num);
	if (err)
		goto out;
	err = uaddr_from_gid(cmd->ctx, in->dest.dgid, in->dest.sgid_index, &c->attr.addr);
	if (err)
		goto out;
	c->attr.addr.traffic_class = in->dest.traffic_class;
	c->attr.addr.hop_limit = in->dest.hop_limit;
	c->attr.addr.flow_label = in->dest.flow_label;
	c->attr.addr.sl = in->dest.sl;
	cmd->priv = c;
	qp->o.uses++;
	return uroute_resolve(cmd, &c->attr.addr, modify_resolved);
out:
	if (!err)
		err = apply(c);
	free(c);
	return err;
}

int ucmd_modify_qp(struct ucmd *cmd)
{
	return modify(cmd, cmd->in);
}

int ucmd_ex_modify_qp(struct ucmd *cmd)
{
	const struct ib_uverbs_modify_qp *in = cmd->in;
	struct ib_uverbs_ex_modify_qp_resp *r = (void *)cmd->out;

	if (in->attr_mask & RXE_QP_RATE_LIMIT)
		return -EOPNOTSUPP;
	r->response_length = sizeof(*r);
	return modify(cmd, in);
}

/* ---- query -------------------------------------------------------------------------- */

static void query_on_worker(struct rxe_worker *w, void *arg)
{
	struct modify_call *c = arg;

	(void)w;
	rxe_qp_query(c->qp->qp, &c->attr);
}

static void fill_dest(const struct rxe_address *a, struct ib_uverbs_qp_dest *d)
{
	memcpy(d->dgid, a->dip.raw, sizeof(d->dgid));
	d->flow_label = a->flow_label;
	d->sgid_index = a->sgid_index;
	d->hop_limit = a->hop_limit;
	d->traffic_class = a->traffic_class;
	d->sl = a->sl;
	d->is_global = 1;
	d->port_num = 1;
}

int ucmd_query_qp(struct ucmd *cmd)
{
	const struct ib_uverbs_query_qp *in = cmd->in;
	struct ib_uverbs_query_qp_resp *r = (void *)cmd->out;
	struct uqp *qp = uobj_find(cmd->ctx, UOBJ_QP, in->qp_handle);
	struct modify_call c = {.qp = qp};

	if (!qp || qp->dying)
		return -EINVAL;
	rxe_worker_call(qp->worker, query_on_worker, &c);
	if (qp->route)
		fill_dest(&c.attr.addr, &r->dest);
	r->max_send_wr = qp->geo.max_send_wr;
	r->max_recv_wr = qp->geo.max_recv_wr;
	r->max_send_sge = qp->geo.max_send_sge;
	r->max_recv_sge = qp->geo.max_recv_sge;
	r->max_inline_data = qp->geo.max_inline;
	r->qkey = c.attr.qkey;
	r->rq_psn = c.attr.rq_psn;
	r->sq_psn = c.attr.sq_psn;
	r->dest_qp_num = c.attr.dest_qp_num;
	r->qp_access_flags = c.attr.access_flags;
	r->qp_state = (uint8_t)c.attr.qp_state;
	r->cur_qp_state = (uint8_t)c.attr.qp_state;
	r->path_mtu = (uint8_t)c.attr.path_mtu;
	r->path_mig_state = (uint8_t)c.attr.path_mig_state;
	r->sq_draining = c.attr.sq_draining;
	r->max_rd_atomic = c.attr.max_rd_atomic;
	r->max_dest_rd_atomic = c.attr.max_dest_rd_atomic;
	r->min_rnr_timer = c.attr.min_rnr_timer;
	r->port_num = 1;
	r->timeout = c.attr.timeout;
	r->retry_cnt = c.attr.retry_cnt;
	r->rnr_retry = c.attr.rnr_retry;
	r->sq_sig_all = qp->sq_sig_all;
	return 0;
}

struct query_call {
	struct uqp *const *qps;
	struct rxe_qp_attr *attrs;
	size_t n;
};

static void query_many_on_worker(struct rxe_worker *w, void *arg)
{
	struct query_call *c = arg;

	for (size_t i = 0; i < c->n; i++)
		if (c->qps[i]->worker == w)
			rxe_qp_query(c->qps[i]->qp, &c->attrs[i]);
}

void uqp_query(struct uqp *const *qps, struct rxe_qp_attr *attrs, size_t n)
{
	struct query_call c = {qps, attrs, n};

	for (uint32_t i = 0; n && i < rxed.nr_workers; i++)
		rxe_worker_call(rxed.workers[i], query_many_on_worker, &c);
}

/* ---- destroy ------------------------------------------------------------------------ */

static void destroy_on_worker(struct rxe_worker *w, void *arg)
{
	struct uqp *qp = arg;

	rxe_doorbell_detach(&qp->o.ctx->doorbells[rxe_worker_index(w)], &qp->db);
	rxe_qp_destroy(qp->qp);
}

static void answer_destroy(struct uqp *qp)
{
	struct ib_uverbs_destroy_qp_resp *r = (void *)qp->destroy_cmd->out;

	r->events_reported = qp->async_sent;
	if (qp->o.ctx->async)
		r->events_reported -= uchannel_take_back(qp->o.ctx->async, qp->o.user_handle);
	ucmd_finish(qp->destroy_cmd, 0);
}

/* Control thread: nothing of the QP is under way any more. */
static void released(struct rxe_task *t)
{
	struct uqp *qp = caa_container_of(t, struct uqp, released);
	struct uctx *ctx = qp->o.ctx;

	if (qp->destroy_cmd)
		answer_destroy(qp);
	use_objects(qp, -1);
	ctx->dev->nr_qp--;
	rxe_idmap_put(&ctx->dev->qpns, qp->qpn);
	if (qp->route)
		rxe_route_put(qp->route);
	ushm_free(ctx, qp->sq);
	ushm_free(ctx, qp->rq);
	uobj_remove(&qp->o);
	free(qp);
	uctx_unhold(ctx);
}

/* The engine's callback: on the worker's thread. */
void rxe_uverbs_qp_released(struct rxe_qp *rqp)
{
	struct uqp *qp = rxe_qp_owner(rqp);
	struct rxe_dev *dev = qp->o.ctx->dev;

	qp->released.cb = released;
	rxe_loop_post(rxed.loop, &qp->released);
	__atomic_fetch_sub(&dev->live_qps, 1, __ATOMIC_RELEASE);
}

void uqp_destroy(struct uqp *qp, struct ucmd *cmd)
{
	struct rxe_dev *dev = qp->o.ctx->dev;

	uqp_detach_all(qp);
	qp->dying = true;
	qp->destroy_cmd = cmd;
	qp->o.ctx->holds++;
	dev->dp_ops->qp_clear(dev->dp, qp->qpn);
	rxe_worker_call(qp->worker, destroy_on_worker, qp);
}

struct abort_call {
	struct uqp *qp;
	bool done;
};

static void abort_on_worker(struct rxe_worker *w, void *arg)
{
	struct abort_call *c = arg;

	(void)w;
	c->done = rxe_qp_abort(c->qp->qp);
}

bool uqp_abort(struct uqp *qp)
{
	struct abort_call c = {.qp = qp};

	rxe_worker_call(qp->worker, abort_on_worker, &c);
	return c.done;
}

void uqp_wait_released(struct rxe_dev *dev)
{
	const struct timespec ms = {0, 1000000};

	while (__atomic_load_n(&dev->live_qps, __ATOMIC_ACQUIRE))
		nanosleep(&ms, NULL);
}

int ucmd_destroy_qp(struct ucmd *cmd)
{
	const struct ib_uverbs_destroy_qp *in = cmd->in;
	struct uqp *qp = uobj_find(cmd->ctx, UOBJ_QP, in->qp_handle);

	if (!qp || qp->dying)
		return -EINVAL;
	if (!LIST_EMPTY(&qp->mcast))
		return -EBUSY;
	uqp_destroy(qp, cmd);
	return -EINPROGRESS;
}
