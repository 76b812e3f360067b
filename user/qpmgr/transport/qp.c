/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queue pair as an object: made, modified, queried, put into ERR,
 * destroyed once nothing of it is in flight.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "qp.h"
#include "stage.h"
#include "ring.h"

/* ---- geometry ------------------------------------------------------------------- */

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * As the driver: SGEs and inline data share the element, so the greater of
 * the two decides what is granted of both.
 */
int rxe_qp_ring_geometry(const struct rxe_limits *lim, uint32_t send_wr, uint32_t recv_wr,
			 uint32_t send_sge, uint32_t recv_sge, uint32_t inline_data,
			 struct rxe_qp_geometry *g)
{
	uint32_t sge_limit = min_u32(lim->max_sge, RXE_MAX_SGE), body;

	if (send_wr > lim->max_qp_wr || recv_wr > lim->max_qp_wr || send_sge > sge_limit ||
	    recv_sge > sge_limit || inline_data > lim->max_inline)
		return -EINVAL;
	body = max_u32(send_sge * sizeof(struct rxe_sge), inline_data);
	g->sq_bytes = rxe_ring_size(send_wr, sizeof(struct rxe_send_wqe) + body, &g->sq_slots,
				    &g->sq_log2_elem);
	g->rq_bytes = rxe_ring_size(recv_wr,
				    sizeof(struct rxe_recv_wqe) + recv_sge * sizeof(struct rxe_sge),
				    &g->rq_slots, &g->rq_log2_elem);
	g->max_send_wr = min_u32(g->sq_slots - 1, lim->max_qp_wr);
	g->max_recv_wr = min_u32(g->rq_slots - 1, lim->max_qp_wr);
	g->max_send_sge = min_u32(max_u32(body / sizeof(struct rxe_sge), send_sge), sge_limit);
	g->max_recv_sge = recv_sge;
	g->max_inline = min_u32(body, lim->max_inline);
	return 0;
}

/* ---- create, destroy -------------------------------------------------------------- */

static void init_deadlines(struct rxe_qp *qp)
{
	qp->req.rnr.expired = rxe_req_rnr_expired;
	qp->req.pace.expired = rxe_req_pace_expired;
	qp->req.held_poll.expired = rxe_local_poll;
	qp->comp.timeout.expired = rxe_comp_timeout;
	qp->flush_poll.expired = rxe_flush_poll;
}

int rxe_qp_create(struct rxe_engine *e, struct rxe_hca *hca, const struct rxe_qp_init *init,
		  struct rxe_qp **out)
{
	struct rxe_qp *qp;

	if (init->type < RXE_QPT_GSI || init->type > RXE_QPT_UD ||
	    init->max_send_sge > RXE_MAX_SGE || init->max_recv_sge > RXE_MAX_SGE)
		return -EINVAL;
	if (rxe_engine_find_qp(e, hca, init->qpn))
		return -EEXIST;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->engine = e;
	qp->hca = hca;
	qp->stats = rxe_engine_stats(e, hca);
	qp->id = __atomic_add_fetch(&hca->qp_serial, 1, __ATOMIC_RELAXED);
	qp->init = *init;
	qp->mtu = 256;
	TAILQ_INIT(&qp->req.tx);
	TAILQ_INIT(&qp->comp.ops);
	TAILQ_INIT(&qp->resp.slots);
	TAILQ_INIT(&qp->resp.tx);
	TAILQ_INIT(&qp->resp.rwqes);
	qp->comp.timeout_at = UINT64_MAX;
	qp->comp.probe_psn = UINT32_MAX;
	qp->comp.resume_psn = UINT32_MAX;
	qp->req.fetch = init->sq.index;
	qp->resp.fetch = init->rq.index;
	init_deadlines(qp);
	if (rxe_timers_reserve(&e->timers, RXE_QP_DEADLINES))
		goto free_qp;
	if (rxe_engine_add_qp(e, qp))
		goto release;
	*out = qp;
	return 0;
release:
	rxe_timers_release(&e->timers, RXE_QP_DEADLINES);
free_qp:
	free(qp);
	return -ENOMEM;
}

static uint32_t busy_ops(const struct rxe_qp *qp)
{
	uint32_t n = 0;

	for (int i = 0; i < RXE_XFER_COUNT; i++)
		n += qp->busy_ops[i];
	return n;
}

static void free_window(struct rxe_qp *qp)
{
	if (!qp->req.win)
		return;
	for (uint32_t i = 0; i <= qp->req.win_mask; i++)
		free(qp->req.win[i]);
	free(qp->req.win);
}

