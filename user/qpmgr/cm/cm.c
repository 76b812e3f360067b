/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CM as a whole: its ids and how they are found, retries and timewait by
 * deadlines, and which function takes which message.
 */
#include "cm/cm_int.h"

#include <stdlib.h>

#define TID_HIGH       2ull /* the kernel's CM is agent 2 */
#define ORPHAN_RETRIES 3    /* of a DREQ that nobody waits for any more */

/* ---- finding ---------------------------------------------------------------- */

static uint32_t bucket(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(key >> 40) % CM_BUCKETS;
}

static uint64_t peer_key(uint64_t guid, uint32_t number)
{
	return guid ^ ((uint64_t)number << 20);
}

struct cm_id *cm_find_local(struct cm *cm, uint32_t local_id)
{
	struct cm_id *id;

	LIST_FOREACH (id, &cm->local[bucket(local_id)], by_local)
		if (id->local_id == local_id)
			return id;
	return NULL;
}

struct cm_id *cm_find_remote(struct cm *cm, uint64_t guid, uint32_t remote_id)
{
	struct cm_id *id;

	LIST_FOREACH (id, &cm->remote[bucket(peer_key(guid, remote_id))], by_remote)
		if (id->remote_guid == guid && id->remote_id == remote_id)
			return id;
	return NULL;
}

struct cm_id *cm_find_qpn(struct cm *cm, uint64_t guid, uint32_t qpn)
{
	struct cm_id *id;

	LIST_FOREACH (id, &cm->qpn[bucket(peer_key(guid, qpn))], by_qpn)
		if (id->remote_guid == guid && id->remote_qpn == qpn)
			return id;
	return NULL;
}

bool cm_same_peer(const struct cm_id *id, const struct cm_path *path)
{
	return id->path.port == path->port &&
	       !memcmp(id->path.dgid, path->dgid, sizeof(path->dgid)) &&
	       !memcmp(id->path.sgid, path->sgid, sizeof(path->sgid));
}

struct cm_id *cm_find_pair(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_local(cm, (uint32_t)cm_get(mad, CM_REMOTE_COMM_ID));

	if (!id || !cm_same_peer(id, path) || id->remote_id != cm_get(mad, CM_LOCAL_COMM_ID))
		return NULL;
	return id;
}

void cm_hash_remote(struct cm_id *id)
{
	LIST_INSERT_HEAD(&id->cm->remote[bucket(peer_key(id->remote_guid, id->remote_id))], id,
			 by_remote);
	id->hashed_remote = true;
}

void cm_hash_qpn(struct cm_id *id)
{
	LIST_INSERT_HEAD(&id->cm->qpn[bucket(peer_key(id->remote_guid, id->remote_qpn))], id,
			 by_qpn);
	id->hashed_qpn = true;
}

void cm_unhash_peer(struct cm_id *id)
{
	if (id->hashed_remote)
		LIST_REMOVE(id, by_remote);
	if (id->hashed_qpn)
		LIST_REMOVE(id, by_qpn);
	id->hashed_remote = id->hashed_qpn = false;
}

/* ---- life ----------------------------------------------------------------------- */

static void expired(struct rxe_deadline *d);

struct cm_id *cm_id_new(struct cm *cm, void *owner)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	if (rxe_timers_reserve(&cm->timers, 1)) {
		free(id);
		return NULL;
	}
	id->cm = cm;
	id->owner = owner;
	id->timer.expired = expired;
	do
		id->local_id = cm->next_id++ ^ cm->id_mask;
	while (!id->local_id || cm_find_local(cm, id->local_id));
	id->tid = TID_HIGH << 32 | id->local_id;
	LIST_INSERT_HEAD(&cm->local[bucket(id->local_id)], id, by_local);
	cm->nr_ids++;
	return id;
}

void cm_id_free(struct cm_id *id)
{
	struct cm *cm = id->cm;

	cm_stop(id);
	cm_unhash_peer(id);
	LIST_REMOVE(id, by_local);
	rxe_timers_release(&cm->timers, 1);
	cm->nr_ids--;
	free(id);
}

struct cm *cm_new(const struct cm_ops *ops, void *ctx)
{
	struct cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return NULL;
	cm->ops = ops;
	cm->ctx = ctx;
	cm->id_mask = ops->random(ctx); /* so that a restart does not begin anew with 1 */
	cm->next_id = ops->random(ctx);
	return cm;
}

