/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deterministic simulation of the transport: two hosts, a bad link (loss to
 * 20 %, reordering, repetition, damage), random traffic over RC, UC and UD pairs
 * and to a multicast group, shared receive queues, windows, copies that finish
 * late, requests that break a rule, QPs killed, drained and reset in the middle,
 * PSNs across the wrap, virtual time. RC delivers every message exactly once, in
 * order, intact; every completion and event is the one due; no byte outside what
 * was granted changes; nothing leaks; it ends within a bounded time. A failing
 * seed is printed with how to repeat it.
 *
 *   sim [--seeds N] [--start S] [--loss PERCENT] [--trace] [--verbose]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "big_read.h"
#include "group.h"
#include "kernel_compat.h"
#include "pair.h"
#include "transport/cq.h"

#define MAX_PAIRS      4
#define TWICE_EVERY    100 /* seeds: one of them is run again, for the same outcome */
#define BIG_READS      5   /* large READs, before all else, unless few seeds are asked for */
#define MAX_STEPS      400000u
#define MAX_VIRTUAL_NS 60000000000ull
#define QUIET_NS       20000000ull

struct world {
	struct sim_rng rng;
	struct sim_host host[2];
	struct sim_link link;
	struct sim_setting set;
	struct sim_pair pair[MAX_PAIRS];
	struct sim_group group;
	struct sim_pool pool[2];    /* of hosts whose QPs share an SRQ */
	struct sim_pool *shares[2]; /* it, or NULL */
	uint32_t nr_pairs;
	bool has_group;
	bool calm; /* nothing goes wrong, and receivers are always ready */
	uint32_t ah[2];
	double late_copies, no_room;
	uint64_t copy_ns;
	uint64_t kill_at;  /* a QP is put to death; UINT64_MAX: none */
	uint64_t drain_at; /* a send queue drains in SQD; UINT64_MAX: none */
	struct sim_qp *draining;
	uint64_t reset_at; /* both QPs of a pair are reset; UINT64_MAX: none */
	struct sim_pair *resetting;
	uint64_t now, steps;
};

static struct {
	uint64_t seeds, start;
	double loss; /* fraction; negative: random */
	bool trace, verbose;
} opt = {.seeds = 1000, .start = 1, .loss = -1};

static struct {
	uint64_t packets, lost, messages, errors, resets;
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
	static const double rates[] = {0, 0, .005, .02, .05, .1, .2};
	struct sim_rng *r = &w->rng;