static void release(struct rxe_qp *qp)
{
	struct rxe_engine *e = qp->engine;

	e->ops->qp_released(e->ctx, qp);
	rxe_timers_release(&e->timers, RXE_QP_DEADLINES);
	free_window(qp);
	free(qp->resp.res);
	free(qp);
}

/* The control thread may be looking (rxe_qp_get_state()). */
static void set_state(struct rxe_qp *qp, enum rxe_qp_state state)
{
	__atomic_store_n(&qp->attr.qp_state, state, __ATOMIC_RELAXED);
}

static void stop(struct rxe_qp *qp)
{
	rxe_req_reset(qp);
	rxe_comp_reset(qp);
	rxe_resp_reset(qp);
	rxe_flush_stop(qp);
}

void rxe_qp_destroy(struct rxe_qp *qp)
{
	rxe_resp_farewell(qp);
	stop(qp);
	set_state(qp, RXE_QPS_RESET);
	qp->destroyed = true;
	rxe_engine_del_qp(qp->engine, qp);
	if (!busy_ops(qp))
		release(qp);
}

void rxe_qp_orphan_done(struct rxe_qp *qp)
{
	if (qp->destroyed && !busy_ops(qp))
		release(qp);
	else if (qp->attr.qp_state == RXE_QPS_ERR)
		rxe_flush_run(qp);
}

/* ---- ERR ------------------------------------------------------------------------------ */

/* Nothing is sent from its queue any more. */
static void stop_sending(struct rxe_qp *qp)
{
	struct rxe_timers *t = &qp->engine->timers;

	qp->attr.sq_draining = false;
	rxe_req_drop_tx(qp);
	rxe_local_stop(qp);
	rxe_deadline_cancel(t, &qp->req.rnr);
	rxe_deadline_cancel(t, &qp->req.pace);
	rxe_deadline_cancel(t, &qp->comp.timeout);
	qp->comp.timeout_at = UINT64_MAX;
}

void rxe_qp_error(struct rxe_qp *qp)
{
	if (qp->attr.qp_state == RXE_QPS_ERR)
		return;
	set_state(qp, RXE_QPS_ERR);
	stop_sending(qp);
	rxe_resp_drop_slots(qp);
	qp->resp.ack_pending = false;
	rxe_qp_kick(qp); /* flushes */
}

bool rxe_qp_abort(struct rxe_qp *qp)
{
	rxe_qp_error(qp);
	rxe_flush_run(qp);
	return !busy_ops(qp);
}

void rxe_qp_sq_error(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	set_state(qp, RXE_QPS_SQE);
	stop_sending(qp);
	rxe_flush_sq(qp);
	req->cur = req->ack = req->tail;
}

/* ---- modify, query ----------------------------------------------------------------------- */

