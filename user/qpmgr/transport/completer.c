/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The completer: what ACKs, NAKs, READ responses and atomic acknowledgements
 * mean for the send queue, retries and their timers, and completions in order.
 */
#include <endian.h>
#include <errno.h>
#include "copy.h"
#include "qp.h"
#include "ring.h"
#include "stage.h"

/* RNR NAK timer codes, in microseconds (IBTA 9.7.5.2.8). */
/* clang-format off */
static const uint32_t rnr_usec[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440, 81920, 122880,
	163840, 245760, 327680, 491520,
};

/* AETH credit codes (IBTA 9.7.7.2.2): receive WQEs beyond the MSN. */
static const uint32_t credits[31] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024,
	1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};
/* clang-format on */

/* ---- completions, in order --------------------------------------------------- */

int rxe_comp_post(struct rxe_qp *qp, struct rxe_swqe *w)
{
	struct ib_uverbs_wc wc = {
		.wr_id = w->wr_id,
		.status = w->status,
		.qp_num = qp->init.qpn,
	};
	int err = 0;

	if (!w->status) {
		wc.opcode = w->wr->wc_opcode;
		wc.byte_len = w->length;
		wc.wc_flags = w->wr->flags & RXE_F_IMM ? RXE_WC_WITH_IMM : 0;
		if (w->wr->flags & RXE_F_SEND)
			rxe_qp_count(qp, RXE_HW_RDMA_SENDS);
	}
	/* The element first: who sees the CQE may post again at once. */
	qp->req.head++;
	rxe_ring_consume(&qp->init.sq);
	if (w->status || qp->init.sq_sig_all || (w->flags & RXE_SEND_SIGNALED))
		err = rxe_cq_post(qp->engine, qp->init.send_cq, &wc, false);
	return err;
}

static void check_drained(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	bool idle = req->head == req->tail || !rxe_swqe(qp, req->head)->started;

	if (qp->attr.qp_state != RXE_QPS_SQD || !qp->attr.sq_draining || !idle)
		return;
	qp->attr.sq_draining = false;
	rxe_qp_event(qp, RXE_EV_SQ_DRAINED);
}

void rxe_comp_retire(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	bool retired = false;

	while (req->head != req->tail) {
		struct rxe_swqe *w = rxe_swqe(qp, req->head);
		bool failed = w->status, lost;

		if (w->pending || (!w->done && !failed))
			break;
		if (w->started && (w->wr->flags & RXE_F_ANSWERED))
			req->rd_open--;
		retired = true;
		lost = rxe_comp_post(qp, w); /* the CQ is full */
		if (lost && !failed)
			rxe_qp_event(qp, RXE_EV_QP_FATAL);
		if (failed && !lost && !rxe_qp_is_rc(qp)) {
			rxe_qp_sq_error(qp);
			return;
		}
		if (lost || failed) {
			rxe_qp_error(qp);
			return;
		}
	}
	check_drained(qp);
	if (retired)
		rxe_qp_kick(qp);
}

void rxe_comp_update(struct rxe_qp *qp)
{
	if (rxe_stage_direct(qp, RXE_STAGE_COMP))
		rxe_comp_retire(qp);
}

/* ---- the ACK timer -------------------------------------------------------------- */

static uint64_t timeout_ns(const struct rxe_qp *qp)
{
	uint64_t ns = 4096ull << qp->attr.timeout;

	return ns < RXE_MIN_TIMEOUT_NS ? RXE_MIN_TIMEOUT_NS : ns;
}

/*
 * The heap holds the earliest time that the timer may be due; progress only
 * moves timeout_at, and the timer looks again when it fires.
 */
static void restart_timer(struct rxe_qp *qp)
{
	struct rxe_completer *comp = &qp->comp;

	if (!qp->attr.timeout || qp->req.una == qp->req.sent_psn || qp->req.rnr_wait) {
		comp->timeout_at = UINT64_MAX;
		return;
	}
	comp->timeout_at = qp->engine->now + timeout_ns(qp);
	if (!rxe_deadline_armed(&comp->timeout))
		rxe_deadline_arm(&qp->engine->timers, &comp->timeout, comp->timeout_at);
}

