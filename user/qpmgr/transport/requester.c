/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The requester: takes send WQEs, cuts them into packets within the windows,
 * and starts again from the oldest unacknowledged PSN when told to.
 */
#include <errno.h>
#include <stdlib.h>
#include "copy.h"
#include "hca.h"
#include "qp.h"
#include "ring.h"

/* PSNs of one message and of a window before it stay within half the ring. */
#define MAX_MSG_PSNS ((1u << 23) - (1u << 14))

enum step { STEP_SENT, STEP_WAIT, STEP_NO_ROOM };

/* PSNs of a message (READ: of its responses). */
static uint32_t psns_of(const struct rxe_qp *qp, const struct rxe_swqe *w)
{
	if (rxe_qp_is_dgram(qp) || (w->wr->flags & (RXE_F_ANSWERED & ~RXE_F_READ)))
		return 1;
	return rxe_qp_psns(qp, w->length);
}

/* ---- taking WQEs ------------------------------------------------------- */

static int make_window(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	uint32_t n = qp->init.sq.mask + 1 < RXE_SQ_WINDOW ? qp->init.sq.mask + 1 : RXE_SQ_WINDOW;

	req->win = calloc(n, sizeof(req->win[0]));
	if (!req->win)
		return -ENOMEM;
	req->win_mask = n - 1;
	return 0;
}

/* A WQE waits in the ring, and the private window has a place for it. */
static bool may_fetch(const struct rxe_qp *qp)
{
	const struct rxe_requester *req = &qp->req;

	return req->fetch != rxe_ring_producer(&qp->init.sq) &&
	       (!req->win || req->tail - req->head <= req->win_mask);
}

struct rxe_swqe *rxe_req_fetch(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	const struct rxe_wqe_limits lim = {
		.type = qp->init.type,
		.max_sge = qp->init.max_send_sge,
		.max_inline = qp->init.max_inline,
		.elem_size = 1u << qp->init.sq.log2_elem,
	};
	struct rxe_swqe **w;

	if (!may_fetch(qp) || (!req->win && make_window(qp)))
		return NULL;
	w = &req->win[req->tail & req->win_mask];
	if (!*w)
		*w = malloc(rxe_swqe_size(lim.max_sge, lim.max_inline));
	if (!*w)
		return NULL;
	rxe_swqe_take(*w, rxe_ring_elem(&qp->init.sq, req->fetch), &lim);
	req->fetch = rxe_ring_next(&qp->init.sq, req->fetch);
	req->tail++;
	return *w;
}

/* ---- may the next WQE start? -------------------------------------------- */

static bool has_credit(const struct rxe_qp *qp, const struct rxe_swqe *w)
{
	const struct rxe_requester *req = &qp->req;

	if (!req->credit_limited || !(w->wr->flags & RXE_F_RWQE))
		return true;
	if (rxe_psn_diff(rxe_psn_add(req->ssn, 1), req->credit_limit) <= 0)
		return true;
	/* Out of credits: one request may probe while nothing else is out. */
	return req->una == req->next_psn;
}

/* Local protection of what a READ or atomic will write (PROTOCOL 15). */
static bool may_receive(const struct rxe_qp *qp, const struct rxe_swqe *w)
{
	struct rxe_range range[RXE_MAX_SGE];
	int n = rxe_ranges_from_sge(qp->hca, qp->init.pdn, w->sge, w->num_sge, 0, w->length,
				    IB_UVERBS_ACCESS_LOCAL_WRITE, range);

	if (n < 0)
		return false;
	rxe_ranges_put(range, n);
	return true;
}

static bool start_rd_atomic(struct rxe_qp *qp, struct rxe_swqe *w)
{
	if (!qp->attr.max_rd_atomic) {
		w->status = RXE_WC_LOC_QP_OP_ERR;
		return false;
	}
	if (qp->req.rd_out >= qp->attr.max_rd_atomic)
		return false;
	if ((w->wr->flags & (RXE_F_READ | RXE_F_ATOMIC)) && !may_receive(qp, w)) {
		w->status = RXE_WC_LOC_PROT_ERR;
		return false;
	}
	qp->req.rd_out++;
	qp->req.rd_open++;
	return true;
}

