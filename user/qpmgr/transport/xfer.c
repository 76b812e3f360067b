/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Life of an operation in flight, and where a finished copy goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "copy.h"
#include "qp.h"

#define MAX_FREE_OPS 4096

/* Who carries on when the copy of an x of this kind is done. */
static void (*const handlers[RXE_XFER_COUNT])(struct rxe_xfer *x) = {
	[RXE_XFER_REQ] = rxe_req_copied,
	[RXE_XFER_SLOT] = rxe_resp_copied,
	[RXE_XFER_RESP] = rxe_resp_copied,
	[RXE_XFER_COMP] = rxe_comp_copied,
};

struct rxe_xfer *rxe_xfer_new(struct rxe_qp *qp, enum rxe_xfer_kind kind)
{
	struct rxe_engine *e = qp->engine;
	struct rxe_xfer *x = TAILQ_FIRST(&e->free_ops);

	if (x) {
		TAILQ_REMOVE(&e->free_ops, x, link);
		e->nr_free_ops--;
	} else {
		x = malloc(sizeof(*x));
		if (!x)
			return NULL;
	}
	memset(x, 0, sizeof(*x));
	x->qp = qp;
	x->kind = kind;
	x->range = x->few;
	return x;
}

static void op_free(struct rxe_xfer *x)
{
	struct rxe_engine *e = x->qp->engine;

	if (x->pkt)
		e->ops->pkt_free(e->ctx, x->pkt);
	if (x->range != x->few)
		free(x->range);
	if (x->kind == RXE_XFER_SLOT && x->slot.gone)
		rxe_mr_put(x->slot.gone);
	if (e->nr_free_ops >= MAX_FREE_OPS) {
		free(x);
		return;
	}
	TAILQ_INSERT_HEAD(&e->free_ops, x, link);
	e->nr_free_ops++;
}

int rxe_xfer_need_ranges(struct rxe_xfer *x, uint32_t n)
{
	if (n <= RXE_XFER_FEW)
		return 0;
	x->range = malloc(n * sizeof(*x->range));
	if (x->range)
		return 0;
	x->range = x->few;
	return -ENOMEM;
}

static void copy_ended(struct rxe_xfer *x)
{
	rxe_ranges_put(x->range, x->copy.nranges);
	x->copy.nranges = 0;
	x->busy = false;
	x->qp->busy_ops[x->kind]--;
}

static void copy_done(struct rxe_copy *c)
{
	struct rxe_xfer *x = (struct rxe_xfer *)((char *)c - offsetof(struct rxe_xfer, copy));
	struct rxe_qp *qp = x->qp;

	copy_ended(x);
	if (!x->orphan) {
		handlers[x->kind](x);
		return;
	}
	op_free(x);
	rxe_qp_orphan_done(qp);
}

bool rxe_xfer_copy(struct rxe_xfer *x, enum rxe_copy_kind kind, uint32_t nranges, uint32_t nlocal)
{
	struct rxe_engine *e = x->qp->engine;
	int ret;

	x->copy.kind = kind;
	x->copy.range = x->range;
	x->copy.nranges = nranges;
	x->copy.local = x->local;
	x->copy.nlocal = nlocal;
	x->copy.status = 0;
	x->copy.done = copy_done;
	x->busy = true;
	x->qp->busy_ops[x->kind]++;
	ret = e->ops->copy(e->ctx, &x->copy);
	if (ret == -EINPROGRESS)
		return true;
	if (ret)
		x->copy.status = ret;
	copy_ended(x);
	return false;
}

void rxe_xfer_drop(struct rxe_xfer *x)
{
	if (x->busy)
		x->orphan = true;
	else
		op_free(x);
}

void rxe_xfer_drop_all(struct rxe_xfer_list *list)
{
	struct rxe_xfer *x;

	while ((x = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, x, link);
		rxe_xfer_drop(x);
	}
}

void rxe_xfer_send(struct rxe_xfer *x)
{
	struct rxe_pkt *pkt = x->pkt;

	x->pkt = NULL;
	rxe_qp_send_pkt(x->qp, pkt);
	op_free(x);
}
