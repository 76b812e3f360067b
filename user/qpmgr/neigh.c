/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Next hops: the route and neighbour of each destination in use, shared by
 * the QPs and AHs that go there, and kept current while they do. The kernel's
 * neighbour table does the resolving; it is asked, and its events are heard.
 */
#include "neigh.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include "gid.h"
#include "log.h"

#define RESOLVE_NS 3000000000ull  /* how long a resolution may take */
#define REFRESH_NS 10000000000ull /* how often next hops in use are confirmed */
#define RECHECK_NS 50000000ull	  /* bursts of events cause one look */

#define NUD_HAS_MAC (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP)
/* In these the kernel needs no push: confirmed, or being asked right now. */
#define NUD_FRESH \
	(NUD_REACHABLE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP | NUD_INCOMPLETE)

enum route_state { ROUTE_IDLE, ROUTE_PENDING, ROUTE_READY };

struct waiter {
	TAILQ_ENTRY(waiter) link;
	rxe_route_cb cb;
	void *arg;
	bool due; /* the resolution it waited for has ended */
};

struct route {
	struct rxe_route pub; /* what datapaths see; first */
	LIST_ENTRY(route) link;
	struct rxe_dev *dev; /* NULL once the device is gone */
	union rxe_ip sip, dip;
	union rxe_ip next; /* whose MAC it is */
	enum route_state state;
	bool fixed;		      /* local or multicast: no neighbour behind it */
	bool recheck;		      /* look it up again */
	TAILQ_HEAD(, waiter) waiters; /* each holds a reference */
	struct rxe_timer timer;	      /* while pending */
	struct rxe_task reap;
	bool reaping;	   /* under refs_lock: reap is posted */
	unsigned int refs; /* under refs_lock */
};

static LIST_HEAD(, route) routes = LIST_HEAD_INITIALIZER(routes);
static pthread_mutex_t refs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rxe_timer refresh_timer, recheck_timer;

/* ---- addresses ------------------------------------------------------------ */

bool rxe_ip_is_multicast(const union rxe_ip *ip)
{
	return rxe_ip_is_v4(ip) ? (ip->raw[12] & 0xf0) == 0xe0 : ip->raw[0] == 0xff;
}

void rxe_multicast_mac(const union rxe_ip *ip, uint8_t mac[6])
{
	if (rxe_ip_is_v4(ip)) {
		memcpy(mac, (const uint8_t[]){0x01, 0x00, 0x5e}, 3);
		mac[3] = ip->raw[13] & 0x7f;
		memcpy(mac + 4, ip->raw + 14, 2);
	} else {
		memcpy(mac, (const uint8_t[]){0x33, 0x33}, 2);
		memcpy(mac + 2, ip->raw + 12, 4);
	}
}

static void set_mac(struct route *r, const uint8_t mac[6])
{
	uint64_t word = 0;

	memcpy(&word, mac, 6);
	__atomic_store_n(&r->pub.dmac_word, word, __ATOMIC_RELAXED);
}

/* ---- references ----------------------------------------------------------- */

static void route_reap(struct rxe_task *t)
{
	struct route *r = caa_container_of(t, struct route, reap);
	bool dead;

	pthread_mutex_lock(&refs_lock);
	r->reaping = false;
	dead = r->refs == 0;
	pthread_mutex_unlock(&refs_lock);
	if (!dead)
		return; /* found again before this ran */
	rxe_loop_cancel(rxed.loop, &r->timer);
	LIST_REMOVE(r, link);
	free(r);
}

static void route_hold(struct route *r)
{
	pthread_mutex_lock(&refs_lock);
	r->refs++;
	pthread_mutex_unlock(&refs_lock);
}

void rxe_route_get(struct rxe_route *pub)
{
	route_hold((struct route *)pub);
}

void rxe_route_put(struct rxe_route *pub)
{
	struct route *r = (struct route *)pub;
	bool post;

	if (!pub)
		return;
	pthread_mutex_lock(&refs_lock);
	post = --r->refs == 0 && !r->reaping;
	r->reaping |= post;
	pthread_mutex_unlock(&refs_lock);
	if (post)
		rxe_loop_post(rxed.loop, &r->reap);
}

/* ---- looking up ------------------------------------------------------------- */

static void log_unresolved(const struct route *r, const char *why)
{
	char s[RXE_IP_STRLEN], d[RXE_IP_STRLEN];

	log_warn("device %s: resolving %s from %s: %s; check `ip route get %s oif %s` and that the "
		 "peer answers",
		 r->dev->name, rxe_ip_str(&r->dip, d), rxe_ip_str(&r->sip, s), why, d,
		 r->dev->netdev);
}

