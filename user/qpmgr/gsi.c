/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QP1: MADs in from the control worker, out through it (gsi.h). */
#include "gsi.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "rxe/bpf_abi.h"
#include "worker.h"

#define MAX_WAITING 1024 /* received and not looked at; waiting for a next hop */

/* ---- in: worker to control ---------------------------------------------------- */

struct received {
	STAILQ_ENTRY(received) link;
	struct rxe_hca *hca;
	union rxe_ip sip, dip;
	uint32_t len;
	uint8_t mad[RXE_GSI_MAX];
};

static void deliver(struct rxe_task *t);

static struct {
	pthread_mutex_t lock;
	STAILQ_HEAD(, received) list;
	uint32_t count;
	bool posted;
	struct rxe_task task;
} in = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.list = STAILQ_HEAD_INITIALIZER(in.list),
	.task = {.cb = deliver},
};

void rxe_gsi_received(struct rxe_hca *hca, const struct rxe_pkt *pkt)
{
	struct received *r;
	bool post = false, full;
	uint32_t at = 0;

	pthread_mutex_lock(&in.lock);
	full = in.count >= MAX_WAITING;
	pthread_mutex_unlock(&in.lock);
	r = full ? NULL : malloc(sizeof(*r));
	if (!r)
		return; /* as lost on the wire */
	r->hca = hca;
	r->sip = pkt->sip;
	r->dip = pkt->dip;
	r->len = pkt->payload_len;
	for (uint32_t i = 0; i < pkt->nsegs && at < r->len; i++) {
		uint32_t n = (uint32_t)pkt->seg[i].iov_len;

		if (n > r->len - at)
			n = r->len - at; /* the rest is pad */
		memcpy(r->mad + at, pkt->seg[i].iov_base, n);
		at += n;
	}
	pthread_mutex_lock(&in.lock);
	STAILQ_INSERT_TAIL(&in.list, r, link);
	in.count++;
	post = !in.posted;
	in.posted = true;
	pthread_mutex_unlock(&in.lock);
	if (post)
		rxe_loop_post(rxed.loop, &in.task);
}

/* The device of a packet that was received a moment ago, if it is still there. */
static struct rxe_dev *dev_of(const struct rxe_hca *hca)
{
	struct rxe_dev *dev;

	TAILQ_FOREACH (dev, &rxed.devs, link) {
		if (&dev->hca == hca)
			return dev->gone ? NULL : dev;
	}
	return NULL;
}

static struct received *next_received(void)
{
	struct received *r;

	pthread_mutex_lock(&in.lock);
	r = STAILQ_FIRST(&in.list);
	if (r) {
		STAILQ_REMOVE_HEAD(&in.list, link);
		in.count--;
	} else {
		in.posted = false;
	}
	pthread_mutex_unlock(&in.lock);
	return r;
}

static void deliver(struct rxe_task *t)
{
	struct received *r;

	(void)t;
	while ((r = next_received())) {
		struct rxe_dev *dev = dev_of(r->hca);

		if (dev)
			rxe_cm_mad(dev, &r->sip, &r->dip, r->mad, r->len);
		free(r);
	}
}

/* ---- out: control to worker ----------------------------------------------------- */

struct outgoing {
	TAILQ_ENTRY(outgoing) link; /* while its next hop is being resolved */
	struct rxe_dev *dev;
	struct rxe_address addr;
	uint8_t mad[RXE_GSI_MAX];
};

static TAILQ_HEAD(, outgoing) waiting = TAILQ_HEAD_INITIALIZER(waiting);
static uint32_t nr_waiting;

static void send_on_worker(struct rxe_worker *w, void *arg)
{
	struct outgoing *o = arg;

	if (!rxe_gsi_send(rxe_worker_engine(w), &o->dev->hca, &o->addr, o->mad, sizeof(o->mad)))
		o->dev->gsi_sent++; /* the control thread waits meanwhile */
}

/* Takes over the route. */
static void send_now(struct outgoing *o, struct rxe_route *route)
{
	o->addr.route = route;
	rxe_worker_call(rxed.workers[RXE_CONTROL_WORKER], send_on_worker, o);
	rxe_route_put(route);
}

static void drop_waiting(struct outgoing *o)
{
	TAILQ_REMOVE(&waiting, o, link);
	nr_waiting--;
	free(o);
}

static void resolved(void *arg, int err, struct rxe_route *route)
{
	struct outgoing *o = arg;

	if (!err)
		send_now(o, route);
	drop_waiting(o);
}

void rxe_gsi_send_mad(struct rxe_dev *dev, const struct rxe_gsi_to *to, const uint8_t *mad)
{
	struct rxe_route *route;
	struct outgoing *o;
	int err;

	if (dev->gone || nr_waiting >= MAX_WAITING)
		return;
	o = calloc(1, sizeof(*o));
	if (!o)
		return;
	o->dev = dev;
	o->addr.sip = to->sip;
	o->addr.dip = to->dip;
	o->addr.traffic_class = to->traffic_class;
	o->addr.hop_limit = to->hop_limit;
	o->addr.flow_label = to->flow_label;
	memcpy(o->mad, mad, sizeof(o->mad));
	err = rxe_route_resolve(dev, &to->sip, &to->dip, resolved, o, &route);
	if (err == -EINPROGRESS) {
		TAILQ_INSERT_TAIL(&waiting, o, link);
		nr_waiting++;
		return;
	}
	if (!err)
		send_now(o, route);
	free(o);
}

void rxe_gsi_dev_gone(struct rxe_dev *dev)
{
	struct outgoing *o, *next;

	for (o = TAILQ_FIRST(&waiting); o; o = next) {
		next = TAILQ_NEXT(o, link);
		if (o->dev != dev)
			continue;
		rxe_route_cancel(o);
		drop_waiting(o);
	}
}
