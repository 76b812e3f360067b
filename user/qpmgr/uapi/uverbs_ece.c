/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ECE of a QP: the options that both ends know. Programs and librdmacm carry
 * them through the connection manager's messages; here is what is known.
 */
#include "uapi/uverbs.h"

#include <errno.h>

/* Before the QP knows its peer's state; the RTR transition enables what is set. */
static bool may_set(const struct uqp *qp)
{
	enum rxe_qp_state s = rxe_qp_get_state(qp->qp);

	return s == RXE_QPS_RESET || s == RXE_QPS_INIT;
}

int uverbs_ece(struct uctx *ctx, struct rxe_ipc_ece *e)
{
	struct uqp *qp = uobj_find(ctx, UOBJ_QP, e->qp_handle);

	if (ctx->dead)
		return -EIO;
	if (!qp || qp->dying)
		return -EINVAL;
	if (e->set) {
		if (!may_set(qp))
			return -EINVAL;
		qp->ece_options = e->vendor_id == RXE_ECE_VENDOR ? e->options & RXE_ECE_OPTIONS : 0;
	}
	e->vendor_id = RXE_ECE_VENDOR;
	e->options = qp->ece_options;
	return 0;
}