	sim_link_init(&w->link, sim_rand(r), &w->host[0], &w->host[1]);
	w->link.loss =
		opt.loss >= 0 ? opt.loss : rates[sim_below(r, sizeof(rates) / sizeof(rates[0]))];
	w->link.dup = sim_chance(r, .5) ? .02 : 0;
	w->link.corrupt = sim_chance(r, .5) ? .01 : 0;
	w->link.reorder = sim_chance(r, .5) ? .05 : 0;
	w->calm = opt.loss < 0 && sim_chance(r, .08);
	if (w->calm) {
		w->link.loss = w->link.dup = w->link.corrupt = w->link.reorder = 0;
	} else if (opt.loss < 0 && sim_chance(r, .2)) {
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

/* With this chance a time within so many ns; else never. */
static uint64_t some_time(struct world *w, double chance, uint32_t ns)
{
	return sim_chance(&w->rng, chance) ? w->now + sim_below(&w->rng, ns) : UINT64_MAX;
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
	w->kill_at = some_time(w, w->calm ? 0 : .15, 3000000);
	w->drain_at = some_time(w, .2, 500000);
	w->reset_at = some_time(w, w->calm ? 0 : .25, 3000000);
	for (int h = 0; h < 2; h++) {
		struct rxe_address av = {.sip = w->host[h].ip, .dip = w->host[!h].ip};

		if (rxe_ah_create(&w->host[h].hca, 1, &av, &w->ah[h]))
			sim_fail("no AH");
	}
	w->nr_pairs = 1 + sim_below(&w->rng, MAX_PAIRS);
	for (int h = 0; h < 2; h++)
		if (!w->calm && sim_chance(&w->rng, .4)) {
			w->shares[h] = &w->pool[h];
			sim_pool_init(&w->pool[h], &w->host[h], &w->rng);
		}
	w->set = (struct sim_setting){
		.rng = &w->rng,
		.link = &w->link,
		.host = w->host,
		.pool = w->shares,
		.ah = w->ah,
		.errors_ok = w->kill_at != UINT64_MAX,
		.calm = w->calm,
	};
	w->has_group = sim_chance(&w->rng, .2);
	w->set.alone = w->nr_pairs == 1 && !w->has_group;
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		sim_pair_make(&w->pair[i], &w->set, i);
	for (int h = 0; h < 2; h++)
		if (w->shares[h])
			sim_pool_make(&w->pool[h]);
	if (w->has_group)
		sim_group_make(&w->group, &w->rng, &w->link, w->host, w->late_copies > 0);
}

/* ---- one step ------------------------------------------------------------------------- */

static void poll_clients(struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		sim_pair_poll(&w->pair[i]);
	if (w->has_group)
		sim_group_poll(&w->group);
}

static struct sim_pair *some_pair(struct world *w)
{
	return &w->pair[sim_below(&w->rng, w->nr_pairs)];
}

/* The one QP, soon after that the other one; perhaps another pair's later. */
static void reset_some(struct world *w)
{
	struct sim_pair *p = w->resetting ? w->resetting : some_pair(w);
	bool more = sim_pair_reset(p);

	w->resetting = p->half_reset ? p : NULL;
	w->reset_at = UINT64_MAX;
	if (w->resetting)
		w->reset_at = w->now + sim_below(&w->rng, sim_chance(&w->rng, .5) ? 10 : 300000);
	else if (more)
		w->reset_at = some_time(w, .5, 2000000);
}

/* Into SQD, and back to RTS as soon as the transport allows it. */
static void drain_one(struct world *w)
{
	struct rxe_qp_attr a;

	if (!w->draining) {
		struct sim_qp *qp = &some_pair(w)->qp[sim_below(&w->rng, 2)];

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
		if (!sim_pair_finished(&w->pair[i]))
			return false;
	return !w->has_group || sim_group_finished(&w->group);
}

static void clients_post(struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		for (int h = 0; h < 2; h++)
			sim_flow_post(sim_pair_flow(&w->pair[i], h));
	for (int h = 0; h < 2; h++)
		if (w->shares[h])
			sim_pool_post(&w->pool[h]);
	if (w->has_group)
		sim_group_post(&w->group, w->now);
}

static void describe_stuck(const struct world *w)
{
	for (uint32_t i = 0; i < w->nr_pairs; i++)
		sim_pair_describe(&w->pair[i]);
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
		if (w->now >= w->kill_at) {
			w->kill_at = UINT64_MAX;
			sim_pair_kill(some_pair(w));
		}
		if (w->now >= w->reset_at)
			reset_some(w);
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
 * or reset meanwhile may have said it before.
 */
static void check_last_wqes(const struct world *w)
{
	for (int h = 0; h < 2; h++) {
		unsigned int events, due = 0, may = 0;

		events = sim_host_count_events(&w->host[h], RXE_EV_QP_LAST_WQE_REACHED);
		for (uint32_t i = 0; i < w->nr_pairs && w->shares[h]; i++) {
			const struct rxe_qp *qp = w->pair[i].qp[h].qp;

			may += !qp + w->pair[i].resets[h];
			due += qp && rxe_qp_get_state(qp) == RXE_QPS_ERR;
		}
		if (events < due || events > due + may)
			sim_fail("host %d: %u LAST_WQE_REACHED, %u were due", h, events, due);
	}
}

/* What a peer did wrong is told to the program whose QP it ended. */
static void check_access_events(const struct world *w)
{
	for (int h = 0; h < 2; h++) {
		unsigned int events[2] = {
			sim_host_count_events(&w->host[h], RXE_EV_QP_ACCESS_ERR),
			sim_host_count_events(&w->host[h], RXE_EV_QP_REQ_ERR),
		};
		unsigned int due[2] = {0, 0}, may = 0;

		for (uint32_t i = 0; i < w->nr_pairs; i++)
			for (uint32_t l = 0; l <= w->pair[i].life; l++) {
				const struct sim_flow *f = &w->pair[i].flow[l][!h];
				bool told = f->bad_status == RXE_WC_REM_ACCESS_ERR ||
					    f->bad == SIM_MISALIGNED;

				if (told && !f->lossy_ok)
					due[f->bad == SIM_MISALIGNED]++;
				else
					may += told;
			}
		for (int k = 0; k < 2; k++)
			if (events[k] < due[k] || events[k] > due[k] + may)
				sim_fail("host %d: %u events of kind %d, %u were due", h, events[k],
					 k, due[k]);
	}
}

static uint64_t counted(const struct world *w, enum rxe_hw_counter c)
{
	uint64_t n = 0;

	for (int h = 0; h < 2; h++)
		n += rxe_engine_counters(w->host[h].engine, (struct rxe_hca *)&w->host[h].hca)[c];
	return n;
}

/* Where nothing is lost and nobody has to wait, nothing is sent twice (PROTOCOL 9). */
static void check_retries(const struct world *w)
{
	static const enum rxe_hw_counter none[] = {RXE_HW_COMP_RETRY, RXE_HW_DUP_REQUEST,
						   RXE_HW_SEND_RNR, RXE_HW_OUT_OF_SEQ,
						   RXE_HW_RCVD_SEQ_ERR};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]) && w->calm; i++)
		if (counted(w, none[i]))
			sim_fail("all is calm, and counter %d is %llu", none[i],
				 (unsigned long long)counted(w, none[i]));
}

/* Lets stragglers arrive, destroys all, and looks for what is left. */
static void end_world(struct world *w)
{
	uint64_t end = w->now + QUIET_NS;

	while (next_time(w) <= end)
		run_until_idle_at(w, next_time(w));
	check_last_wqes(w);
	check_access_events(w);
	check_retries(w);
	if (w->has_group)
		sim_group_end(&w->group);
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
		struct sim_pair *p = &w->pair[i];

		sim_pair_check(p);
		for (uint32_t l = 0; l <= p->life; l++)
			for (int h = 0; h < 2; h++) {
				total.messages += p->flow[l][h].send_done - p->flow[l][h].flushed;
				total.errors += p->flow[l][h].failed;
			}
		total.resets += p->life;
		sim_pair_free(p);
	}
	if (w->has_group)
		sim_group_free(&w->group);
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

/* What must come out the same whenever a seed is run. */
struct outcome {
	uint64_t steps, now, sent, lost, next_random;
};

static struct outcome run_seed(uint64_t seed)
{
	static struct world w;
	struct outcome o;

