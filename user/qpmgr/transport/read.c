/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * READs and atomics (also FLUSH and ATOMIC_WRITE) at the responder: the ring
 * of saved operations that duplicates are answered from, and READ responses,
 * sent progressively.
 */
#include <errno.h>
#include <string.h>
#include "common/iov.h"
#include "copy.h"
#include "mr.h"
#include "qp.h"

/* ---- READ responses ------------------------------------------------------------- */

static enum rxe_op response_opcode(const struct rxe_xfer *slot, bool last)
{
	bool first = slot->slot.rd.cur_psn == slot->slot.rd.start_psn;

	if (first)
		return last ? RXE_OP_READ_RESP_ONLY : RXE_OP_READ_RESP_FIRST;
	return last ? RXE_OP_READ_RESP_LAST : RXE_OP_READ_RESP_MIDDLE;
}

void rxe_read_drop_tx(struct rxe_qp *qp)
{
	rxe_xfer_drop_all(&qp->resp.tx);
	qp->resp.nr_tx = 0;
}

/*
 * A READ that arrived before the SEND_WITH_INV that took its window is still
 * answered through it. (Only this QP can use and lose it: type 2.)
 */
static int lookup_leaving(struct rxe_qp *qp, uint32_t rkey, uint64_t va, uint32_t len,
			  struct rxe_range *r)
{
	struct rxe_xfer *x;

	TAILQ_FOREACH (x, &qp->resp.slots, link) {
		if (!x->slot.gone || x->slot.inv_rkey != rkey)
			continue;
		r->mr = x->slot.gone;
		r->len = len;
		if (rxe_mr_check(r->mr, qp->init.pdn, va, len, IB_UVERBS_ACCESS_REMOTE_READ,
				 &r->addr))
			return -EACCES;
		rxe_mr_get(r->mr);
		return 0;
	}
	return -EACCES;
}

static int lookup(struct rxe_qp *qp, uint32_t rkey, uint64_t va, uint32_t len, struct rxe_range *r)
{
	if (!rxe_qp_rkey(qp, rkey, va, len, IB_UVERBS_ACCESS_REMOTE_READ, r))
		return 0;
	return lookup_leaving(qp, rkey, va, len, r);
}

static int fill(struct rxe_qp *qp, const struct rxe_xfer *slot, struct rxe_xfer *x, uint32_t off,
		uint32_t len)
{
	struct rxe_pkt *pkt = x->pkt;
	uint32_t n;

	rxe_iov_put(pkt->seg, pkt->nsegs, len, NULL, rxe_pad(len));
	if (!len)
		return 0;
	/* Again for every packet: the region may have gone meanwhile. */
	if (lookup(qp, slot->slot.rd.rkey, slot->slot.rd.va + off, len, x->range))
		return -EACCES;
	n = rxe_iov_clip(x->local, pkt->seg, pkt->nsegs, len);
	rxe_xfer_copy(x, RXE_COPY_READ, 1, n);
	return 0;
}

/* Builds the response at cur_psn. -EAGAIN: no room; -EACCES. */
static int build(struct rxe_qp *qp, struct rxe_xfer *slot)
{
	uint32_t cur = slot->slot.rd.cur_psn;
	uint32_t off = rxe_psn_diff(cur, slot->slot.rd.base_psn) * qp->mtu;
	uint32_t len = slot->slot.rd.end_off - off;
	bool last = rxe_psn_add(cur, 1) == slot->slot.rd.end_psn;
	struct rxe_pktinfo info = rxe_qp_pktinfo(qp, response_opcode(slot, last), cur);
	struct rxe_xfer *x = rxe_xfer_new(qp, RXE_XFER_RESP);
	int err = -EAGAIN;

	if (!x)
		return err;
	if (len > qp->mtu)
		len = qp->mtu;
	x->pkt = rxe_engine_alloc(qp, &qp->attr.addr, info.op->hdr_len, len);
	if (!x->pkt)
		goto drop;
	info.syndrome = RXE_AETH_ACK | RXE_AETH_CREDIT_INVALID;
	info.msn = slot->slot.msn;
	rxe_pkt_build(x->pkt->hdr, &info, rxe_pad(len));
	x->tx.psn = cur;
	err = fill(qp, slot, x, off, len);
	if (err)
		goto drop;
	TAILQ_INSERT_TAIL(&qp->resp.tx, x, link);
	qp->resp.nr_tx++;
	slot->slot.rd.cur_psn = rxe_psn_add(cur, 1);
	rxe_req_paced(qp, info.op->hdr_len + len);
	return 0;
drop:
	rxe_xfer_drop(x);
	return err;
}

