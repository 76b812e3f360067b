/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UD (and QP1) receive: no sequence, no acknowledgement; the GRH or a stand-in
 * for it comes in front of the payload.
 */
#include <errno.h>
#include <string.h>
#include "copy.h"
#include "hca.h"
#include "qp.h"

/* IPv6: the header; IPv4: 20 zero bytes, then the header (PROTOCOL 6). */
static void make_grh(uint8_t grh[RXE_GRH_LEN], const struct rxe_pkt *pkt)
{
	if (!pkt->ip) {
		memset(grh, 0, RXE_GRH_LEN);
	} else if (pkt->ip_version == 6) {
		memcpy(grh, pkt->ip, RXE_GRH_LEN);
	} else {
		memset(grh, 0, 20);
		memcpy(grh + 20, pkt->ip, 20);
	}
}

static void describe(struct rxe_xfer *x, const struct rxe_pktinfo *info)
{
	x->slot.completes = true;
	x->slot.wc_opcode = RXE_WC_RECV;
	x->slot.byte_len = x->pkt->payload_len + RXE_GRH_LEN;
	x->slot.wc_flags = RXE_WC_GRH | (info->op->flags & RXE_F_IMM ? RXE_WC_WITH_IMM : 0);
	x->slot.imm = info->imm;
	x->slot.src_qpn = info->src_qpn;
	x->slot.solicited = info->solicited;
}

static void receive(struct rxe_qp *qp, struct rxe_xfer *x, const struct rxe_rwqe *rwqe,
		    const struct rxe_pktinfo *info)
{
	struct rxe_pkt *pkt = x->pkt;
	uint32_t n;

	make_grh(x->slot.grh, pkt);
	x->local[0] = (struct iovec){x->slot.grh, RXE_GRH_LEN};
	n = 1 + rxe_iov_clip(x->local + 1, pkt->seg, pkt->nsegs, pkt->payload_len);
	describe(x, info);
	x->slot.fault = rwqe->status ? FAULT_WQE : FAULT_PROT;
	if (rwqe->status || rxe_resp_scatter(x, rwqe, 0, pkt->payload_len + RXE_GRH_LEN, n))
		x->copy.status = -EFAULT;
	rxe_resp_push_slot(qp, x);
}

void rxe_dgram_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_rwqe *rwqe;
	struct rxe_xfer *x;
	int err;

	if (info->qkey != qp->attr.qkey) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_QKEY);
		return;
	}
	if (qp->resp.fault) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_STATE);
		return;
	}
	if (pkt->payload_len > rxe_ud_mtu(qp->hca)) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_LENGTH);
		return;
	}
	x = rxe_resp_new_slot(qp, RXE_SLOT_DATA, info->psn);
	if (!x) {
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_BUSY);
		return;
	}
	/* C9-92: too long for the buffer is a silent drop; the WQE stays. */
	err = rxe_resp_take_rwqe(qp, pkt->payload_len + RXE_GRH_LEN, &rwqe);
	if (err) {
		rxe_xfer_drop(x);
		rxe_qp_drop(qp, pkt, err == -EMSGSIZE ? RXE_HW_DROP_LENGTH : RXE_HW_DROP_NO_RECV);
		return;
	}
	x->pkt = pkt;
	receive(qp, x, rwqe, info);
	rxe_resp_copied(x);
}
