/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * QP1, the general services interface: datagrams of management, which no
 * client has. It has no queues: what arrives goes to the owner at once.
 */
#include <errno.h>
#include <string.h>
#include "engine.h"
#include "hca.h"
#include "pkt.h"
#include "psn.h"

#define GSI_OPCODE RXE_OPCODE(RXE_CLASS_UD, RXE_OP_SEND_ONLY)

static enum rxe_hw_counter check(const struct rxe_engine *e, const struct rxe_hca *hca,
				 const struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	if (info->opcode != GSI_OPCODE || !e->ops->gsi_rx)
		return RXE_HW_DROP_STATE;
	if (!rxe_pkey_ok(info->pkey, hca->pkey))
		return RXE_HW_DROP_PKEY;
	if (info->qkey != RXE_GSI_QKEY)
		return RXE_HW_DROP_QKEY;
	return pkt->payload_len > RXE_GSI_MAX ? RXE_HW_DROP_LENGTH : RXE_HW_COUNT;
}

void rxe_gsi_rx(struct rxe_engine *e, struct rxe_stats *s, struct rxe_hca *hca, struct rxe_pkt *pkt,
		const struct rxe_pktinfo *info)
{
	enum rxe_hw_counter why = check(e, hca, pkt, info);

	if (why != RXE_HW_COUNT) {
		rxe_engine_drop(e, s, pkt, why);
		return;
	}
	e->ops->gsi_rx(e->ctx, hca, pkt);
	e->ops->pkt_free(e->ctx, pkt);
}

int rxe_gsi_send(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_address *addr,
		 const void *bytes, uint32_t len)
{
	struct rxe_stats *s = rxe_engine_stats(e, hca);
	struct rxe_pktinfo info = {
		.op = rxe_opcode_info(GSI_OPCODE),
		.opcode = GSI_OPCODE,
		.pkey = hca->pkey,
		.qpn = RXE_GSI_QPN,
		.psn = e->gsi_psn,
		.qkey = RXE_GSI_QKEY,
		.src_qpn = RXE_GSI_QPN,
	};
	struct rxe_pkt *pkt;

	pkt = e->ops->pkt_alloc(e->ctx, hca, addr, info.op->hdr_len, len, 0);
	if (!pkt)
		return -ENOBUFS;
	pkt->addr = addr;
	pkt->src_qpn = RXE_GSI_QPN;
	e->gsi_psn = rxe_psn_add(e->gsi_psn, 1);
	rxe_pkt_build(pkt->hdr, &info, 0);
	for (uint32_t i = 0, at = 0; i < pkt->nsegs; at += (uint32_t)pkt->seg[i++].iov_len)
		memcpy(pkt->seg[i].iov_base, (const uint8_t *)bytes + at, pkt->seg[i].iov_len);
	rxe_stat_add(s, RXE_HW_SENT_PKTS, 1);
	rxe_stat_add(s, RXE_HW_SENT_BYTES, pkt->hdr_len + len);
	e->ops->pkt_send(e->ctx, hca, pkt);
	return 0;
}
