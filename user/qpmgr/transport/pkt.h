/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parsing and building of the IB headers: BTH and the extension headers of
 * its opcode. Nothing reads a packet before rxe_pkt_parse() accepted it.
 */
#ifndef RXE_PKT_H
#define RXE_PKT_H

#include <endian.h>
#include <string.h>
#include "opcode.h"
#include "transport.h"

/* The headers of one packet in host order, except imm (as on the wire). */
struct rxe_pktinfo {
	const struct rxe_opcode_info *op;
	uint8_t opcode;
	bool solicited, ack_req;
	uint16_t pkey;
	uint32_t qpn, psn;
	uint64_t va; /* RETH, AtomicETH */
	uint32_t rkey, len;
	uint64_t swap_add, compare, orig;
	uint32_t qkey, src_qpn; /* DETH */
	uint8_t syndrome;	/* AETH */
	uint32_t msn;
	__be32 imm;
	uint32_t inv_rkey;		 /* IETH */
	uint8_t flush_type, flush_level; /* FETH */
};

/*
 * Checks version, opcode, pad and lengths (PROTOCOL 3), reads every header
 * and moves the boundary between pkt->hdr and pkt->seg[] to where the payload
 * begins; sets pad and payload_len. -EINVAL: malformed, pkt not to be used.
 */
int rxe_pkt_parse(struct rxe_pkt *pkt, struct rxe_pktinfo *info);

/* Writes info->op->hdr_len bytes at hdr. */
void rxe_pkt_build(uint8_t *hdr, const struct rxe_pktinfo *info, uint32_t pad);

/*
 * The destination QPN of a packet with a whole BTH, parsed or not. Behind an
 * Ethernet header the BTH is not aligned for its words. Any thread.
 */
static inline uint32_t rxe_pkt_dest_qpn(const struct rxe_pkt *pkt)
{
	struct rxe_bth bth;

	memcpy(&bth, pkt->hdr, sizeof(bth));
	return be32toh(bth.qpn) & RXE_QPN_MASK;
}

/* Bytes of pad that make len a multiple of 4. */
static inline uint32_t rxe_pad(uint32_t len)
{
	return -len & 3;
}

#endif