/* Destinations whose MAC needs no neighbour. */
static bool lookup_fixed(struct route *r)
{
	uint8_t mac[6];

	r->pub.local = rxe_gid_find(r->dev->gids, &r->dip) >= 0;
	if (r->pub.local) {
		set_mac(r, r->dev->mac);
		return true;
	}
	if (!rxe_ip_is_multicast(&r->dip))
		return false;
	rxe_multicast_mac(&r->dip, mac);
	set_mac(r, mac);
	return true;
}

/* The next hop's address into r->next; errors are logged. */
static int lookup_nexthop(struct route *r)
{
	struct rxe_nexthop hop;
	int err = rxe_rtnl_route_get(r->dev->rtnl, r->dev->ifindex, &r->sip, &r->dip, &hop);

	if (err) {
		log_unresolved(r, strerror(-err));
		return err == -EAFNOSUPPORT ? err : -ENETUNREACH;
	}
	if (hop.type != RTN_UNICAST) {
		log_unresolved(r, hop.type == RTN_LOCAL ? "it is an address of another netdev of "
							  "this host"
							: "it is no unicast destination");
		return -ENETUNREACH;
	}
	if (hop.ifindex != r->dev->ifindex) {
		log_unresolved(r, "the route leaves by another netdev");
		return -ENETUNREACH;
	}
	r->next = hop.next;
	return 0;
}

/* Takes the MAC from the kernel's entry; its NUD state, 0 when there is none. */
static uint16_t take_neigh(struct route *r)
{
	struct rxe_neigh n;

	if (rxe_rtnl_neigh_get(r->dev->rtnl, r->dev->ifindex, &r->next, &n))
		return 0;
	if (n.nud & NUD_HAS_MAC && n.has_mac)
		set_mac(r, n.mac);
	return n.nud;
}

/* Has the device lost the source address? It may be another host's by now. */
static bool without_source(struct route *r)
{
	bool lost = rxe_gid_find(r->dev->gids, &r->sip) < 0;

	__atomic_store_n(&r->pub.no_source, lost, __ATOMIC_RELAXED);
	return lost;
}

/* 0: the MAC is known; -EINPROGRESS: an event will bring it; or an error. */
static int lookup(struct route *r)
{
	int err;

	if (without_source(r))
		return -EADDRNOTAVAIL;
	r->fixed = lookup_fixed(r);
	if (r->fixed)
		return 0;
	err = lookup_nexthop(r);
	if (err)
		return err;
	if (take_neigh(r) & NUD_HAS_MAC)
		return 0;
	err = rxe_rtnl_neigh_use(r->dev->rtnl, r->dev->ifindex, &r->next);
	if (err) {
		log_unresolved(r, strerror(-err));
		return -EHOSTUNREACH;
	}
	/* A netdev without ARP has its answer at once. */
	return take_neigh(r) & NUD_HAS_MAC ? 0 : -EINPROGRESS;
}

/* ---- waiting ----------------------------------------------------------------- */

/* Ends a resolution. Every waiter's reference goes to its callback on success. */
static void complete(struct route *r, int err)
{
	struct waiter *w;

	rxe_loop_cancel(rxed.loop, &r->timer);
	r->state = err ? ROUTE_IDLE : ROUTE_READY;
	route_hold(r); /* callbacks may drop the last one, cancel, or wait anew */
	TAILQ_FOREACH (w, &r->waiters, link)
		w->due = true;
	while ((w = TAILQ_FIRST(&r->waiters)) && w->due) {
		rxe_route_cb cb = w->cb;
		void *arg = w->arg;

		TAILQ_REMOVE(&r->waiters, w, link);
		free(w);
		if (err)
			rxe_route_put(&r->pub);
		cb(arg, err, err ? NULL : &r->pub);
	}
	rxe_route_put(&r->pub);
}

static void resolve_timeout(struct rxe_timer *t)
{
	struct route *r = caa_container_of(t, struct route, timer);

	if (take_neigh(r) & NUD_HAS_MAC) {
		complete(r, 0);
		return;
	}
	log_unresolved(r, "no answer to ARP or neighbour discovery within 3 s");
	complete(r, -EHOSTUNREACH);
}

static int add_waiter(struct route *r, rxe_route_cb cb, void *arg)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct waiter){.cb = cb, .arg = arg};
	TAILQ_INSERT_TAIL(&r->waiters, w, link);
	return 0;
}

void rxe_route_cancel(void *arg)
{
	struct waiter *w, *next;
	struct route *r;

	LIST_FOREACH (r, &routes, link) {
		for (w = TAILQ_FIRST(&r->waiters); w; w = next) {
			next = TAILQ_NEXT(w, link);
			if (w->arg != arg)
				continue;
			TAILQ_REMOVE(&r->waiters, w, link);
			free(w);
			rxe_route_put(&r->pub);
		}
	}
}

/* ---- resolving ----------------------------------------------------------------- */

