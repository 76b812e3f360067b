/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Posting and checking of one flow.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_compat.h"
#include "traffic.h"
#include "transport/cq.h"
#include "transport/mw.h"
#include "transport/qp.h"
#include "transport/wqe.h"

uint64_t sim_seed;

void sim_fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "FAIL seed %llu: ", (unsigned long long)sim_seed);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n  again with: --start %llu --seeds 1 --trace\n",
		(unsigned long long)sim_seed);
	exit(1);
}

/* ---- post -------------------------------------------------------------------------- */

static uint32_t split(struct sim_flow *f, struct rxe_sge *sge, uint8_t *at, uint32_t len,
		      uint32_t lkey, uint32_t max_sge)
{
	uint32_t n = 0, parts = 1 + sim_below(f->rng, max_sge);

	while (n < parts) {
		uint32_t part = n == parts - 1 ? len : sim_below(f->rng, len + 1);

		sge[n++] = (struct rxe_sge){(uintptr_t)at, part, lkey};
		at += part;
		len -= part;
	}
	return n;
}

static void bind_wr(const struct sim_flow *f, const struct sim_msg *m, struct sim_wr *wr)
{
	wr->remote_addr = (uintptr_t)f->local_mem;
	wr->mw_len = f->local_size;
	wr->mr_lkey = rxe_mr_lkey(f->local_mr);
	wr->mw_rkey = m->old_rkey;
	wr->access = IB_UVERBS_ACCESS_REMOTE_READ;
}

static bool post_one(struct sim_flow *f)
{
	struct sim_msg *m = &f->msg[f->posted];
	struct sim_wr wr = {
		.wr_id = f->posted,
		.opcode = m->opcode,
		.flags = m->flags | (m->is_inline ? RXE_SEND_INLINE : 0),
		.imm = m->opcode == IB_UVERBS_WR_SEND_WITH_INV || sim_is_local(m) ? m->rkey
										  : m->imm,
		.remote_addr = (uintptr_t)m->remote,
		.rkey = m->rkey,
		.flush_type = RXE_FLUSH_GLOBAL,
		.flush_len = m->flush_len,
		.flush_level = m->flush_level,
		.compare_add = m->compare_add,
		.swap = m->swap,
		.remote_qpn = f->to->qpn,
		.remote_qkey = f->qkey,
		.ah_num = f->ah_num,
	};

	if (m->opcode == IB_UVERBS_WR_BIND_MW)
		bind_wr(f, m, &wr);
	if (m->is_inline || m->opcode == RXE_WR_ATOMIC_WRITE) {
		wr.inline_data = m->local;
		wr.inline_len = m->len;
	} else if (!sim_is_local(m) && m->opcode != RXE_WR_FLUSH) {
		wr.num_sge = split(f, wr.sge, m->local, m->len,
				   rxe_mr_lkey(f->local_mr) ^
					   (f->bad == SIM_BAD_LKEY && sim_is_bad(f, f->posted)),
				   f->from->geo.max_send_sge);
	}
	if (!sim_post_send(f->from, &wr))
		return false;
	f->posted++;
	return true;
}

static bool post_recv(struct sim_flow *f)
{
	struct rxe_sge sge[RXE_MAX_SGE];
	uint8_t *at = f->recv_mem + (size_t)f->recv_posted * sim_step_of(f->recv_len);
	uint32_t n =
		split(f, sge, at, f->recv_len, rxe_mr_lkey(f->recv_mr), f->to->geo.max_recv_sge);

	if (!sim_post_recv(f->to, f->recv_posted, sge, n))
		return false;
	f->recv_posted++;
	return true;
}

bool sim_flow_post(struct sim_flow *f)
{
	uint32_t recvs = f->eager ? f->nr_recvs : sim_below(f->rng, 8),
		 sends = sim_below(f->rng, 8), n = 0;

	if (f->over)
		return false;
	while (!f->to_dead && recvs-- && f->recv_posted < f->nr_recvs && post_recv(f))
		n++;
	recvs = n;
	while (!f->from_dead && sends-- && f->posted < f->nr_msgs && post_one(f))
		n++;
	if (n > recvs)
		rxe_qp_doorbell(f->from->qp);
	return n;
}

/* Nobody gets through a window that is gone. */
static void check_gone(const struct sim_qp *qp, uint32_t rkey, const char *who, uint32_t i)
{
	struct rxe_mr *mr;

	if (qp->qp && !rxe_rkey_get(&qp->host->hca, 1, qp->qp->id, rkey, 0, &mr))
		sim_fail("%s %u: the window of key 0x%x is still open", who, i, rkey);
}