/* False: not now, or (w->status) never. */
static bool start_wqe(struct rxe_qp *qp, struct rxe_swqe *w)
{
	struct rxe_requester *req = &qp->req;

	if (w->status)
		return false;
	if (psns_of(qp, w) > MAX_MSG_PSNS) {
		w->status = RXE_WC_LOC_LEN_ERR;
		return false;
	}
	if ((w->flags & RXE_SEND_FENCE) && req->rd_open)
		return false;
	if (rxe_qp_is_rc(qp) && !has_credit(qp, w))
		return false;
	if ((w->wr->flags & RXE_F_ANSWERED) && !start_rd_atomic(qp, w))
		return false;
	req->ssn = rxe_psn_add(req->ssn, 1);
	w->ssn = req->ssn;
	w->first_psn = req->next_psn;
	w->last_psn = rxe_psn_add(w->first_psn, psns_of(qp, w) - 1);
	w->started = true;
	return true;
}

/* ---- one packet --------------------------------------------------------- */

struct cut {
	uint32_t index;	      /* packet of the message */
	uint32_t offset, len; /* of its payload */
	uint32_t reth_len;
	uint32_t end_psn;
	bool first, last;
	bool rest; /* the WQE has more to send, whatever the opcode says */
	enum rxe_op op;
};

static struct cut cut_packet(const struct rxe_qp *qp, const struct rxe_swqe *w, uint32_t psn)
{
	struct cut c = {.index = rxe_psn_diff(psn, w->first_psn)};

	c.offset = rxe_qp_is_dgram(qp) ? 0 : c.index * qp->mtu;
	c.reth_len = w->length - c.offset;
	if (w->wr->flags & (RXE_F_READ | RXE_F_ATOMIC | RXE_F_FLUSH)) {
		c.first = c.last = true;
		c.end_psn = rxe_psn_add(w->last_psn, 1);
		/* A probe of a READ asks for one packet of it. */
		if (qp->comp.probing && psn != w->last_psn) {
			c.reth_len = qp->mtu;
			c.end_psn = rxe_psn_add(psn, 1);
			c.rest = true;
		}
	} else {
		c.len = c.reth_len;
		if (!rxe_qp_is_dgram(qp) && c.len > qp->mtu)
			c.len = qp->mtu;
		c.end_psn = rxe_psn_add(psn, 1);
		c.first = !c.index;
		c.last = psn == w->last_psn;
	}
	c.op = c.first ? (c.last ? w->wr->only : w->wr->first)
		       : (c.last ? w->wr->last : w->wr->middle);
	return c;
}

/* PSNs that may be out without an answer. */
static uint32_t send_window(const struct rxe_qp *qp)
{
	return qp->comp.probing ? 1 : qp->engine->params.max_req_comp_gap;
}

/* Asks for an ACK at the end of a message, now and then, and before it has to wait. */
static bool wants_ack(struct rxe_qp *qp, const struct cut *c)
{
	struct rxe_requester *req = &qp->req;
	const struct rxe_engine_params *p = &qp->engine->params;
	uint32_t out = rxe_psn_diff(c->end_psn, req->una);
	bool ask = c->last || out >= send_window(qp) ||
		   (p->max_packet_per_ack && ++req->since_ack_req >= p->max_packet_per_ack);

	if (ask)
		req->since_ack_req = 0;
	return ask;
}

static struct rxe_pktinfo make_headers(struct rxe_qp *qp, const struct rxe_swqe *w,
				       const struct cut *c, uint32_t psn)
{
	struct rxe_pktinfo info = rxe_qp_pktinfo(qp, c->op, psn);

	info.va = w->remote_addr + c->offset;
	info.rkey = w->rkey;
	info.len = c->reth_len;
	info.imm = w->imm;
	info.inv_rkey = w->inv_rkey;
	if (w->wr->flags & RXE_F_FLUSH) {
		info.len = w->flush_len;
		info.flush_type = w->flush_type;
		info.flush_level = w->flush_level;
	}
	info.ack_req = rxe_qp_is_rc(qp) && wants_ack(qp, c);
	info.solicited = c->last && (w->flags & RXE_SEND_SOLICITED) && (w->wr->flags & RXE_F_RWQE);
	if (w->wr->flags & RXE_F_ATOMIC) {
		bool cas = w->wr->wc_opcode == IB_UVERBS_WC_COMP_SWAP;

		info.compare = cas ? w->compare_add : 0;
		info.swap_add = cas ? w->swap : w->compare_add;
	}
	if (rxe_qp_is_dgram(qp)) {
		info.qpn = w->remote_qpn;
		/* A Q_Key with the top bit set stands for the QP's own. */
		info.qkey = (int32_t)w->remote_qkey < 0 ? qp->attr.qkey : w->remote_qkey;
		info.src_qpn = qp->init.qpn;
	}
	return info;
}

