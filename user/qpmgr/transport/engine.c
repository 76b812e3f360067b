/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: finds the QP of a packet, lets QPs run in turn, keeps deadlines,
 * counters and spare objects.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "pkt.h"
#include "qp.h"
#include "stage.h"

#define MIN_BUCKETS					    64u
#define MAX_FREE_RWQES					    1024u
#define DEFAULT(SYM, name, unit, def, min, max, when, help) [RXE_PARAM_##SYM] = (def),

static const uint32_t param_defaults[RXE_PARAM_COUNT] = {RXE_PARAMS(DEFAULT)};

/* ---- life ---------------------------------------------------------------------- */

static void set_defaults(struct rxe_engine_params *p)
{
	p->crc_disable = param_defaults[RXE_PARAM_CRC_DISABLE];
	p->fast_comp = param_defaults[RXE_PARAM_FAST_COMP];
	p->fast_req = param_defaults[RXE_PARAM_FAST_REQ];
	p->fast_resp = param_defaults[RXE_PARAM_FAST_RESP];
	p->fast_arb = param_defaults[RXE_PARAM_FAST_ARB];
	p->nsec_per_packet = param_defaults[RXE_PARAM_NSEC_PER_PACKET];
	p->nsec_per_kbyte = param_defaults[RXE_PARAM_NSEC_PER_KBYTE];
	p->max_packet_per_ack = param_defaults[RXE_PARAM_MAX_PACKET_PER_ACK];
	p->max_skb_per_qp = param_defaults[RXE_PARAM_MAX_SKB_PER_QP];
	p->max_req_comp_gap = param_defaults[RXE_PARAM_MAX_REQ_COMP_GAP];
}

struct rxe_engine *rxe_engine_new(const struct rxe_engine_ops *ops, void *ctx)
{
	struct rxe_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->buckets = calloc(MIN_BUCKETS, sizeof(e->buckets[0]));
	if (!e->buckets) {
		free(e);
		return NULL;
	}
	e->nr_buckets = MIN_BUCKETS;
	e->ops = ops;
	e->ctx = ctx;
	TAILQ_INIT(&e->runq);
	TAILQ_INIT(&e->free_ops);
	TAILQ_INIT(&e->free_rwqes);
	set_defaults(&e->params);
	return e;
}

void rxe_engine_free(struct rxe_engine *e)
{
	struct rxe_rwqe *w;
	struct rxe_xfer *x;

	while ((x = TAILQ_FIRST(&e->free_ops))) {
		TAILQ_REMOVE(&e->free_ops, x, link);
		free(x);
	}
	while ((w = TAILQ_FIRST(&e->free_rwqes))) {
		TAILQ_REMOVE(&e->free_rwqes, w, link);
		free(w);
	}
	for (int i = 0; i < RXE_MAX_HCAS; i++)
		free(e->stats[i]);
	rxe_timers_fini(&e->timers);
	free(e->buckets);
	free(e);
}

struct rxe_engine_params *rxe_engine_params(struct rxe_engine *e)
{
	return &e->params;
}

void rxe_engine_set_now(struct rxe_engine *e, uint64_t now_ns)
{
	e->now = now_ns;
}

/* ---- counters --------------------------------------------------------------------- */

static const struct rxe_stats no_stats;

static struct rxe_stats *find_stats(const struct rxe_engine *e, const struct rxe_hca *hca,
				    int *free_slot)
{
	for (int i = 0; i < RXE_MAX_HCAS; i++) {
		struct rxe_stats *s = __atomic_load_n(&e->stats[i], __ATOMIC_ACQUIRE);
		const struct rxe_hca *of = s ? __atomic_load_n(&s->hca, __ATOMIC_RELAXED) : NULL;

		if (of == hca)
			return s;
		if (!of && free_slot && *free_slot < 0)
			*free_slot = i;
		if (!s)
			break;
	}
	return NULL;
}

struct rxe_stats *rxe_engine_stats(struct rxe_engine *e, const struct rxe_hca *hca)
{
	int slot = -1;
	struct rxe_stats *s = find_stats(e, hca, &slot);

	if (s)
		return s;
	if (slot < 0)
		return &e->overflow;
	s = e->stats[slot];
	if (!s)
		s = calloc(1, sizeof(*s));
	if (!s)
		return &e->overflow;
	for (int i = 0; i < RXE_HW_COUNT; i++)
		__atomic_store_n(&s->count[i], 0, __ATOMIC_RELAXED);
	s->unflushed = false;
	__atomic_store_n(&s->hca, hca, __ATOMIC_RELAXED);
	__atomic_store_n(&e->stats[slot], s, __ATOMIC_RELEASE);
	return s;
}

void rxe_engine_count(struct rxe_engine *e, struct rxe_hca *hca, enum rxe_hw_counter c)
{
	rxe_stat_add(rxe_engine_stats(e, hca), c, 1);
}

void rxe_engine_forget_hca(struct rxe_engine *e, const struct rxe_hca *hca)
{
	struct rxe_stats *s = find_stats(e, hca, NULL);

	if (s)
		__atomic_store_n(&s->hca, NULL, __ATOMIC_RELAXED);
}