void rxe_comp_sent(struct rxe_qp *qp)
{
	if (qp->comp.timeout_at == UINT64_MAX)
		restart_timer(qp);
}

/* ---- retries ----------------------------------------------------------------------- */

static struct rxe_swqe *oldest_unacked(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	struct rxe_swqe *w = req->ack != req->tail ? rxe_swqe(qp, req->ack) : NULL;

	return w && w->started ? w : NULL;
}

static void fail_oldest(struct rxe_qp *qp, uint32_t status)
{
	struct rxe_swqe *w = oldest_unacked(qp);

	if (!w)
		return;
	if (!w->status)
		w->status = status;
	/* Nothing follows it: stop sending. */
	rxe_req_drop_tx(qp);
	qp->req.cur = qp->req.ack;
	rxe_comp_retire(qp);
}

static void retry(struct rxe_qp *qp)
{
	struct rxe_completer *comp = &qp->comp;

	if (!oldest_unacked(qp))
		return;
	if (!comp->retry_left) {
		rxe_qp_count(qp, RXE_HW_RETRY_EXCEEDED);
		fail_oldest(qp, RXE_WC_RETRY_EXC_ERR);
		return;
	}
	comp->retry_left--;
	comp->retried = true;
	rxe_qp_count(qp, RXE_HW_COMP_RETRY);
	restart_timer(qp);
	rxe_req_go_back(qp);
}

/* One immediate retry; the next one is the timer's (PROTOCOL 9). */
static void retry_now(struct rxe_qp *qp)
{
	if (!qp->comp.retried && !qp->req.rnr_wait)
		retry(qp);
}

void rxe_comp_timeout(struct rxe_deadline *d)
{
	struct rxe_qp *qp = rxe_qp_of(d, comp.timeout);
	struct rxe_completer *comp = &qp->comp;

	if (comp->timeout_at == UINT64_MAX)
		return;
	if (comp->timeout_at > qp->engine->now) {
		rxe_deadline_arm(&qp->engine->timers, d, comp->timeout_at);
		return;
	}
	comp->timeout_at = UINT64_MAX;
	/* What has not gone out since the last retry has not been lost. */
	if (qp->req.nr_tx || qp->req.next_psn == qp->req.una) {
		restart_timer(qp);
		return;
	}
	/*
	 * Whatever drops packets may do it in a rhythm. A retry of the whole
	 * window, always of the same length, can lose its first packet each time.
	 */
	comp->probing = true;
	rxe_qp_count(qp, RXE_HW_SLOW_RESTART);
	retry(qp);
}

static void progress(struct rxe_qp *qp)
{
	struct rxe_completer *comp = &qp->comp;

	comp->retry_left = qp->attr.retry_cnt;
	comp->rnr_left = qp->attr.rnr_retry;
	comp->retried = false;
	comp->probing = false;
	if (qp->req.rnr_wait) {
		/*
		 * The peer took what it had refused: nothing to wait for. What was
		 * dropped then, built and not sent, is built again.
		 */
		rxe_deadline_cancel(&qp->engine->timers, &qp->req.rnr);
		qp->req.rnr_wait = false;
		rxe_req_go_back(qp);
	}
	restart_timer(qp);
}

/* ---- acknowledgement ---------------------------------------------------------------- */

void rxe_comp_skip_local(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	while (req->ack != req->tail && rxe_swqe(qp, req->ack)->done &&
	       rxe_swqe(qp, req->ack)->wr->flags & RXE_F_LOCAL)
		req->ack++;
	/* After going back the requester may not have walked over them again. */
	if ((int32_t)(req->ack - req->cur) > 0)
		req->cur = req->ack;
}

static void wqe_acked(struct rxe_qp *qp, struct rxe_swqe *w)
{
	w->done = true;
	qp->req.ack++;
	qp->req.una = rxe_psn_add(w->last_psn, 1);
	if (w->wr->flags & RXE_F_ANSWERED)
		qp->req.rd_out--;
	rxe_comp_skip_local(qp);
}

