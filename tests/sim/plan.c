/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a flow will send, where it will come from and go to, and through which
 * keys.
 */
#include <stdlib.h>
#include <string.h>
#include "kernel_compat.h"
#include "traffic.h"
#include "transport/mw.h"
#include "transport/qp.h"
#include "transport/wqe.h"

uint8_t sim_pattern(const struct sim_flow *f, uint32_t m, uint32_t off)
{
	uint64_t x = ((uint64_t)f->id << 48 | (uint64_t)m << 32 | off) * 0x9e3779b97f4a7c15ull;

	return x >> 56 ^ x >> 24;
}

static void fill(const struct sim_flow *f, uint32_t m, uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		at[i] = sim_pattern(f, m, i);
}

bool sim_holds(const struct sim_flow *f, uint32_t m, const uint8_t *at, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (at[i] != sim_pattern(f, m, i))
			return false;
	return true;
}

bool sim_is_atomic(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
	       m->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
}

bool sim_is_send(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_SEND || m->opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
	       m->opcode == IB_UVERBS_WR_SEND_WITH_INV;
}

bool sim_is_write(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_RDMA_WRITE ||
	       m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

bool sim_is_local(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_BIND_MW || m->opcode == IB_UVERBS_WR_LOCAL_INV;
}

bool sim_stores(const struct sim_msg *m)
{
	return sim_is_write(m) || m->opcode == RXE_WR_ATOMIC_WRITE;
}

bool sim_has_imm(const struct sim_msg *m)
{
	return m->opcode == IB_UVERBS_WR_SEND_WITH_IMM ||
	       m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
}

bool sim_takes_recv(const struct sim_msg *m)
{
	return sim_is_send(m) || m->opcode == IB_UVERBS_WR_RDMA_WRITE_WITH_IMM;
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
	if (sim_is_local(m) || m->opcode == RXE_WR_FLUSH)
		m->len = 0;
	else if (sim_is_atomic(m) || m->opcode == RXE_WR_ATOMIC_WRITE)
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
	m->is_inline = (sim_is_send(m) || sim_is_write(m)) && m->len <= f->from->geo.max_inline &&
		       sim_chance(f->rng, .5);
	m->want_orig = m->counter_after = *counter;
	if (m->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD) {
		m->compare_add = sim_rand(f->rng);
		*counter += m->compare_add;
	} else if (sim_is_atomic(m)) {
		m->compare_add = sim_chance(f->rng, .7) ? *counter : *counter + 1;
		m->swap = sim_rand(f->rng);
		if (m->compare_add == *counter)
			*counter = m->swap;
	}
	m->counter_after = *counter;
}

/* ---- the message that breaks a rule ------------------------------------------------ */

static const struct {
	uint32_t opcode, status;
	uint32_t window; /* access of a window made for it; 0: none */
} bad_ways[SIM_NR_BAD] = {
	[SIM_PAST_WINDOW] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR,
			     IB_UVERBS_ACCESS_REMOTE_WRITE},
	[SIM_BEFORE_WINDOW] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR,
			       IB_UVERBS_ACCESS_REMOTE_WRITE},
	[SIM_PAST_REGION] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR, 0},
	[SIM_READ_PAST_WINDOW] = {IB_UVERBS_WR_RDMA_READ, RXE_WC_REM_ACCESS_ERR,
				  IB_UVERBS_ACCESS_REMOTE_READ},
	[SIM_NO_RIGHT] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR,
			  IB_UVERBS_ACCESS_REMOTE_READ},
	[SIM_ENDED_KEY] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR, 0},
	[SIM_KEY_TAG] = {IB_UVERBS_WR_RDMA_WRITE, RXE_WC_REM_ACCESS_ERR, 0},
	[SIM_MISALIGNED] = {IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, RXE_WC_REM_INV_REQ_ERR, 0},
	[SIM_LONG_SEND] = {IB_UVERBS_WR_SEND, RXE_WC_REM_INV_REQ_ERR, 0},
	[SIM_BAD_LKEY] = {IB_UVERBS_WR_SEND, RXE_WC_LOC_PROT_ERR, 0},
};

