/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slots: accepted requests in order. A slot retires when all before it have
 * and its own copy is done; then the client sees its completion and the peer
 * its answer, in this order.
 */
#include <errno.h>
#include <string.h>
#include "copy.h"
#include "qp.h"
#include "ring.h"
#include "stage.h"

#define NO_EVENT 0xff

/* What each party hears of a fault. */
static const struct {
	uint8_t syndrome, wc_status, event;
} faults[] = {
	[FAULT_INV_REQ] = {RXE_AETH_NAK | RXE_NAK_INV_REQ, RXE_WC_REM_INV_REQ_ERR,
			   RXE_EV_QP_REQ_ERR},
	[FAULT_ACCESS] = {RXE_AETH_NAK | RXE_NAK_REM_ACCESS, RXE_WC_REM_ACCESS_ERR,
			  RXE_EV_QP_ACCESS_ERR},
	[FAULT_LENGTH] = {RXE_AETH_NAK | RXE_NAK_INV_REQ, RXE_WC_LOC_LEN_ERR, NO_EVENT},
	[FAULT_WQE] = {RXE_AETH_NAK | RXE_NAK_REM_OP, RXE_WC_LOC_QP_OP_ERR, NO_EVENT},
	[FAULT_PROT] = {RXE_AETH_NAK | RXE_NAK_REM_OP, RXE_WC_LOC_PROT_ERR, NO_EVENT},
	[FAULT_MEM] = {RXE_AETH_NAK | RXE_NAK_REM_ACCESS, RXE_WC_REM_ACCESS_ERR,
		       RXE_EV_QP_ACCESS_ERR},
	/* As kernel rxe (class J): the message itself is acknowledged. */
	[FAULT_INV] = {RXE_AETH_ACK | RXE_AETH_CREDIT_INVALID, RXE_WC_REM_INV_REQ_ERR, NO_EVENT},
};

/* ---- receive WQEs -------------------------------------------------------------- */

static int take_own(struct rxe_qp *qp, uint32_t at_least, struct rxe_rwqe *w)
{
	struct rxe_responder *resp = &qp->resp;
	const struct rxe_wqe_limits lim = {
		.type = qp->init.type,
		.max_sge = qp->init.max_recv_sge,
		.elem_size = 1u << qp->init.rq.log2_elem,
	};

	if (!qp->init.rq.buf || resp->fetch == rxe_ring_producer(&qp->init.rq))
		return -ENOENT;
	rxe_rwqe_take(w, rxe_ring_elem(&qp->init.rq, resp->fetch), &lim);
	if (!w->status && w->length < at_least)
		return -EMSGSIZE;
	resp->fetch = rxe_ring_next(&qp->init.rq, resp->fetch);
	return 0;
}

int rxe_resp_take_rwqe(struct rxe_qp *qp, uint32_t at_least, struct rxe_rwqe **out)
{
	struct rxe_rwqe *w = rxe_rwqe_new(qp->engine);
	int err;

	if (!w)
		return -ENOMEM;
	err = qp->init.srq ? rxe_srq_take(qp->engine, qp->init.srq, at_least, w)
			   : take_own(qp, at_least, w);
	if (err) {
		rxe_rwqe_free(qp->engine, w);
		return err;
	}
	TAILQ_INSERT_TAIL(&qp->resp.rwqes, w, link);
	*out = w;
	return 0;
}

int rxe_resp_post_recv(struct rxe_qp *qp, const struct ib_uverbs_wc *wc, bool solicited)
{
	struct rxe_rwqe *w = TAILQ_FIRST(&qp->resp.rwqes);
	struct ib_uverbs_wc full = *wc;

	TAILQ_REMOVE(&qp->resp.rwqes, w, link);
	full.wr_id = w->wr_id;
	full.qp_num = qp->init.qpn;
	if (qp->resp.rwqe == w)
		qp->resp.rwqe = NULL;
	rxe_rwqe_free(qp->engine, w);
	if (!qp->init.srq) /* an SRQ's element went back when it was taken */
		rxe_ring_consume(&qp->init.rq);
	if (!full.status)
		rxe_qp_count(qp, RXE_HW_RDMA_RECVS);
	return rxe_cq_post(qp->engine, qp->init.recv_cq, &full, solicited);
}

