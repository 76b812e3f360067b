/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One operation in flight: a packet, the copy that fills or empties it, and
 * what is to happen once that copy is done. Copies finish whenever the owner
 * pleases; the lists that ops stand in keep what follows in order.
 */
#ifndef RXE_XFER_H
#define RXE_XFER_H

#include <sys/queue.h>
#include "pkt.h"
#include "transport.h"

enum rxe_xfer_kind {
	RXE_XFER_REQ,  /* request being filled; in req.tx */
	RXE_XFER_SLOT, /* request being executed; in resp.slots */
	RXE_XFER_RESP, /* READ response being filled; in resp.tx */
	RXE_XFER_COMP, /* response being scattered; in comp.ops */
	RXE_XFER_COUNT
};

enum rxe_slot_kind {
	RXE_SLOT_DATA, /* SEND, WRITE, UD SEND */
	RXE_SLOT_READ,
	RXE_SLOT_ATOMIC,   /* also FLUSH, ATOMIC_WRITE: one answer, which is saved */
	RXE_SLOT_NAK,	   /* sequence or RNR NAK: the QP goes on */
	RXE_SLOT_FAULT,	   /* the QP goes to ERR */
	RXE_SLOT_GIVEN_UP, /* UC, SRQ: the receive WQE of a message given up */
};

struct rxe_rd_res; /* qp.h */

#define RXE_XFER_FEW 4
struct rxe_xfer {
	TAILQ_ENTRY(rxe_xfer) link;
	struct rxe_qp *qp;
	enum rxe_xfer_kind kind;
	bool busy;	     /* its copy runs */
	bool orphan;	     /* left its list while busy: freed when done */
	struct rxe_pkt *pkt; /* owned, or NULL */
	struct rxe_copy copy;
	struct rxe_range *range; /* few, or allocated */
	struct rxe_range few[RXE_XFER_FEW];
	struct iovec local[RXE_PKT_SEGS + 1];
	union {
		struct {
			uint32_t psn, end_psn;	 /* PSNs that the packet stands for */
			uint32_t wqe;		 /* index in the send window */
			bool last;		 /* of its message */
			struct rxe_address addr; /* UD */
			uint32_t ah_num;
			uint64_t ah_id;
		} tx;
		struct {
			enum rxe_slot_kind kind;
			uint32_t psn, msn; /* acknowledged when it retires */
			bool ack_req, completes, solicited;
			uint8_t syndrome; /* NAK, FAULT */
			uint8_t fault;	  /* enum rxe_fault; DATA: if its copy fails */
			bool owns_rwqe;	  /* FAULT: its message took one */
			bool replay;
			uint8_t wc_opcode;
			uint8_t wc_flags;
			uint32_t byte_len, src_qpn;
			__be32 imm;
			bool inv_failed;     /* SEND_WITH_INV: nothing it may invalidate */
			struct rxe_mr *gone; /* ... what it has: referenced, or NULL */
			uint32_t inv_rkey;
			uint8_t answer; /* ATOMIC: enum rxe_op */
			struct rxe_rd_res *res;
			uint8_t grh[RXE_GRH_LEN];
			struct {	     /* READ: what is to be answered */
				uint64_t va; /* of base_psn */
				uint32_t rkey, end_off;
				uint32_t base_psn, start_psn, cur_psn, end_psn;
				bool aborted;
			} rd;
		} slot;
		struct {
			uint32_t wqe;
			uint64_t result; /* atomic: what is scattered */
		} comp;
	};
};
TAILQ_HEAD(rxe_xfer_list, rxe_xfer);

struct rxe_xfer *rxe_xfer_new(struct rxe_qp *qp, enum rxe_xfer_kind kind);
/* Room for n ranges at x->range. -ENOMEM. */
int rxe_xfer_need_ranges(struct rxe_xfer *x, uint32_t n);
/*
 * Starts the copy between the ranges (their references pass to the copy) and
 * x->local. False: done already, x->copy.status tells how. True: the kind's
 * handler follows.
 */
bool rxe_xfer_copy(struct rxe_xfer *x, enum rxe_copy_kind kind, uint32_t nranges, uint32_t nlocal);
/* Frees an x that stands in no list, with its packet. Waits when it is busy. */
void rxe_xfer_drop(struct rxe_xfer *x);
void rxe_xfer_drop_all(struct rxe_xfer_list *list);
/* Hands the x's packet to the datapath, counts it, and frees the op. */
void rxe_xfer_send(struct rxe_xfer *x);

#endif
