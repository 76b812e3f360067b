/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work requests taken from the shared rings: copied first, then validated
 * (DESIGN D7). What the engine works on is only ever the private copy.
 */
#ifndef RXE_WQE_H
#define RXE_WQE_H

#include <sys/queue.h>
#include "mw.h"
#include "opcode.h"
#include "transport.h"

#define RXE_MAX_MSG_LEN (1u << 31)

enum { RXE_SEND_FENCE = 1, RXE_SEND_SIGNALED = 2, RXE_SEND_SOLICITED = 4, RXE_SEND_INLINE = 8 };

/* A send work request in flight. */
struct rxe_swqe {
	uint64_t wr_id;
	const struct rxe_wr_info *wr; /* NULL: unknown opcode (status is set) */
	uint32_t flags;		      /* RXE_SEND_* */
	uint32_t status;	      /* enum ib_wc_status; nonzero: it ends in error */
	__be32 imm;
	uint32_t inv_rkey; /* LOCAL_INV, SEND_WITH_INV */
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	uint32_t flush_len;
	uint8_t flush_type, flush_level;
	struct rxe_mw_bind bind;
	uint32_t remote_qpn, remote_qkey, ah_num; /* UD */
	uint32_t length;
	uint32_t first_psn, last_psn;
	uint32_t ssn;
	uint32_t pending; /* copies into its buffers that still run */
	bool started;	  /* PSNs are assigned */
	bool done;	  /* acknowledged (RC) or sent (UC, UD) */
	uint16_t num_sge;
	union {
		struct rxe_sge sge[0];
		uint8_t inline_data[0];
	};
};

/* A receive work request taken from the RQ. */
struct rxe_rwqe {
	TAILQ_ENTRY(rxe_rwqe) link;
	uint64_t wr_id;
	uint32_t status; /* nonzero: malformed */
	uint32_t length;
	uint16_t num_sge;
	struct rxe_sge sge[RXE_MAX_SGE];
};
TAILQ_HEAD(rxe_rwqe_list, rxe_rwqe);

/* Bytes of a swqe that holds max_sge SGEs or max_inline bytes. */
size_t rxe_swqe_size(uint32_t max_sge, uint32_t max_inline);

/* What a work request is checked against. */
struct rxe_wqe_limits {
	enum rxe_qp_type type;
	uint32_t max_sge, max_inline;
	uint32_t elem_size; /* of the ring, bytes */
};

/*
 * Copies and checks the element. A request that may not be executed gets its
 * completion status in w->status; wr_id is valid in any case.
 */
void rxe_swqe_take(struct rxe_swqe *w, const void *elem, const struct rxe_wqe_limits *lim);
void rxe_rwqe_take(struct rxe_rwqe *w, const void *elem, const struct rxe_wqe_limits *lim);

#endif
