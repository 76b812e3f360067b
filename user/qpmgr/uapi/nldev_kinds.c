/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of objects that `rdma res show` lists: where they are found and
 * which attributes an entry has, as the kernel's fill_res_*_entry(). What the
 * kernel's ib_core makes for QP1 (a PD, a CQ, the QP) a device has here, too:
 * they stand for what rxed itself holds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/socket.h>
#include "nldev_obj.h"
#include "uapi/ucma.h"
#include "uapi/uverbs.h"

#define QP1_OWNER "ib_core"
#define QP1_CQE	  1023 /* as the driver's */

enum { IB_QPT_GSI = 1 };	/* enum ib_qp_type */
enum { IB_POLL_WORKQUEUE = 2 }; /* enum ib_poll_context */
enum { IB_SRQT_BASIC = 0 };	/* enum ib_srq_type */

/* ---- what entries share --------------------------------------------------------- */

static void put_pid(struct nldev_cmd *c, const struct rxe_peer *peer)
{
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)peer->pid);
}

/* The process that an object of a context belongs to, or rxed itself. */
static void put_owner(struct nldev_cmd *c, const struct uobj *o)
{
	if (o)
		put_pid(c, o->ctx->peer);
	else
		nldev_put_str(c->out, RDMA_NLDEV_ATTR_RES_KERN_NAME, QP1_OWNER);
}

static void add_obj(void *arg, struct uobj *o)
{
	nldev_items_add(arg, o->res, o);
}

/* ---- protection domains ------------------------------------------------------------ */

static void collect_pds(struct nldev_items *items, struct rxe_dev *dev)
{
	nldev_items_add(items, 0, NULL);
	uverbs_each(dev, UOBJ_PD, add_obj, items);
}

static int fill_pd(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		   uint32_t port)
{
	const struct upd *pd = items->item[i].obj;

	(void)asked;
	(void)port;
	if (nldev_sees_keys(c)) /* there is no key for all of memory */
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, 0);
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_RES_USECNT, pd ? pd->o.uses : 1);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PDN, items->item[i].id);
	if (pd)
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CTXN, pd->o.ctx->res);
	put_owner(c, pd ? &pd->o : NULL);
	return 0;
}

/* ---- completion queues ---------------------------------------------------------------- */

static void collect_cqs(struct nldev_items *items, struct rxe_dev *dev)
{
	nldev_items_add(items, 0, NULL);
	uverbs_each(dev, UOBJ_CQ, add_obj, items);
}

static int fill_cq(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		   uint32_t port)
{
	const struct ucq *cq = items->item[i].obj;

	(void)asked;
	(void)port;
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CQE, cq ? cq->cqe : QP1_CQE);
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_RES_USECNT, cq ? cq->o.uses : 2);
	if (!cq)
		nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_POLL_CTX, IB_POLL_WORKQUEUE);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_DEV_DIM, 0);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CQN, items->item[i].id);
	if (cq)
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CTXN, cq->o.ctx->res);
	put_owner(c, cq ? &cq->o : NULL);
	return 0;
}

/* ---- memory regions --------------------------------------------------------------------- */

static void collect_mrs(struct nldev_items *items, struct rxe_dev *dev)
{
	uverbs_each(dev, UOBJ_MR, add_obj, items);
}

static int fill_mr(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		   uint32_t port)
{
	const struct umr *mr = items->item[i].obj;

	(void)asked;
	(void)port;
	if (nldev_sees_keys(c)) {
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_RKEY, rxe_mr_rkey(mr->mr));
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LKEY, rxe_mr_lkey(mr->mr));
	}
	nldev_put_u64(c->out, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_MRN, mr->o.res);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PDN, mr->pd->o.res);
	put_owner(c, &mr->o);
	return 0;
}

static int fill_stat_mr(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
			uint32_t port)
{
	(void)asked;
	(void)port;
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_MRN, items->item[i].id);
	return 0;
}

/* ---- contexts ------------------------------------------------------------------------------ */

static void add_ctx(void *arg, struct uctx *ctx)
{
	nldev_items_add(arg, ctx->res, ctx);
}

static void collect_ctxs(struct nldev_items *items, struct rxe_dev *dev)
{
	uctx_each(dev, add_ctx, items);
}