/* Sends what is filled, in order. -EACCES: a copy failed. */
static int send_ready(struct rxe_qp *qp, struct rxe_xfer *slot)
{
	struct rxe_xfer *x;

	while ((x = TAILQ_FIRST(&qp->resp.tx)) && !x->busy) {
		if (x->copy.status) {
			slot->slot.rd.cur_psn = x->tx.psn;
			return -EACCES;
		}
		TAILQ_REMOVE(&qp->resp.tx, x, link);
		qp->resp.nr_tx--;
		rxe_xfer_send(x);
	}
	return 0;
}

static enum rxe_read_state finish(struct rxe_qp *qp, struct rxe_xfer *slot,
				  enum rxe_read_state state)
{
	rxe_read_drop_tx(qp);
	if (slot->slot.res && slot->slot.res->slot == slot)
		slot->slot.res->slot = NULL;
	return state;
}

enum rxe_read_state rxe_read_run(struct rxe_xfer *slot, uint32_t *budget)
{
	struct rxe_qp *qp = slot->qp;
	int err = slot->slot.rd.aborted ? 0 : send_ready(qp, slot);

	if (slot->slot.rd.aborted)
		return finish(qp, slot, RXE_READ_DONE);
	while (!err && slot->slot.rd.cur_psn != slot->slot.rd.end_psn) {
		if (!*budget)
			return RXE_READ_MORE;
		if (qp->resp.nr_tx >= RXE_MAX_READ_TX || rxe_req_is_paced(qp))
			return RXE_READ_BLOCKED;
		err = build(qp, slot);
		if (err == -EAGAIN)
			return RXE_READ_BLOCKED;
		if (!err) {
			--*budget;
			err = send_ready(qp, slot);
		}
	}
	if (err)
		return finish(qp, slot, RXE_READ_FAULT);
	return qp->resp.nr_tx ? RXE_READ_BLOCKED : finish(qp, slot, RXE_READ_DONE);
}

void rxe_read_rewind(struct rxe_qp *qp)
{
	struct rxe_xfer *x = TAILQ_FIRST(&qp->resp.tx), *slot = TAILQ_FIRST(&qp->resp.slots);

	if (!x || !slot)
		return;
	slot->slot.rd.cur_psn = x->tx.psn;
	rxe_read_drop_tx(qp);
	rxe_qp_kick(qp);
}

/* ---- requests in sequence ---------------------------------------------------------- */

static struct rxe_rd_res *free_resource(struct rxe_qp *qp)
{
	struct rxe_responder *resp = &qp->resp;
	struct rxe_rd_res *res;

	if (!resp->nr_res)
		return NULL;
	res = &resp->res[resp->next_res];
	if (res->slot && !res->slot->slot.replay)
		return NULL; /* the peer exceeds max_dest_rd_atomic */
	if (res->slot) {
		res->slot->slot.rd.aborted = true;
		res->slot->slot.res = NULL;
	}
	return res;
}

/* FLUSH and ATOMIC_WRITE are answered by an empty READ response (kernel rxe). */
static enum rxe_op answer_opcode(uint32_t flags)
{
	return flags & RXE_F_ATOMIC ? RXE_OP_ATOMIC_ACK : RXE_OP_READ_RESP_ONLY;
}

static enum rxe_fault begin_read(struct rxe_qp *qp, struct rxe_xfer *x, struct rxe_rd_res *res,
				 const struct rxe_pktinfo *info)
{
	uint32_t n = rxe_qp_psns(qp, info->len);
	struct rxe_range whole;

	/* A zero-length READ does not look at its rkey (PROTOCOL 21). */
	if (info->len) {
		if (rxe_qp_rkey(qp, info->rkey, info->va, info->len, IB_UVERBS_ACCESS_REMOTE_READ,
				&whole))
			return FAULT_ACCESS;
		rxe_mr_put(whole.mr);
	}
	res->last_psn = rxe_psn_add(info->psn, n - 1);
	res->length = info->len;
	x->slot.kind = RXE_SLOT_READ;
	x->slot.rd.va = info->va;
	x->slot.rd.rkey = info->rkey;
	x->slot.rd.end_off = info->len;
	x->slot.rd.base_psn = x->slot.rd.start_psn = x->slot.rd.cur_psn = info->psn;
	x->slot.rd.end_psn = rxe_psn_add(res->last_psn, 1);
	return FAULT_NONE;
}