/*
 * Everything before `end` is acknowledged, except that a READ or atomic needs
 * its own response (PROTOCOL 10). False when one of those is in the way.
 */
static bool ack_before(struct rxe_qp *qp, uint32_t end)
{
	struct rxe_requester *req = &qp->req;
	uint32_t una = req->una;
	struct rxe_swqe *w = NULL;
	bool clear = true;

	while (rxe_psn_diff(end, req->una) > 0) {
		w = oldest_unacked(qp);
		if (!w)
			break;
		if (w->wr->flags & RXE_F_ANSWERED) {
			clear = false;
			break;
		}
		if (rxe_psn_diff(end, w->last_psn) <= 0) {
			req->una = end;
			break;
		}
		wqe_acked(qp, w);
	}
	if (req->una != una) {
		progress(qp);
		rxe_req_advance(qp);
	}
	return clear;
}

static void take_credits(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	struct rxe_requester *req = &qp->req;
	uint8_t code = info->syndrome & 0x1f;

	if ((info->syndrome & RXE_AETH_TYPE_MASK) != RXE_AETH_ACK)
		return;
	req->credit_limited = code != RXE_AETH_CREDIT_INVALID;
	if (req->credit_limited)
		req->credit_limit = rxe_psn_add(info->msn, credits[code]);
	rxe_qp_kick(qp);
}

static void rx_ack(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	take_credits(qp, info);
	if (!ack_before(qp, rxe_psn_add(info->psn, 1)))
		retry_now(qp);
	rxe_comp_update(qp);
}