static int fill_ctx(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		    uint32_t port)
{
	const struct uctx *ctx = items->item[i].obj;

	(void)asked;
	(void)port;
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CTXN, ctx->res);
	put_pid(c, ctx->peer);
	return 0;
}

/* ---- queue pairs ------------------------------------------------------------------------------ */

static void add_qp(void *arg, struct uobj *o)
{
	struct uqp *qp = (struct uqp *)o;

	if (!qp->dying)
		nldev_items_add(arg, qp->qpn, qp);
}

/* QP1 comes last, since the kernel's number of it has the port in the top byte. */
#define QP1_ITEM (1u << 24 | RXE_GSI_QPN)

static void collect_qps(struct nldev_items *items, struct rxe_dev *dev)
{
	uverbs_each(dev, UOBJ_QP, add_qp, items);
	nldev_items_add(items, QP1_ITEM, NULL);
}

static void *ask_qps(const struct nldev_items *items)
{
	struct rxe_qp_attr *attrs = calloc(items->n + 1, sizeof(*attrs));
	struct uqp **qps = calloc(items->n + 1, sizeof(*qps));
	size_t n = 0;

	for (size_t i = 0; attrs && qps && i < items->n; i++)
		if (items->item[i].obj)
			qps[n++] = (struct uqp *)items->item[i].obj;
	if (attrs && qps)
		uqp_query(qps, attrs, n); /* QP1 is the last, if it is there */
	if (!qps) {
		free(attrs);
		attrs = NULL;
	}
	free(qps);
	return attrs;
}

static void fill_connection(struct nldev_cmd *c, const struct rxe_qp_attr *a)
{
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_RQPN, a->dest_qp_num);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_RQ_PSN, a->rq_psn);
}

static void fill_user_qp(struct nldev_cmd *c, const struct uqp *qp, const struct rxe_qp_attr *a)
{
	bool connected = qp->type != RXE_QPT_UD;

	if (a->qp_state != RXE_QPS_RESET) /* it has no port before */
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LQPN, qp->qpn);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->o.res);
	put_owner(c, &qp->o);
	if (connected)
		fill_connection(c, a);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_SQ_PSN, a->sq_psn);
	if (connected)
		nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE,
			     (uint8_t)a->path_mig_state);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)qp->type);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)a->qp_state);
}

static void fill_qp1(struct nldev_cmd *c)
{
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LQPN, RXE_GSI_QPN);
	put_owner(c, NULL);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_SQ_PSN, c->dev->gsi_sent & RXE_PSN_MASK);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_TYPE, IB_QPT_GSI);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_STATE, RXE_QPS_RTS);
}

static int fill_qp(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		   uint32_t port)
{
	const struct rxe_qp_attr *attr = (const struct rxe_qp_attr *)asked + i;

	if (!items->item[i].obj) {
		fill_qp1(c);
		return 0;
	}
	if (port && attr->qp_state == RXE_QPS_RESET)
		return -EAGAIN;
	fill_user_qp(c, items->item[i].obj, attr);
	return 0;
}

/* ---- shared receive queues -------------------------------------------------------------------- */

static void collect_srqs(struct nldev_items *items, struct rxe_dev *dev)
{
	uverbs_each(dev, UOBJ_SRQ, add_obj, items);
}

static void put_range(struct nldev_cmd *c, uint32_t first, uint32_t last)
{
	size_t entry = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (first == last) {
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LQPN, first);
	} else {
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_MIN_RANGE, first);
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_MAX_RANGE, last);
	}
	nldev_nest_end(c->out, entry);
}

struct srq_qps {
	const struct usrq *srq;
	struct nldev_items items;
};

static void add_srq_qp(void *arg, struct uobj *o)
{
	struct srq_qps *qps = arg;

	if (((struct uqp *)o)->srq == qps->srq)
		add_qp(&qps->items, o);
}

/* Its QPs, those with adjacent numbers as one range. */
static int put_srq_qps(struct nldev_cmd *c, const struct usrq *srq)
{
	struct srq_qps qps = {.srq = srq};
	size_t table, first = 0, i;

	uverbs_each(c->dev, UOBJ_QP, add_srq_qp, &qps);
	if (qps.items.failed) {
		free(qps.items.item);
		return -ENOMEM;
	}
	nldev_items_sort(&qps.items);
	table = nldev_nest_begin(c->out, RDMA_NLDEV_ATTR_RES_QP);
	for (i = 1; i <= qps.items.n; i++) {
		const struct nldev_item *q = qps.items.item;

		if (i < qps.items.n && q[i].id == q[i - 1].id + 1)
			continue;
		put_range(c, q[first].id, q[i - 1].id);
		first = i;
	}
	nldev_nest_end(c->out, table);
	free(qps.items.item);
	return 0;
}

