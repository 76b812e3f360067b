/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deterministic simulation of the transport: two hosts, a bad link, random
 * traffic over RC, UC and UD pairs, copies that finish late, virtual time.
 * RC delivers every message exactly once, in order, intact; nothing leaks; it
 * ends within a bounded time. A failing seed is printed with how to repeat it.
 *
 *   sim [--seeds N] [--start S] [--loss PERCENT] [--trace] [--verbose]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "link.h"
#include "kernel_compat.h"
#include "traffic.h"

#define MAX_PAIRS      4
#define QKEY	       0x1234
#define MAX_STEPS      4000000u
#define MAX_VIRTUAL_NS 600000000000ull
#define QUIET_NS       20000000ull

struct pair {
	struct sim_cq cq[2][2]; /* [host][0 send, 1 recv] */
	struct sim_qp qp[2];
	struct sim_flow flow[2]; /* [i]: from host i */
};

struct world {
	struct sim_rng rng;
	struct sim_host host[2];
	struct sim_link link;
	struct pair pair[MAX_PAIRS];
	struct sim_pool pool[2]; /* of hosts whose QPs share an SRQ */
	bool shares[2];
	uint32_t nr_pairs;
	uint32_t ah[2];
	double late_copies, no_room;
	uint64_t copy_ns;
	uint64_t kill_at;  /* a QP is put to death; UINT64_MAX: none */
	uint64_t drain_at; /* a send queue drains in SQD; UINT64_MAX: none */
	struct sim_qp *draining;
	uint64_t now, steps;
};

static struct {
	uint64_t seeds, start;
	double loss; /* fraction; negative: random */
	bool trace, verbose;
} opt = {.seeds = 1000, .start = 1, .loss = -1};

static struct {
	uint64_t packets, lost, messages, errors;
} total;

static struct world *world; /* for the hosts' callbacks */

/* ---- the hosts' temper -------------------------------------------------------- */

static uint64_t copy_due(struct sim_host *h)
{
	struct world *w = world;

	return sim_chance(&w->rng, w->late_copies) ? h->now + 1 + sim_below(&w->rng, w->copy_ns)
						   : 0;
}

static bool no_room(struct sim_host *h)
{
	(void)h;
	return sim_chance(&world->rng, world->no_room);
}

static uint32_t segments(struct sim_host *h, uint32_t len)
{
	(void)h;
	return sim_chance(&world->rng, .3) ? 1 + sim_below(&world->rng, len) : len;
}

/* ---- set-up ----------------------------------------------------------------------- */

static void random_params(struct world *w, struct sim_host *h)
{
	struct rxe_engine_params *p = rxe_engine_params(h->engine);
	struct sim_rng *r = &w->rng;

	p->fast_req = sim_below(r, 2);
	p->fast_resp = sim_below(r, 2);
	p->fast_comp = sim_below(r, 2);
	p->fast_arb = sim_below(r, 2);
	if (sim_chance(r, .5)) {
		p->max_packet_per_ack = sim_below(r, 12);
		p->max_skb_per_qp = 1 + sim_below(r, 20);
		p->max_req_comp_gap = 1 + sim_below(r, 40);
	}
	if (sim_chance(r, .1))
		p->nsec_per_packet = sim_below(r, 5000);
	if (sim_chance(r, .1))
		p->nsec_per_kbyte = sim_below(r, 5000);
}

static void make_link(struct world *w)
{
	static const double rates[] = {0, .005, .02, .05};
	struct sim_rng *r = &w->rng;

	sim_link_init(&w->link, sim_rand(r), &w->host[0], &w->host[1]);
	w->link.loss = opt.loss >= 0 ? opt.loss : rates[sim_below(r, 4)];
	w->link.dup = sim_chance(r, .5) ? .02 : 0;
	w->link.corrupt = sim_chance(r, .5) ? .01 : 0;
	w->link.reorder = sim_chance(r, .5) ? .05 : 0;
	if (opt.loss < 0 && sim_chance(r, .2)) {
		/* A rhythm that retries may fall in with, and nothing random to break it. */
		w->link.loss = w->link.dup = w->link.corrupt = w->link.reorder = 0;
		w->link.every = 5 + sim_below(r, 60);
	}
	w->link.jitter_ns = 1000 + sim_below(r, 200000);
	w->link.trace = opt.trace;
	w->link.now = w->now;
	w->late_copies = sim_chance(r, .7) ? .1 * sim_below(r, 11) : 0;
	w->copy_ns = 1000 + sim_below(r, 100000);
	w->no_room = sim_chance(r, .3) ? .2 : 0;
}

