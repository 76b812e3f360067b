/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * BTH and extension headers: bytes to struct rxe_pktinfo and back.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "common/iov.h"
#include "pkt.h"

static const uint8_t *get_ext(const uint8_t *p, struct rxe_pktinfo *info)
{
	uint32_t flags = info->op->flags;

	if (flags & RXE_F_FETH) {
		struct rxe_feth h;

		memcpy(&h, p, sizeof(h));
		info->flush_type = be32toh(h.bits) & RXE_FETH_TYPE_MASK;
		info->flush_level = (be32toh(h.bits) & RXE_FETH_LEVEL_MASK) >> RXE_FETH_LEVEL_SHIFT;
		p += sizeof(h);
	}
	if (flags & RXE_F_RETH) {
		struct rxe_reth h;

		memcpy(&h, p, sizeof(h));
		info->va = be64toh(h.va);
		info->rkey = be32toh(h.rkey);
		info->len = be32toh(h.len);
		p += sizeof(h);
	}
	if (flags & RXE_F_ATOMICETH) {
		struct rxe_atomiceth h;

		memcpy(&h, p, sizeof(h));
		info->va = be64toh(h.va);
		info->rkey = be32toh(h.rkey);
		info->swap_add = be64toh(h.swap_add);
		info->compare = be64toh(h.compare);
		p += sizeof(h);
	}
	if (flags & RXE_F_DETH) {
		struct rxe_deth h;

		memcpy(&h, p, sizeof(h));
		info->qkey = be32toh(h.qkey);
		info->src_qpn = be32toh(h.sqpn) & RXE_QPN_MASK;
		p += sizeof(h);
	}
	if (flags & RXE_F_AETH) {
		struct rxe_aeth h;

		memcpy(&h, p, sizeof(h));
		info->syndrome = be32toh(h.smsn) >> 24;
		info->msn = be32toh(h.smsn) & RXE_PSN_MASK;
		p += sizeof(h);
	}
	if (flags & RXE_F_ATOMICACK) {
		struct rxe_atomicacketh h;

		memcpy(&h, p, sizeof(h));
		info->orig = be64toh(h.orig);
		p += sizeof(h);
	}
	if (flags & RXE_F_IMM) {
		memcpy(&info->imm, p, sizeof(info->imm));
		p += sizeof(info->imm);
	}
	if (flags & RXE_F_IETH) {
		struct rxe_ieth h;

		memcpy(&h, p, sizeof(h));
		info->inv_rkey = be32toh(h.rkey);
		p += sizeof(h);
	}
	return p;
}

/* Makes the bytes of hdr beyond hdr_len the beginning of the payload. */
static int split_payload(struct rxe_pkt *pkt, uint32_t hdr_len)
{
	uint32_t extra = pkt->hdr_len - hdr_len;
	uint8_t *begin = pkt->hdr + hdr_len;

	pkt->hdr_len = hdr_len;
	if (!extra)
		return 0;
	if (pkt->nsegs && begin + extra == pkt->seg[0].iov_base) {
		pkt->seg[0].iov_base = begin;
		pkt->seg[0].iov_len += extra;
		return 0;
	}
	if (pkt->nsegs >= RXE_PKT_SEGS)
		return -EINVAL;
	memmove(&pkt->seg[1], &pkt->seg[0], pkt->nsegs * sizeof(pkt->seg[0]));
	pkt->seg[0] = (struct iovec){.iov_base = begin, .iov_len = extra};
	pkt->nsegs++;
	return 0;
}

int rxe_pkt_parse(struct rxe_pkt *pkt, struct rxe_pktinfo *info)
{
	const struct rxe_opcode_info *op;
	struct rxe_bth bth;
	uint32_t body;

	if (pkt->hdr_len < RXE_BTH_LEN || pkt->ib_len < pkt->hdr_len || pkt->nsegs > RXE_PKT_SEGS ||
	    (pkt->ib_len & 3))
		return -EINVAL;
	memcpy(&bth, pkt->hdr, sizeof(bth));
	op = rxe_opcode_info(bth.opcode);
	if (!op || (bth.flags & RXE_BTH_TVER_MASK) || pkt->hdr_len < op->hdr_len)
		return -EINVAL;
	pkt->pad = (bth.flags & RXE_BTH_PAD_MASK) >> RXE_BTH_PAD_SHIFT;
	body = pkt->ib_len - op->hdr_len;
	if (pkt->pad > body || (!(op->flags & RXE_F_PAYLOAD) && body))
		return -EINVAL;
	if (split_payload(pkt, op->hdr_len) || rxe_iov_len(pkt->seg, pkt->nsegs) < body)
		return -EINVAL;
	pkt->payload_len = body - pkt->pad;

	memset(info, 0, sizeof(*info));
	info->op = op;
	info->opcode = bth.opcode;
	info->solicited = bth.flags & RXE_BTH_SE;
	info->pkey = be16toh(bth.pkey);
	info->qpn = be32toh(bth.qpn) & RXE_QPN_MASK;
	info->psn = be32toh(bth.apsn) & RXE_PSN_MASK;
	info->ack_req = be32toh(bth.apsn) & RXE_BTH_ACKREQ;
	get_ext(pkt->hdr + RXE_BTH_LEN, info);
	return 0;
}

static void put_ext(uint8_t *p, const struct rxe_pktinfo *info)
{
	uint32_t flags = info->op->flags;

	if (flags & RXE_F_FETH) {
		struct rxe_feth h = {
			htobe32(info->flush_level << RXE_FETH_LEVEL_SHIFT | info->flush_type)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_RETH) {
		struct rxe_reth h = {htobe64(info->va), htobe32(info->rkey), htobe32(info->len)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_ATOMICETH) {
		struct rxe_atomiceth h = {htobe64(info->va), htobe32(info->rkey),
					  htobe64(info->swap_add), htobe64(info->compare)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_DETH) {
		struct rxe_deth h = {htobe32(info->qkey), htobe32(info->src_qpn)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_AETH) {
		struct rxe_aeth h = {htobe32((uint32_t)info->syndrome << 24 | info->msn)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_ATOMICACK) {
		struct rxe_atomicacketh h = {htobe64(info->orig)};

		p = mempcpy(p, &h, sizeof(h));
	}
	if (flags & RXE_F_IMM)
		p = mempcpy(p, &info->imm, sizeof(info->imm));
	if (flags & RXE_F_IETH) {
		struct rxe_ieth h = {htobe32(info->inv_rkey)};

		memcpy(p, &h, sizeof(h));
	}
}

void rxe_pkt_build(uint8_t *hdr, const struct rxe_pktinfo *info, uint32_t pad)
{
	struct rxe_bth bth = {
		.opcode = info->opcode,
		.flags = (info->solicited ? RXE_BTH_SE : 0) | pad << RXE_BTH_PAD_SHIFT,
		.pkey = htobe16(info->pkey),
		.qpn = htobe32(info->qpn),
		.apsn = htobe32((info->ack_req ? RXE_BTH_ACKREQ : 0) | info->psn),
	};

	memcpy(hdr, &bth, sizeof(bth));
	put_ext(hdr + RXE_BTH_LEN, info);
}