void cm_free(struct cm *cm)
{
	struct cm_id *id;

	for (int i = 0; i < CM_BUCKETS; i++)
		while ((id = LIST_FIRST(&cm->local[i])))
			cm_id_free(id);
	rxe_timers_fini(&cm->timers);
	free(cm);
}

void cm_set_now(struct cm *cm, uint64_t now_ns)
{
	cm->now = now_ns;
}

void cm_port_gone(struct cm *cm, const void *port)
{
	struct cm_id *id, *next;

	for (int i = 0; i < CM_BUCKETS; i++)
		for (id = LIST_FIRST(&cm->local[i]); id; id = next) {
			next = LIST_NEXT(id, by_local);
			if (id->path.port != port)
				continue;
			cm_unhash_peer(id);
			id->path.port = NULL;
			cm_reset(id);
		}
}

uint32_t cm_count(const struct cm *cm, const void *port)
{
	const struct cm_id *id;
	uint32_t n = 0;

	for (int i = 0; i < CM_BUCKETS; i++)
		LIST_FOREACH (id, &cm->local[i], by_local)
			n += id->path.port == port;
	return n;
}

bool cm_reset(struct cm_id *id)
{
	cm_stop(id);
	id->state = CM_IDLE;
	if (id->owner) {
		cm_unhash_peer(id);
		return false;
	}
	cm_id_free(id);
	return true;
}

/* What the peer is told when an owner lets go, and whether there is more to wait for. */
static bool farewell(struct cm_id *id)
{
	uint8_t guid[8];

	switch (id->state) {
	case CM_REQ_SENT:
		for (int i = 0; i < 8; i++)
			guid[i] = (uint8_t)(id->local_guid >> (56 - 8 * i));
		cm_send_rej(id, CM_REJ_TIMEOUT, guid, sizeof(guid));
		return false;
	case CM_REQ_RCVD:
	case CM_REP_SENT:
	case CM_REP_RCVD:
		cm_send_rej(id, CM_REJ_CONSUMER, NULL, 0);
		return false;
	case CM_SIDR_REQ_RCVD:
		cm_sidr_reply(id, CM_SIDR_REJECT, NULL);
		return false;
	case CM_ESTABLISHED:
		cm_disconnect(id);
		id->retries_left = ORPHAN_RETRIES;
		return true;
	case CM_DREQ_RCVD:
		cm_drep(id);
		return true;
	case CM_DREQ_SENT:
		if (id->retries_left > ORPHAN_RETRIES)
			id->retries_left = ORPHAN_RETRIES;
		return true;
	default:
		return id->state == CM_TIMEWAIT;
	}
}

void cm_id_destroy(struct cm_id *id)
{
	if (!farewell(id)) {
		cm_id_free(id);
		return;
	}
	id->owner = NULL;
	cm_unhash_peer(id); /* a new connection may have these numbers */
}

/* ---- sending ------------------------------------------------------------------------- */

void cm_form(struct cm_id *id, enum cm_msg msg)
{
	cm_mad_init(id->mad, msg, id->tid);
	cm_put(id->mad, CM_LOCAL_COMM_ID, id->local_id);
	if (msg != CM_MSG_REQ && msg != CM_MSG_SIDR_REQ && msg != CM_MSG_SIDR_REP)
		cm_put(id->mad, CM_REMOTE_COMM_ID, id->remote_id);
	id->has_mad = true;
}

int cm_put_priv(uint8_t *mad, enum cm_msg msg, const void *priv, size_t len)
{
	size_t room;
	uint8_t *p = cm_private_data(mad, msg, &room);

	if (len > room)
		return -EINVAL;
	if (len)
		memcpy(p, priv, len);
	return 0;
}

void cm_again(struct cm *cm, const struct cm_path *path, bool sent, const uint8_t *mad)
{
	if (cm->ops->again)
		cm->ops->again(cm->ctx, path, sent, mad);
}

void cm_send_once(struct cm_id *id)
{
	id->cm->ops->send(id->cm->ctx, &id->path, id->mad);
}

void cm_send_tracked(struct cm_id *id, uint64_t timeout_ns)
{
	id->timeout_ns = timeout_ns;
	id->retries_left = id->max_retries;
	rxe_deadline_arm(&id->cm->timers, &id->timer, id->cm->now + timeout_ns);
	cm_send_once(id);
}

