/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Planning, posting and checking of one flow.
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

#define UNTOUCHED 0xa5

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

/* Byte `off` of message m: unlike its neighbours in every direction. */
static uint8_t pattern(const struct sim_flow *f, uint32_t m, uint32_t off)
{
	uint64_t x = ((uint64_t)f->id << 48 | (uint64_t)m << 32 | off) * 0x9e3779b97f4a7c15ull;

	return x >> 56 ^ x >> 24;
}

static void fill(const struct sim_flow *f, uint32_t m, uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = pattern(f, m, i);
}

static bool holds(const struct sim_flow *f, uint32_t m, const uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (at[i] != pattern(f, m, i))
			return false;
	return true;
}

static bool is_atomic(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
	       m->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
}

static bool is_send(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_SEND || m->opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
	       m->opcode == IB_UVERBS_WR_SEND_WITH_INV;
}

static bool is_write(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_RDMA_WRITE ||
	       m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_local(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_BIND_MW || m->opcode == IB_UVERBS_WR_LOCAL_INV;
}

/* Leaves its bytes at the receiver. */
static bool stores(const struct sim_msg *m)
{
	return is_write(m) || m->opcode == RXE_WR_ATOMIC_WRITE;
}

static bool has_imm(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
	       m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

static bool takes_recv(const struct sim_msg *m)
{
	return is_send(m) || m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

/* ---- plan ------------------------------------------------------------------------- */

static const uint32_t rc_ops[] = {
	IB_UVERBS_WR_SEND,
	IB_UVERBS_WR_SEND_WITH_IMM,
	IB_UVERBS_WR_RDMA_WRITE,
	IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_UVERBS_WR_RDMA_READ,
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
	IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_UVERBS_WR_SEND_WITH_INV,
	RXE_WR_FLUSH,
	RXE_WR_ATOMIC_WRITE,
	IB_UVERBS_WR_BIND_MW,
	IB_UVERBS_WR_LOCAL_INV,
};

static uint32_t pick_opcode(struct sim_flow *f)
{
	uint32_t n = f->from->type == RXE_QPT_RC   ? sizeof(rc_ops) / sizeof(rc_ops[0])
		     : f->from->type == RXE_QPT_UC ? 4
						   : 2;

	return rc_ops[sim_below(f->rng, n)];
}

static uint32_t pick_len(struct sim_flow *f, uint32_t max_len)
{
	uint32_t edge = f->mtu * (1 + sim_below(f->rng, 4));

	if (max_len > f->mtu * 4 && sim_chance(f->rng, .3))
		return edge - 1 + sim_below(f->rng, 3);
	if (sim_chance(f->rng, .1))
		return sim_below(f->rng, 9);
	return sim_below(f->rng, sim_chance(f->rng, .5) ? max_len + 1 : f->mtu + 1);
}

static void plan_msg(struct sim_flow *f, struct sim_msg *m, uint32_t max_len, uint64_t *counter)
{
	bool dgram = f->from->type == RXE_QPT_UD;

	m->opcode = pick_opcode(f);
	if (is_local(m) || m->opcode == RXE_WR_FLUSH)
		m->len = 0;
	else if (is_atomic(m) || m->opcode == RXE_WR_ATOMIC_WRITE)
		m->len = 8;
	else
		m->len = pick_len(f, dgram ? f->mtu : max_len);
	if (dgram && m->len > f->mtu)
		m->len = f->mtu;
	m->imm = sim_rand(f->rng);
	m->flush_len = sim_below(f->rng, 64);
	m->flush_level = sim_below(f->rng, 2);
	m->flags = sim_chance(f->rng, .7) ? RXE_SEND_SIGNALED : 0;
	if (sim_chance(f->rng, .2))
		m->flags |= RXE_SEND_FENCE;
	if (sim_chance(f->rng, .2))
		m->flags |= RXE_SEND_SOLICITED;
	m->is_inline = (is_send(m) || is_write(m)) && m->len <= f->from->geo.max_inline &&
		       sim_chance(f->rng, .5);
	m->want_orig = *counter;
	if (m->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD) {
		m->compare_add = sim_rand(f->rng);
		*counter += m->compare_add;
	} else if (is_atomic(m)) {
		m->compare_add = sim_chance(f->rng, .7) ? *counter : *counter + 1;
		m->swap = sim_rand(f->rng);
		if (m->compare_add == *counter)
			*counter = m->swap;
	}
}

static uint8_t *arena(size_t size)
{
	uint8_t *p = aligned_alloc(64, (size + 64) / 64 * 64);

	if (!p)
		abort();
	memset(p, UNTOUCHED, size);
	return p;
}

static size_t step_of(uint32_t len)
{
	return (len + SIM_GUARD + 7) / 8 * 8;
}

static void place_msgs(struct sim_flow *f)
{
	uint8_t *local = f->local_mem, *remote = f->remote_mem + 64;

	memset(f->remote_mem, 0, 8); /* the counter of the atomics */
	for (uint32_t i = 0; i < f->nr_msgs; i++) {
		struct sim_msg *m = &f->msg[i];
		bool read = m->opcode == IB_UVERBS_WR_RDMA_READ;

		m->local = local;
		m->remote = is_atomic(m) || m->opcode == RXE_WR_FLUSH ? f->remote_mem : remote;
		if (!is_atomic(m))
			fill(f, i, read ? m->remote : m->local, m->len);
		local += step_of(m->len);
		remote += step_of(m->len);
	}
}

/* ---- windows ------------------------------------------------------------------------- */

/* A window over all of the receiver's memory, for one SEND_WITH_INV to end. */
static void plan_window(struct sim_flow *f, struct sim_msg *m)
{
	struct rxe_hca *hca = &f->to->host->hca;
	struct rxe_mw_bind b = {
		.mr_lkey = rxe_mr_lkey(f->remote_mr),
		.rkey = sim_rand(f->rng),
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
			  RXE_ACCESS_FLUSH_GLOBAL,
		.addr = (uintptr_t)f->remote_mem,
		.len = f->remote_size,
	};
	struct rxe_mr *old;

	if (rxe_mw_create(hca, 1, RXE_MW_TYPE_2, &m->mw))
		sim_fail("no window");
	b.mw_rkey = rxe_mw_rkey(m->mw);
	if (rxe_mw_bind(hca, 1, f->to->qp->id, &b, &old) || old)
		sim_fail("a window cannot be bound");
	m->rkey = rxe_mw_rkey(m->mw);
}

/* The sender binds and invalidates its window in turn, each time with another key. */
static void plan_local(struct sim_msg *m, uint32_t *rkey, bool *bound)
{
	m->opcode = *bound ? IB_UVERBS_WR_LOCAL_INV : IB_UVERBS_WR_BIND_MW;
	m->old_rkey = *rkey;
	if (!*bound)
		*rkey = (*rkey & ~0xffu) | ((*rkey + 1) & 0xff);
	m->rkey = *rkey;
	*bound = !*bound;
}

/*
 * What comes before a SEND_WITH_INV may use the window that it ends. A READ
 * must be answered before, since its retry is checked anew: then a fence.
 */
static void plan_use(struct sim_flow *f, struct sim_msg *m, struct sim_msg *inv)
{
	bool can = stores(m) || m->opcode == RXE_WR_FLUSH || m->opcode == IB_UVERBS_WR_RDMA_READ;

	m->rkey = rxe_mr_rkey(f->remote_mr);
	if (!inv || !can || sim_chance(f->rng, .4))
		return;
	m->rkey = inv->rkey;
	if (m->opcode == IB_UVERBS_WR_RDMA_READ)
		inv->flags |= RXE_SEND_FENCE;
}

static void plan_keys(struct sim_flow *f)
{
	struct sim_msg *inv = NULL;
	uint32_t rkey;
	bool bound = false;

	if (rxe_mw_create(&f->from->host->hca, 1, RXE_MW_TYPE_2, &f->mw))
		sim_fail("no window");
	rkey = rxe_mw_rkey(f->mw);
	for (uint32_t i = 0; i < f->nr_msgs; i++)
		if (is_local(&f->msg[i]))
			plan_local(&f->msg[i], &rkey, &bound);
	for (uint32_t i = f->nr_msgs; i-- > 0;) {
		struct sim_msg *m = &f->msg[i];

		if (m->opcode == IB_UVERBS_WR_SEND_WITH_INV)
			plan_window(f, inv = m);
		else if (!is_local(m))
			plan_use(f, m, inv);
	}
}

static void drop_window(struct sim_host *h, struct rxe_mw *mw)
{
	struct rxe_mr *old = rxe_mw_destroy(&h->hca, mw);

	if (old && rxe_mr_busy(old))
		sim_fail("a window is in use at the end");
	if (old)
		rxe_mr_put(old);
}

/* Nobody gets through a window that is gone. */
static void check_gone(const struct sim_qp *qp, uint32_t rkey, const char *who, uint32_t i)
{
	struct rxe_mr *mr;

	if (qp->qp && !rxe_rkey_get(&qp->host->hca, 1, qp->qp->id, rkey, 0, &mr))
		sim_fail("%s %u: the window of key 0x%x is still open", who, i, rkey);
}

void sim_flow_plan(struct sim_flow *f, uint32_t nr_msgs, uint32_t max_len)
{
	uint32_t grh = f->from->type == RXE_QPT_UD ? RXE_GRH_LEN : 0;
	uint64_t counter = 0;

	f->nr_msgs = nr_msgs;
	f->local_size = f->remote_size = 64;
	for (uint32_t i = 0; i < nr_msgs; i++) {
		plan_msg(f, &f->msg[i], max_len, &counter);
		f->local_size += step_of(f->msg[i].len);
		f->remote_size += step_of(f->msg[i].len);
		f->nr_recvs += takes_recv(&f->msg[i]);
	}
	/* Datagrams may come twice: more buffers than messages. */
	if (f->from->type != RXE_QPT_RC)
		f->nr_recvs += 8;
	f->msg[nr_msgs - 1].flags |= RXE_SEND_SIGNALED;
	f->recv_len = max_len + grh;
	if (f->pool) {
		sim_pool_plan(f->pool, f->nr_recvs, f->recv_len);
		f->nr_recvs = 0;
	}
	f->recv_size = (size_t)f->nr_recvs * step_of(f->recv_len) + 64;
	f->local_mem = arena(f->local_size);
	f->remote_mem = arena(f->remote_size);
	f->recv_mem = arena(f->recv_size);
	place_msgs(f);
	f->local_mr = sim_mr(f->from->host, 1, f->local_mem, f->local_size, 0);
	f->remote_mr = sim_mr(f->to->host, 1, f->remote_mem, f->remote_size, 0);
	f->recv_mr = sim_mr(f->to->host, 1, f->recv_mem, f->recv_size, 0);
	plan_keys(f);
}

void sim_flow_free(struct sim_flow *f)
{
	drop_window(f->from->host, f->mw);
	for (uint32_t i = 0; i < f->nr_msgs; i++)
		if (f->msg[i].mw)
			drop_window(f->to->host, f->msg[i].mw);
	sim_mr_free(f->from->host, f->local_mr);
	sim_mr_free(f->to->host, f->remote_mr);
	sim_mr_free(f->to->host, f->recv_mr);
	free(f->local_mem);
	free(f->remote_mem);
	free(f->recv_mem);
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
		.imm = m->opcode == IB_UVERBS_WR_SEND_WITH_INV || is_local(m) ? m->rkey : m->imm,
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
	} else if (!is_local(m) && m->opcode != RXE_WR_FLUSH) {
		wr.num_sge = split(f, wr.sge, m->local, m->len, rxe_mr_lkey(f->local_mr),
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
	uint8_t *at = f->recv_mem + (size_t)f->recv_posted * step_of(f->recv_len);
	uint32_t n =
		split(f, sge, at, f->recv_len, rxe_mr_lkey(f->recv_mr), f->to->geo.max_recv_sge);

	if (!sim_post_recv(f->to, f->recv_posted, sge, n))
		return false;
	f->recv_posted++;
	return true;
}

bool sim_flow_post(struct sim_flow *f)
{
	uint32_t recvs = sim_below(f->rng, 8), sends = sim_below(f->rng, 8), n = 0;

	while (!f->to_dead && recvs-- && f->recv_posted < f->nr_recvs && post_recv(f))
		n++;
	recvs = n;
	while (!f->from_dead && sends-- && f->posted < f->nr_msgs && post_one(f))
		n++;
	if (n > recvs)
		rxe_qp_doorbell(f->from->qp);
	return n;
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
	if (stores(m) && !holds(f, i, m->remote, m->len))
		sim_fail("%s: WRITE %u is acknowledged and not in place", flow_name(f), i);
	if (m->opcode == IB_UVERBS_WR_RDMA_READ && !holds(f, i, m->local, m->len))
		sim_fail("%s: READ %u completed with wrong data", flow_name(f), i);
	if (m->opcode == IB_UVERBS_WR_LOCAL_INV)
		check_gone(f->from, m->rkey, "LOCAL_INV", i);
	memcpy(&got, m->local, sizeof(got));
	if (is_atomic(m) && got != m->want_orig)
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

	if (!f->lossy_ok)
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
		RXE_WC_GRH | (has_imm(m) ? RXE_WC_WITH_IMM : 0) | (inv ? RXE_WC_WITH_INV : 0);

	if (inv && wc->ex.invalidate_rkey != m->rkey)
		return false;
	if (!takes_recv(m) || wc->byte_len != m->len + grh || wc->wc_flags != flags ||
	    (has_imm(m) && wc->ex.imm_data != m->imm) || wc->src_qp != f->from->qpn)
		return false;
	if (is_write(m))
		return wc->opcode == RXE_WC_RECV_RDMA_WITH_IMM && holds(f, i, m->remote, m->len);
	return wc->opcode == RXE_WC_RECV && holds(f, i, at + grh, m->len);
}

static void recv_rc(struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at)
{
	while (f->next_recv_msg < f->nr_msgs && !takes_recv(&f->msg[f->next_recv_msg]))
		f->next_recv_msg++;
	if (f->next_recv_msg >= f->posted || !recv_is_msg(f, wc, at, f->next_recv_msg))
		sim_fail("%s: receive %llu (length %u) is not message %u", flow_name(f),
			 (unsigned long long)wc->wr_id, wc->byte_len, f->next_recv_msg);
	if (f->msg[f->next_recv_msg].mw)
		check_gone(f->to, f->msg[f->next_recv_msg].rkey, "SEND_WITH_INV", f->next_recv_msg);
	f->next_recv_msg++;
}

static void recv_any(const struct sim_flow *f, const struct ib_uverbs_wc *wc, const uint8_t *at)
{
	for (uint32_t i = 0; i < f->posted; i++)
		if (recv_is_msg(f, wc, at, i))
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
	return f->recv_mem + wc->wr_id * step_of(f->recv_len);
}

void sim_flow_recv_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc)
{
	const uint8_t *at = recv_buffer(f, wc);

	if (wc->status) {
		if (f->pool && f->to->type == RXE_QPT_UC && wc->status == RXE_WC_REM_INV_REQ_ERR)
			return; /* a message that was given up */
		if (!f->lossy_ok || wc->status != RXE_WC_WR_FLUSH_ERR)
			sim_fail("%s: receive %llu ended with status %u", flow_name(f),
				 (unsigned long long)wc->wr_id, wc->status);
		return;
	}
	f->delivered++;
	if (f->from->type == RXE_QPT_RC)
		recv_rc(f, wc, at);
	else
		recv_any(f, wc, at);
}

bool sim_flow_finished(const struct sim_flow *f)
{
	uint32_t want = 0;

	if (f->from_dead || f->failed)
		return f->from_dead || f->send_done == f->posted;
	if (f->send_done != f->nr_msgs)
		return false;
	if (f->from->type != RXE_QPT_RC || f->lossy_ok)
		return true;
	for (uint32_t i = 0; i < f->nr_msgs; i++)
		want += takes_recv(&f->msg[i]);
	return f->delivered == want;
}

static void check_guard(const struct sim_flow *f, const uint8_t *at, const uint8_t *end,
			const char *what, uint32_t i)
{
	for (; at < end; at++)
		if (*at != UNTOUCHED)
			sim_fail("%s: a byte beyond %s %u was written", flow_name(f), what, i);
}

/* UC: a WRITE may stop anywhere, but what it wrote is right. */
static void check_partial(const struct sim_flow *f, uint32_t i)
{
	const struct sim_msg *m = &f->msg[i];

	for (uint32_t k = 0; k < m->len; k++)
		if (m->remote[k] != UNTOUCHED && m->remote[k] != pattern(f, i, k))
			sim_fail("%s: WRITE %u left wrong data", flow_name(f), i);
}

void sim_flow_check_memory(const struct sim_flow *f)
{
	for (uint32_t i = 0; i < f->nr_msgs; i++) {
		const struct sim_msg *m = &f->msg[i];
		size_t step = step_of(m->len);

		check_guard(f, m->local + m->len, m->local + step, "the buffer of send", i);
		if (stores(m)) {
			check_partial(f, i);
			check_guard(f, m->remote + m->len, m->remote + step, "WRITE", i);
		}
	}
	for (uint32_t i = 0; i < f->nr_recvs; i++) {
		const uint8_t *at = f->recv_mem + (size_t)i * step_of(f->recv_len);

		check_guard(f, at + f->recv_len, at + step_of(f->recv_len), "receive", i);
	}
}