static enum rxe_fault begin_atomic(struct rxe_qp *qp, struct rxe_xfer *x,
				   const struct rxe_pktinfo *info)
{
	bool cas = info->opcode == RXE_OPCODE(RXE_CLASS_RC, RXE_OP_CMP_SWAP);

	if (info->va & 7)
		return FAULT_INV_REQ;
	if (rxe_qp_rkey(qp, info->rkey, info->va, sizeof(uint64_t), IB_UVERBS_ACCESS_REMOTE_ATOMIC,
			x->range))
		return FAULT_ACCESS;
	x->copy.compare = info->compare;
	x->copy.swap_add = info->swap_add;
	rxe_xfer_copy(x, cas ? RXE_COPY_CMP_SWAP : RXE_COPY_FETCH_ADD, 1, 0);
	return FAULT_NONE;
}

/*
 * All that was accepted before is in place when the answer leaves, since slots
 * retire in order; so a FLUSH to global visibility has nothing else to do. Its
 * rkey is checked at any length (PROTOCOL 21), its range not when it flushes
 * the whole region (kernel rxe).
 */
static enum rxe_fault begin_flush(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	uint32_t access = rxe_flush_access(info->flush_type);
	struct rxe_mr *mr;
	uint64_t va;
	int err = 0;

	if (!access || (info->flush_type & ~(RXE_FLUSH_GLOBAL | RXE_FLUSH_PERSISTENT)) ||
	    info->flush_level > RXE_FLUSH_MR)
		return FAULT_INV_REQ;
	if (rxe_rkey_get(qp->hca, qp->init.pdn, qp->id, info->rkey, access, &mr))
		return FAULT_ACCESS;
	if (info->flush_level == RXE_FLUSH_RANGE)
		err = rxe_mr_check(mr, qp->init.pdn, info->va, info->len, access, &va);
	rxe_mr_put(mr);
	return err ? FAULT_ACCESS : FAULT_NONE;
}

/* 8 aligned bytes, as one; ordered behind all earlier copies of the client's. */
static enum rxe_fault begin_atomic_write(struct rxe_qp *qp, struct rxe_xfer *x,
					 const struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct iovec eight[RXE_PKT_SEGS];

	if (info->len != sizeof(uint64_t) || pkt->payload_len != sizeof(uint64_t) || pkt->pad ||
	    (info->va & 7))
		return FAULT_INV_REQ;
	if (rxe_qp_rkey(qp, info->rkey, info->va, sizeof(uint64_t), IB_UVERBS_ACCESS_REMOTE_WRITE,
			x->range))
		return FAULT_ACCESS;
	rxe_iov_gather(eight, rxe_iov_clip(eight, pkt->seg, pkt->nsegs, sizeof(uint64_t)),
		       (void *)&x->copy.swap_add);
	rxe_xfer_copy(x, RXE_COPY_STORE, 1, 0);
	return FAULT_NONE;
}

static enum rxe_fault begin(struct rxe_qp *qp, struct rxe_xfer *x, struct rxe_rd_res *res,
			    const struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	uint32_t flags = info->op->flags;

	if (flags & RXE_F_READ)
		return begin_read(qp, x, res, info);
	res->last_psn = info->psn;
	x->slot.kind = RXE_SLOT_ATOMIC;
	x->slot.answer = answer_opcode(flags);
	if (flags & RXE_F_FLUSH)
		return begin_flush(qp, info);
	if (flags & RXE_F_ATOMIC_WRITE)
		return begin_atomic_write(qp, x, pkt, info);
	return begin_atomic(qp, x, info);
}

enum rxe_fault rxe_read_rx(struct rxe_qp *qp, const struct rxe_pkt *pkt,
			   const struct rxe_pktinfo *info)
{
	struct rxe_responder *resp = &qp->resp;
	struct rxe_xfer *x = rxe_resp_new_slot(qp, RXE_SLOT_READ, info->psn);
	struct rxe_rd_res *res;
	enum rxe_fault f;

	if (!x) {
		rxe_qp_count(qp, RXE_HW_DROP_BUSY);
		return FAULT_DROP;
	}
	res = free_resource(qp);
	if (!res) {
		rxe_xfer_drop(x);
		return FAULT_INV_REQ;
	}
	f = begin(qp, x, res, pkt, info);
	if (f) {
		rxe_xfer_drop(x);
		return f;
	}
	resp->msn = rxe_psn_add(resp->msn, 1);
	res->kind = info->op->flags & RXE_F_ANSWERED;
	res->first_psn = info->psn;
	res->msn = resp->msn;
	res->va = info->va;
	res->rkey = info->rkey;
	res->slot = x;
	x->slot.res = res;
	x->slot.psn = res->last_psn;
	x->slot.msn = res->msn;
	resp->next_res = (resp->next_res + 1) % resp->nr_res;
	resp->psn = rxe_psn_add(res->last_psn, 1);
	resp->nak_sent = false;
	rxe_resp_push_slot(qp, x);
	return FAULT_NONE;
}