static void plan_bad(struct sim_flow *f, uint32_t max_len)
{
	struct sim_msg *m = &f->msg[f->nr_msgs - 1];

	*m = (struct sim_msg){.opcode = bad_ways[f->bad].opcode,
			      .counter_after = m[-1].counter_after};
	m->len = 2 + sim_below(f->rng, max_len - 1);
	if (f->bad == SIM_MISALIGNED)
		m->len = 8;
	if (f->bad == SIM_LONG_SEND)
		m->len = max_len + 1 + sim_below(f->rng, f->mtu);
	m->compare_add = 1;
	f->bad_status = bad_ways[f->bad].status;
}

static uint8_t *arena(size_t size)
{
	size_t room = (size + 64) / 64 * 64; /* at least a byte beyond */
	uint8_t *p = aligned_alloc(64, room);

	if (!p)
		abort();
	memset(p, SIM_UNTOUCHED, room);
	return p;
}

size_t sim_step_of(uint32_t len)
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
		m->remote = sim_is_atomic(m) || m->opcode == RXE_WR_FLUSH ? f->remote_mem : remote;
		if (!sim_is_atomic(m))
			fill(f, i, read ? m->remote : m->local, m->len);
		local += sim_step_of(m->len);
		remote += sim_step_of(m->len);
	}
}

/* ---- windows ------------------------------------------------------------------------- */

static struct rxe_mw *open_window(struct sim_flow *f, const uint8_t *at, size_t len,
				  uint32_t access, uint32_t *rkey)
{
	struct rxe_hca *hca = &f->to->host->hca;
	struct rxe_mw_bind b = {
		.mr_lkey = rxe_mr_lkey(f->remote_mr),
		.rkey = sim_rand(f->rng),
		.access = access,
		.addr = (uintptr_t)at,
		.len = len,
	};
	struct rxe_mw *mw;
	struct rxe_mr *old;

	if (rxe_mw_create(hca, 1, RXE_MW_TYPE_2, &mw))
		sim_fail("no window");
	b.mw_rkey = rxe_mw_rkey(mw);
	if (rxe_mw_bind(hca, 1, f->to->qp->id, &b, &old) || old)
		sim_fail("a window cannot be bound");
	*rkey = rxe_mw_rkey(mw);
	return mw;
}

/*
 * A window of the receiver for the SEND_WITH_INV to end: as wide as those that
 * go through it need it, not a byte more.
 */
static void plan_window(struct sim_flow *f, struct sim_msg *inv)
{
	uint8_t *from = NULL, *to = NULL;

	for (struct sim_msg *m = f->msg; m < inv; m++) {
		uint32_t len = m->opcode == RXE_WR_FLUSH ? m->flush_len : m->len;

		/* Of no length a FLUSH names a place in it all the same. */
		if (m->through != inv || (!len && m->opcode != RXE_WR_FLUSH))
			continue;
		from = from && from < m->remote ? from : m->remote;
		to = to > m->remote + len ? to : m->remote + len;
	}
	if (from == to) {
		from = f->remote_mem;
		to = from + 8;
	}
	inv->remote = from;
	inv->mw = open_window(f, from, to - from,
			      IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
				      RXE_ACCESS_FLUSH_GLOBAL,
			      &inv->rkey);
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
	bool can =
		sim_stores(m) || m->opcode == RXE_WR_FLUSH || m->opcode == IB_UVERBS_WR_RDMA_READ;

	if (!inv || !can || sim_chance(f->rng, .4))
		return;
	m->through = inv;
	if (m->opcode == IB_UVERBS_WR_RDMA_READ)
		inv->flags |= RXE_SEND_FENCE;
}

static const struct sim_msg *last_inv(const struct sim_flow *f)
{
	for (uint32_t i = f->nr_msgs; i-- > 0;)
		if (f->msg[i].mw)
			return &f->msg[i];
	return NULL;
}

