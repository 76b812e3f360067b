/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory windows, as the engines use them.
 */
#ifndef RXE_MW_H
#define RXE_MW_H

#include "transport.h"

struct rxe_mw_bind {
	uint32_t mw_rkey, mr_lkey;
	uint32_t rkey; /* its low byte is the new one */
	uint32_t access;
	uint64_t addr, len;
};

/*
 * Binds a window through a QP of the PD pdn (PROTOCOL 27; kernel rxe's rules,
 * see mw.c). *old: what the window led to before, or NULL; while
 * rxe_mr_busy(*old), copies through it still run. The caller puts it. -EINVAL,
 * -EOPNOTSUPP (access flags), -ENOMEM. Engine.
 */
int rxe_mw_bind(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, const struct rxe_mw_bind *b,
		struct rxe_mr **old);
/*
 * Unbinds a type 2 window: by LOCAL_INV any QP of its PD (qp_id 0), by
 * SEND_WITH_INV only the QP it is bound to. *old as above. -EINVAL. Engine.
 */
int rxe_mw_invalidate(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey,
		      struct rxe_mr **old);
/*
 * What a peer names by an rkey, MR or window, when PD, QP and access allow
 * it: with a reference, or -ENOENT, -EACCES. Engine.
 */
int rxe_rkey_get(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey, uint32_t access,
		 struct rxe_mr **mr);
/* The same, and [iova, iova+len) is within it. */
int rxe_rkey_lookup(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey, uint64_t iova,
		    uint64_t len, uint32_t access, struct rxe_mr **mr, uint64_t *va);

#endif
