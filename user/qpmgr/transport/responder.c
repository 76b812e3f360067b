/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The responder of RC and UC: checks requests as they arrive and starts their
 * copies. What the checks decide is decided at arrival; what the peer and the
 * client see of it waits for its turn in retire.c.
 */
#include <errno.h>
#include <string.h>
#include "copy.h"
#include "kernel_compat.h"
#include "qp.h"

/* Faults that UC answers with silence; the others end a UC QP as well. */
static bool uc_ignores(enum rxe_fault f)
{
	return f == FAULT_RNR || f == FAULT_INV_REQ || f == FAULT_ACCESS || f == FAULT_LENGTH;
}

/* ---- arrival: sequence --------------------------------------------------------------- */

static enum rxe_fault check_sequence(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t flags = info->op->flags;
	enum rxe_msg want = flags & RXE_F_SEND	  ? RXE_MSG_SEND
			    : flags & RXE_F_WRITE ? RXE_MSG_WRITE
						  : RXE_MSG_NONE;

	if (flags & RXE_F_START)
		return resp->msg == RXE_MSG_NONE ? FAULT_NONE : FAULT_INV_REQ;
	return resp->msg == want ? FAULT_NONE : FAULT_INV_REQ;
}

/* What the QP's access flags must have for a request. */
static enum rxe_fault check_permission(const struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	static const struct {
		uint32_t op, access;
	} needs[] = {
		{RXE_F_WRITE | RXE_F_ATOMIC_WRITE, IB_UVERBS_ACCESS_REMOTE_WRITE},
		{RXE_F_READ, IB_UVERBS_ACCESS_REMOTE_READ},
		{RXE_F_ATOMIC, IB_UVERBS_ACCESS_REMOTE_ATOMIC},
	};

	if ((info->op->flags & RXE_F_FLUSH) &&
	    (rxe_flush_access(info->flush_type) & ~qp->attr.access_flags))
		return FAULT_INV_REQ;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if ((info->op->flags & needs[i].op) && !(qp->attr.access_flags & needs[i].access))
			return FAULT_INV_REQ;
	return FAULT_NONE;
}

/* PROTOCOL 4. */
static enum rxe_fault check_length(const struct rxe_qp *qp, const struct rxe_pkt *pkt,
				   const struct rxe_pktinfo *info)
{
	uint32_t flags = info->op->flags, len = pkt->payload_len;

	if ((flags & RXE_F_RETH) && info->len > RXE_MAX_MSG_LEN)
		return FAULT_INV_REQ;
	if (!(flags & RXE_F_PAYLOAD))
		return FAULT_NONE;
	if (len > qp->mtu)
		return FAULT_INV_REQ;
	if (!(flags & RXE_F_END) && len != qp->mtu)
		return FAULT_INV_REQ;
	if ((flags & RXE_F_END) && !(flags & RXE_F_START) && !len)
		return FAULT_INV_REQ;
	return FAULT_NONE;
}

/* ---- arrival: SEND and WRITE ------------------------------------------------------------ */

static enum rxe_fault need_rwqe(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;

	if (!resp->rwqe && rxe_resp_take_rwqe(qp, 0, &resp->rwqe))
		return FAULT_RNR;
	resp->rwqe_used = 0;
	return resp->rwqe->status ? FAULT_WQE : FAULT_NONE;
}

static enum rxe_fault take_send(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t nlocal)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t len = x->pkt->payload_len;

	if (len > resp->rwqe->length - resp->rwqe_used)
		return FAULT_LENGTH;
	x->slot.fault = FAULT_PROT;
	if (rxe_resp_scatter(x, resp->rwqe, resp->rwqe_used, len, nlocal))
		return FAULT_PROT;
	resp->rwqe_used += len;
	return FAULT_NONE;
}

/* A zero-length WRITE does not look at its rkey (PROTOCOL 21). */
static enum rxe_fault begin_write(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;
	struct rxe_range whole;

	if (info->len) {
		if (rxe_qp_rkey(qp, info->rkey, info->va, info->len, IB_UVERBS_ACCESS_REMOTE_WRITE,
				&whole))
			return FAULT_ACCESS;
		rxe_mr_put(whole.mr);
	}
	resp->va = info->va;
	resp->rkey = info->rkey;
	resp->length = resp->resid = info->len;
	return FAULT_NONE;
}

