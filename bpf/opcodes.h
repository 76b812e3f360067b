/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program must know of a BTH opcode before it lets a frame in: that
 * it exists, and how many header bytes the BTH and its extensions take. What
 * an opcode means is the transport's business (transport/opcode.c).
 */
#ifndef RXE_BPF_OPCODES_H
#define RXE_BPF_OPCODES_H

#include <rxe/wire.h>

#define EXT_NONE      0
#define EXT_IMM	      sizeof(struct rxe_immdt)
#define EXT_IETH      sizeof(struct rxe_ieth)
#define EXT_RETH      sizeof(struct rxe_reth)
#define EXT_FETH_RETH (sizeof(struct rxe_feth) + sizeof(struct rxe_reth))
#define EXT_RETH_IMM  (sizeof(struct rxe_reth) + sizeof(struct rxe_immdt))
#define EXT_AETH      sizeof(struct rxe_aeth)
#define EXT_ATOMIC    sizeof(struct rxe_atomiceth)
#define EXT_ATOMICACK (sizeof(struct rxe_aeth) + sizeof(struct rxe_atomicacketh))
#define EXT_DETH      sizeof(struct rxe_deth)
#define EXT_DETH_IMM  (sizeof(struct rxe_deth) + sizeof(struct rxe_immdt))

/* RC and UC share these; the rest of RC follows. */
/* clang-format off */
#define SEND_AND_WRITE(class)                                                                      \
	[RXE_OPCODE(class, RXE_OP_SEND_FIRST)] = RXE_BTH_LEN + EXT_NONE,                           \
	[RXE_OPCODE(class, RXE_OP_SEND_MIDDLE)] = RXE_BTH_LEN + EXT_NONE,                          \
	[RXE_OPCODE(class, RXE_OP_SEND_LAST)] = RXE_BTH_LEN + EXT_NONE,                            \
	[RXE_OPCODE(class, RXE_OP_SEND_LAST_IMM)] = RXE_BTH_LEN + EXT_IMM,                         \
	[RXE_OPCODE(class, RXE_OP_SEND_ONLY)] = RXE_BTH_LEN + EXT_NONE,                            \
	[RXE_OPCODE(class, RXE_OP_SEND_ONLY_IMM)] = RXE_BTH_LEN + EXT_IMM,                         \
	[RXE_OPCODE(class, RXE_OP_WRITE_FIRST)] = RXE_BTH_LEN + EXT_RETH,                          \
	[RXE_OPCODE(class, RXE_OP_WRITE_MIDDLE)] = RXE_BTH_LEN + EXT_NONE,                         \
	[RXE_OPCODE(class, RXE_OP_WRITE_LAST)] = RXE_BTH_LEN + EXT_NONE,                           \
	[RXE_OPCODE(class, RXE_OP_WRITE_LAST_IMM)] = RXE_BTH_LEN + EXT_IMM,                        \
	[RXE_OPCODE(class, RXE_OP_WRITE_ONLY)] = RXE_BTH_LEN + EXT_RETH,                           \
	[RXE_OPCODE(class, RXE_OP_WRITE_ONLY_IMM)] = RXE_BTH_LEN + EXT_RETH_IMM
/* clang-format on */

/* Bytes of BTH and extension headers by opcode; 0: no such opcode. */
static const __u8 opcode_hdr_len[256] = {
	SEND_AND_WRITE(RXE_CLASS_RC),
	SEND_AND_WRITE(RXE_CLASS_UC),
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_READ_REQ)] = RXE_BTH_LEN + EXT_RETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_READ_RESP_FIRST)] = RXE_BTH_LEN + EXT_AETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_READ_RESP_MIDDLE)] = RXE_BTH_LEN + EXT_NONE,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_READ_RESP_LAST)] = RXE_BTH_LEN + EXT_AETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_READ_RESP_ONLY)] = RXE_BTH_LEN + EXT_AETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_ACK)] = RXE_BTH_LEN + EXT_AETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_ATOMIC_ACK)] = RXE_BTH_LEN + EXT_ATOMICACK,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_CMP_SWAP)] = RXE_BTH_LEN + EXT_ATOMIC,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_FETCH_ADD)] = RXE_BTH_LEN + EXT_ATOMIC,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_SEND_LAST_INV)] = RXE_BTH_LEN + EXT_IETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_SEND_ONLY_INV)] = RXE_BTH_LEN + EXT_IETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_FLUSH)] = RXE_BTH_LEN + EXT_FETH_RETH,
	[RXE_OPCODE(RXE_CLASS_RC, RXE_OP_ATOMIC_WRITE)] = RXE_BTH_LEN + EXT_RETH,
	[RXE_OPCODE(RXE_CLASS_UD, RXE_OP_SEND_ONLY)] = RXE_BTH_LEN + EXT_DETH,
	[RXE_OPCODE(RXE_CLASS_UD, RXE_OP_SEND_ONLY_IMM)] = RXE_BTH_LEN + EXT_DETH_IMM,
};

#endif