static void fail_wqe(struct rxe_qp *qp, struct rxe_swqe *w, uint32_t status)
{
	if (!w->status)
		w->status = status;
	rxe_comp_retire(qp);
}

/* Starts filling the packet; false when the WQE failed (x is the caller's). */
static bool fill(struct rxe_qp *qp, struct rxe_swqe *w, struct rxe_xfer *x, const struct cut *c)
{
	struct rxe_pkt *pkt = x->pkt;
	struct rxe_range range[RXE_MAX_SGE];
	int n;

	rxe_iov_put(pkt->seg, pkt->nsegs, c->len, NULL, rxe_pad(c->len));
	if (!c->len)
		return true;
	if (w->flags & RXE_SEND_INLINE) {
		rxe_iov_put(pkt->seg, pkt->nsegs, 0, w->inline_data + c->offset, c->len);
		return true;
	}
	n = rxe_ranges_from_sge(qp->hca, qp->init.pdn, w->sge, w->num_sge, c->offset, c->len, 0,
				range);
	if (n < 0)
		return false;
	if (rxe_xfer_need_ranges(x, n)) {
		rxe_ranges_put(range, n);
		return false;
	}
	for (int i = 0; i < n; i++)
		x->range[i] = range[i];
	rxe_xfer_copy(x, RXE_COPY_READ, n, rxe_iov_clip(x->local, pkt->seg, pkt->nsegs, c->len));
	return x->busy || !x->copy.status;
}

static int find_address(struct rxe_qp *qp, const struct rxe_swqe *w, struct rxe_xfer *x,
			struct rxe_address **addr)
{
	*addr = &qp->attr.addr;
	if (!rxe_qp_is_dgram(qp))
		return 0;
	*addr = &x->tx.addr;
	x->tx.ah_num = w->ah_num;
	return rxe_ah_lookup(qp->hca, qp->init.pdn, w->ah_num, &x->tx.addr, &x->tx.ah_id);
}

/* Builds the packet at next_psn of the current WQE. */
static enum step build(struct rxe_qp *qp, struct rxe_swqe *w)
{
	struct rxe_requester *req = &qp->req;
	struct cut c = cut_packet(qp, w, req->next_psn);
	const struct rxe_opcode_info *oi = rxe_qp_pktinfo(qp, c.op, 0).op;
	struct rxe_xfer *x = rxe_xfer_new(qp, RXE_XFER_REQ);
	struct rxe_address *addr;
	struct rxe_pktinfo info;

	if (!x)
		return STEP_NO_ROOM;
	if (find_address(qp, w, x, &addr)) {
		rxe_xfer_drop(x);
		fail_wqe(qp, w, RXE_WC_LOC_QP_OP_ERR);
		return STEP_WAIT;
	}
	x->pkt = rxe_engine_alloc(qp, addr, oi->hdr_len, c.len);
	if (!x->pkt) {
		rxe_xfer_drop(x);
		return STEP_NO_ROOM;
	}
	info = make_headers(qp, w, &c, req->next_psn);
	rxe_pkt_build(x->pkt->hdr, &info, rxe_pad(c.len));
	x->tx.psn = req->next_psn;
	x->tx.end_psn = c.end_psn;
	x->tx.wqe = req->cur;
	x->tx.last = c.last && !c.rest;
	if (!fill(qp, w, x, &c)) {
		rxe_xfer_drop(x);
		fail_wqe(qp, w, RXE_WC_LOC_PROT_ERR);
		return STEP_WAIT;
	}
	TAILQ_INSERT_TAIL(&req->tx, x, link);
	req->nr_tx++;
	req->next_psn = c.end_psn;
	if (c.rest)
		qp->comp.probe_psn = x->tx.psn;
	if (c.op == RXE_OP_READ_REQ && x->tx.psn != w->first_psn)
		qp->comp.resume_psn = x->tx.psn;
	if (x->tx.last)
		req->cur++;
	rxe_req_paced(qp, oi->hdr_len + c.len);
	return STEP_SENT;
}