/* ---- check --------------------------------------------------------------------------- */

static const char *flow_name(const struct sim_flow *f)
{
	static char name[64];
	static const char *const types[] = {"?", "GSI", "RC", "UC", "UD"};

	snprintf(name, sizeof(name), "flow %d (%s qp 0x%x)", f->id, types[f->from->type],
		 f->from->qpn);
	return name;
}

/* An acknowledged message has had its whole effect. */
static void check_effect(const struct sim_flow *f, uint32_t i)
{
	const struct sim_msg *m = &f->msg[i];
	uint64_t got;

	if (f->from->type != RXE_QPT_RC)
		return;
	if (sim_stores(m) && !sim_holds(f, i, m->remote, m->len))
		sim_fail("%s: WRITE %u is acknowledged and not in place", flow_name(f), i);
	if (m->opcode == IB_UVERBS_WR_RDMA_READ && !sim_holds(f, i, m->local, m->len))
		sim_fail("%s: READ %u completed with wrong data", flow_name(f), i);
	if (m->opcode == IB_UVERBS_WR_LOCAL_INV)
		check_gone(f->from, m->rkey, "LOCAL_INV", i);
	memcpy(&got, m->local, sizeof(got));
	if (sim_is_atomic(m) && got != m->want_orig)
		sim_fail("%s: atomic %u returned %llx, not %llx", flow_name(f), i,
			 (unsigned long long)got, (unsigned long long)m->want_orig);
}

static void check_send_fields(const struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	static const uint8_t wc_opcode[] = {
		[IB_UVERBS_WR_RDMA_WRITE] = IB_UVERBS_WC_RDMA_WRITE,
		[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM] = IB_UVERBS_WC_RDMA_WRITE,
		[IB_UVERBS_WR_SEND] = IB_UVERBS_WC_SEND,
		[IB_UVERBS_WR_SEND_WITH_IMM] = IB_UVERBS_WC_SEND,
		[IB_UVERBS_WR_RDMA_READ] = IB_UVERBS_WC_RDMA_READ,
		[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP] = IB_UVERBS_WC_COMP_SWAP,
		[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD] = IB_UVERBS_WC_FETCH_ADD,
		[IB_UVERBS_WR_LOCAL_INV] = IB_UVERBS_WC_LOCAL_INV,
		[IB_UVERBS_WR_BIND_MW] = IB_UVERBS_WC_BIND_MW,
		[IB_UVERBS_WR_SEND_WITH_INV] = IB_UVERBS_WC_SEND,
		[RXE_WR_FLUSH] = RXE_WC_OP_FLUSH,
		[RXE_WR_ATOMIC_WRITE] = RXE_WC_OP_ATOMIC_WRITE,
	};
	const struct sim_msg *m = &f->msg[wc->wr_id];

	if (wc->opcode != wc_opcode[m->opcode] || wc->byte_len != m->len ||
	    wc->qp_num != f->from->qpn)
		sim_fail("%s: completion of send %llu: opcode %u length %u", flow_name(f),
			 (unsigned long long)wc->wr_id, wc->opcode, wc->byte_len);
}

static void send_error(struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	bool flush = wc->status == RXE_WC_WR_FLUSH_ERR;
	bool due = sim_is_bad(f, wc->wr_id) && wc->status == f->bad_status;

	if (!f->lossy_ok && !due)
		sim_fail("%s: send %llu ended with status %u", flow_name(f),
			 (unsigned long long)wc->wr_id, wc->status);
	if (f->failed && (!flush || wc->wr_id != f->send_done))
		sim_fail("%s: send %llu, status %u, after an error; %u was due", flow_name(f),
			 (unsigned long long)wc->wr_id, wc->status, f->send_done);
	f->failed = true;
	f->flushed++;
}

void sim_flow_send_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	if (wc->wr_id < f->send_done || wc->wr_id >= f->posted)
		sim_fail("%s: completion of send %llu, %u was due", flow_name(f),
			 (unsigned long long)wc->wr_id, f->send_done);
	/* Those without a completion of their own have ended well. */
	for (uint32_t i = f->send_done; i < wc->wr_id; i++) {
		if (f->msg[i].flags & RXE_SEND_SIGNALED)
			sim_fail("%s: send %u has no completion", flow_name(f), i);
		check_effect(f, i);
	}
	if (wc->status) {
		send_error(f, wc);
	} else {
		if (f->failed)
			sim_fail("%s: success after an error", flow_name(f));
		if (sim_is_bad(f, wc->wr_id))
			sim_fail("%s: a bad request (%u) succeeded", flow_name(f), f->bad);
		check_send_fields(f, wc);
		check_effect(f, wc->wr_id);
	}
	f->send_done = wc->wr_id + 1;
}