int rxe_resp_scatter(struct rxe_xfer *x, const struct rxe_rwqe *rwqe, uint64_t off, uint32_t len,
		     uint32_t nlocal)
{
	struct rxe_qp *qp = x->qp;
	uint32_t pdn = qp->init.srq ? rxe_srq_pdn(qp->init.srq) : qp->init.pdn;
	struct rxe_range range[RXE_MAX_SGE];
	int n;

	if (!len)
		return 0;
	n = rxe_ranges_from_sge(qp->hca, pdn, rwqe->sge, rwqe->num_sge, off, len,
				IB_UVERBS_ACCESS_LOCAL_WRITE, range);
	if (n < 0)
		return n;
	if (rxe_xfer_need_ranges(x, n)) {
		rxe_ranges_put(range, n);
		return -ENOMEM;
	}
	memcpy(x->range, range, n * sizeof(range[0]));
	rxe_xfer_copy(x, RXE_COPY_WRITE, n, nlocal);
	return 0;
}

/* ---- slots ------------------------------------------------------------------------ */

void rxe_resp_push_slot(struct rxe_qp *qp, struct rxe_xfer *x)
{
	TAILQ_INSERT_TAIL(&qp->resp.slots, x, link);
	qp->resp.nr_slots++;
}

struct rxe_xfer *rxe_resp_new_slot(struct rxe_qp *qp, enum rxe_slot_kind kind, uint32_t psn)
{
	struct rxe_xfer *x = NULL;

	/* Slots that were given up count while their copies run. */
	if (qp->resp.nr_slots < RXE_MAX_SLOTS && qp->busy_ops[RXE_XFER_SLOT] < RXE_MAX_SLOTS)
		x = rxe_xfer_new(qp, RXE_XFER_SLOT);
	if (x) {
		x->slot.kind = kind;
		x->slot.psn = psn;
	}
	return x;
}

void rxe_resp_drop_slots(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;

	rxe_read_drop_tx(qp);
	for (uint32_t i = 0; i < resp->nr_res; i++)
		resp->res[i].slot = NULL;
	rxe_xfer_drop_all(&resp->slots);
	resp->nr_slots = 0;
}

void rxe_resp_queue_nak(struct rxe_qp *qp, uint8_t syndrome)
{
	struct rxe_xfer *x = rxe_resp_new_slot(qp, RXE_SLOT_NAK, qp->resp.psn);

	if (!x)
		return;
	x->slot.syndrome = syndrome;
	x->slot.msn = qp->resp.msn;
	qp->resp.nak_sent = true;
	rxe_resp_push_slot(qp, x);
}

void rxe_resp_queue_fault(struct rxe_qp *qp, enum rxe_fault f, uint32_t psn)
{
	struct rxe_xfer *x = rxe_resp_new_slot(qp, RXE_SLOT_FAULT, psn);

	if (!x)
		return; /* the request counts as lost and comes again */
	x->slot.fault = f;
	x->slot.msn = qp->resp.msn;
	x->slot.owns_rwqe = qp->resp.rwqe;
	qp->resp.fault = true;
	rxe_resp_push_slot(qp, x);
}

/* ---- retirement --------------------------------------------------------------------- */

static bool send_aeth(struct rxe_qp *qp, enum rxe_op opcode, uint32_t psn, uint32_t msn,
		      uint8_t syndrome, uint64_t orig)
{
	struct rxe_pktinfo info = rxe_qp_pktinfo(qp, opcode, psn);
	struct rxe_pkt *pkt = rxe_engine_alloc(qp, &qp->attr.addr, info.op->hdr_len, 0);

	if (!pkt)
		return false;
	info.syndrome = syndrome;
	info.msn = msn;
	info.orig = orig;
	rxe_pkt_build(pkt->hdr, &info, 0);
	rxe_qp_send_pkt(qp, pkt);
	return true;
}

/* Acknowledges what is retired; later when there is no room now. */
static void send_ack(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;

	resp->ack_pending = !send_aeth(qp, RXE_OP_ACK, resp->done_psn, resp->done_msn,
				       RXE_AETH_ACK | RXE_AETH_CREDIT_INVALID, 0);
	if (resp->ack_pending)
		rxe_qp_count(qp, RXE_HW_ACK_DEFERRED);
	else
		resp->unacked = 0;
}

