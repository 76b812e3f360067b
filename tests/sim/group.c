/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams to a multicast group. */
#include "group.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_compat.h"
#include "traffic.h"
#include "transport/cq.h"
#include "transport/wqe.h"

#define QKEY	 0x4711
#define FIRST_QP 100
#define MAX_LEN	 200
#define SLOT	 (MAX_LEN + RXE_GRH_LEN + SIM_GUARD)
/* Enough for all, also when the link repeats some. */
#define NR_RECVS (SIM_GROUP_QPS * SIM_GROUP_MSGS * 2)

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Byte `off` of datagram i of member m; the first two name them. */
static uint8_t content(uint32_t m, uint32_t i, uint32_t off)
{
	return off == 0 ? m : off == 1 ? i : (m * 31 + i) * 131 + off * 7;
}

/* ---- made ----------------------------------------------------------------------- */

/* Beyond the device's limit it is refused, and stays out. */
static void join(struct sim_group *g, struct sim_group_qp *m)
{
	uint32_t limit = m->qp.host->hca.limits.max_mcast_qp_attach, n = 0;
	bool first;

	for (uint32_t i = 0; i < g->nr; i++)
		n += g->member[i].in && g->member[i].host == m->host;
	m->in = n < limit;
	if (rxe_mcast_attach(&m->qp.host->hca, &g->gid, m->qp.qp, &first) != (m->in ? 0 : -ENOMEM))
		sim_fail("QP %u joins the group, or is refused, against the limit", n);
	if (m->in && first != !n)
		sim_fail("the first QP of a group is not told, or another one is");
}

static void leave(struct sim_group *g, struct sim_group_qp *m)
{
	bool last;

	if (rxe_mcast_detach(&m->qp.host->hca, &g->gid, m->qp.qp, &last))
		sim_fail("a QP cannot leave the group");
}

static void post_recvs(struct sim_group_qp *m)
{
	for (uint32_t i = 0; i < NR_RECVS; i++) {
		struct rxe_sge sge = {(uintptr_t)m->recv_mem + i * SLOT, SLOT - SIM_GUARD,
				      rxe_mr_lkey(m->recv_mr)};

		if (!sim_post_recv(&m->qp, i, &sge, 1))
			sim_fail("no room for receive %u of a group's QP", i);
	}
}

static void make_member(struct sim_group *g, uint32_t i)
{
	struct sim_group_qp *m = &g->member[i];
	struct sim_path path = {.qkey = QKEY, .path_mtu = 1};
	struct sim_qp_caps caps = {
		.type = RXE_QPT_UD,
		.qpn = FIRST_QP + i,
		.pdn = 1,
		.send_wr = SIM_GROUP_MSGS,
		.recv_wr = NR_RECVS,
		.send_sge = 1,
		.recv_sge = 1,
		.block_self_lb = sim_chance(g->rng, .3),
	};

	m->host = sim_below(g->rng, 2);
	m->deaf = caps.block_self_lb;
	m->left_at = UINT64_MAX;
	m->recv_mem = must(malloc(NR_RECVS * SLOT));
	memset(m->recv_mem, SIM_UNTOUCHED, NR_RECVS * SLOT);
	m->send_mem = must(malloc(SIM_GROUP_MSGS * MAX_LEN));
	m->recv_mr = sim_mr(&g->host[m->host], 1, m->recv_mem, NR_RECVS * SLOT, 0);
	m->send_mr = sim_mr(&g->host[m->host], 1, m->send_mem, SIM_GROUP_MSGS * MAX_LEN, 0);
	sim_cq_init(&m->cq[0], &g->host[m->host], SIM_GROUP_MSGS);
	sim_cq_init(&m->cq[1], &g->host[m->host], NR_RECVS);
	sim_qp_init(&m->qp, &g->host[m->host], &caps, &m->cq[0], &m->cq[1]);
	if (sim_qp_to(&m->qp, &path, RXE_QPS_RTS))
		sim_fail("a group's QP cannot be brought to RTS");
	post_recvs(m);
	if (sim_chance(g->rng, .8))
		join(g, m);
}

void sim_group_make(struct sim_group *g, struct sim_rng *rng, struct sim_link *l,
		    struct sim_host host[2], bool late)
{
	memset(g, 0, sizeof(*g));
	g->rng = rng;
	g->link = l;
	g->host = host;
	g->gid = sim_ip(0xe0000000 | sim_rand(rng) >> 40); /* 224.x.x.x */
	g->all_arrive = !l->loss && !l->corrupt && !l->every && !late;
	g->nr = 2 + sim_below(rng, SIM_GROUP_QPS - 1);
	for (int h = 0; h < 2; h++) {
		struct rxe_address av = {.sip = host[h].ip, .dip = g->gid};

		if (rxe_ah_create(&host[h].hca, 1, &av, &g->ah[h]))
			sim_fail("no AH of the group");
	}
	for (uint32_t i = 0; i < g->nr; i++)
		make_member(g, i);
}

/* ---- sent and received ------------------------------------------------------------ */