/* ---- duplicates ------------------------------------------------------------------------ */

/* The newest: an older one may have had the same PSN, once around. */
static struct rxe_rd_res *find_resource(struct rxe_qp *qp, uint32_t psn)
{
	uint32_t nr = qp->resp.nr_res;

	for (uint32_t i = 1; i <= nr; i++) {
		struct rxe_rd_res *res = &qp->resp.res[(qp->resp.next_res + nr - i) % nr];

		if (res->kind && rxe_psn_diff(psn, res->first_psn) >= 0 &&
		    rxe_psn_diff(psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* The peer has gone back to psn: answers to what it asked later would be lost on it. */
static void abort_later(struct rxe_qp *qp, uint32_t psn)
{
	struct rxe_xfer *x;

	TAILQ_FOREACH (x, &qp->resp.slots, link) {
		if (x->slot.kind != RXE_SLOT_READ || rxe_psn_diff(x->slot.rd.base_psn, psn) <= 0)
			continue;
		x->slot.rd.aborted = true;
		if (x->slot.res && x->slot.res->slot == x)
			x->slot.res->slot = NULL;
	}
}

/* Only the same rkey and a part of the same range (PROTOCOL 19). */
static bool read_matches(const struct rxe_qp *qp, const struct rxe_rd_res *res,
			 const struct rxe_pktinfo *info)
{
	uint32_t off = rxe_psn_diff(info->psn, res->first_psn) * qp->mtu;

	return res->kind == RXE_F_READ && info->rkey == res->rkey && info->va == res->va + off &&
	       info->len <= res->length - off && (info->len || !res->length);
}

static void answer_from(const struct rxe_qp *qp, struct rxe_xfer *x, const struct rxe_rd_res *res,
			const struct rxe_pktinfo *info)
{
	uint32_t n = rxe_qp_psns(qp, info->len);

	x->slot.rd.va = res->va;
	x->slot.rd.rkey = res->rkey;
	x->slot.rd.base_psn = res->first_psn;
	x->slot.rd.start_psn = x->slot.rd.cur_psn = info->psn;
	x->slot.rd.end_psn = rxe_psn_add(info->psn, n);
	x->slot.rd.end_off = rxe_psn_diff(info->psn, res->first_psn) * qp->mtu + info->len;
}

static void duplicate_read(struct rxe_qp *qp, struct rxe_rd_res *res,
			   const struct rxe_pktinfo *info)
{
	struct rxe_xfer *x = res->slot;

	if (!read_matches(qp, res, info))
		return;
	abort_later(qp, info->psn);
	if (x && !x->slot.rd.aborted) {
		/* Still being answered: go on from where the peer wants it. */
		if (x == TAILQ_FIRST(&qp->resp.slots))
			rxe_read_drop_tx(qp);
		answer_from(qp, x, res, info);
		return;
	}
	x = rxe_resp_new_slot(qp, RXE_SLOT_READ, res->last_psn);
	if (!x)
		return;
	x->slot.replay = true;
	x->slot.msn = res->msn;
	x->slot.res = res;
	res->slot = x;
	answer_from(qp, x, res, info);
	rxe_resp_push_slot(qp, x);
}

/* The saved result, never executed again (PROTOCOL 11). */
static void duplicate_atomic(struct rxe_qp *qp, const struct rxe_rd_res *res)
{
	struct rxe_xfer *x;

	if (res->slot)
		return; /* its answer is still to come */
	x = rxe_resp_new_slot(qp, RXE_SLOT_ATOMIC, res->first_psn);
	if (!x)
		return;
	x->slot.replay = true;
	x->slot.answer = answer_opcode(res->kind);
	x->slot.msn = res->msn;
	x->copy.result = res->result;
	rxe_resp_push_slot(qp, x);
}

void rxe_read_duplicate(struct rxe_qp *qp, const struct rxe_pktinfo *info)
{
	struct rxe_rd_res *res = find_resource(qp, info->psn);

	if (!res)
		return;
	if (info->op->flags & RXE_F_READ)
		duplicate_read(qp, res, info);
	else if (res->kind == (info->op->flags & RXE_F_ANSWERED) && res->rkey == info->rkey &&
		 res->va == info->va)
		duplicate_atomic(qp, res);
}
