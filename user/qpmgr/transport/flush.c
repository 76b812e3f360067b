/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a QP in ERR does: completes all that its queues hold, and what is
 * posted later, with WR_FLUSH_ERR (PROTOCOL 16). The RQ has no doorbell, so a
 * slow timer looks for receive WQEs. In SQE the same for the send queue.
 */
#include <string.h>
#include "qp.h"
#include "ring.h"

#define FLUSH_POLL_MIN_NS 2000000ull
#define FLUSH_POLL_MAX_NS 128000000ull

static void post_flush(struct rxe_qp *qp, struct rxe_cq *cq, uint64_t wr_id)
{
	struct ib_uverbs_wc wc = {
		.wr_id = wr_id,
		.status = RXE_WC_WR_FLUSH_ERR,
		.qp_num = qp->init.qpn,
	};

	rxe_cq_post(qp->engine, cq, &wc, true);
}

/* Elements that were never taken; one round of the ring at most. */
static uint32_t flush_ring(struct rxe_qp *qp, struct rxe_ring *r, uint32_t *fetch,
			   struct rxe_cq *cq)
{
	uint32_t n = 0;

	while (n <= r->mask && *fetch != rxe_ring_producer(r)) {
		uint64_t wr_id;

		/* wr_id is the first field of both kinds of WQE. */
		memcpy(&wr_id, rxe_ring_elem(r, *fetch), sizeof(wr_id));
		*fetch = rxe_ring_next(r, *fetch);
		rxe_ring_consume(r);
		post_flush(qp, cq, wr_id);
		n++;
	}
	return n;
}

/* False: copies into the buffers of the oldest WQE still run. */
static bool flush_window(struct rxe_qp *qp)
{
	struct rxe_requester *req = &qp->req;

	while (req->head != req->tail) {
		struct rxe_swqe *w = rxe_swqe(qp, req->head);

		if (w->pending)
			return false;
		w->status = RXE_WC_WR_FLUSH_ERR;
		rxe_comp_post(qp, w);
	}
	return true;
}

uint32_t rxe_flush_sq(struct rxe_qp *qp)
{
	if (!qp->init.sq.buf || !flush_window(qp))
		return 0;
	return flush_ring(qp, &qp->init.sq, &qp->req.fetch, qp->init.send_cq);
}

/* From now on the QP completes nothing of its SRQ (as the driver's flush_recv_queue()). */
static void last_wqe_reached(struct rxe_qp *qp)
{
	if (qp->last_wqe)
		return;
	qp->last_wqe = true;
	rxe_qp_event(qp, RXE_EV_QP_LAST_WQE_REACHED);
}

static uint32_t flush_rq(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;
	struct ib_uverbs_wc wc = {.status = RXE_WC_WR_FLUSH_ERR};

	if (qp->busy_ops[RXE_XFER_SLOT])
		return 0;
	while (!TAILQ_EMPTY(&resp->rwqes))
		rxe_resp_post_recv(qp, &wc, true);
	/* What is in the SRQ is for its other QPs. */
	if (qp->init.srq)
		last_wqe_reached(qp);
	if (!qp->init.rq.buf)
		return 0;
	return flush_ring(qp, &qp->init.rq, &resp->fetch, qp->init.recv_cq);
}

void rxe_flush_run(struct rxe_qp *qp)
{
	uint32_t n = rxe_flush_sq(qp) + flush_rq(qp);

	if (n || qp->flush_wait < FLUSH_POLL_MIN_NS)
		qp->flush_wait = FLUSH_POLL_MIN_NS;
	if (!rxe_deadline_armed(&qp->flush_poll))
		rxe_deadline_arm(&qp->engine->timers, &qp->flush_poll,
				 qp->engine->now + qp->flush_wait);
}

void rxe_flush_poll(struct rxe_deadline *d)
{
	struct rxe_qp *qp = rxe_qp_of(d, flush_poll);

	if (qp->flush_wait < FLUSH_POLL_MAX_NS)
		qp->flush_wait *= 2;
	rxe_flush_run(qp);
}

void rxe_flush_stop(struct rxe_qp *qp)
{
	rxe_deadline_cancel(&qp->engine->timers, &qp->flush_poll);
	qp->flush_wait = 0;
}