/* All that can be wrong with a WRITE's packet; its MR is then in x->range[0]. */
static enum rxe_fault check_write(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t flags)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t len = x->pkt->payload_len;
	bool end = flags & RXE_F_END;

	/* LAST brings exactly the rest, the others less. */
	if (end ? len != resp->resid : len >= resp->resid)
		return FAULT_INV_REQ;
	x->range[0].len = len;
	if (!len)
		return FAULT_NONE;
	if (rxe_qp_rkey(qp, resp->rkey, resp->va, len, IB_UVERBS_ACCESS_REMOTE_WRITE, x->range))
		return FAULT_ACCESS;
	return FAULT_NONE;
}

static void take_write(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t nlocal)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t len = x->range[0].len;

	if (!len)
		return;
	x->slot.fault = FAULT_MEM;
	rxe_xfer_copy(x, RXE_COPY_WRITE, 1, nlocal);
	resp->va += len;
	resp->resid -= len;
}

/*
 * Its receive WQE comes last: a WRITE that is answered by an error consumes
 * none (PROTOCOL 25).
 */
static enum rxe_fault execute_write(struct rxe_qp *qp, struct rxe_xfer *x,
				    const struct rxe_pktinfo *info, uint32_t nlocal)
{
	uint32_t flags = info->op->flags;
	enum rxe_fault f = flags & RXE_F_RETH ? begin_write(qp, info) : FAULT_NONE;

	if (!f)
		f = check_write(qp, x, flags);
	if (f)
		return f;
	if (flags & RXE_F_RWQE)
		f = need_rwqe(qp);
	if (!f)
		take_write(qp, x, nlocal);
	else if (x->range[0].len)
		rxe_mr_put(x->range[0].mr);
	return f;
}

static enum rxe_fault execute(struct rxe_qp *qp, struct rxe_xfer *x, const struct rxe_pktinfo *info)
{
	struct rxe_pkt *pkt = x->pkt;
	uint32_t nlocal = rxe_iov_clip(x->local, pkt->seg, pkt->nsegs, pkt->payload_len);
	enum rxe_fault f;

	if (!(info->op->flags & RXE_F_SEND))
		return execute_write(qp, x, info, nlocal);
	f = info->op->flags & RXE_F_RWQE ? need_rwqe(qp) : FAULT_NONE;
	return f ? f : take_send(qp, x, nlocal);
}

/*
 * SEND_WITH_INV takes the window from whatever arrives later; what arrived
 * before still reads through it (read.c), and its receiver hears of it after
 * all of that.
 */
static void invalidate(struct rxe_qp *qp, struct rxe_xfer *x, uint32_t rkey)
{
	x->slot.inv_rkey = rkey;
	x->slot.wc_flags |= RXE_WC_WITH_INV;
	x->slot.inv_failed = rxe_mw_invalidate(qp->hca, qp->init.pdn, qp->id, rkey, &x->slot.gone);
	if (x->slot.inv_failed)
		qp->resp.fault = true;
}

static void describe_completion(struct rxe_qp *qp, struct rxe_xfer *x,
				const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;
	bool write = info->op->flags & RXE_F_WRITE;

	/* UC may hold the receive WQE of an abandoned SEND during a WRITE. */
	x->slot.completes = info->op->flags & (RXE_F_SEND | RXE_F_RWQE);
	if (!x->slot.completes)
		return;
	x->slot.wc_opcode = write ? RXE_WC_RECV_RDMA_WITH_IMM : RXE_WC_RECV;
	x->slot.byte_len = write ? resp->length : resp->rwqe_used;
	x->slot.wc_flags = RXE_WC_GRH | (info->op->flags & RXE_F_IMM ? RXE_WC_WITH_IMM : 0);
	x->slot.imm = info->imm;
	if (info->op->flags & RXE_F_IETH)
		invalidate(qp, x, info->inv_rkey);
	x->slot.src_qpn = qp->attr.dest_qp_num;
	x->slot.solicited = info->solicited;
	resp->rwqe = NULL; /* stays in resp.rwqes until the slot retires */
}

static void accept_data(struct rxe_qp *qp, struct rxe_xfer *x, const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;
	uint32_t flags = info->op->flags;

	resp->psn = rxe_psn_add(info->psn, 1);
	resp->nak_sent = false;
	resp->msg = flags & RXE_F_SEND ? RXE_MSG_SEND : RXE_MSG_WRITE;
	if (flags & RXE_F_END) {
		describe_completion(qp, x, info);
		resp->msg = RXE_MSG_NONE;
		resp->msn = rxe_psn_add(resp->msn, 1);
	}
	x->slot.msn = resp->msn;
	x->slot.ack_req = info->ack_req;
	rxe_resp_push_slot(qp, x);
}

/* ---- arrival: the way through ------------------------------------------------------------- */