static void send_one(struct sim_group *g, uint32_t who, uint64_t now)
{
	struct sim_group_qp *m = &g->member[who];
	uint32_t i = m->sent++, len = 2 + sim_below(g->rng, MAX_LEN - 1);
	uint8_t *at = m->send_mem + i * MAX_LEN;
	struct sim_wr wr = {
		.wr_id = i,
		.opcode = IB_UVERBS_WR_SEND,
		.flags = RXE_SEND_SIGNALED,
		.num_sge = 1,
		.remote_qpn = RXE_MULTICAST_QPN,
		.remote_qkey = QKEY,
		.ah_num = g->ah[m->host],
	};

	for (uint32_t k = 0; k < len; k++)
		at[k] = content(who, i, k);
	wr.sge[0] = (struct rxe_sge){(uintptr_t)at, len, rxe_mr_lkey(m->send_mr)};
	m->len[i] = len;
	m->sent_at[i] = now;
	if (!sim_post_send(&m->qp, &wr))
		sim_fail("no room for send %u of a group's QP", i);
	rxe_qp_doorbell(m->qp.qp);
}

void sim_group_post(struct sim_group *g, uint64_t now)
{
	uint32_t who = sim_below(g->rng, g->nr);
	struct sim_group_qp *m = &g->member[sim_below(g->rng, g->nr)];

	if (g->member[who].sent < SIM_GROUP_MSGS)
		send_one(g, who, now);
	if (m->in && m->left_at == UINT64_MAX && sim_chance(g->rng, .01)) {
		leave(g, m);
		m->left_at = now;
	}
}

static void take(struct sim_group *g, struct sim_group_qp *m, const struct ib_uverbs_wc *wc)
{
	const uint8_t *at = m->recv_mem + wc->wr_id * SLOT + RXE_GRH_LEN;
	uint32_t who = at[0], i = at[1], len = wc->byte_len - RXE_GRH_LEN;
	const struct sim_group_qp *from = &g->member[who];

	if (wc->status || wc->opcode != RXE_WC_RECV || wc->wr_id != m->received++)
		sim_fail("QP 0x%x in a group: receive %llu, status %u", m->qp.qpn,
			 (unsigned long long)wc->wr_id, wc->status);
	if (who >= g->nr || i >= from->sent || len != from->len[i] || wc->src_qp != from->qp.qpn)
		sim_fail("QP 0x%x in a group got what nobody sent", m->qp.qpn);
	for (uint32_t k = 0; k < len; k++)
		if (at[k] != content(who, i, k))
			sim_fail("QP 0x%x in a group got a damaged datagram", m->qp.qpn);
	for (uint32_t k = len; k < SLOT - RXE_GRH_LEN; k++)
		if (at[k] != SIM_UNTOUCHED)
			sim_fail("QP 0x%x in a group: a byte beyond the datagram", m->qp.qpn);
	if (!m->in || from->sent_at[i] > m->left_at || (from == m && m->deaf))
		sim_fail("QP 0x%x is not in the group, or deaf, and got a datagram of 0x%x",
			 m->qp.qpn, from->qp.qpn);
	m->got[who][i]++;
}

void sim_group_poll(struct sim_group *g)
{
	struct ib_uverbs_wc wc;

	for (uint32_t i = 0; i < g->nr; i++) {
		struct sim_group_qp *m = &g->member[i];

		while (sim_cq_poll(&m->cq[0], &wc))
			if (wc.status || wc.wr_id != m->send_done++)
				sim_fail("QP 0x%x in a group: send %llu, status %u", m->qp.qpn,
					 (unsigned long long)wc.wr_id, wc.status);
		while (sim_cq_poll(&m->cq[1], &wc))
			take(g, m, &wc);
	}
}

bool sim_group_finished(const struct sim_group *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		if (g->member[i].send_done != SIM_GROUP_MSGS)
			return false;
	return true;
}

/* ---- ended ------------------------------------------------------------------------------ */

static void check_member(const struct sim_group *g, const struct sim_group_qp *m)
{
	for (uint32_t who = 0; who < g->nr; who++)
		for (uint32_t i = 0; i < SIM_GROUP_MSGS; i++) {
			const struct sim_group_qp *from = &g->member[who];
			bool due = m->in && m->left_at == UINT64_MAX && !(from == m && m->deaf);
			/* What stays on its host is neither lost nor repeated. */
			bool once = from->host == m->host || !g->link->dup;

			if (m->got[who][i] > 1 && once)
				sim_fail("QP 0x%x got a datagram to its group %u times", m->qp.qpn,
					 m->got[who][i]);
			if (due && g->all_arrive && !m->got[who][i])
				sim_fail("QP 0x%x missed datagram %u of 0x%x to its group",
					 m->qp.qpn, i, from->qp.qpn);
		}
}

void sim_group_end(struct sim_group *g)
{
	for (uint32_t i = 0; i < g->nr; i++)
		check_member(g, &g->member[i]);
	for (uint32_t i = 0; i < g->nr; i++) {
		struct sim_group_qp *m = &g->member[i];

		if (m->in && m->left_at == UINT64_MAX)
			leave(g, m);
		sim_qp_destroy(&m->qp);
	}
}

void sim_group_free(struct sim_group *g)
{
	void *route;

	for (uint32_t i = 0; i < g->nr; i++) {
		struct sim_group_qp *m = &g->member[i];

		sim_qp_fini(&m->qp);
		sim_cq_fini(&m->cq[0]);
		sim_cq_fini(&m->cq[1]);
		sim_mr_free(&g->host[m->host], m->recv_mr);
		sim_mr_free(&g->host[m->host], m->send_mr);
		free(m->recv_mem);
		free(m->send_mem);
	}
	for (int h = 0; h < 2; h++)
		rxe_ah_destroy(&g->host[h].hca, g->ah[h], &route);
}
