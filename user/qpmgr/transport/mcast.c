/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups: which QPs take what is sent to a group (PROTOCOL 28). The
 * control thread attaches and detaches, every engine looks up under RCU and
 * serves its own QPs.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "hca.h"
#include "pkt.h"
#include "qp.h"
#include "rcu.h"

#define NR_BUCKETS 256u

/*
 * Once published, only next changes, and a QP that leaves leaves NULL: leaving
 * needs no memory, so it cannot fail.
 */
struct group {
	struct group *next;
	union rxe_ip gid;
	uint32_t live; /* QPs in it; control thread */
	uint32_t nr;
	struct rxe_qp *qp[];
};

struct rxe_mcast_table {
	uint32_t nr_groups, nr_attached;
	struct group *bucket[NR_BUCKETS];
};

struct rxe_mcast_table *rxe_mcast_table_new(void)
{
	return calloc(1, sizeof(struct rxe_mcast_table));
}

void rxe_mcast_table_free(struct rxe_mcast_table *t)
{
	free(t);
}

static uint32_t bucket_of(const union rxe_ip *gid)
{
	uint32_t h = gid->w[0] ^ gid->w[1] ^ gid->w[2] ^ gid->w[3];

	return h * 0x9e3779b1u >> 24;
}

static bool same_gid(const union rxe_ip *a, const union rxe_ip *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* ---- control thread ----------------------------------------------------------- */

/* Where the group's pointer is, or the end of its bucket's list. */
static struct group **find_link(struct rxe_mcast_table *t, const union rxe_ip *gid)
{
	struct group **link = &t->bucket[bucket_of(gid)];

	while (*link && !same_gid(&(*link)->gid, gid))
		link = &(*link)->next;
	return link;
}

static struct rxe_qp **find_member(struct group *g, const struct rxe_qp *qp)
{
	for (uint32_t i = 0; g && i < g->nr; i++)
		if (g->qp[i] == qp)
			return &g->qp[i];
	return NULL;
}

/* A group of the members of g (NULL: none) and one more. */
static struct group *grow(const struct group *g, const union rxe_ip *gid, struct rxe_qp *qp)
{
	uint32_t live = g ? g->live : 0;
	struct group *new = malloc(sizeof(*new) + (live + 1) * sizeof(new->qp[0]));

	if (!new)
		return NULL;
	new->gid = *gid;
	new->nr = 0;
	new->next = g ? g->next : NULL;
	for (uint32_t i = 0; g && i < g->nr; i++)
		if (g->qp[i])
			new->qp[new->nr++] = g->qp[i];
	new->qp[new->nr++] = qp;
	new->live = new->nr;
	return new;
}

/* After this no engine uses the old group. */
static void replace(struct group **link, struct group *old, struct group *new)
{
	rxe_rcu_assign(*link, new);
	if (!old)
		return;
	rxe_rcu_synchronize();
	free(old);
}

/* The driver counts groups, members of one, and members of all. */
static int check_limits(const struct rxe_hca *hca, const struct group *g)
{
	const struct rxe_limits *l = &hca->limits;
	const struct rxe_mcast_table *t = hca->mcast;

	if (!l->max_mcast_grp)
		return -EINVAL;
	if ((!g && t->nr_groups >= l->max_mcast_grp) ||
	    t->nr_attached >= l->max_total_mcast_qp_attach ||
	    (g ? g->live : 0) >= l->max_mcast_qp_attach)
		return -ENOMEM;
	return 0;
}

int rxe_mcast_attach(struct rxe_hca *hca, const union rxe_ip *mgid, struct rxe_qp *qp, bool *first)
{
	struct rxe_mcast_table *t = hca->mcast;
	struct group **link = find_link(t, mgid), *old = *link, *new;
	int err;

	*first = false;
	if (find_member(old, qp))
		return 0;
	err = check_limits(hca, old);
	if (err)
		return err;
	new = grow(old, mgid, qp);
	if (!new)
		return -ENOMEM;
	t->nr_attached++;
	__atomic_store_n(&t->nr_groups, t->nr_groups + !old, __ATOMIC_RELAXED);
	*first = !old;
	replace(link, old, new);
	return 0;
}

int rxe_mcast_detach(struct rxe_hca *hca, const union rxe_ip *mgid, struct rxe_qp *qp, bool *last)
{
	struct rxe_mcast_table *t = hca->mcast;
	struct group **link = find_link(t, mgid), *g = *link;
	struct rxe_qp **member = find_member(g, qp);

	*last = false;
	if (!member)
		return -EINVAL;
	t->nr_attached--;
	if (--g->live) {
		rxe_rcu_assign(*member, NULL);
		rxe_rcu_synchronize();
		return 0;
	}
	__atomic_store_n(&t->nr_groups, t->nr_groups - 1, __ATOMIC_RELAXED);
	*last = true;
	replace(link, g, g->next);
	return 0;
}

void rxe_mcast_count(const struct rxe_hca *hca, uint32_t *groups, uint32_t *attached)
{
	*groups = hca->mcast->nr_groups;
	*attached = hca->mcast->nr_attached;
}

/* ---- engines ------------------------------------------------------------------- */

static struct group *find(const struct rxe_hca *hca, const union rxe_ip *gid)
{
	struct rxe_mcast_table *t = hca->mcast;
	struct group *g;

	if (!__atomic_load_n(&t->nr_groups, __ATOMIC_RELAXED))
		return NULL;
	g = rxe_rcu_get(t->bucket[bucket_of(gid)]);
	while (g && !same_gid(&g->gid, gid))
		g = rxe_rcu_get(g->next);
	return g;
}

bool rxe_mcast_has_member(const struct rxe_hca *hca, const union rxe_ip *mgid,
			  const struct rxe_engine *e)
{
	struct group *g = find(hca, mgid);
	bool has = false;

	for (uint32_t i = 0; g && i < g->nr && !has; i++) {
		const struct rxe_qp *qp = rxe_rcu_get(g->qp[i]);

		has = qp && (!e || qp->engine == e);
	}
	return has;
}

/* Does the QP want it at all? The sender may have asked not to hear itself. */
static bool wants(const struct rxe_qp *qp, const struct rxe_engine *e, const struct rxe_pkt *pkt,
		  const struct rxe_pktinfo *info)
{
	if (qp->engine != e)
		return false;
	return !(pkt->loopback && qp->init.block_self_lb && info->src_qpn == qp->init.qpn);
}

static void deliver_copy(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info)
{
	struct rxe_engine *e = qp->engine;
	struct rxe_pkt *copy = e->ops->pkt_copy(e->ctx, pkt);

	if (copy)
		rxe_engine_deliver(qp, copy, info);
	else
		rxe_qp_count(qp, RXE_HW_DROP_BUSY);
}

/* Every member that may have it gets a packet of its own; the last one, pkt. */
void rxe_mcast_rx(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_pkt *pkt,
		  const struct rxe_pktinfo *info)
{
	struct group *g = find(hca, &pkt->dip);
	struct rxe_qp *last = NULL;
	bool any = pkt->relayed;

	for (uint32_t i = 0; g && i < g->nr; i++) {
		struct rxe_qp *qp = rxe_rcu_get(g->qp[i]);
		enum rxe_hw_counter why;

		any = true;
		if (!qp || !wants(qp, e, pkt, info))
			continue;
		why = rxe_engine_check_qp(qp, pkt, info);
		if (why != RXE_HW_COUNT) {
			rxe_qp_count(qp, why);
			continue;
		}
		if (last)
			deliver_copy(last, pkt, info);
		last = qp;
	}
	if (last)
		rxe_engine_deliver(last, pkt, info);
	else if (any)
		e->ops->pkt_free(e->ctx, pkt);
	else
		rxe_engine_drop(e, rxe_engine_stats(e, hca), pkt, RXE_HW_DROP_NO_QP);
}

/* IPv4 224/4 (v4-mapped), IPv6 ff00::/8. */
bool rxe_mcast_gid(const union rxe_ip *gid)
{
	if (gid->raw[0] == 0xff)
		return true;
	return !gid->w[0] && !gid->w[1] && gid->w[2] == htobe32(0xffff) &&
	       (gid->raw[12] & 0xf0) == 0xe0;
}

bool rxe_mcast_loops(const struct rxe_qp *qp, const struct rxe_pkt *pkt)
{
	return rxe_qp_is_dgram(qp) && rxe_pkt_dest_qpn(pkt) == RXE_MULTICAST_QPN &&
	       rxe_mcast_has_member(qp->hca, &pkt->addr->dip, NULL);
}