/*
 * A program destroys its QP as soon as it has its last message. If just then
 * the acknowledgement of that message is lost, nobody is left to repeat it and
 * the peer runs out of retries although all went well. So the last one is said
 * once more; a peer that has it ignores the second (a ghost ACK).
 */
void rxe_resp_farewell(struct rxe_qp *qp)
{
	enum rxe_qp_state s = qp->attr.qp_state;

	if (rxe_qp_is_rc(qp) && s >= RXE_QPS_RTR && s != RXE_QPS_ERR && qp->resp.answered)
		send_ack(qp);
}

/* A response of another kind says what a pending ACK would have said. */
static void retired(struct rxe_qp *qp, const struct rxe_xfer *x, bool answered)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t every = qp->engine->params.max_packet_per_ack;

	if (x->slot.replay)
		return; /* answered before; tells nothing of what came later */
	resp->done_psn = x->slot.psn;
	resp->done_msn = x->slot.msn;
	resp->answered = true;
	if (!rxe_qp_is_rc(qp))
		return;
	if (answered) {
		resp->ack_pending = false;
		resp->unacked = 0;
		return;
	}
	resp->unacked++;
	resp->ack_pending |= x->slot.ack_req;
	if (every && resp->unacked >= every)
		send_ack(qp);
}

/* The first slot has ended the QP's service; false: no room for its NAK yet. */
static bool retire_fault(struct rxe_qp *qp, struct rxe_xfer *x)
{
	enum rxe_fault f = x->slot.fault;
	struct ib_uverbs_wc wc = {.status = faults[f].wc_status};

	if (rxe_qp_is_rc(qp) &&
	    !send_aeth(qp, RXE_OP_ACK, x->slot.psn, qp->resp.done_msn, faults[f].syndrome, 0))
		return false;
	if (x->slot.owns_rwqe && !TAILQ_EMPTY(&qp->resp.rwqes))
		rxe_resp_post_recv(qp, &wc, true);
	if (faults[f].event != NO_EVENT)
		rxe_qp_event(qp, faults[f].event);
	rxe_qp_error(qp); /* drops x with all other slots */
	return false;
}

static bool retire_nak(struct rxe_qp *qp, struct rxe_xfer *x)
{
	if (x->slot.psn != qp->resp.psn) {
		qp->resp.ack_pending = true; /* the gap has closed meanwhile */
		return true;
	}
	if (!send_aeth(qp, RXE_OP_ACK, x->slot.psn, x->slot.msn, x->slot.syndrome, 0))
		return false;
	qp->resp.ack_pending = false;
	qp->resp.unacked = 0;
	return true;
}

/* Turns a slot whose copy (or invalidation) failed into the fault that this is. */
static bool copy_failed(struct rxe_qp *qp, struct rxe_xfer *x, enum rxe_fault f)
{
	x->slot.kind = RXE_SLOT_FAULT;
	x->slot.fault = f;
	x->slot.owns_rwqe = f == FAULT_PROT || f == FAULT_WQE || f == FAULT_INV;
	qp->resp.fault = true;
	return retire_fault(qp, x);
}

static bool complete_recv(struct rxe_qp *qp, const struct rxe_xfer *x)
{
	struct ib_uverbs_wc wc = {
		.opcode = x->slot.wc_opcode,
		.byte_len = x->slot.byte_len,
		.wc_flags = x->slot.wc_flags,
		.ex.imm_data = x->slot.imm,
		.src_qp = x->slot.src_qpn,
		.port_num = qp->attr.port_num,
	};

	if (wc.wc_flags & RXE_WC_WITH_INV)
		wc.ex.invalidate_rkey = x->slot.inv_rkey;
	return !rxe_resp_post_recv(qp, &wc, x->slot.solicited);
}

static bool retire_given_up(struct rxe_qp *qp)
{
	struct ib_uverbs_wc wc = {.status = RXE_WC_REM_INV_REQ_ERR};

	if (!rxe_resp_post_recv(qp, &wc, true))
		return true;
	rxe_qp_event(qp, RXE_EV_QP_FATAL); /* the CQ is full */
	rxe_qp_error(qp);
	return false;
}