static bool recv_is_msg(const struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at,
			uint32_t i)
{
	const struct sim_msg *m = &f->msg[i];
	uint32_t grh = f->from->type == RXE_QPT_UD ? RXE_GRH_LEN : 0;
	bool inv = m->opcode == IB_UVERBS_WR_SEND_WITH_INV;
	uint32_t flags =
		RXE_WC_GRH | (sim_has_imm(m) ? RXE_WC_WITH_IMM : 0) | (inv ? RXE_WC_WITH_INV : 0);

	if (inv && wc->ex.invalidate_rkey != m->rkey)
		return false;
	if (!sim_takes_recv(m) || wc->byte_len != m->len + grh || wc->wc_flags != flags ||
	    (sim_has_imm(m) && wc->ex.imm_data != m->imm) || wc->src_qp != f->from->qpn)
		return false;
	if (sim_is_write(m))
		return wc->opcode == RXE_WC_RECV_RDMA_WITH_IMM &&
		       sim_holds(f, i, m->remote, m->len);
	return wc->opcode == RXE_WC_RECV && sim_holds(f, i, at + grh, m->len);
}

static void recv_rc(struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at)
{
	while (f->next_recv_msg < f->nr_msgs && !sim_takes_recv(&f->msg[f->next_recv_msg]))
		f->next_recv_msg++;
	if (f->next_recv_msg >= f->posted || !recv_is_msg(f, wc, at, f->next_recv_msg))
		sim_fail("%s: receive %llu (length %u) is not message %u", flow_name(f),
			 (unsigned long long)wc->wr_id, wc->byte_len, f->next_recv_msg);
	if (f->msg[f->next_recv_msg].mw)
		check_gone(f->to, f->msg[f->next_recv_msg].rkey, "SEND_WITH_INV", f->next_recv_msg);
	f->next_recv_msg++;
}

/* Beyond what it brought a receive changes nothing. */
static void check_rest(const struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at)
{
	uint32_t used = wc->opcode == RXE_WC_RECV ? wc->byte_len : 0;

	if (f->pool || f->to->type == RXE_QPT_UC)
		return; /* used before, or by a message that was given up */
	for (uint32_t i = used; i < f->recv_len; i++)
		if (at[i] != SIM_UNTOUCHED)
			sim_fail("%s: receive %llu of %u bytes has written byte %u", flow_name(f),
				 (unsigned long long)wc->wr_id, used, i);
}

/*
 * UC and UD may lose messages, and what the link repeats. If it neither repeats
 * nor reorders, none comes twice or late. Of before a reset some may come still.
 */
static void recv_any(struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at)
{
	for (uint32_t i = f->ordered ? f->next_recv_msg : 0; i < f->posted; i++)
		if (recv_is_msg(f, wc, at, i)) {
			f->next_recv_msg = i + 1;
			return;
		}
	for (const struct sim_flow *b = f->before; b; b = b->before)
		for (uint32_t i = 0; i < b->posted; i++)
			if (recv_is_msg(b, wc, at, i))
				return;
	sim_fail("%s: receive %llu (length %u) is no message that was sent", flow_name(f),
		 (unsigned long long)wc->wr_id, wc->byte_len);
}

/* The buffer of a receive; of the QP's own, the next is due. */
static const uint8_t *recv_buffer(struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	if (f->pool)
		return sim_pool_done(f->pool, wc->wr_id);
	if (wc->wr_id != f->recv_done)
		sim_fail("%s: receive %llu completed, %u was due", flow_name(f),
			 (unsigned long long)wc->wr_id, f->recv_done);
	f->recv_done++;
	return f->recv_mem + wc->wr_id * sim_step_of(f->recv_len);
}

void sim_flow_recv_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	const uint8_t *at = recv_buffer(f, wc);

	if (wc->status) {
		if (f->pool && f->to->type == RXE_QPT_UC && wc->status == RXE_WC_REM_INV_REQ_ERR)
			return; /* a message that was given up */
		if (f->bad == SIM_LONG_SEND && wc->status == RXE_WC_LOC_LEN_ERR)
			return;
		if ((!f->lossy_ok && !f->bad) || wc->status != RXE_WC_WR_FLUSH_ERR)
			sim_fail("%s: receive %llu ended with status %u", flow_name(f),
				 (unsigned long long)wc->wr_id, wc->status);
		return;
	}
	f->delivered++;
	check_rest(f, wc, at);
	if (f->from->type == RXE_QPT_RC)
		recv_rc(f, wc, at);
	else
		recv_any(f, wc, at);
}

