/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations of the send queue that send nothing: BIND_MW and LOCAL_INV. They
 * take their turn in the queue, and are done when no copy runs any more
 * through what the window led to before.
 */
#include "cq.h"
#include "qp.h"

#define POLL_NS 20000ull /* copies through the old window are done soon */

/*
 * LOCAL_INV waits for all requests before it (IBTA 10.6.5.1, as kernel rxe
 * does always), the others at most for READs and atomics.
 */
static bool is_fenced(const struct rxe_qp *qp, const struct rxe_swqe *w)
{
	if (w->wr->wc_opcode == IB_UVERBS_WC_LOCAL_INV)
		return qp->req.head != qp->req.cur;
	return (w->flags & RXE_SEND_FENCE) && qp->req.rd_open;
}

static enum rxe_local execute(struct rxe_qp *qp, struct rxe_swqe *w)
{
	struct rxe_mr **old = &qp->req.held;

	if (w->wr->wc_opcode == IB_UVERBS_WC_BIND_MW) {
		if (rxe_mw_bind(qp->hca, qp->init.pdn, qp->id, &w->bind, old))
			w->status = RXE_WC_MW_BIND_ERR;
	} else if (rxe_mw_invalidate(qp->hca, qp->init.pdn, 0, w->inv_rkey, old)) {
		w->status = RXE_WC_LOC_QP_OP_ERR;
	}
	return w->status ? RXE_LOCAL_FAILED : RXE_LOCAL_DONE;
}

enum rxe_local rxe_local_run(struct rxe_qp *qp, struct rxe_swqe *w)
{
	struct rxe_requester *req = &qp->req;

	if (!w->started) {
		if (is_fenced(qp, w))
			return RXE_LOCAL_WAIT;
		w->started = true;
		if (execute(qp, w) == RXE_LOCAL_FAILED)
			return RXE_LOCAL_FAILED;
	}
	if (req->held && rxe_mr_busy(req->held)) {
		rxe_deadline_arm(&qp->engine->timers, &req->held_poll, qp->engine->now + POLL_NS);
		return RXE_LOCAL_WAIT;
	}
	rxe_local_stop(qp);
	return RXE_LOCAL_DONE;
}

void rxe_local_stop(struct rxe_qp *qp)
{
	if (qp->req.held)
		rxe_mr_put(qp->req.held);
	qp->req.held = NULL;
	rxe_deadline_cancel(&qp->engine->timers, &qp->req.held_poll);
}

void rxe_local_poll(struct rxe_deadline *d)
{
	rxe_qp_kick(rxe_qp_of(d, req.held_poll));
}