static const struct {
	uint32_t mask;
	size_t offset, size;
} fields[] = {
#define FIELD(m, f)                                                                      \
	{                                                                                \
		m, offsetof(struct rxe_qp_attr, f), sizeof(((struct rxe_qp_attr *)0)->f) \
	}
	FIELD(RXE_QP_ACCESS_FLAGS, access_flags),
	FIELD(RXE_QP_PKEY_INDEX, pkey_index),
	FIELD(RXE_QP_PORT, port_num),
	FIELD(RXE_QP_QKEY, qkey),
	FIELD(RXE_QP_AV, addr),
	FIELD(RXE_QP_PATH_MTU, path_mtu),
	FIELD(RXE_QP_TIMEOUT, timeout),
	FIELD(RXE_QP_RETRY_CNT, retry_cnt),
	FIELD(RXE_QP_RNR_RETRY, rnr_retry),
	FIELD(RXE_QP_RQ_PSN, rq_psn),
	FIELD(RXE_QP_SQ_PSN, sq_psn),
	FIELD(RXE_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	FIELD(RXE_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	FIELD(RXE_QP_MIN_RNR_TIMER, min_rnr_timer),
	FIELD(RXE_QP_DEST_QPN, dest_qp_num),
	FIELD(RXE_QP_PATH_MIG_STATE, path_mig_state),
	FIELD(RXE_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify),
};

static uint32_t mtu_bytes(uint32_t path_mtu)
{
	return 128u << path_mtu;
}

static int check_values(const struct rxe_qp *qp, const struct rxe_qp_attr *a, uint32_t mask)
{
	const struct rxe_limits *lim = &qp->hca->limits;
	uint32_t max_rd = min_u32(lim->max_rd_atomic, 255);

	if (((mask & RXE_QP_PORT) && a->port_num != 1) ||
	    ((mask & RXE_QP_PKEY_INDEX) && a->pkey_index != 0) ||
	    ((mask & RXE_QP_TIMEOUT) && a->timeout > 31) ||
	    ((mask & RXE_QP_RETRY_CNT) && a->retry_cnt > 7) ||
	    ((mask & RXE_QP_RNR_RETRY) && a->rnr_retry > 7) ||
	    ((mask & RXE_QP_MIN_RNR_TIMER) && a->min_rnr_timer > 31) ||
	    ((mask & RXE_QP_MAX_QP_RD_ATOMIC) && a->max_rd_atomic > max_rd) ||
	    ((mask & RXE_QP_MAX_DEST_RD_ATOMIC) && a->max_dest_rd_atomic > max_rd))
		return -EINVAL;
	if ((mask & RXE_QP_PATH_MTU) &&
	    (a->path_mtu < 1 || a->path_mtu > 5 ||
	     mtu_bytes(a->path_mtu) > __atomic_load_n(&qp->hca->mtu, __ATOMIC_RELAXED)))
		return -EINVAL;
	return 0;
}

static int make_resources(struct rxe_qp *qp, uint32_t n)
{
	struct rxe_rd_res *res = n ? calloc(n, sizeof(*res)) : NULL;

	if (n && !res)
		return -ENOMEM;
	free(qp->resp.res);
	qp->resp.res = res;
	qp->resp.nr_res = n;
	qp->resp.next_res = 0;
	return 0;
}

/* What was built for the old path is built again, or (UC) counts as lost. */
static void leave_path(struct rxe_qp *qp)
{
	if (qp->init.type == RXE_QPT_RC) {
		if (qp->req.nr_tx)
			rxe_req_go_back(qp);
		rxe_read_rewind(qp);
	} else {
		rxe_req_lose_tx(qp);
	}
}

static void take_fields(struct rxe_qp *qp, const struct rxe_qp_attr *a, uint32_t mask)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (mask & fields[i].mask)
			memcpy((char *)&qp->attr + fields[i].offset,
			       (const char *)a + fields[i].offset, fields[i].size);
	if (mask & RXE_QP_PATH_MTU)
		qp->mtu = mtu_bytes(qp->attr.path_mtu);
	if (mask & RXE_QP_RQ_PSN) {
		qp->attr.rq_psn &= RXE_PSN_MASK;
		qp->resp.psn = qp->attr.rq_psn;
		qp->resp.done_psn = rxe_psn_add(qp->resp.psn, -1);
	}
	if (mask & RXE_QP_SQ_PSN) {
		qp->attr.sq_psn &= RXE_PSN_MASK;
		qp->req.next_psn = qp->req.una = qp->req.sent_psn = qp->attr.sq_psn;
	}
	if (mask & RXE_QP_DEST_QPN)
		qp->attr.dest_qp_num &= RXE_QPN_MASK;
	if (mask & RXE_QP_RETRY_CNT)
		qp->comp.retry_left = qp->attr.retry_cnt;
	if (mask & RXE_QP_RNR_RETRY)
		qp->comp.rnr_left = qp->attr.rnr_retry;
}

static void to_reset(struct rxe_qp *qp)
{
	stop(qp);
	rxe_stage_forget(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->comm_est = qp->last_wqe = false;
	/* What was posted is forgotten. */
	if (qp->init.sq.buf) {
		qp->init.sq.index = rxe_ring_producer(&qp->init.sq);
		__atomic_store_n(&qp->init.sq.buf->consumer_index, qp->init.sq.index,
				 __ATOMIC_RELEASE);
		qp->req.fetch = qp->init.sq.index;
	}
	if (qp->init.rq.buf) {
		qp->init.rq.index = rxe_ring_producer(&qp->init.rq);
		__atomic_store_n(&qp->init.rq.buf->consumer_index, qp->init.rq.index,
				 __ATOMIC_RELEASE);
		qp->resp.fetch = qp->init.rq.index;
	}
}

static void enter_state(struct rxe_qp *qp, enum rxe_qp_state next)
{
	switch (next) {
	case RXE_QPS_RESET:
		to_reset(qp);
		break;
	case RXE_QPS_ERR:
		rxe_qp_error(qp);
		break;
	case RXE_QPS_SQD:
		if (qp->attr.qp_state != RXE_QPS_SQD) {
			set_state(qp, RXE_QPS_SQD);
			qp->attr.sq_draining = true;
			rxe_comp_retire(qp); /* perhaps it is drained */
		}
		break;
	default:
		if (qp->attr.qp_state == RXE_QPS_SQE)
			rxe_flush_sq(qp); /* what was posted before this */
		set_state(qp, next);
		rxe_qp_kick(qp);
	}
}

int rxe_qp_modify(struct rxe_qp *qp, const struct rxe_qp_attr *attr, uint32_t mask)
{
	enum rxe_qp_state cur = qp->attr.qp_state;
	enum rxe_qp_state next = mask & RXE_QP_STATE ? attr->qp_state : cur;
	int err = 0;

	if ((mask & RXE_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	/* No way out of SQD but ERR and RESET while it drains (PROTOCOL 16). */
	if (qp->attr.sq_draining && cur == RXE_QPS_SQD && next != RXE_QPS_ERR &&
	    next != RXE_QPS_RESET)
		return -EINVAL;
	if (rxe_qp_modify_check(qp->init.type, cur, next, mask) || check_values(qp, attr, mask))
		return -EINVAL;
	if (mask & RXE_QP_MAX_DEST_RD_ATOMIC) {
		/* Answers in progress refer to the old ring. */
		if (cur == RXE_QPS_SQD && !TAILQ_EMPTY(&qp->resp.slots))
			return -EBUSY;
		err = make_resources(qp, attr->max_dest_rd_atomic);
	}
	if (err)
		return err;
	if (mask & RXE_QP_AV)
		leave_path(qp);
	take_fields(qp, attr, mask);
	if (mask & RXE_QP_STATE)
		enter_state(qp, next);
	return 0;
}

void rxe_qp_query(struct rxe_qp *qp, struct rxe_qp_attr *attr)
{
	*attr = qp->attr;
	attr->cur_qp_state = qp->attr.qp_state;
	if (qp->attr.qp_state >= RXE_QPS_RTR) {
		attr->rq_psn = qp->resp.psn;
		attr->sq_psn = qp->req.next_psn;
	}
}

void rxe_qp_block_self_lb(struct rxe_qp *qp)
{
	qp->init.block_self_lb = true;
}

void *rxe_qp_owner(const struct rxe_qp *qp)
{
	return qp->init.owner;
}

uint32_t rxe_qp_num(const struct rxe_qp *qp)
{
	return qp->init.qpn;
}

enum rxe_qp_state rxe_qp_get_state(const struct rxe_qp *qp)
{
	return __atomic_load_n(&qp->attr.qp_state, __ATOMIC_RELAXED);
}

enum rxe_qp_type rxe_qp_get_type(const struct rxe_qp *qp)
{
	return qp->init.type;
}

/* ---- what the parts share ---------------------------------------------------------------- */

void rxe_qp_doorbell(struct rxe_qp *qp)
{
	if (qp->attr.qp_state == RXE_QPS_ERR)
		rxe_flush_run(qp);
	else if (qp->attr.qp_state == RXE_QPS_SQE)
		rxe_flush_sq(qp);
	else if (rxe_stage_direct(qp, RXE_STAGE_REQ))
		rxe_req_run(qp, RXE_QP_QUANTUM);
}

void rxe_qp_event(struct rxe_qp *qp, enum rxe_event_kind kind)
{
	qp->engine->ops->async_event(qp->engine->ctx, kind, qp);
}

void rxe_qp_send_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_engine *e = qp->engine;

	rxe_stat_add(qp->stats, RXE_HW_SENT_PKTS, 1);
	rxe_stat_add(qp->stats, RXE_HW_SENT_BYTES, pkt->hdr_len + pkt->payload_len + pkt->pad);
	pkt->loops = rxe_mcast_loops(qp, pkt);
	e->ops->pkt_send(e->ctx, qp->hca, pkt);
	rxe_stage_sent(qp);
}

struct rxe_pktinfo rxe_qp_pktinfo(const struct rxe_qp *qp, enum rxe_op op, uint32_t psn)
{
	uint8_t opcode = RXE_OPCODE(rxe_qp_class(qp), op);

	return (struct rxe_pktinfo){
		.op = rxe_opcode_info(opcode),
		.opcode = opcode,
		.pkey = qp->hca->pkey,
		.qpn = qp->attr.dest_qp_num,
		.psn = psn,
	};
}