static int fill_srq(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		    uint32_t port)
{
	const struct usrq *srq = items->item[i].obj;
	int err;

	(void)asked;
	(void)port;
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_SRQN, srq->o.res);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_TYPE, IB_SRQT_BASIC);
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PDN, srq->pd->o.res);
	err = put_srq_qps(c, srq);
	put_owner(c, &srq->o);
	return err;
}

/* ---- rdma_cm ids -------------------------------------------------------------------------------- */

static void add_cm_id(void *arg, struct ucma_id *id)
{
	nldev_items_add(arg, id->res, id);
}

static void collect_cm_ids(struct nldev_items *items, struct rxe_dev *dev)
{
	ucma_each(dev, add_cm_id, items);
}

/* enum rdma_cm_state of the kernel, which the rdma tool prints by name. */
static uint8_t cm_state(enum ucma_state s)
{
	static const uint8_t states[] = {
		[UCMA_IDLE] = 0,       [UCMA_BOUND] = 7,      [UCMA_ADDR_QUERY] = 1,
		[UCMA_ADDR_DONE] = 2,  [UCMA_ROUTE_DONE] = 4, [UCMA_CONNECT] = 5,
		[UCMA_DISCONNECT] = 6, [UCMA_LISTEN] = 8,     [UCMA_REMOVED] = 9,
	};

	return states[s];
}

static void put_address(struct nldev_cmd *c, int type, const struct ucma_addr *a)
{
	struct __kernel_sockaddr_storage ss = {0};
	struct sockaddr_in6 in6;

	ucma_addr_put(a, &in6);
	memcpy(&ss, &in6, sizeof(in6));
	nldev_put(c->out, type, &ss, sizeof(ss));
}

static int fill_cm_id(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		      uint32_t port)
{
	const struct ucma_id *id = items->item[i].obj;

	(void)asked;
	(void)port;
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	if (id->qpn) {
		nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_LQPN, id->qpn);
		nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_TYPE, id->qp_type);
	}
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_PS, id->ps);
	nldev_put_u8(c->out, RDMA_NLDEV_ATTR_RES_STATE, cm_state(id->state));
	if (id->state != UCMA_IDLE) {
		put_address(c, RDMA_NLDEV_ATTR_RES_SRC_ADDR, &id->src);
		put_address(c, RDMA_NLDEV_ATTR_RES_DST_ADDR, &id->dst);
	}
	nldev_put_u32(c->out, RDMA_NLDEV_ATTR_RES_CM_IDN, id->res);
	put_pid(c, id->file->peer);
	return 0;
}

/* ---- the table -------------------------------------------------------------------------------------- */

#define KIND(NAME, ID) \
	RDMA_NLDEV_ATTR_RES_##NAME, RDMA_NLDEV_ATTR_RES_##NAME##_ENTRY, RDMA_NLDEV_ATTR_RES_##ID

static const struct nldev_kind kinds[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_RES_QP_GET] = {KIND(QP, LQPN), true, collect_qps, ask_qps, fill_qp},
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {KIND(CM_ID, CM_IDN), true, collect_cm_ids, NULL,
					  fill_cm_id},
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {KIND(CQ, CQN), false, collect_cqs, NULL, fill_cq},
	[RDMA_NLDEV_CMD_RES_MR_GET] = {KIND(MR, MRN), false, collect_mrs, NULL, fill_mr},
	[RDMA_NLDEV_CMD_RES_PD_GET] = {KIND(PD, PDN), false, collect_pds, NULL, fill_pd},
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {KIND(CTX, CTXN), false, collect_ctxs, NULL, fill_ctx},
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {KIND(SRQ, SRQN), false, collect_srqs, NULL, fill_srq},
	[RDMA_NLDEV_CMD_STAT_GET] = {KIND(MR, MRN), false, collect_mrs, NULL, fill_stat_mr},
};

const struct nldev_kind *nldev_kind(unsigned int op)
{
	return op < RDMA_NLDEV_NUM_OPS && kinds[op].fill ? &kinds[op] : NULL;
}
