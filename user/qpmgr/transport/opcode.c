/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The opcode table itself.
 */
#include <rdma/ib_user_verbs.h>
#include "kernel_compat.h"
#include "opcode.h"
#include "transport.h"

/* clang-format off */
#define F(x) RXE_F_##x
#define HDR_LEN(f)                                                                                 \
	(RXE_BTH_LEN + ((f)&F(FETH) ? sizeof(struct rxe_feth) : 0) +                               \
	 ((f)&F(RETH) ? sizeof(struct rxe_reth) : 0) +                               \
	 ((f)&F(ATOMICETH) ? sizeof(struct rxe_atomiceth) : 0) +                                   \
	 ((f)&F(AETH) ? sizeof(struct rxe_aeth) : 0) +                                             \
	 ((f)&F(ATOMICACK) ? sizeof(struct rxe_atomicacketh) : 0) +                                \
	 ((f)&F(DETH) ? sizeof(struct rxe_deth) : 0) +                                             \
	 ((f)&F(IMM) ? sizeof(struct rxe_immdt) : 0) +                                             \
	 ((f)&F(IETH) ? sizeof(struct rxe_ieth) : 0))
#define ROW(class, op, f)                                                                          \
	[RXE_OPCODE(RXE_CLASS_##class, RXE_OP_##op)] = {                                           \
		.name = #class "_" #op, .flags = (f), .hdr_len = HDR_LEN(f)}

#define SEND_REQ  (F(REQ) | F(SEND) | F(PAYLOAD))
#define WRITE_REQ (F(REQ) | F(WRITE) | F(PAYLOAD))
#define READ_RESP (F(RESP) | F(READ) | F(PAYLOAD))

/* SEND and WRITE are the same in both connected services. */
#define CONNECTED_ROWS(c)                                                                          \
	ROW(c, SEND_FIRST, SEND_REQ | F(START) | F(RWQE)), ROW(c, SEND_MIDDLE, SEND_REQ),          \
		ROW(c, SEND_LAST, SEND_REQ | F(END)),                                              \
		ROW(c, SEND_LAST_IMM, SEND_REQ | F(END) | F(IMM)),                                 \
		ROW(c, SEND_ONLY, SEND_REQ | F(START) | F(END) | F(RWQE)),                         \
		ROW(c, SEND_ONLY_IMM, SEND_REQ | F(START) | F(END) | F(RWQE) | F(IMM)),            \
		ROW(c, WRITE_FIRST, WRITE_REQ | F(START) | F(RETH)),                               \
		ROW(c, WRITE_MIDDLE, WRITE_REQ), ROW(c, WRITE_LAST, WRITE_REQ | F(END)),           \
		ROW(c, WRITE_LAST_IMM, WRITE_REQ | F(END) | F(IMM) | F(RWQE)),                     \
		ROW(c, WRITE_ONLY, WRITE_REQ | F(START) | F(END) | F(RETH)),                       \
		ROW(c, WRITE_ONLY_IMM,                                                             \
		    WRITE_REQ | F(START) | F(END) | F(RETH) | F(IMM) | F(RWQE))

static const struct rxe_opcode_info opcodes[256] = {
	CONNECTED_ROWS(RC),
	CONNECTED_ROWS(UC),

	ROW(RC, READ_REQ, F(REQ) | F(READ) | F(START) | F(END) | F(RETH)),
	ROW(RC, READ_RESP_FIRST, READ_RESP | F(START) | F(AETH)),
	ROW(RC, READ_RESP_MIDDLE, READ_RESP),
	ROW(RC, READ_RESP_LAST, READ_RESP | F(END) | F(AETH)),
	ROW(RC, READ_RESP_ONLY, READ_RESP | F(START) | F(END) | F(AETH)),
	ROW(RC, ACK, F(RESP) | F(START) | F(END) | F(AETH)),
	ROW(RC, ATOMIC_ACK, F(RESP) | F(ATOMIC) | F(START) | F(END) | F(AETH) | F(ATOMICACK)),
	ROW(RC, CMP_SWAP, F(REQ) | F(ATOMIC) | F(START) | F(END) | F(ATOMICETH)),
	ROW(RC, FETCH_ADD, F(REQ) | F(ATOMIC) | F(START) | F(END) | F(ATOMICETH)),
	ROW(RC, SEND_LAST_INV, SEND_REQ | F(END) | F(IETH)),
	ROW(RC, SEND_ONLY_INV, SEND_REQ | F(START) | F(END) | F(RWQE) | F(IETH)),
	ROW(RC, FLUSH, F(REQ) | F(FLUSH) | F(START) | F(END) | F(FETH) | F(RETH)),
	ROW(RC, ATOMIC_WRITE, F(REQ) | F(ATOMIC_WRITE) | F(START) | F(END) | F(RETH) | F(PAYLOAD)),

	ROW(UD, SEND_ONLY, SEND_REQ | F(START) | F(END) | F(RWQE) | F(DETH)),
	ROW(UD, SEND_ONLY_IMM, SEND_REQ | F(START) | F(END) | F(RWQE) | F(DETH) | F(IMM)),
};
/* clang-format on */

const struct rxe_opcode_info *rxe_opcode_info(uint8_t opcode)
{
	return opcodes[opcode].name ? &opcodes[opcode] : NULL;
}

/* clang-format off */
#define QPT_RC	 (1u << RXE_QPT_RC)
#define QPT_UC	 (1u << RXE_QPT_UC)
#define QPT_UD	 (1u << RXE_QPT_UD | 1u << RXE_QPT_GSI)
#define WC(x)	 .wc_opcode = IB_UVERBS_WC_##x
#define OPS(f, m, l, o)                                                                            \
	.first = RXE_OP_##f, .middle = RXE_OP_##m, .last = RXE_OP_##l, .only = RXE_OP_##o
#define REFUSED(x) [IB_UVERBS_WR_##x] = {.name = #x}

static const struct rxe_wr_info wrs[] = {
	[IB_UVERBS_WR_RDMA_WRITE] = {
		.name = "RDMA_WRITE", .qp_types = QPT_RC | QPT_UC, WC(RDMA_WRITE),
		OPS(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY), .flags = F(WRITE)},
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM] = {
		.name = "RDMA_WRITE_WITH_IMM", .qp_types = QPT_RC | QPT_UC, WC(RDMA_WRITE),
		OPS(WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM, WRITE_ONLY_IMM),
		.flags = F(WRITE) | F(IMM) | F(RWQE)},
	[IB_UVERBS_WR_SEND] = {
		.name = "SEND", .qp_types = QPT_RC | QPT_UC | QPT_UD, WC(SEND),
		OPS(SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY), .flags = F(SEND) | F(RWQE)},
	[IB_UVERBS_WR_SEND_WITH_IMM] = {
		.name = "SEND_WITH_IMM", .qp_types = QPT_RC | QPT_UC | QPT_UD, WC(SEND),
		OPS(SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM, SEND_ONLY_IMM),
		.flags = F(SEND) | F(IMM) | F(RWQE)},
	[IB_UVERBS_WR_RDMA_READ] = {
		.name = "RDMA_READ", .qp_types = QPT_RC, WC(RDMA_READ),
		OPS(READ_REQ, READ_REQ, READ_REQ, READ_REQ), .flags = F(READ)},
	[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP] = {
		.name = "ATOMIC_CMP_AND_SWP", .qp_types = QPT_RC, WC(COMP_SWAP),
		OPS(CMP_SWAP, CMP_SWAP, CMP_SWAP, CMP_SWAP), .flags = F(ATOMIC)},
	[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD] = {
		.name = "ATOMIC_FETCH_AND_ADD", .qp_types = QPT_RC, WC(FETCH_ADD),
		OPS(FETCH_ADD, FETCH_ADD, FETCH_ADD, FETCH_ADD), .flags = F(ATOMIC)},
	[IB_UVERBS_WR_LOCAL_INV] = {
		.name = "LOCAL_INV", .qp_types = QPT_RC, WC(LOCAL_INV), .flags = F(LOCAL)},
	[IB_UVERBS_WR_BIND_MW] = {
		.name = "BIND_MW", .qp_types = QPT_RC | QPT_UC, WC(BIND_MW), .flags = F(LOCAL)},
	[IB_UVERBS_WR_SEND_WITH_INV] = {
		.name = "SEND_WITH_INV", .qp_types = QPT_RC, WC(SEND),
		OPS(SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV, SEND_ONLY_INV),
		.flags = F(SEND) | F(RWQE) | F(IETH)},
	[RXE_WR_FLUSH] = {
		.name = "FLUSH", .qp_types = QPT_RC, .wc_opcode = RXE_WC_OP_FLUSH,
		OPS(FLUSH, FLUSH, FLUSH, FLUSH), .flags = F(FLUSH)},
	[RXE_WR_ATOMIC_WRITE] = {
		.name = "ATOMIC_WRITE", .qp_types = QPT_RC, .wc_opcode = RXE_WC_OP_ATOMIC_WRITE,
		OPS(ATOMIC_WRITE, ATOMIC_WRITE, ATOMIC_WRITE, ATOMIC_WRITE),
		.flags = F(ATOMIC_WRITE)},
	REFUSED(TSO),
	REFUSED(RDMA_READ_WITH_INV),
	REFUSED(MASKED_ATOMIC_CMP_AND_SWP),
	REFUSED(MASKED_ATOMIC_FETCH_AND_ADD),
};
/* clang-format on */

const struct rxe_wr_info *rxe_wr_info(uint32_t wr_opcode)
{
	if (wr_opcode >= sizeof(wrs) / sizeof(wrs[0]) || !wrs[wr_opcode].name)
		return NULL;
	return &wrs[wr_opcode];
}