/* A UD message beyond the MTU is completed, and never sent (C10-93.1.1). */
static bool swallow_oversize(struct rxe_qp *qp, struct rxe_swqe *w)
{
	if (!rxe_qp_is_dgram(qp) || w->length <= rxe_ud_mtu(qp->hca))
		return false;
	w->done = true;
	qp->req.cur++;
	rxe_comp_update(qp);
	return true;
}

/* ---- sending in order ----------------------------------------------------- */

/* The first x failed to fetch its payload: its WQE ends in error. */
static void tx_failed(struct rxe_qp *qp, struct rxe_xfer *x)
{
	struct rxe_requester *req = &qp->req;
	uint32_t index = x->tx.wqe;

	if (index - req->head >= req->tail - req->head || rxe_swqe(qp, index)->done)
		return; /* acknowledged meanwhile: an older sending of it arrived */
	rxe_req_drop_tx(qp);
	/* Nothing beyond the failed packet is sent: stay at its WQE. */
	req->cur = index;
	req->next_psn = x->tx.psn;
	fail_wqe(qp, rxe_swqe(qp, index), RXE_WC_LOC_PROT_ERR);
}

static void tx_sent(struct rxe_qp *qp, const struct rxe_xfer *x)
{
	struct rxe_requester *req = &qp->req;

	if (rxe_qp_is_rc(qp)) {
		if (rxe_psn_diff(x->tx.end_psn, req->sent_psn) > 0)
			req->sent_psn = x->tx.end_psn;
		rxe_comp_sent(qp);
	} else if (x->tx.last) {
		rxe_swqe(qp, x->tx.wqe)->done = true;
	}
}

static bool may_send(const struct rxe_qp *qp, const struct rxe_xfer *x)
{
	return !rxe_qp_is_dgram(qp) || rxe_ah_alive(qp->hca, x->tx.ah_num, x->tx.ah_id);
}

static void send_ready(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;
	struct rxe_xfer *x;
	bool sent = false;

	while ((x = TAILQ_FIRST(&req->tx)) && !x->busy) {
		TAILQ_REMOVE(&req->tx, x, link);
		req->nr_tx--;
		if (x->copy.status) {
			tx_failed(qp, x);
			rxe_xfer_drop(x);
			return;
		}
		tx_sent(qp, x);
		sent |= x->tx.last;
		if (may_send(qp, x))
			rxe_xfer_send(x);
		else
			rxe_xfer_drop(x); /* its AH is gone: lost, as UD may be */
	}
	if (sent && !rxe_qp_is_rc(qp))
		rxe_comp_update(qp);
}

void rxe_req_copied(struct rxe_xfer *x)
{
	struct rxe_qp *qp = x->qp;

	send_ready(qp);
	rxe_qp_kick(qp);
}

void rxe_req_drop_tx(struct rxe_qp *qp)
{
	rxe_xfer_drop_all(&qp->req.tx);
	qp->req.nr_tx = 0;
}

void rxe_req_lose_tx(struct rxe_qp *qp)
{
	struct rxe_xfer *x;

	TAILQ_FOREACH (x, &qp->req.tx, link)
		if (x->tx.last)
			rxe_swqe(qp, x->tx.wqe)->done = true;
	rxe_req_drop_tx(qp);
	rxe_comp_retire(qp);
}

/* ---- pacing ----------------------------------------------------------------- */

/*
 * Both tunables are floors, so the greater delay holds (rxe(7) calls it the
 * lesser in one sentence; the old driver took the greater).
 */
void rxe_req_paced(struct rxe_qp *qp, uint32_t bytes)
{
	const struct rxe_engine_params *p = &qp->engine->params;
	uint64_t per_kb = (uint64_t)p->nsec_per_kbyte * bytes / 1024;
	uint64_t delay = p->nsec_per_packet > per_kb ? p->nsec_per_packet : per_kb;

	qp->req.pace_until = delay ? qp->engine->now + delay : 0;
}

bool rxe_req_is_paced(struct rxe_qp *qp)
{
	if (qp->req.pace_until <= qp->engine->now)
		return false;
	rxe_deadline_arm(&qp->engine->timers, &qp->req.pace, qp->req.pace_until);
	return true;
}