const uint64_t *rxe_engine_counters(const struct rxe_engine *e, const struct rxe_hca *hca)
{
	const struct rxe_stats *s = find_stats(e, hca, NULL);

	return s ? s->count : no_stats.count;
}

/* ---- spare objects ------------------------------------------------------------------- */

struct rxe_rwqe *rxe_rwqe_new(struct rxe_engine *e)
{
	struct rxe_rwqe *w = TAILQ_FIRST(&e->free_rwqes);

	if (!w)
		return malloc(sizeof(*w));
	TAILQ_REMOVE(&e->free_rwqes, w, link);
	e->nr_free_rwqes--;
	return w;
}

void rxe_rwqe_free(struct rxe_engine *e, struct rxe_rwqe *w)
{
	if (e->nr_free_rwqes >= MAX_FREE_RWQES) {
		free(w);
		return;
	}
	TAILQ_INSERT_HEAD(&e->free_rwqes, w, link);
	e->nr_free_rwqes++;
}

struct rxe_pkt *rxe_engine_alloc(struct rxe_qp *qp, struct rxe_address *addr, uint32_t hdr_len,
				 uint32_t payload_len)
{
	struct rxe_engine *e = qp->engine;
	struct rxe_pkt *pkt = e->ops->pkt_alloc(e->ctx, qp->hca, addr, hdr_len, payload_len,
						rxe_pad(payload_len));

	if (pkt)
		pkt->src_qpn = qp->init.qpn;
	else
		e->tx_blocked = true;
	return pkt;
}

void rxe_engine_drop(struct rxe_engine *e, struct rxe_stats *s, struct rxe_pkt *pkt,
		     enum rxe_hw_counter why)
{
	rxe_stat_add(s, why, 1);
	e->ops->pkt_free(e->ctx, pkt);
}

/* ---- QPN hash ---------------------------------------------------------------------------- */

static uint32_t bucket(const struct rxe_engine *e, const struct rxe_hca *hca, uint32_t qpn)
{
	uint64_t h = ((uintptr_t)hca >> 6) * 0x9e3779b97f4a7c15ull + qpn * 0x9e3779b1u;

	return (h ^ h >> 32) & (e->nr_buckets - 1);
}

static void hash_insert(struct rxe_engine *e, struct rxe_qp *qp)
{
	struct rxe_qp **head = &e->buckets[bucket(e, qp->hca, qp->init.qpn)];

	qp->hash_next = *head;
	*head = qp;
}