/*
 * UC gives up the message in progress. Its receive WQE serves the next one; of
 * an SRQ it completes in error, so that no idle QP keeps it from the others
 * (the driver's class E).
 */
static void abandon_message(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;
	struct rxe_xfer *x;

	resp->msg = RXE_MSG_NONE;
	if (!qp->init.srq || !resp->rwqe)
		return;
	x = rxe_resp_new_slot(qp, RXE_SLOT_GIVEN_UP, resp->psn);
	if (!x)
		return;
	resp->rwqe = NULL; /* stays in resp.rwqes until the slot retires */
	rxe_resp_push_slot(qp, x);
}

static void refuse(struct rxe_qp *qp, enum rxe_fault f, const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;

	if (f == FAULT_DROP)
		return;
	if (!rxe_qp_is_rc(qp) && uc_ignores(f)) {
		abandon_message(qp);
		resp->psn = rxe_psn_add(info->psn, 1);
		return;
	}
	if (f == FAULT_RNR) {
		rxe_qp_count(qp, RXE_HW_SEND_RNR);
		rxe_resp_queue_nak(qp, RXE_AETH_RNR_NAK | (qp->attr.min_rnr_timer & 0x1f));
		return;
	}
	rxe_resp_queue_fault(qp, f, info->psn);
}

static void rx_data(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_xfer *x = rxe_resp_new_slot(qp, RXE_SLOT_DATA, info->psn);
	enum rxe_fault f;

	if (!x) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_BUSY);
		return;
	}
	x->pkt = pkt;
	f = execute(qp, x, info);
	if (!f) {
		accept_data(qp, x, info);
		return;
	}
	rxe_xfer_drop(x);
	if (!rxe_qp_is_rc(qp) && f == FAULT_RNR)
		rxe_qp_count(qp, RXE_HW_DROP_NO_RECV);
	refuse(qp, f, info);
}

static enum rxe_fault check_request(struct rxe_qp *qp, struct rxe_pkt *pkt,
				    const struct rxe_pktinfo *info)
{
	enum rxe_fault f = check_sequence(qp, info);

	if (!f)
		f = check_permission(qp, info);
	return f ? f : check_length(qp, pkt, info);
}

static void rx_in_sequence(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	enum rxe_fault f = check_request(qp, pkt, info);

	if (!f && (info->op->flags & (RXE_F_SEND | RXE_F_WRITE))) {
		rx_data(qp, pkt, info);
		return;
	}
	if (!f)
		f = rxe_read_rx(qp, pkt, info);
	if (f)
		refuse(qp, f, info);
	qp->engine->ops->pkt_free(qp->engine->ctx, pkt);
}

/* PROTOCOL 19: answered, not executed. */
static void rx_duplicate(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_xfer *last = TAILQ_LAST(&qp->resp.slots, rxe_xfer_list);

	rxe_qp_count(qp, RXE_HW_DUP_REQUEST);
	if (info->op->flags & RXE_F_ANSWERED)
		rxe_read_duplicate(qp, info);
	else if (last)
		last->slot.ack_req = true; /* one ACK, when all before it is done */
	else
		qp->resp.ack_pending = true;
	qp->engine->ops->pkt_free(qp->engine->ctx, pkt);
	rxe_qp_kick(qp);
}

static void rx_rc(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	int32_t diff = rxe_psn_diff(info->psn, qp->resp.psn);

	if (diff < 0) {
		rx_duplicate(qp, pkt, info);
		return;
	}
	if (diff > 0) {
		rxe_qp_count(qp, RXE_HW_OUT_OF_SEQ);
		if (!qp->resp.nak_sent)
			rxe_resp_queue_nak(qp, RXE_AETH_NAK | RXE_NAK_PSN_SEQ);
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_SEQ);
		rxe_resp_update(qp);
		return;
	}
	rx_in_sequence(qp, pkt, info);
	rxe_resp_update(qp);
}

/* After a gap UC drops until a FIRST or ONLY (PROTOCOL 18). */
static void rx_uc(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	bool start = info->op->flags & RXE_F_START;

	if (info->psn != qp->resp.psn || start)
		abandon_message(qp);
	if (!start && qp->resp.msg == RXE_MSG_NONE) {
		qp->resp.psn = rxe_psn_add(info->psn, 1);
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_SEQ);
	} else {
		rx_in_sequence(qp, pkt, info);
	}
	rxe_resp_update(qp);
}

void rxe_resp_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	if (qp->resp.fault)
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_STATE);
	else if (rxe_qp_is_rc(qp))
		rx_rc(qp, pkt, info);
	else
		rx_uc(qp, pkt, info);
}