static void refresh(struct rxe_timer *t)
{
	struct route *r;

	LIST_FOREACH (r, &routes, link) {
		if (r->dev && r->state == ROUTE_READY && !r->fixed && !(take_neigh(r) & NUD_FRESH))
			rxe_rtnl_neigh_use(r->dev->rtnl, r->dev->ifindex, &r->next);
	}
	if (!LIST_EMPTY(&routes))
		rxe_loop_timer(rxed.loop, t, REFRESH_NS);
}

static struct route *route_find(const struct rxe_dev *dev, const union rxe_ip *sip,
				const union rxe_ip *dip)
{
	struct route *r;

	LIST_FOREACH (r, &routes, link) {
		if (r->dev == dev && rxe_ip_equal(&r->dip, dip) && rxe_ip_equal(&r->sip, sip))
			return r;
	}
	return NULL;
}

static struct route *route_new(struct rxe_dev *dev, const union rxe_ip *sip,
			       const union rxe_ip *dip)
{
	struct route *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->dev = dev;
	r->sip = *sip;
	r->dip = *dip;
	r->reap.cb = route_reap;
	r->timer.cb = resolve_timeout;
	TAILQ_INIT(&r->waiters);
	LIST_INSERT_HEAD(&routes, r, link);
	refresh_timer.cb = refresh;
	if (!refresh_timer.armed)
		rxe_loop_timer(rxed.loop, &refresh_timer, REFRESH_NS);
	return r;
}

int rxe_route_resolve(struct rxe_dev *dev, const union rxe_ip *sip, const union rxe_ip *dip,
		      rxe_route_cb cb, void *arg, struct rxe_route **route)
{
	struct route *r;
	int err = 0;

	if (dev->gone)
		return -ENODEV;
	r = route_find(dev, sip, dip);
	if (!r)
		r = route_new(dev, sip, dip);
	if (!r)
		return -ENOMEM;
	route_hold(r);
	if (r->state == ROUTE_IDLE) {
		err = lookup(r);
		if (!err)
			r->state = ROUTE_READY;
	} else if (r->state == ROUTE_PENDING) {
		err = -EINPROGRESS;
	}
	if (err == -EINPROGRESS && add_waiter(r, cb, arg))
		err = -ENOMEM;
	if (err == -EINPROGRESS && r->state == ROUTE_IDLE) {
		r->state = ROUTE_PENDING;
		rxe_loop_timer(rxed.loop, &r->timer, RESOLVE_NS);
	}
	if (!err)
		*route = &r->pub;
	else if (err != -EINPROGRESS)
		rxe_route_put(&r->pub);
	return err;
}

/* ---- events ---------------------------------------------------------------------- */

static void recheck(struct rxe_timer *t)
{
	struct route *r;

	(void)t;
	LIST_FOREACH (r, &routes, link) {
		if (!r->recheck)
			continue;
		r->recheck = false;
		/* Without an answer the last MAC stands; its users time out if it is wrong. */
		if (r->dev && r->state == ROUTE_READY)
			lookup(r);
	}
}

static void recheck_soon(struct route *r)
{
	r->recheck = true;
	recheck_timer.cb = recheck;
	if (!recheck_timer.armed)
		rxe_loop_timer(rxed.loop, &recheck_timer, RECHECK_NS);
}

static void neigh_changed(struct route *r, const struct rxe_neigh *n)
{
	if (n->nud & NUD_HAS_MAC && n->has_mac) {
		set_mac(r, n->mac);
		if (r->state == ROUTE_PENDING)
			complete(r, 0);
	} else if (!n->nud) {
		recheck_soon(r); /* the kernel forgot it, we still need it */
	}
	/* Failed or being resolved: the last MAC stands until the next refresh. */
}

void rxe_neigh_event(struct rxe_netns *ns, const struct rxe_neigh *n)
{
	struct route *r, *next;

	for (r = LIST_FIRST(&routes); r; r = next) {
		next = LIST_NEXT(r, link);
		if (r->dev && !r->fixed && r->dev->ns == ns && r->dev->ifindex == n->ifindex &&
		    rxe_ip_equal(&r->next, &n->ip))
			neigh_changed(r, n);
	}
}

void rxe_neigh_recheck(struct rxe_netns *ns)
{
	struct route *r;

	LIST_FOREACH (r, &routes, link) {
		if (r->dev && r->dev->ns == ns)
			recheck_soon(r);
	}
}

void rxe_neigh_dev_gone(struct rxe_dev *dev)
{
	struct route *r, *next;

	for (r = LIST_FIRST(&routes); r; r = next) {
		next = LIST_NEXT(r, link);
		if (r->dev != dev)
			continue;
		r->dev = NULL;
		if (r->state == ROUTE_PENDING)
			complete(r, -ENODEV);
	}
}