static int grow_hash(struct rxe_engine *e)
{
	uint32_t old_nr = e->nr_buckets;
	struct rxe_qp **old = e->buckets, **bigger = calloc(old_nr * 2, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	e->buckets = bigger;
	e->nr_buckets = old_nr * 2;
	for (uint32_t i = 0; i < old_nr; i++) {
		struct rxe_qp *qp = old[i], *next;

		for (; qp; qp = next) {
			next = qp->hash_next;
			hash_insert(e, qp);
		}
	}
	free(old);
	return 0;
}

int rxe_engine_add_qp(struct rxe_engine *e, struct rxe_qp *qp)
{
	if (e->nr_qps >= e->nr_buckets && grow_hash(e))
		return -ENOMEM;
	hash_insert(e, qp);
	e->nr_qps++;
	return 0;
}

void rxe_engine_del_qp(struct rxe_engine *e, struct rxe_qp *qp)
{
	struct rxe_qp **p = &e->buckets[bucket(e, qp->hca, qp->init.qpn)];

	while (*p != qp)
		p = &(*p)->hash_next;
	*p = qp->hash_next;
	e->nr_qps--;
	if (qp->queued)
		TAILQ_REMOVE(&e->runq, qp, run_link);
	qp->queued = false;
}

struct rxe_qp *rxe_engine_find_qp(struct rxe_engine *e, struct rxe_hca *hca, uint32_t qpn)
{
	struct rxe_qp *qp = e->buckets[bucket(e, hca, qpn)];

	while (qp && (qp->init.qpn != qpn || qp->hca != hca))
		qp = qp->hash_next;
	return qp;
}

/* ---- receive --------------------------------------------------------------------------------- */

/* Same partition, and not two limited members (the top bit is full membership). */
bool rxe_pkey_ok(uint16_t a, uint16_t b)
{
	return (a & RXE_PKEY_MASK) == (b & RXE_PKEY_MASK) && ((a | b) & ~RXE_PKEY_MASK);
}

static bool same_ip(const union rxe_ip *a, const union rxe_ip *b)
{
	return !memcmp(a, b, sizeof(*a));
}

enum rxe_hw_counter rxe_engine_check_qp(const struct rxe_qp *qp, const struct rxe_pkt *pkt,
					const struct rxe_pktinfo *info)
{
	enum rxe_qp_state s = qp->attr.qp_state;

	if (RXE_OP_CLASS(info->opcode) != rxe_qp_class(qp) || s < RXE_QPS_RTR || s == RXE_QPS_ERR)
		return RXE_HW_DROP_STATE;
	if (!rxe_pkey_ok(info->pkey, qp->hca->pkey))
		return RXE_HW_DROP_PKEY;
	if (!rxe_qp_is_dgram(qp) &&
	    (!same_ip(&pkt->sip, &qp->attr.addr.dip) || !same_ip(&pkt->dip, &qp->attr.addr.sip)))
		return RXE_HW_DROP_PEER;
	return RXE_HW_COUNT;
}

static void comm_est(struct rxe_qp *qp)
{
	if (qp->comm_est || qp->attr.qp_state != RXE_QPS_RTR)
		return;
	qp->comm_est = true;
	rxe_qp_event(qp, RXE_EV_COMM_EST);
}

/*
 * A QP whose client is slow would soon hold every receive buffer of the device:
 * beyond a number its packets wait in memory of their own. NULL: dropped.
 */
static struct rxe_pkt *make_room(struct rxe_qp *qp, struct rxe_pkt *pkt)
{
	struct rxe_engine *e = qp->engine;
	struct rxe_pkt *moved;

	if (!e->ops->pkt_detach || pkt->detached ||
	    qp->busy_ops[RXE_XFER_SLOT] + qp->busy_ops[RXE_XFER_COMP] < RXE_DETACH_AFTER)
		return pkt;
	moved = e->ops->pkt_detach(e->ctx, pkt);
	if (!moved)
		rxe_qp_drop(qp, pkt, RXE_HW_DROP_BUSY);
	return moved;
}

void rxe_engine_deliver(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	pkt = make_room(qp, pkt);
	if (!pkt)
		return;
	if (info->op->flags & RXE_F_RESP) {
		rxe_comp_rx(qp, pkt, info);
		return;
	}
	comm_est(qp);
	if (rxe_qp_is_dgram(qp))
		rxe_dgram_rx(qp, pkt, info);
	else
		rxe_resp_rx(qp, pkt, info);
}

void rxe_engine_rx(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	struct rxe_stats *s = rxe_engine_stats(e, hca);
	struct rxe_pktinfo info;
	enum rxe_hw_counter why;
	struct rxe_qp *qp;

	rxe_stat_add(s, RXE_HW_RCVD_PKTS, !pkt->relayed);
	rxe_stat_add(s, RXE_HW_RCVD_BYTES, pkt->relayed ? 0 : pkt->ib_len);
	if (rxe_pkt_parse(pkt, &info)) {
		rxe_engine_drop(e, s, pkt, RXE_HW_DROP_MALFORMED);
		return;
	}
	if (info.qpn == RXE_MULTICAST_QPN) {
		rxe_mcast_rx(e, hca, pkt, &info);
		return;
	}
	qp = rxe_engine_find_qp(e, hca, info.qpn);
	if (!qp && info.qpn == RXE_GSI_QPN) {
		rxe_gsi_rx(e, s, hca, pkt, &info);
		return;
	}
	why = qp ? rxe_engine_check_qp(qp, pkt, &info) : RXE_HW_DROP_NO_QP;
	if (why != RXE_HW_COUNT) {
		rxe_engine_drop(e, s, pkt, why);
		return;
	}
	rxe_engine_deliver(qp, pkt, &info);
}

/* ---- running ------------------------------------------------------------------------------------ */

void rxe_qp_kick(struct rxe_qp *qp)
{
	if (qp->queued || qp->destroyed)
		return;
	qp->queued = true;
	TAILQ_INSERT_TAIL(&qp->engine->runq, qp, run_link);
}

static uint32_t run_qp(struct rxe_qp *qp, uint32_t budget)
{
	uint32_t n = 0;

	if (qp->attr.qp_state == RXE_QPS_ERR) {
		rxe_stage_forget(qp);
		rxe_flush_run(qp);
		return 0;
	}
	if (qp->attr.qp_state >= RXE_QPS_RTR) {
		rxe_stage_run(qp, RXE_STAGE_RESP);
		n = rxe_resp_run(qp, budget);
	}
	if (qp->attr.qp_state != RXE_QPS_ERR) {
		rxe_stage_run(qp, RXE_STAGE_COMP);
		rxe_comp_retire(qp);
	}
	if (qp->attr.qp_state != RXE_QPS_ERR) {
		rxe_stage_run(qp, RXE_STAGE_REQ);
		n += rxe_req_run(qp, budget);
	}
	return n;
}

bool rxe_engine_run(struct rxe_engine *e, uint32_t budget)
{
	struct rxe_deadline *d;
	struct rxe_qp *qp;

	while ((d = rxe_timers_due(&e->timers, e->now)))
		d->expired(d);
	e->tx_blocked = false;
	while (budget && !e->tx_blocked && (qp = TAILQ_FIRST(&e->runq))) {
		uint32_t quantum = budget < RXE_QP_QUANTUM ? budget : RXE_QP_QUANTUM, n;

		TAILQ_REMOVE(&e->runq, qp, run_link);
		qp->queued = false;
		n = run_qp(qp, quantum);
		budget -= n < budget ? (n ? n : 1) : budget;
	}
	return !TAILQ_EMPTY(&e->runq);
}

uint64_t rxe_engine_next_timer(const struct rxe_engine *e)
{
	return rxe_timers_next(&e->timers);
}
