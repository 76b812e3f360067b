/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pairs of QPs, and what befalls them. */
#include "pair.h"
#include <stdio.h>
#include <string.h>
#include "kernel_compat.h"

#define QKEY 0x1234
#define RARE 20 /* packets, of which one is lost */

static const enum rxe_qp_type types[] = {RXE_QPT_RC, RXE_QPT_RC, RXE_QPT_RC, RXE_QPT_UC,
					 RXE_QPT_UD};

/* A NAK that overtakes an atomic's answer ends the atomic with its own status. */
static bool link_is_clean(const struct sim_link *l)
{
	return !l->loss && !l->corrupt && !l->every && !l->reorder;
}

/* ---- made --------------------------------------------------------------------- */

static void make_flow(struct sim_pair *p, int h, enum sim_bad bad)
{
	struct sim_flow *f = sim_pair_flow(p, h);
	const struct sim_setting *set = p->set;
	const struct sim_link *l = set->link;

	memset(f, 0, sizeof(*f));
	f->id = (p->id * SIM_MAX_LIVES + p->life) * 2 + h;
	f->rng = set->rng;
	f->from = &p->qp[h];
	f->to = &p->qp[!h];
	f->mtu = 128u << p->mtu;
	f->qkey = QKEY;
	f->ah_num = set->ah[h];
	f->pool = set->pool[!h];
	f->before = p->life ? &p->flow[p->life - 1][h] : NULL;
	f->eager = set->calm;
	f->ordered = !l->dup && !l->reorder && !p->life;
	/*
	 * Heavy loss may exhaust the retries: that is no fault. A rhythm is random,
	 * too, for one of many.
	 */
	f->lossy_ok =
		l->loss > .06 || (l->every && l->every < RARE && !set->alone) || set->errors_ok;
	sim_flow_plan(f, 2 + sim_below(set->rng, SIM_MAX_MSGS - 2), p->max_len, bad);
}

/*
 * One of the two may end badly: then the other one ends with it. The NAK that
 * says how is not repeated, so that on a bad link the status may be another.
 */
static void make_flows(struct sim_pair *p)
{
	struct sim_rng *r = p->set->rng;
	bool bad = p->qp[0].type == RXE_QPT_RC && !p->set->calm && sim_chance(r, .3);
	enum sim_bad how = bad ? 1 + sim_below(r, SIM_NR_BAD - 1) : SIM_GOOD;
	int h = sim_below(r, 2);

	if (how == SIM_LONG_SEND && p->set->pool[!h])
		how = SIM_BAD_LKEY; /* the SRQ's buffers are as long as the longest */
	make_flow(p, h, how);
	make_flow(p, !h, SIM_GOOD);
	if (!how)
		return;
	sim_pair_flow(p, !h)->lossy_ok = true;
	if (!link_is_clean(p->set->link) && how != SIM_BAD_LKEY)
		sim_pair_flow(p, h)->lossy_ok = true;
}

static void make_qp(struct sim_pair *p, int h, enum rxe_qp_type type)
{
	const struct sim_setting *set = p->set;
	struct sim_rng *r = set->rng;
	struct sim_host *host = &set->host[h];
	struct sim_qp_caps caps = {
		.type = type,
		.qpn = 16 + p->id * 2 + h,
		.pdn = 1,
		.send_wr = 1 + sim_below(r, 40),
		.recv_wr = set->calm ? SIM_MAX_MSGS + 8 : 1 + sim_below(r, 40),
		.send_sge = 1 + sim_below(r, 6),
		.recv_sge = 1 + sim_below(r, 6),
		.inline_data = sim_below(r, 200),
		.srq = set->pool[h] ? &set->pool[h]->srq : NULL,
	};

	sim_cq_init(&p->cq[h][0], host, 2000);
	sim_cq_init(&p->cq[h][1], host, 2000);
	sim_qp_init(&p->qp[h], host, &caps, &p->cq[h][0], &p->cq[h][1]);
	p->path[h] = (struct sim_path){
		.dip = set->host[!h].ip,
		.dest_qpn = 16 + p->id * 2 + !h,
		.path_mtu = p->mtu,
		.qkey = QKEY,
		.timeout = 10,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1 + sim_below(r, 16),
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
			  IB_UVERBS_ACCESS_REMOTE_ATOMIC | RXE_ACCESS_FLUSH_GLOBAL,
	};
}

static void connect_qp(struct sim_pair *p, int h)
{
	if (sim_qp_to(&p->qp[h], &p->path[h], RXE_QPS_RTS))
		sim_fail("a QP cannot be brought to RTS");
}