bool sim_flow_finished(const struct sim_flow *f)
{
	uint32_t want = 0;

	if (f->over || f->from_dead)
		return true;
	if (f->failed && (!f->bad || f->lossy_ok))
		return f->send_done == f->nr_msgs; /* what is posted in ERR completes, too */
	if (f->send_done != f->nr_msgs)
		return false;
	if (f->from->type != RXE_QPT_RC || f->lossy_ok)
		return true;
	for (uint32_t i = 0; i < f->nr_msgs - !!f->bad; i++)
		want += sim_takes_recv(&f->msg[i]);
	return f->delivered == want;
}

static void check_guard(const struct sim_flow *f, const uint8_t *at, const uint8_t *end,
			const char *what, uint32_t i)
{
	for (; at < end; at++)
		if (*at != SIM_UNTOUCHED)
			sim_fail("%s: a byte beyond %s %u was written", flow_name(f), what, i);
}

/* UC: a WRITE may stop anywhere, but what it wrote is right. */
static void check_partial(const struct sim_flow *f, uint32_t i)
{
	const struct sim_msg *m = &f->msg[i];

	for (uint32_t k = 0; k < m->len; k++)
		if (m->remote[k] != SIM_UNTOUCHED && m->remote[k] != sim_pattern(f, i, k))
			sim_fail("%s: WRITE %u left wrong data", flow_name(f), i);
}

/* What is only read from stays as it is; a bad request changes nothing at all. */
static void check_unchanged(const struct sim_flow *f, uint32_t i)
{
	const struct sim_msg *m = &f->msg[i];
	bool read = m->opcode == IB_UVERBS_WR_RDMA_READ;

	if (read && !sim_is_bad(f, i) && !sim_holds(f, i, m->remote, m->len))
		sim_fail("%s: the source of READ %u has changed", flow_name(f), i);
	if (!read && !sim_is_atomic(m) && !sim_holds(f, i, m->local, m->len))
		sim_fail("%s: the source of message %u has changed", flow_name(f), i);
	if (!sim_is_bad(f, i))
		return;
	if (f->bad == SIM_PAST_WINDOW || f->bad == SIM_BEFORE_WINDOW || f->bad == SIM_NO_RIGHT)
		check_guard(f, m->remote, m->remote + m->len, "a WRITE that was refused,", i);
	/* After a loss it may be asked for in parts, of which some are allowed. */
	if (read)
		check_guard(f, f->lossy_ok ? m->local + m->len - 1 : m->local, m->local + m->len,
			    "a READ that was refused,", i);
}

/*
 * The atomics that have completed have been executed, once, and perhaps some of
 * those that were posted after them.
 */
static void check_counter(const struct sim_flow *f)
{
	uint32_t done = f->send_done - f->flushed;
	uint64_t now, before = done ? f->msg[done - 1].counter_after : 0;

	memcpy(&now, f->remote_mem, sizeof(now));
	if (now == before)
		return;
	for (uint32_t i = done; i < f->posted; i++)
		if (f->msg[i].counter_after == now && (f->failed || f->over || f->from_dead))
			return;
	sim_fail("%s: the counter is %llx after %u messages%s", flow_name(f),
		 (unsigned long long)now, done,
		 f->failed ? " and an error"
		 : f->over ? " and a reset"
			   : "");
}

void sim_flow_check_memory(const struct sim_flow *f)
{
	for (uint32_t i = 0; i < f->nr_msgs; i++) {
		const struct sim_msg *m = &f->msg[i];
		size_t step = sim_step_of(m->len);

		check_guard(f, m->local + m->len, m->local + step, "the buffer of send", i);
		check_unchanged(f, i);
		if (sim_stores(m) && !sim_is_bad(f, i)) {
			check_partial(f, i);
			check_guard(f, m->remote + m->len, m->remote + step, "WRITE", i);
		}
	}
	check_counter(f);
	check_guard(f, f->remote_mem + 8, f->remote_mem + 64, "the counter", 0);
	check_guard(f, f->remote_mem + f->remote_size, f->remote_mem + f->remote_size + 1,
		    "the region", 0);
	for (uint32_t i = 0; i < f->nr_recvs; i++) {
		const uint8_t *at = f->recv_mem + (size_t)i * sim_step_of(f->recv_len);

		check_guard(f, at + f->recv_len, at + sim_step_of(f->recv_len), "receive", i);
	}
}
