/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The opcode table: what each BTH opcode carries and means, and which packets
 * a work request becomes. Adding an opcode begins (and mostly ends) here.
 */
#ifndef RXE_OPCODE_H
#define RXE_OPCODE_H

#include <stdbool.h>
#include <stdint.h>
#include "rxe/wire.h"

enum rxe_op_flag {
	RXE_F_REQ = 1 << 0,  /* a request, for the responder */
	RXE_F_RESP = 1 << 1, /* a response, for the requester */
	RXE_F_SEND = 1 << 2,
	RXE_F_WRITE = 1 << 3,
	RXE_F_READ = 1 << 4,	/* READ request or response */
	RXE_F_ATOMIC = 1 << 5,	/* atomic request or acknowledgement */
	RXE_F_START = 1 << 6,	/* FIRST or ONLY */
	RXE_F_END = 1 << 7,	/* LAST or ONLY */
	RXE_F_RWQE = 1 << 8,	/* consumes a receive WQE */
	RXE_F_PAYLOAD = 1 << 9, /* may carry payload */
	RXE_F_RETH = 1 << 10,
	RXE_F_ATOMICETH = 1 << 11,
	RXE_F_AETH = 1 << 12,
	RXE_F_ATOMICACK = 1 << 13,
	RXE_F_DETH = 1 << 14,
	RXE_F_IMM = 1 << 15,
	RXE_F_IETH = 1 << 16,
	RXE_F_FETH = 1 << 17,
	RXE_F_FLUSH = 1 << 18,
	RXE_F_ATOMIC_WRITE = 1 << 19,
	RXE_F_LOCAL = 1 << 20, /* a work request that sends nothing */
	/* Has an answer of its own, and takes one of the peer's READ resources. */
	RXE_F_ANSWERED = RXE_F_READ | RXE_F_ATOMIC | RXE_F_FLUSH | RXE_F_ATOMIC_WRITE,
};

struct rxe_opcode_info {
	const char *name; /* NULL: unknown opcode */
	uint32_t flags;
	uint8_t hdr_len; /* BTH and extension headers, bytes */
};

/* By BTH opcode byte; NULL when no such opcode is known. */
const struct rxe_opcode_info *rxe_opcode_info(uint8_t opcode);

/* A work request opcode (enum ib_uverbs_wr_opcode). */
struct rxe_wr_info {
	const char *name;
	uint8_t qp_types;		   /* bit per enum rxe_qp_type; 0: not offered */
	uint8_t wc_opcode;		   /* enum ib_uverbs_wc_opcode */
	uint8_t first, middle, last, only; /* enum rxe_op */
	uint32_t flags;			   /* RXE_F_SEND to RWQE, _IMM, _IETH, _FLUSH and on */
};

/* NULL for a number that is no work request opcode. */
const struct rxe_wr_info *rxe_wr_info(uint32_t wr_opcode);

#endif