static void make_pair(struct world *w, uint32_t i)
{
	static const enum rxe_qp_type types[] = {RXE_QPT_RC, RXE_QPT_RC, RXE_QPT_RC, RXE_QPT_UC,
						 RXE_QPT_UD};
	struct pair *p = &w->pair[i];
	struct sim_rng *r = &w->rng;
	enum rxe_qp_type type = types[sim_below(r, 5)];
	struct sim_path path[2];
	uint32_t mtu = 1 + sim_below(r, sim_chance(r, .2) ? 5 : 2);
	uint32_t psn[2] = {sim_rand(r) & RXE_PSN_MASK, RXE_PSN_MASK - sim_below(r, 100)};

	memset(p, 0, sizeof(*p));
	for (int h = 0; h < 2; h++) {
		struct sim_qp_caps caps = {
			.type = type,
			.qpn = 16 + i * 2 + h,
			.pdn = 1,
			.send_wr = 1 + sim_below(r, 40),
			.recv_wr = 1 + sim_below(r, 40),
			.send_sge = 1 + sim_below(r, 6),
			.recv_sge = 1 + sim_below(r, 6),
			.inline_data = sim_below(r, 200),
			.srq = w->shares[h] ? &w->pool[h].srq : NULL,
		};

		sim_cq_init(&p->cq[h][0], &w->host[h], 2000);
		sim_cq_init(&p->cq[h][1], &w->host[h], 2000);
		sim_qp_init(&p->qp[h], &w->host[h], &caps, &p->cq[h][0], &p->cq[h][1]);
		path[h] = (struct sim_path){
			.dip = w->host[!h].ip,
			.dest_qpn = 16 + i * 2 + !h,
			.sq_psn = psn[h],
			.rq_psn = psn[!h],
			.path_mtu = mtu,
			.qkey = QKEY,
			.timeout = 10,
			.retry_cnt = 7,
			.rnr_retry = 7,
			.min_rnr_timer = 1 + sim_below(r, 16),
			.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
				  IB_UVERBS_ACCESS_REMOTE_ATOMIC | RXE_ACCESS_FLUSH_GLOBAL,
		};
	}
	path[0].rd_atomic = path[1].rd_atomic = 1 + sim_below(r, 8);
	for (int h = 0; h < 2; h++) {
		struct sim_flow *f = &p->flow[h];
		bool wide = type == RXE_QPT_UD;

		if (sim_qp_to(&p->qp[h], &path[h], RXE_QPS_RTS))
			sim_fail("a QP cannot be brought to RTS");
		f->id = i * 2 + h;
		f->rng = r;
		f->from = &p->qp[h];
		f->to = &p->qp[!h];
		f->mtu = 128u << mtu;
		f->qkey = QKEY;
		f->ah_num = w->ah[h];
		f->pool = w->shares[!h] ? &w->pool[!h] : NULL;
		sim_flow_plan(f, 1 + sim_below(r, SIM_MAX_MSGS - 1),
			      wide ? f->mtu : f->mtu * (1 + sim_below(r, 12)));
		/* Heavy loss may exhaust the retries: that is no fault. */
		f->lossy_ok = w->link.loss > .06 || w->kill_at != UINT64_MAX;
	}
}

static void make_world(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	world = w;
	w->rng.s = seed * 0x2545f4914f6cdd1dull;
	w->now = 1000000000;
	for (int h = 0; h < 2; h++) {
		sim_host_init(&w->host[h], 0x0a000001 + h, 4096);
		w->host[h].copy_due = copy_due;
		w->host[h].no_room = no_room;
		w->host[h].segments = segments;
		random_params(w, &w->host[h]);
	}
	make_link(w);
	w->kill_at = sim_chance(&w->rng, .15) ? w->now + sim_below(&w->rng, 3000000) : UINT64_MAX;
	w->drain_at = sim_chance(&w->rng, .2) ? w->now + sim_below(&w->rng, 500000) : UINT64_MAX;
	for (int h = 0; h < 2; h++) {
		struct rxe_address av = {.sip = w->host[h].ip, .dip = w->host[!h].ip};

		if (rxe_ah_create(&w->host[h].hca, 1, &av, &w->ah[h]))
			sim_fail("no AH");
	}
	w->nr_pairs = 1 + sim_below(&w->rng, MAX_PAIRS);
	for (int h = 0; h < 2; h++) {
		w->shares[h] = sim_chance(&w->rng, .4);
		if (w->shares[h])
			sim_pool_init(&w->pool[h], &w->host[h], &w->rng);
	}
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		make_pair(w, i);
	for (int h = 0; h < 2; h++)
		if (w->shares[h])
			sim_pool_make(&w->pool[h]);
}

/* ---- one step ------------------------------------------------------------------------- */

