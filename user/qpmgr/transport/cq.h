/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queues, as the engines post to them.
 */
#ifndef RXE_CQ_H
#define RXE_CQ_H

#include "transport.h"

/* enum ib_wc_status and ib_wc_flags of the kernel (not in its uapi headers). */
enum {
	RXE_WC_SUCCESS = 0,
	RXE_WC_LOC_LEN_ERR = 1,
	RXE_WC_LOC_QP_OP_ERR = 2,
	RXE_WC_LOC_PROT_ERR = 4,
	RXE_WC_WR_FLUSH_ERR = 5,
	RXE_WC_MW_BIND_ERR = 6,
	RXE_WC_BAD_RESP_ERR = 7,
	RXE_WC_REM_INV_REQ_ERR = 9,
	RXE_WC_REM_ACCESS_ERR = 10,
	RXE_WC_REM_OP_ERR = 11,
	RXE_WC_RETRY_EXC_ERR = 12,
	RXE_WC_RNR_RETRY_EXC_ERR = 13,
	RXE_WC_FATAL_ERR = 19,
};
enum { RXE_WC_GRH = 1, RXE_WC_WITH_IMM = 2, RXE_WC_WITH_INV = 8 };
enum { RXE_WC_RECV = 128, RXE_WC_RECV_RDMA_WITH_IMM = 129 };

/*
 * Posts a completion. -ENOSPC: the CQ overflowed, now or before, and the
 * completion is lost; the first time RXE_EV_CQ_ERR is raised. Events go out
 * after the CQ's lock is dropped. Any engine.
 */
int rxe_cq_post(struct rxe_engine *e, struct rxe_cq *cq, const struct ib_uverbs_wc *wc,
		bool solicited);

#endif