void rxe_req_pace_expired(struct rxe_deadline *d)
{
	rxe_qp_kick(rxe_qp_of(d, req.pace));
}

/* ---- the run ------------------------------------------------------------------ */

static struct rxe_swqe *current_wqe(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	return req->cur != req->tail ? rxe_swqe(qp, req->cur) : rxe_req_fetch(qp);
}

static bool window_open(const struct rxe_qp *qp)
{
	const struct rxe_requester *req = &qp->req;

	if (req->nr_tx >= qp->engine->params.max_skb_per_qp)
		return false;
	return !rxe_qp_is_rc(qp) ||
	       rxe_psn_diff(req->next_psn, req->una) < (int32_t)send_window(qp);
}

bool rxe_req_waits(const struct rxe_qp *qp)
{
	enum rxe_qp_state s = qp->attr.qp_state;

	return (s != RXE_QPS_RTS && s != RXE_QPS_SQD) || qp->req.rnr_wait;
}

/* A BIND_MW or LOCAL_INV; one that was done before going back is passed by. */
static enum step local_step(struct rxe_qp *qp, struct rxe_swqe *w)
{
	enum rxe_local l = w->done ? RXE_LOCAL_DONE : rxe_local_run(qp, w);

	if (l != RXE_LOCAL_DONE) {
		if (l == RXE_LOCAL_FAILED)
			rxe_comp_retire(qp);
		return STEP_WAIT;
	}
	w->done = true;
	qp->req.cur++;
	if (rxe_qp_is_rc(qp))
		rxe_comp_skip_local(qp);
	rxe_comp_update(qp);
	return STEP_SENT;
}

static enum step step(struct rxe_qp *qp)
{
	struct rxe_swqe *w;

	if (rxe_req_waits(qp) || !window_open(qp))
		return STEP_WAIT;
	w = current_wqe(qp);
	if (!w && may_fetch(qp))
		return STEP_NO_ROOM; /* memory was short: nobody will ring for it again */
	if (!w || (!w->started && qp->attr.qp_state != RXE_QPS_RTS) || rxe_req_is_paced(qp))
		return STEP_WAIT;
	if (!w->status && (w->wr->flags & RXE_F_LOCAL))
		return local_step(qp, w);
	if (!w->started && !w->status && swallow_oversize(qp, w))
		return STEP_SENT;
	if (!w->started && !start_wqe(qp, w)) {
		if (w->status)
			rxe_comp_retire(qp);
		return STEP_WAIT;
	}
	if (w->status)
		return STEP_WAIT;
	return build(qp, w);
}

uint32_t rxe_req_run(struct rxe_qp *qp, uint32_t budget)
{
	uint32_t n = 0;
	enum step s = STEP_SENT;

	while (n < budget && (s = step(qp)) == STEP_SENT) {
		n++;
		send_ready(qp);
	}
	if (s != STEP_WAIT && !qp->destroyed)
		rxe_qp_kick(qp);
	return n;
}

/* ---- going back ------------------------------------------------------------------ */

void rxe_req_advance(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	if (rxe_psn_diff(req->una, req->next_psn) > 0) {
		req->next_psn = req->una;
		req->cur = req->ack;
	}
	rxe_qp_kick(qp);
}

void rxe_req_go_back(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	rxe_req_drop_tx(qp);
	req->next_psn = req->una;
	req->cur = req->ack;
	req->since_ack_req = 0;
	rxe_qp_kick(qp);
}

void rxe_req_rnr_expired(struct rxe_deadline *d)
{
	struct rxe_qp *qp = rxe_qp_of(d, req.rnr);

	qp->req.rnr_wait = false;
	rxe_req_go_back(qp);
}

void rxe_req_reset(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	rxe_req_drop_tx(qp);
	rxe_deadline_cancel(&qp->engine->timers, &req->rnr);
	rxe_deadline_cancel(&qp->engine->timers, &req->pace);
	rxe_local_stop(qp);
	req->rnr_wait = false;
	req->pace_until = 0;
	req->head = req->ack = req->cur = req->tail = 0;
	req->ssn = req->rd_out = req->rd_open = 0;
	req->since_ack_req = 0;
	req->credit_limited = false;
}