static void poll_clients(struct world *w)
{
	struct ib_uverbs_wc wc;

	for (uint32_t i = 0; i < w->nr_pairs; i++) {
		struct pair *p = &w->pair[i];

		for (int h = 0; h < 2; h++) {
			while (sim_cq_poll(&p->cq[h][0], &wc))
				sim_flow_send_cqe(&p->flow[h], &wc);
			while (sim_cq_poll(&p->cq[!h][1], &wc))
				sim_flow_recv_cqe(&p->flow[h], &wc);
		}
	}
}

/* A QP dies: destroyed, or put into ERR by its client. */
static void kill_one(struct world *w)
{
	struct pair *p = &w->pair[sim_below(&w->rng, w->nr_pairs)];
	int h = sim_below(&w->rng, 2);

	w->kill_at = UINT64_MAX;
	if (sim_chance(&w->rng, .5)) {
		p->flow[h].from_dead = p->flow[!h].to_dead = true;
		sim_qp_destroy(&p->qp[h]);
	} else if (sim_qp_set_state(&p->qp[h], RXE_QPS_ERR)) {
		sim_fail("a QP cannot be put into ERR");
	}
}

/* Into SQD, and back to RTS as soon as the transport allows it. */
static void drain_one(struct world *w)
{
	struct rxe_qp_attr a;

	if (!w->draining) {
		struct sim_qp *qp =
			&w->pair[sim_below(&w->rng, w->nr_pairs)].qp[sim_below(&w->rng, 2)];

		if (qp->qp && rxe_qp_get_state(qp->qp) == RXE_QPS_RTS &&
		    !sim_qp_set_state(qp, RXE_QPS_SQD))
			w->draining = qp;
	} else if (!w->draining->qp || rxe_qp_get_state(w->draining->qp) != RXE_QPS_SQD) {
		w->draining = NULL;
	} else {
		rxe_qp_query(w->draining->qp, &a);
		if (a.sq_draining != !!sim_qp_set_state(w->draining, RXE_QPS_RTS))
			sim_fail("a QP that drains could leave SQD, or one that has could not");
		if (!a.sq_draining)
			w->draining = NULL;
	}
	w->drain_at = w->now + sim_below(&w->rng, 300000);
}

static void set_now(struct world *w, uint64_t now)
{
	w->now = now;
	w->link.now = now;
	for (int h = 0; h < 2; h++)
		sim_host_set_now(&w->host[h], now);
}

static uint64_t next_time(struct world *w)
{
	uint64_t t = sim_link_next(&w->link);

	for (int h = 0; h < 2; h++) {
		uint64_t timer = rxe_engine_next_timer(w->host[h].engine);
		uint64_t copy = sim_host_next_copy(&w->host[h]);

		t = timer < t ? timer : t;
		t = copy < t ? copy : t;
	}
	return t;
}

static void run_until_idle_at(struct world *w, uint64_t t)
{
	set_now(w, t > w->now ? t : w->now);
	for (int h = 0; h < 2; h++)
		sim_host_finish_copies(&w->host[h], w->now);
	while (sim_link_deliver(&w->link, w->now))
		;
	for (int h = 0; h < 2; h++)
		if (rxe_engine_run(w->host[h].engine, 1 + sim_below(&w->rng, 64)))
			sim_link_wake(&w->link, h, w->now + 200);
	poll_clients(w);
}

static bool all_finished(const struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		for (int h = 0; h < 2; h++)
			if (!sim_flow_finished(&w->pair[i].flow[h]))
				return false;
	return true;
}

static void clients_post(struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		for (int h = 0; h < 2; h++)
			sim_flow_post(&w->pair[i].flow[h]);
	for (int h = 0; h < 2; h++)
		if (w->shares[h])
			sim_pool_post(&w->pool[h]);
}

static void describe_stuck(const struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		for (int h = 0; h < 2; h++) {
			const struct sim_flow *f = &w->pair[i].flow[h];

			fprintf(stderr, "flow %d: %u of %u posted, %u completed, %u received%s\n",
				f->id, f->posted, f->nr_msgs, f->send_done, f->delivered,
				sim_flow_finished(f) ? "" : " UNFINISHED");
		}
}

static void play(struct world *w)
{
	uint64_t next_post = w->now;

	while (!all_finished(w)) {
		uint64_t t = next_time(w);

		if (next_post <= t) {
			t = next_post;
			next_post += 1000 + sim_below(&w->rng, 50000);
			run_until_idle_at(w, t);
			clients_post(w);
		} else {
			run_until_idle_at(w, t);
		}
		if (w->now >= w->kill_at)
			kill_one(w);
		if (w->now >= w->drain_at)
			drain_one(w);
		if (++w->steps > MAX_STEPS || w->now > MAX_VIRTUAL_NS) {
			describe_stuck(w);
			sim_fail("no end after %llu steps and %llu ms",
				 (unsigned long long)w->steps,
				 (unsigned long long)w->now / 1000000);
		}
	}
}