static bool retire_data(struct rxe_qp *qp, struct rxe_xfer *x)
{
	if (x->copy.status)
		return copy_failed(qp, x, x->slot.fault);
	if (x->slot.inv_failed)
		return copy_failed(qp, x, FAULT_INV);
	if (x->slot.completes && !complete_recv(qp, x)) {
		rxe_qp_event(qp, RXE_EV_QP_FATAL); /* the CQ is full */
		rxe_qp_error(qp);
		return false;
	}
	retired(qp, x, false);
	return true;
}

static bool retire_atomic(struct rxe_qp *qp, struct rxe_xfer *x)
{
	struct rxe_rd_res *res = x->slot.res;

	if (x->copy.status)
		return copy_failed(qp, x, FAULT_ACCESS);
	if (!send_aeth(qp, x->slot.answer, x->slot.psn, x->slot.msn,
		       RXE_AETH_ACK | RXE_AETH_CREDIT_INVALID, x->copy.result))
		return false;
	if (!x->slot.replay) {
		res->result = x->copy.result;
		res->slot = NULL;
	}
	retired(qp, x, true);
	return true;
}

static bool retire_read(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t *budget)
{
	switch (rxe_read_run(x, budget)) {
	case RXE_READ_DONE:
		retired(qp, x, true);
		return true;
	case RXE_READ_FAULT:
		/* Its region may be long gone: a stray duplicate ends no connection. */
		if (x->slot.replay)
			return true;
		x->slot.psn = x->slot.rd.cur_psn;
		return copy_failed(qp, x, FAULT_ACCESS);
	case RXE_READ_MORE:
		rxe_qp_kick(qp);
		return false;
	case RXE_READ_BLOCKED:
		return false;
	}
	return false;
}

static bool retire(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t *budget)
{
	switch (x->slot.kind) {
	case RXE_SLOT_DATA:
		return retire_data(qp, x);
	case RXE_SLOT_ATOMIC:
		return retire_atomic(qp, x);
	case RXE_SLOT_NAK:
		return retire_nak(qp, x);
	case RXE_SLOT_READ:
		return retire_read(qp, x, budget);
	case RXE_SLOT_FAULT:
		return retire_fault(qp, x);
	case RXE_SLOT_GIVEN_UP:
		return retire_given_up(qp);
	}
	return false;
}

uint32_t rxe_resp_run(struct rxe_qp *qp, uint32_t budget)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t left = budget;
	struct rxe_xfer *x;

	while ((x = TAILQ_FIRST(&resp->slots)) && !x->busy && retire(qp, x, &left)) {
		TAILQ_REMOVE(&resp->slots, x, link);
		resp->nr_slots--;
		rxe_xfer_drop(x);
	}
	if (resp->ack_pending && qp->attr.qp_state != RXE_QPS_ERR)
		send_ack(qp);
	if (qp->engine->tx_blocked && (resp->ack_pending || !TAILQ_EMPTY(&resp->slots)))
		rxe_qp_kick(qp);
	return budget - left;
}

/* At once, or when the burst is over, as fast_resp says. */
void rxe_resp_update(struct rxe_qp *qp)
{
	if (rxe_stage_direct(qp, RXE_STAGE_RESP))
		rxe_resp_run(qp, RXE_QP_QUANTUM);
}

void rxe_resp_copied(struct rxe_xfer *x)
{
	rxe_resp_update(x->qp);
}

void rxe_resp_reset(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;
	struct rxe_rwqe *w;

	rxe_resp_drop_slots(qp);
	while ((w = TAILQ_FIRST(&resp->rwqes))) {
		TAILQ_REMOVE(&resp->rwqes, w, link);
		rxe_rwqe_free(qp->engine, w);
	}
	for (uint32_t i = 0; i < resp->nr_res; i++)
		resp->res[i].kind = 0;
	resp->rwqe = NULL;
	resp->msg = RXE_MSG_NONE;
	resp->msn = resp->done_msn = 0;
	resp->unacked = 0;
	resp->ack_pending = resp->nak_sent = resp->fault = resp->answered = false;
}
