/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Direct and deferred runs of the engine's stages.
 */
#include "stage.h"
#include <stddef.h>
#include "qp.h"

static const struct {
	size_t fast; /* offset of the tunable */
	enum rxe_hw_counter direct, deferred;
} stage_table[RXE_STAGE_COUNT] = {
	[RXE_STAGE_REQ] = {offsetof(struct rxe_engine_params, fast_req), RXE_HW_REQ_DIRECT,
			   RXE_HW_REQ_DEFERRED},
	[RXE_STAGE_COMP] = {offsetof(struct rxe_engine_params, fast_comp), RXE_HW_COMP_DIRECT,
			    RXE_HW_COMP_DEFERRED},
	[RXE_STAGE_RESP] = {offsetof(struct rxe_engine_params, fast_resp), RXE_HW_RESP_DIRECT,
			    RXE_HW_RESP_DEFERRED},
};

static bool is_fast(const struct rxe_qp *qp, enum rxe_stage s)
{
	return *(const uint32_t *)((const char *)&qp->engine->params + stage_table[s].fast);
}

bool rxe_stage_direct(struct rxe_qp *qp, enum rxe_stage s)
{
	if (is_fast(qp, s)) {
		rxe_qp_count(qp, stage_table[s].direct);
		return true;
	}
	qp->deferred |= 1u << s;
	rxe_qp_kick(qp);
	return false;
}

void rxe_stage_run(struct rxe_qp *qp, enum rxe_stage s)
{
	if (!(qp->deferred & 1u << s))
		return;
	qp->deferred &= ~(1u << s);
	rxe_qp_count(qp, stage_table[s].deferred);
}

void rxe_stage_forget(struct rxe_qp *qp)
{
	qp->deferred = 0;
}

/* ---- the arbiter --------------------------------------------------------------- */

void rxe_stage_sent(struct rxe_qp *qp)
{
	struct rxe_engine *e = qp->engine;

	if (!e->params.fast_arb || !e->ops->pkt_flush) {
		qp->stats->unflushed = true;
		return;
	}
	rxe_qp_count(qp, RXE_HW_ARB_DIRECT);
	e->ops->pkt_flush(e->ctx, qp->hca);
}

void rxe_engine_burst_end(struct rxe_engine *e, struct rxe_hca *hca)
{
	struct rxe_stats *s = rxe_engine_stats(e, hca);

	if (s->unflushed)
		rxe_stat_add(s, RXE_HW_ARB_DEFERRED, 1);
	s->unflushed = false;
}
