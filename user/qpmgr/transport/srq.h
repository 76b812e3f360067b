/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared receive queues, as the responders take from them.
 */
#ifndef RXE_SRQ_H
#define RXE_SRQ_H

#include "transport.h"
#include "wqe.h"

/*
 * Copies the oldest receive WQE to w and gives its element back at once. Raises
 * RXE_EV_SRQ_LIMIT_REACHED, once for each arming, when fewer than the limit
 * are left. -ENOENT: empty. -EMSGSIZE: the oldest is well formed and holds less
 * than at_least bytes; it stays. Any engine.
 */
int rxe_srq_take(struct rxe_engine *e, struct rxe_srq *srq, uint32_t at_least, struct rxe_rwqe *w);
/* The protection domain whose MRs its WQEs name. Any thread. */
uint32_t rxe_srq_pdn(const struct rxe_srq *srq);

#endif