	sim_seed = seed;
	make_world(&w, seed);
	play(&w);
	end_world(&w);
	o = (struct outcome){w.steps, w.now, w.link.sent, w.link.lost, sim_rand(&w.rng)};
	if (opt.verbose)
		fprintf(stderr, "seed %llu: %llu steps, %llu us, %llu packets\n",
			(unsigned long long)seed, (unsigned long long)w.steps,
			(unsigned long long)(w.now - 1000000000) / 1000,
			(unsigned long long)w.link.sent);
	free_world(&w);
	return o;
}

static void run_twice(uint64_t seed)
{
	struct outcome a = run_seed(seed), b = run_seed(seed);

	if (memcmp(&a, &b, sizeof(a)))
		sim_fail("it does not run the same twice");
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
	for (uint64_t s = opt.start; s < opt.start + BIG_READS && opt.seeds > BIG_READS; s++)
		sim_big_read(s);
	for (uint64_t s = opt.start; s < opt.start + opt.seeds; s++)
		if (s % TWICE_EVERY)
			run_seed(s);
		else
			run_twice(s);
	printf("ok: %llu seeds from %llu: %llu messages, %llu packets, %llu lost or damaged, "
	       "%llu flows ended in error, %llu pairs reset\n",
	       (unsigned long long)opt.seeds, (unsigned long long)opt.start,
	       (unsigned long long)total.messages, (unsigned long long)total.packets,
	       (unsigned long long)total.lost, (unsigned long long)total.errors,
	       (unsigned long long)total.resets);
	return 0;
}
