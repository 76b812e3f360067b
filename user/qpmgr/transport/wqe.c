/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copying work requests out of the client's rings, and validating the copies.
 */
#include <string.h>
#include "cq.h"
#include "kernel_compat.h"
#include "wqe.h"

_Static_assert(sizeof(struct rxe_send_wqe) == 208, "the rxe provider's layout");
_Static_assert(sizeof(struct rxe_recv_wqe) == 40, "the rxe provider's layout");

size_t rxe_swqe_size(uint32_t max_sge, uint32_t max_inline)
{
	size_t sge = (size_t)max_sge * sizeof(struct rxe_sge);

	if (max_inline < sizeof(uint64_t))
		max_inline = sizeof(uint64_t); /* ATOMIC_WRITE */
	return sizeof(struct rxe_swqe) + (sge > max_inline ? sge : max_inline);
}

static void take_bind(struct rxe_mw_bind *b, const struct rxe_send_wr *wr)
{
	b->mw_rkey = wr->wr.mw.mw_rkey;
	b->mr_lkey = wr->wr.mw.mr_lkey;
	b->rkey = wr->wr.mw.rkey;
	b->access = wr->wr.mw.access;
	b->addr = wr->wr.mw.addr;
	b->len = wr->wr.mw.length;
}

static void take_flush(struct rxe_swqe *w, const struct rxe_send_wr *wr)
{
	struct rxe_flush_wr f;

	memcpy(&f, &wr->wr, sizeof(f));
	w->remote_addr = f.remote_addr;
	w->rkey = f.rkey;
	w->flush_len = f.length;
	w->flush_type = f.type;
	w->flush_level = f.level;
}

static void take_operands(struct rxe_swqe *w, const struct rxe_send_wr *wr, enum rxe_qp_type type)
{
	if (type == RXE_QPT_UD || type == RXE_QPT_GSI) {
		w->remote_qpn = wr->wr.ud.remote_qpn & RXE_QPN_MASK;
		w->remote_qkey = wr->wr.ud.remote_qkey;
		w->ah_num = wr->wr.ud.ah_num;
	} else if (w->wr->flags & RXE_F_LOCAL) {
		take_bind(&w->bind, wr);
	} else if (w->wr->flags & RXE_F_FLUSH) {
		take_flush(w, wr);
	} else if (w->wr->flags & RXE_F_ATOMIC) {
		w->remote_addr = wr->wr.atomic.remote_addr;
		w->rkey = wr->wr.atomic.rkey;
		w->compare_add = wr->wr.atomic.compare_add;
		w->swap = wr->wr.atomic.swap;
	} else {
		w->remote_addr = wr->wr.rdma.remote_addr;
		w->rkey = wr->wr.rdma.rkey;
	}
}

/* The sum of the SGEs is the length; what the client says of it is not used. */
static uint32_t take_sges(struct rxe_sge *sge, uint32_t *length, const void *from, uint32_t num)
{
	uint64_t sum = 0;

	memcpy(sge, from, num * sizeof(*sge));
	for (uint32_t i = 0; i < num; i++)
		sum += sge[i].length;
	*length = sum <= RXE_MAX_MSG_LEN ? sum : 0;
	return sum <= RXE_MAX_MSG_LEN ? RXE_WC_SUCCESS : RXE_WC_LOC_LEN_ERR;
}

static uint32_t take_payload(struct rxe_swqe *w, const struct rxe_dma_info *dma,
			     const uint8_t *from, const struct rxe_wqe_limits *lim)
{
	uint32_t room = lim->elem_size - sizeof(struct rxe_send_wqe);

	if (w->flags & RXE_SEND_INLINE) {
		if (!(w->wr->flags & (RXE_F_SEND | RXE_F_WRITE)))
			return RXE_WC_LOC_QP_OP_ERR;
		if (dma->length > lim->max_inline || dma->length > room)
			return RXE_WC_LOC_LEN_ERR;
		w->length = dma->length;
		memcpy(w->inline_data, from, w->length);
		return RXE_WC_SUCCESS;
	}
	if (dma->num_sge > lim->max_sge || dma->num_sge > room / sizeof(struct rxe_sge))
		return RXE_WC_LOC_QP_OP_ERR;
	w->num_sge = dma->num_sge;
	return take_sges(w->sge, &w->length, from, w->num_sge);
}

/* The 8 bytes stand in the element, where inline data would. */
static uint32_t take_atomic_write(struct rxe_swqe *w, const uint8_t *from,
				  const struct rxe_wqe_limits *lim)
{
	if (lim->elem_size < sizeof(struct rxe_send_wqe) + sizeof(uint64_t))
		return RXE_WC_LOC_QP_OP_ERR;
	w->flags |= RXE_SEND_INLINE;
	w->length = sizeof(uint64_t);
	memcpy(w->inline_data, from, w->length);
	return RXE_WC_SUCCESS;
}

/* FETH has no room for other values, and the peer no meaning for them. */
static uint32_t check_flush(const struct rxe_swqe *w)
{
	bool known = w->flush_type && !(w->flush_type & ~(RXE_FLUSH_GLOBAL | RXE_FLUSH_PERSISTENT));

	return known && w->flush_level <= RXE_FLUSH_MR ? RXE_WC_SUCCESS : RXE_WC_LOC_QP_OP_ERR;
}

void rxe_swqe_take(struct rxe_swqe *w, const void *elem, const struct rxe_wqe_limits *lim)
{
	struct rxe_send_wqe head;

	memcpy(&head, elem, sizeof(head));
	memset(w, 0, sizeof(*w));
	w->wr_id = head.wr.wr_id;
	w->flags = head.wr.send_flags;
	w->wr = rxe_wr_info(head.wr.opcode);
	if (!w->wr || !(w->wr->qp_types & 1u << lim->type)) {
		w->status = RXE_WC_LOC_QP_OP_ERR;
		return;
	}
	w->imm = head.wr.ex.imm_data;
	w->inv_rkey = head.wr.ex.invalidate_rkey;
	take_operands(w, &head.wr, lim->type);
	if (w->wr->flags & (RXE_F_LOCAL | RXE_F_FLUSH)) {
		w->status = w->wr->flags & RXE_F_FLUSH ? check_flush(w) : RXE_WC_SUCCESS;
		return;
	}
	if (w->wr->flags & RXE_F_ATOMIC_WRITE) {
		w->status = take_atomic_write(w, (const uint8_t *)elem + sizeof(head), lim);
		return;
	}
	w->status = take_payload(w, &head.dma, (const uint8_t *)elem + sizeof(head), lim);
	if (w->wr->flags & RXE_F_ATOMIC && !w->status) {
		if (w->length < sizeof(uint64_t))
			w->status = RXE_WC_LOC_LEN_ERR;
		w->length = sizeof(uint64_t);
	}
}

void rxe_rwqe_take(struct rxe_rwqe *w, const void *elem, const struct rxe_wqe_limits *lim)
{
	uint32_t room = (lim->elem_size - sizeof(struct rxe_recv_wqe)) / sizeof(struct rxe_sge);
	struct rxe_recv_wqe head;

	memcpy(&head, elem, sizeof(head));
	w->wr_id = head.wr_id;
	w->length = 0;
	w->num_sge = 0;
	w->status = RXE_WC_LOC_QP_OP_ERR;
	if (head.dma.num_sge > lim->max_sge || head.dma.num_sge > room ||
	    head.dma.num_sge > RXE_MAX_SGE)
		return;
	w->num_sge = head.dma.num_sge;
	w->status = take_sges(w->sge, &w->length, (const uint8_t *)elem + sizeof(head), w->num_sge);
}