static void rx_rnr(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	struct rxe_completer *comp = &qp->comp;
	uint64_t wait = rnr_usec[info->syndrome & 0x1f] * 1000ull;

	rxe_qp_count(qp, RXE_HW_RCVD_RNR);
	if (!ack_before(qp, info->psn)) {
		retry_now(qp);
		return;
	}
	rxe_comp_retire(qp);
	if (qp->attr.qp_state == RXE_QPS_ERR || qp->req.rnr_wait)
		return;
	if (qp->attr.rnr_retry != 7) {
		if (!comp->rnr_left) {
			rxe_qp_count(qp, RXE_HW_RNR_RETRY_EXCEEDED);
			fail_oldest(qp, RXE_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		comp->rnr_left--;
	}
	rxe_req_drop_tx(qp);
	qp->req.rnr_wait = true;
	/* It may still have no WQE: one packet finds out, the rest would be dropped. */
	comp->probing = true;
	comp->timeout_at = UINT64_MAX;
	rxe_deadline_arm(&qp->engine->timers, &qp->req.rnr, qp->engine->now + wait);
}

/* NAK codes that end the connection, and the completion status of each. */
static const uint8_t nak_status[] = {
	[RXE_NAK_INV_REQ] = RXE_WC_REM_INV_REQ_ERR,
	[RXE_NAK_REM_ACCESS] = RXE_WC_REM_ACCESS_ERR,
	[RXE_NAK_REM_OP] = RXE_WC_REM_OP_ERR,
	[RXE_NAK_INV_RD_REQ] = RXE_WC_REM_INV_REQ_ERR,
};

static void rx_nak(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	uint8_t code = info->syndrome & 0x1f;

	ack_before(qp, info->psn);
	if (code == RXE_NAK_PSN_SEQ) {
		rxe_qp_count(qp, RXE_HW_RCVD_SEQ_ERR);
		rxe_comp_retire(qp);
		if (qp->attr.qp_state != RXE_QPS_ERR)
			retry_now(qp);
		return;
	}
	/* The peer is in ERR now: what it did not answer will not be answered. */
	rxe_comp_retire(qp);
	if (qp->attr.qp_state == RXE_QPS_ERR)
		return;
	fail_oldest(qp, code < sizeof(nak_status) ? nak_status[code] : RXE_WC_REM_OP_ERR);
}

/* ---- responses with data ------------------------------------------------------------------ */

static void comp_done(struct rxe_xfer *x, struct rxe_swqe *w)
{
	if (x->copy.status && !w->status)
		w->status = RXE_WC_LOC_PROT_ERR;
	rxe_xfer_drop(x);
}

void rxe_comp_copied(struct rxe_xfer *x)
{
	struct rxe_qp *qp = x->qp;
	struct rxe_swqe *w = rxe_swqe(qp, x->comp.wqe);

	TAILQ_REMOVE(&qp->comp.ops, x, link);
	w->pending--;
	comp_done(x, w);
	if (qp->attr.qp_state == RXE_QPS_ERR)
		rxe_flush_run(qp);
	else
		rxe_comp_update(qp);
}

/* Scatters len bytes of x->local into w's buffers at off; takes op. */
static void scatter(struct rxe_qp *qp, struct rxe_swqe *w, struct rxe_xfer *x, uint32_t off,
		    uint32_t len, uint32_t nlocal)
{
	struct rxe_range range[RXE_MAX_SGE];
	int n = rxe_ranges_from_sge(qp->hca, qp->init.pdn, w->sge, w->num_sge, off, len,
				    IB_UVERBS_ACCESS_LOCAL_WRITE, range);

	x->comp.wqe = qp->req.ack;
	if (n < 0 || rxe_xfer_need_ranges(x, n)) {
		if (n > 0)
			rxe_ranges_put(range, n);
		x->copy.status = -EFAULT;
		comp_done(x, w);
		return;
	}
	for (int i = 0; i < n; i++)
		x->range[i] = range[i];
	if (!rxe_xfer_copy(x, RXE_COPY_WRITE, n, nlocal)) {
		comp_done(x, w);
		return;
	}
	w->pending++;
	TAILQ_INSERT_TAIL(&qp->comp.ops, x, link);
}

/*
 * FIRST and ONLY are what a request's answer begins with (PROTOCOL 10): the
 * message's first packet is one of them; another one may be when a request for
 * the rest of the message was sent. Which one is not asked: an answer to the
 * request before may be overtaken.
 */
static bool start_ok(const struct rxe_qp *qp, const struct rxe_swqe *w,
		     const struct rxe_pktinfo *info)
{
	uint32_t resume = qp->comp.resume_psn;

	if (info->psn == w->first_psn)
		return info->op->flags & RXE_F_START;
	return !(info->op->flags & RXE_F_START) ||
	       (resume != UINT32_MAX && rxe_psn_diff(resume, w->first_psn) > 0 &&
		rxe_psn_diff(resume, w->last_psn) <= 0);
}

static bool read_shape_ok(const struct rxe_qp *qp, const struct rxe_swqe *w,
			  const struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	bool last = info->psn == w->last_psn;
	uint32_t off = rxe_psn_diff(info->psn, w->first_psn) * qp->mtu;
	uint32_t want = last ? w->length - off : qp->mtu;

	/* FLUSH and ATOMIC_WRITE are answered by an empty READ response. */
	if (!(w->wr->flags & RXE_F_READ))
		want = 0;
	if ((info->op->flags & RXE_F_AETH) && (info->syndrome & RXE_AETH_TYPE_MASK) != RXE_AETH_ACK)
		return false;
	if (last != !!(info->op->flags & RXE_F_END) && (last || info->psn != qp->comp.probe_psn))
		return false;
	return start_ok(qp, w, info) && pkt->payload_len == want;
}

static void take_read(struct rxe_qp *qp, struct rxe_swqe *w, struct rxe_xfer *x,
		      const struct rxe_pktinfo *info)
{
	struct rxe_pkt *pkt = x->pkt;
	uint32_t off = rxe_psn_diff(info->psn, w->first_psn) * qp->mtu;
	uint32_t n;

	if (!read_shape_ok(qp, w, pkt, info)) {
		w->status = RXE_WC_BAD_RESP_ERR;
		rxe_xfer_drop(x);
		return;
	}
	if (!pkt->payload_len) {
		rxe_xfer_drop(x);
		return;
	}
	n = rxe_iov_clip(x->local, pkt->seg, pkt->nsegs, pkt->payload_len);
	scatter(qp, w, x, off, pkt->payload_len, n);
}

static void take_atomic(struct rxe_qp *qp, struct rxe_swqe *w, struct rxe_xfer *x,
			const struct rxe_pktinfo *info)
{
	if ((info->syndrome & RXE_AETH_TYPE_MASK) != RXE_AETH_ACK) {
		w->status = RXE_WC_BAD_RESP_ERR;
		rxe_xfer_drop(x);
		return;
	}
	x->comp.result = info->orig;
	x->local[0] = (struct iovec){&x->comp.result, sizeof(x->comp.result)};
	scatter(qp, w, x, 0, sizeof(x->comp.result), 1);
}

/* Is a response of this kind the one that w waits for? */
static bool answers(const struct rxe_swqe *w, const struct rxe_pktinfo *info)
{
	uint32_t want = w->wr->flags & RXE_F_ATOMIC ? RXE_F_ATOMIC : RXE_F_READ;

	return (w->wr->flags & RXE_F_ANSWERED) && (info->op->flags & want);
}

/* Takes pkt. */
static void rx_data(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_requester *req = &qp->req;
	struct rxe_swqe *w;
	struct rxe_xfer *x;
	bool clear;

	if (rxe_psn_diff(info->psn, req->una) < 0 || qp->busy_ops[RXE_XFER_COMP] >= RXE_MAX_SLOTS) {
		rxe_qp_drop(qp, pkt,
			    rxe_psn_diff(info->psn, req->una) < 0 ? RXE_HW_DROP_SEQ
								  : RXE_HW_DROP_BUSY);
		return;
	}
	/* A response acknowledges the SENDs and WRITEs before its request. */
	clear = ack_before(qp, info->psn);
	w = oldest_unacked(qp);
	if (!clear || !w || info->psn != req->una || !answers(w, info)) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_SEQ);
		retry_now(qp);
		rxe_comp_update(qp);
		return;
	}
	x = rxe_xfer_new(qp, RXE_XFER_COMP);
	if (!x) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_BUSY);
		return;
	}
	x->pkt = pkt;
	if (info->op->flags & RXE_F_READ)
		take_read(qp, w, x, info);
	else
		take_atomic(qp, w, x, info);
	if (w->status == RXE_WC_BAD_RESP_ERR) {
		fail_oldest(qp, w->status);
		return;
	}
	if (info->psn == w->last_psn)
		wqe_acked(qp, w);
	else
		req->una = rxe_psn_add(info->psn, 1);
	progress(qp);
	rxe_req_advance(qp);
	rxe_comp_update(qp);
}