/* Where the bad message goes to: its own memory, or what is anybody's but not its. */
static void plan_bad_target(struct sim_flow *f)
{
	struct sim_msg *m = &f->msg[f->nr_msgs - 1];
	uint32_t access = bad_ways[f->bad].window;
	const struct sim_msg *inv = last_inv(f);

	m->rkey = rxe_mr_rkey(f->remote_mr);
	if (f->bad == SIM_BEFORE_WINDOW)
		f->bad_mw = open_window(f, m->remote + 1, m->len - 1, access, &m->rkey);
	else if (f->bad == SIM_NO_RIGHT)
		f->bad_mw = open_window(f, m->remote, m->len, access, &m->rkey);
	else if (access)
		f->bad_mw = open_window(f, m->remote, m->len - 1, access, &m->rkey);
	if (f->bad == SIM_PAST_REGION)
		m->remote = f->remote_mem + f->remote_size - m->len + 1;
	if (f->bad == SIM_MISALIGNED)
		m->remote = f->remote_mem + 4;
	if (f->bad == SIM_ENDED_KEY && inv) {
		m->rkey = inv->rkey;
		m->remote = inv->remote;
		memset(m->local + 1, SIM_UNTOUCHED, m->len - 1);
		m->len = 1;
	} else if (f->bad == SIM_ENDED_KEY || f->bad == SIM_KEY_TAG) {
		m->rkey ^= 1;
	}
}

static void plan_keys(struct sim_flow *f)
{
	uint32_t good = f->nr_msgs - !!f->bad, rkey;
	struct sim_msg *inv = NULL;
	bool bound = false;

	if (rxe_mw_create(&f->from->host->hca, 1, RXE_MW_TYPE_2, &f->mw))
		sim_fail("no window");
	rkey = rxe_mw_rkey(f->mw);
	for (uint32_t i = 0; i < good; i++)
		if (sim_is_local(&f->msg[i]))
			plan_local(&f->msg[i], &rkey, &bound);
	for (uint32_t i = good; i-- > 0;) {
		struct sim_msg *m = &f->msg[i];

		if (m->opcode == IB_UVERBS_WR_SEND_WITH_INV)
			inv = m;
		else if (!sim_is_local(m))
			plan_use(f, m, inv);
	}
	for (uint32_t i = 0; i < good; i++)
		if (f->msg[i].opcode == IB_UVERBS_WR_SEND_WITH_INV)
			plan_window(f, &f->msg[i]);
	for (uint32_t i = 0; i < good; i++) {
		struct sim_msg *m = &f->msg[i];

		if (m->through)
			m->rkey = m->through->rkey;
		else if (!sim_is_local(m) && !m->mw)
			m->rkey = rxe_mr_rkey(f->remote_mr);
	}
	if (f->bad)
		plan_bad_target(f);
}

static void drop_window(struct sim_host *h, struct rxe_mw *mw)
{
	struct rxe_mr *old = rxe_mw_destroy(&h->hca, mw);

	if (old && rxe_mr_busy(old))
		sim_fail("a window is in use at the end");
	if (old)
		rxe_mr_put(old);
}

void sim_flow_plan(struct sim_flow *f, uint32_t nr_msgs, uint32_t max_len, enum sim_bad bad)
{
	uint32_t grh = f->from->type == RXE_QPT_UD ? RXE_GRH_LEN : 0;
	uint64_t counter = 0;

	f->nr_msgs = nr_msgs;
	f->bad = bad;
	f->local_size = f->remote_size = 64;
	for (uint32_t i = 0; i < nr_msgs; i++) {
		if (sim_is_bad(f, i))
			plan_bad(f, max_len);
		else
			plan_msg(f, &f->msg[i], max_len, &counter);
		f->local_size += sim_step_of(f->msg[i].len);
		f->remote_size += sim_step_of(f->msg[i].len);
		f->nr_recvs += sim_takes_recv(&f->msg[i]);
	}
	/* Datagrams may come twice: more buffers than messages. */
	if (f->from->type != RXE_QPT_RC)
		f->nr_recvs += 8;
	f->msg[nr_msgs - 1].flags |= RXE_SEND_SIGNALED;
	f->recv_len = max_len + grh;
	if (f->pool && f->pool->mem) {
		f->nr_recvs = 0; /* planned already */
	} else if (f->pool) {
		sim_pool_plan(f->pool, f->nr_recvs, f->recv_len);
		f->nr_recvs = 0;
	}
	f->recv_size = (size_t)f->nr_recvs * sim_step_of(f->recv_len) + 64;
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
	if (f->bad_mw)
		drop_window(f->to->host, f->bad_mw);
	sim_mr_free(f->from->host, f->local_mr);
	sim_mr_free(f->to->host, f->remote_mr);
	sim_mr_free(f->to->host, f->recv_mr);
	free(f->local_mem);
	free(f->remote_mem);
	free(f->recv_mem);
}