/* ---- the end ------------------------------------------------------------------------------ */

/*
 * Each QP on an SRQ that is in ERR has said so once. One that was destroyed
 * (one of a world may be) may have said it before.
 */
static void check_last_wqes(const struct world *w)
{
	for (int h = 0; h < 2; h++) {
		unsigned int events, due = 0, dead = 0;

		events = sim_host_count_events(&w->host[h], RXE_EV_QP_LAST_WQE_REACHED);
		for (uint32_t i = 0; i < w->nr_pairs && w->shares[h]; i++) {
			const struct rxe_qp *qp = w->pair[i].qp[h].qp;

			dead += !qp;
			due += qp && rxe_qp_get_state(qp) == RXE_QPS_ERR;
		}
		if (events < due || events > due + dead)
			sim_fail("host %d: %u LAST_WQE_REACHED, %u were due", h, events, due);
	}
}

/* Lets stragglers arrive, destroys all, and looks for what is left. */
static void end_world(struct world *w)
{
	uint64_t end = w->now + QUIET_NS;

	while (next_time(w) <= end)
		run_until_idle_at(w, next_time(w));
	check_last_wqes(w);
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		for (int h = 0; h < 2; h++)
			if (w->pair[i].qp[h].qp)
				sim_qp_destroy(&w->pair[i].qp[h]);
	for (int h = 0; h < 2; h++) {
		struct sim_host *host = &w->host[h];

		sim_host_finish_copies(host, UINT64_MAX);
		if (host->live_qps || host->live_pkts || host->live_copies ||
		    rxe_engine_next_timer(host->engine) != UINT64_MAX)
			sim_fail("left on host %d: %u QPs, %u packets, %u copies%s", h,
				 host->live_qps, host->live_pkts, host->live_copies,
				 rxe_engine_next_timer(host->engine) != UINT64_MAX ? ", a timer"
										   : "");
	}
}

static void free_world(struct world *w)
{
	void *route;

	for (uint32_t i = 0; i < w->nr_pairs; i++) {
		struct pair *p = &w->pair[i];

		for (int h = 0; h < 2; h++) {
			sim_flow_check_memory(&p->flow[h]);
			total.messages += p->flow[h].send_done - p->flow[h].flushed;
			total.errors += p->flow[h].failed;
			sim_flow_free(&p->flow[h]);
		}
		for (int h = 0; h < 2; h++) {
			sim_qp_fini(&p->qp[h]);
			sim_cq_fini(&p->cq[h][0]);
			sim_cq_fini(&p->cq[h][1]);
		}
	}
	total.packets += w->link.sent;
	total.lost += w->link.lost + w->link.bad_crc;
	sim_link_fini(&w->link);
	for (int h = 0; h < 2; h++) {
		if (w->shares[h]) {
			sim_pool_check(&w->pool[h]);
			sim_pool_fini(&w->pool[h]);
		}
		rxe_ah_destroy(&w->host[h].hca, w->ah[h], &route);
		sim_host_fini(&w->host[h]);
	}
}

static void run_seed(uint64_t seed)
{
	static struct world w;

	sim_seed = seed;
	make_world(&w, seed);
	play(&w);
	end_world(&w);
	if (opt.verbose)
		fprintf(stderr, "seed %llu: %llu steps, %llu us, %llu packets\n",
			(unsigned long long)seed, (unsigned long long)w.steps,
			(unsigned long long)(w.now - 1000000000) / 1000,
			(unsigned long long)w.link.sent);
	free_world(&w);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: sim [--seeds N] [--start S] [--loss PERCENT] [--trace] [--verbose]\n");
	exit(2);
}

static void parse_args(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(argv[i], "--trace"))
			opt.trace = true;
		else if (!strcmp(argv[i], "--verbose"))
			opt.verbose = true;
		else if (!strcmp(argv[i], "--seeds") && value)
			opt.seeds = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--start") && value)
			opt.start = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--loss") && value)
			opt.loss = strtod(argv[++i], NULL) / 100;
		else
			usage();
	}
}

int main(int argc, char **argv)
{
	parse_args(argc, argv);
	for (uint64_t s = opt.start; s < opt.start + opt.seeds; s++)
		run_seed(s);
	printf("ok: %llu seeds from %llu: %llu messages, %llu packets, %llu lost or damaged, "
	       "%llu flows ended in error\n",
	       (unsigned long long)opt.seeds, (unsigned long long)opt.start,
	       (unsigned long long)total.messages, (unsigned long long)total.packets,
	       (unsigned long long)total.lost, (unsigned long long)total.errors);
	return 0;
}