void rxe_comp_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_requester *req = &qp->req;
	int32_t behind = rxe_psn_diff(info->psn, req->una);

	if (qp->attr.qp_state != RXE_QPS_RTS && qp->attr.qp_state != RXE_QPS_SQD) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_STATE);
		return;
	}
	/* What was never sent cannot be answered. */
	if (rxe_psn_diff(info->psn, req->sent_psn) >= 0) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_SEQ);
		return;
	}
	if (info->op->flags & (RXE_F_READ | RXE_F_ATOMIC)) {
		rx_data(qp, pkt, info);
		return;
	}
	qp->engine->ops->pkt_free(qp->engine->ctx, pkt);
	switch (info->syndrome & RXE_AETH_TYPE_MASK) {
	case RXE_AETH_ACK:
		if (behind >= -1)
			rx_ack(qp, info);
		break;
	case RXE_AETH_RNR_NAK:
		if (behind >= 0)
			rx_rnr(qp, info);
		break;
	case RXE_AETH_NAK:
		if (behind >= 0)
			rx_nak(qp, info);
		break;
	}
}

void rxe_comp_reset(struct rxe_qp *qp)
{
	rxe_xfer_drop_all(&qp->comp.ops);
	rxe_deadline_cancel(&qp->engine->timers, &qp->comp.timeout);
	qp->comp.timeout_at = UINT64_MAX;
	qp->comp.retry_left = qp->attr.retry_cnt;
	qp->comp.rnr_left = qp->attr.rnr_retry;
	qp->comp.retried = false;
	qp->comp.probing = false;
	qp->comp.probe_psn = UINT32_MAX;
	qp->comp.resume_psn = UINT32_MAX;
}