void cm_stop(struct cm_id *id)
{
	rxe_deadline_cancel(&id->cm->timers, &id->timer);
}

void cm_emit(struct cm_id *id, struct cm_event *ev)
{
	if (id->owner)
		id->cm->ops->event(id->cm->ctx, id, ev);
}

void cm_emit_kind(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event ev = {.kind = kind, .status = status};

	cm_emit(id, &ev);
}

void cm_event_priv(struct cm_event *ev, const uint8_t *mad, enum cm_msg msg)
{
	ev->priv = cm_private_data((uint8_t *)mad, msg, &ev->priv_len);
}

uint64_t cm_exp_ns(uint8_t n)
{
	return (1ull << (n > 8 ? n - 8 : 0)) * 1000000;
}

/* ---- deadlines -------------------------------------------------------------------------- */

void cm_enter_timewait(struct cm_id *id)
{
	cm_unhash_peer(id);
	id->state = CM_TIMEWAIT;
	rxe_deadline_arm(&id->cm->timers, &id->timer, id->cm->now + cm_exp_ns(id->ack_timeout));
}

/* Retries are used up, or timewait is over. */
static void give_up(struct cm_id *id)
{
	switch (id->state) {
	case CM_REQ_SENT:
		if (!cm_reset(id))
			cm_emit_kind(id, CM_EV_REQ_ERROR, -ETIMEDOUT);
		break;
	case CM_SIDR_REQ_SENT:
		if (!cm_reset(id))
			cm_emit_kind(id, CM_EV_SIDR_ERROR, -ETIMEDOUT);
		break;
	case CM_REP_SENT:
		if (!cm_reset(id))
			cm_emit_kind(id, CM_EV_REP_ERROR, -ETIMEDOUT);
		break;
	case CM_DREQ_SENT:
		cm_enter_timewait(id);
		cm_emit_kind(id, CM_EV_DREQ_ERROR, -ETIMEDOUT);
		break;
	case CM_TIMEWAIT:
		if (!cm_reset(id))
			cm_emit_kind(id, CM_EV_TIMEWAIT_EXIT, 0);
		break;
	default:
		break;
	}
}

static void expired(struct rxe_deadline *d)
{
	struct cm_id *id = (struct cm_id *)((char *)d - offsetof(struct cm_id, timer));

	if (id->state == CM_TIMEWAIT || !id->retries_left) {
		give_up(id);
		return;
	}
	id->retries_left--;
	rxe_deadline_arm(&id->cm->timers, d, id->cm->now + id->timeout_ns);
	cm_again(id->cm, &id->path, true, id->mad);
	cm_send_once(id);
}

void cm_run(struct cm *cm)
{
	struct rxe_deadline *d;

	while ((d = rxe_timers_due(&cm->timers, cm->now)))
		d->expired(d);
}

uint64_t cm_next(const struct cm *cm)
{
	return rxe_timers_next(&cm->timers);
}

/* ---- receiving ------------------------------------------------------------------------------ */

typedef void (*rx_fn)(struct cm *cm, const struct cm_path *path, const uint8_t *mad);
static const rx_fn receivers[CM_MSG_LAST - CM_MSG_FIRST + 1] = {
	[CM_MSG_REQ - CM_MSG_FIRST] = cm_rx_req,
	[CM_MSG_MRA - CM_MSG_FIRST] = cm_rx_mra,
	[CM_MSG_REJ - CM_MSG_FIRST] = cm_rx_rej,
	[CM_MSG_REP - CM_MSG_FIRST] = cm_rx_rep,
	[CM_MSG_RTU - CM_MSG_FIRST] = cm_rx_rtu,
	[CM_MSG_DREQ - CM_MSG_FIRST] = cm_rx_dreq,
	[CM_MSG_DREP - CM_MSG_FIRST] = cm_rx_drep,
	[CM_MSG_SIDR_REQ - CM_MSG_FIRST] = cm_rx_sidr_req,
	[CM_MSG_SIDR_REP - CM_MSG_FIRST] = cm_rx_sidr_rep,
};

void cm_rx(struct cm *cm, const struct cm_path *path, const uint8_t *mad, size_t len)
{
	int msg = cm_mad_check(mad, len);

	if (msg > 0)
		receivers[msg - CM_MSG_FIRST](cm, path, mad);
}