void sim_pair_make(struct sim_pair *p, const struct sim_setting *set, uint32_t id)
{
	struct sim_rng *r = set->rng;
	enum rxe_qp_type type = types[sim_below(r, sizeof(types) / sizeof(types[0]))];
	uint32_t psn[2] = {sim_rand(r) & RXE_PSN_MASK, RXE_PSN_MASK - sim_below(r, 100)};

	memset(p, 0, sizeof(*p));
	p->set = set;
	p->id = id;
	p->mtu = 1 + sim_below(r, sim_chance(r, .2) ? 5 : 2);
	p->max_len = 128u << p->mtu;
	if (type != RXE_QPT_UD)
		p->max_len *= 1 + sim_below(r, 12);
	for (int h = 0; h < 2; h++)
		make_qp(p, h, type);
	p->path[0].rd_atomic = p->path[1].rd_atomic = 1 + sim_below(r, 8);
	for (int h = 0; h < 2; h++) {
		p->path[h].sq_psn = psn[h];
		p->path[h].rq_psn = psn[!h];
		connect_qp(p, h);
	}
	make_flows(p);
}

/* ---- seen ---------------------------------------------------------------------- */

void sim_pair_poll(struct sim_pair *p)
{
	struct ib_uverbs_wc wc;

	for (int h = 0; h < 2; h++) {
		while (sim_cq_poll(&p->cq[h][0], &wc))
			sim_flow_send_cqe(sim_pair_flow(p, h), &wc);
		while (sim_cq_poll(&p->cq[!h][1], &wc))
			sim_flow_recv_cqe(sim_pair_flow(p, h), &wc);
	}
}

bool sim_pair_finished(const struct sim_pair *p)
{
	const struct sim_flow *f = p->flow[p->life];

	return !p->half_reset && sim_flow_finished(&f[0]) && sim_flow_finished(&f[1]);
}

void sim_pair_describe(const struct sim_pair *p)
{
	for (int h = 0; h < 2; h++) {
		const struct sim_flow *f = &p->flow[p->life][h];

		fprintf(stderr, "flow %d: %u of %u posted, %u completed, %u received%s\n", f->id,
			f->posted, f->nr_msgs, f->send_done, f->delivered,
			sim_flow_finished(f) ? "" : " UNFINISHED");
	}
}

/* ---- befallen ---------------------------------------------------------------------- */

void sim_pair_kill(struct sim_pair *p)
{
	int h = sim_below(p->set->rng, 2);

	if (sim_chance(p->set->rng, .5)) {
		if (!p->qp[h].qp)
			return;
		sim_pair_flow(p, h)->from_dead = sim_pair_flow(p, !h)->to_dead = true;
		sim_qp_destroy(&p->qp[h]);
	} else if (p->qp[h].qp && sim_qp_set_state(&p->qp[h], RXE_QPS_ERR)) {
		sim_fail("a QP cannot be put into ERR");
	}
}

/* Far from what is on its way still, on either side of it. */
static void new_psns(struct sim_pair *p)
{
	struct sim_rng *r = p->set->rng;

	for (int h = 0; h < 2; h++) {
		int32_t far = (1 << 21) + sim_below(r, 1 << 21);

		if (sim_chance(r, .5))
			far = -far;
		p->path[h].sq_psn = (p->path[h].sq_psn + far) & RXE_PSN_MASK;
		p->path[!h].rq_psn = p->path[h].sq_psn;
	}
}

static void reset_one(struct sim_pair *p, int h)
{
	if (sim_qp_set_state(&p->qp[h], RXE_QPS_RESET))
		sim_fail("a QP cannot be reset");
	p->resets[h]++;
	connect_qp(p, h);
}

bool sim_pair_reset(struct sim_pair *p)
{
	/* A QP that was destroyed may be there still, until its copies are done. */
	if (sim_pair_flow(p, 0)->from_dead || sim_pair_flow(p, 1)->from_dead) {
		p->half_reset = false;
		return false;
	}
	if (p->half_reset) {
		sim_pair_poll(p);
		reset_one(p, 1);
		p->half_reset = false;
		p->life++;
		make_flows(p);
		return true;
	}
	if (p->life == SIM_MAX_LIVES - 1)
		return false;
	sim_pair_poll(p);
	for (int h = 0; h < 2; h++)
		sim_pair_flow(p, h)->over = sim_pair_flow(p, h)->lossy_ok = true;
	new_psns(p);
	reset_one(p, 0);
	p->half_reset = true;
	return true;
}

/* ---- ended ------------------------------------------------------------------------------- */

void sim_pair_check(const struct sim_pair *p)
{
	for (uint32_t l = 0; l <= p->life; l++)
		for (int h = 0; h < 2; h++)
			sim_flow_check_memory(&p->flow[l][h]);
}

void sim_pair_free(struct sim_pair *p)
{
	for (uint32_t l = 0; l <= p->life; l++)
		for (int h = 0; h < 2; h++)
			sim_flow_free(&p->flow[l][h]);
	for (int h = 0; h < 2; h++) {
		sim_qp_fini(&p->qp[h]);
		sim_cq_fini(&p->cq[h][0]);
		sim_cq_fini(&p->cq[h][1]);
	}
}
