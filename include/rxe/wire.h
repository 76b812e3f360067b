/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RoCEv2 on the wire: constants and header layouts that BPF programs, the
 * transport, the datapaths and the tests share. Layout only; no behaviour.
 */
#ifndef RXE_WIRE_H
#define RXE_WIRE_H

#include <linux/types.h>

#define RXE_ROCE_UDP_PORT 4791
#define RXE_ICRC_LEN	  4
#define RXE_BTH_LEN	  12
#define RXE_GRH_LEN	  40
#define RXE_QPN_MASK	  0xffffffu
#define RXE_PSN_MASK	  0xffffffu
#define RXE_MULTICAST_QPN 0xffffffu
#define RXE_GSI_QPN	  1u
#define RXE_DEFAULT_PKEY  0xffffu
#define RXE_PKEY_MASK	  0x7fffu /* without the bit of full membership */

/* CRC-32 state after eight 0xff bytes from state ~0: the masked LRH stand-in. */
#define RXE_ICRC_SEED 0xdebb20e3u

/* UDP source ports of RoCEv2 are 0xc000 | 14 bits of hash. */
#define RXE_UDP_SPORT_BASE 0xc000u

/* Base Transport Header. */
struct rxe_bth {
	__u8 opcode;
	__u8 flags; /* SE:1 M:1 PadCnt:2 TVer:4 */
	__be16 pkey;
	__be32 qpn;  /* FECN:1 BECN:1 resv6:6 DestQP:24 */
	__be32 apsn; /* AckReq:1 resv7:7 PSN:24 */
};

#define RXE_BTH_SE	  0x80
#define RXE_BTH_MIG	  0x40
#define RXE_BTH_PAD_SHIFT 4
#define RXE_BTH_PAD_MASK  0x30
#define RXE_BTH_TVER_MASK 0x0f
#define RXE_BTH_FECN	  0x80000000u
#define RXE_BTH_BECN	  0x40000000u
#define RXE_BTH_ACKREQ	  0x80000000u

/* Extension headers; see transport/opcode.c for which opcode carries which. */
struct rxe_reth {
	__be64 va;
	__be32 rkey;
	__be32 len;
} __attribute__((packed));
struct rxe_atomiceth {
	__be64 va;
	__be32 rkey;
	__be64 swap_add;
	__be64 compare;
} __attribute__((packed));
struct rxe_deth {
	__be32 qkey;
	__be32 sqpn;
};
struct rxe_aeth {
	__be32 smsn;
}; /* syndrome:8 MSN:24 */
struct rxe_atomicacketh {
	__be64 orig;
} __attribute__((packed));
struct rxe_immdt {
	__be32 imm;
};
struct rxe_ieth {
	__be32 rkey;
};
struct rxe_feth {
	__be32 bits;
}; /* reserved:26 selectivity:2 placement type:4 */

#define RXE_FETH_TYPE_MASK   0x0f
#define RXE_FETH_LEVEL_SHIFT 4
#define RXE_FETH_LEVEL_MASK  0x30

#define RXE_MAX_EXT_LEN 32 /* RETH + IMMDT = 20, AtomicETH = 28 */
#define RXE_MAX_IB_HDR	(RXE_BTH_LEN + RXE_MAX_EXT_LEN)
#define RXE_MAX_IB_MTU	4096

/* AETH syndromes (IBTA 9.7.5.2): bits 6:5 class, 4:0 credits, timer or code. */
#define RXE_AETH_TYPE_MASK	0xe0
#define RXE_AETH_ACK		0x00
#define RXE_AETH_RNR_NAK	0x20
#define RXE_AETH_NAK		0x60
#define RXE_AETH_CREDIT_INVALID 0x1f
enum rxe_nak_code {
	RXE_NAK_PSN_SEQ = 0,
	RXE_NAK_INV_REQ = 1,
	RXE_NAK_REM_ACCESS = 2,
	RXE_NAK_REM_OP = 3,
	RXE_NAK_INV_RD_REQ = 4,
};

/* BTH opcode: service class in bits 7:5, operation in 4:0. */
#define RXE_OP_CLASS(op) ((op)&0xe0)
enum {
	RXE_CLASS_RC = 0x00,
	RXE_CLASS_UC = 0x20,
	RXE_CLASS_RD = 0x40,
	RXE_CLASS_UD = 0x60,
	RXE_CLASS_CNP = 0x80,
	RXE_CLASS_XRC = 0xa0
};
enum rxe_op {
	RXE_OP_SEND_FIRST,
	RXE_OP_SEND_MIDDLE,
	RXE_OP_SEND_LAST,
	RXE_OP_SEND_LAST_IMM,
	RXE_OP_SEND_ONLY,
	RXE_OP_SEND_ONLY_IMM,
	RXE_OP_WRITE_FIRST,
	RXE_OP_WRITE_MIDDLE,
	RXE_OP_WRITE_LAST,
	RXE_OP_WRITE_LAST_IMM,
	RXE_OP_WRITE_ONLY,
	RXE_OP_WRITE_ONLY_IMM,
	RXE_OP_READ_REQ,
	RXE_OP_READ_RESP_FIRST,
	RXE_OP_READ_RESP_MIDDLE,
	RXE_OP_READ_RESP_LAST,
	RXE_OP_READ_RESP_ONLY,
	RXE_OP_ACK,
	RXE_OP_ATOMIC_ACK,
	RXE_OP_CMP_SWAP,
	RXE_OP_FETCH_ADD,
	RXE_OP_SEND_LAST_INV = 0x16,
	RXE_OP_SEND_ONLY_INV = 0x17,
	RXE_OP_FLUSH = 0x1c,
	RXE_OP_ATOMIC_WRITE = 0x1d,
};
/* A BTH opcode byte: RXE_OPCODE(RXE_CLASS_RC, RXE_OP_SEND_ONLY). */
#define RXE_OPCODE(class, op) ((__u8)((class) | (op)))

#endif
