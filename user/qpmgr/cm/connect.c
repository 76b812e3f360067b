/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Making a connection: REQ, MRA, REP, RTU, REJ. */
#include "cm/cm_int.h"

#define DEFAULT_PKEY   0xffff
#define PERMISSIVE_LID 0xffff /* RoCE: the path is by GIDs */
#define MRA_TIMEOUT    24     /* as the kernel's rdma_cm: 65 s for the program to answer */
#define TRANSPORT_XRC  3
#define PSN_MASK       0xffffff

/*
 * The QP's ACK timeout: the path's round trip and the peer's delay, of which
 * the sum is the greater one or, when they are close, one more.
 */
static uint8_t ack_timeout(uint8_t delay, uint8_t life)
{
	uint8_t t = life + 1;

	if (t >= delay)
		t += delay >= t - 1;
	else
		t = delay + (t >= delay - 1);
	return t > 31 ? 31 : t;
}

/* ---- active side: REQ ------------------------------------------------------------ */

static void put_path(uint8_t *mad, const struct cm_path *path)
{
	cm_put(mad, CM_REQ_LOCAL_LID, PERMISSIVE_LID);
	cm_put(mad, CM_REQ_REMOTE_LID, PERMISSIVE_LID);
	memcpy(mad + CM_MAD_HDR + CM_REQ_LOCAL_GID, path->sgid, 16);
	memcpy(mad + CM_MAD_HDR + CM_REQ_REMOTE_GID, path->dgid, 16);
	cm_put(mad, CM_REQ_FLOW_LABEL, path->flow_label);
	cm_put(mad, CM_REQ_TRAFFIC_CLASS, path->traffic_class);
	cm_put(mad, CM_REQ_HOP_LIMIT, path->hop_limit);
	cm_put(mad, CM_REQ_SL, path->sl);
}

static void put_req(uint8_t *mad, uint64_t guid, const struct cm_params *p)
{
	cm_put(mad, CM_REQ_VENDOR_ID, p->ece_vendor);
	cm_put(mad, CM_ATTR_MOD, p->ece_options);
	cm_put(mad, CM_REQ_SERVICE_ID, p->service_id);
	cm_put(mad, CM_REQ_CA_GUID, guid);
	cm_put(mad, CM_REQ_QPN, p->qpn);
	cm_put(mad, CM_REQ_RESPONDER_RESOURCES, p->responder_resources);
	cm_put(mad, CM_REQ_INITIATOR_DEPTH, p->initiator_depth);
	cm_put(mad, CM_REQ_REMOTE_TIMEOUT, p->cm_timeout);
	cm_put(mad, CM_REQ_TRANSPORT, p->transport);
	cm_put(mad, CM_REQ_FLOW_CONTROL, p->flow_control != 0);
	cm_put(mad, CM_REQ_PSN, p->psn);
	cm_put(mad, CM_REQ_LOCAL_TIMEOUT, p->cm_timeout);
	cm_put(mad, CM_REQ_RETRY_COUNT, p->retry_count);
	cm_put(mad, CM_REQ_PKEY, DEFAULT_PKEY);
	cm_put(mad, CM_REQ_MTU, p->mtu);
	cm_put(mad, CM_REQ_RNR_RETRY, p->rnr_retry);
	cm_put(mad, CM_REQ_MAX_CM_RETRIES, p->max_cm_retries);
	cm_put(mad, CM_REQ_SRQ, p->srq != 0);
	cm_put(mad, CM_REQ_ACK_TIMEOUT, p->ack_timeout);
}

int cm_connect(struct cm_id *id, const struct cm_path *path, uint64_t guid,
	       const struct cm_params *p)
{
	if (id->state != CM_IDLE || p->ece_vendor > 0xffffff)
		return -EINVAL;
	cm_form(id, CM_MSG_REQ);
	if (cm_put_priv(id->mad, CM_MSG_REQ, p->priv, p->priv_len))
		return -EINVAL;
	id->path = *path;
	id->local_guid = guid;
	id->passive = false;
	id->transport = p->transport;
	id->local_qpn = p->qpn;
	id->local_psn = p->psn & PSN_MASK;
	id->mtu = p->mtu;
	id->responder_resources = p->responder_resources;
	id->initiator_depth = p->initiator_depth;
	id->retry_count = p->retry_count > 7 ? 7 : p->retry_count;
	id->rnr_retry = p->rnr_retry > 7 ? 7 : p->rnr_retry;
	id->ack_timeout = p->ack_timeout;
	id->max_retries = p->max_cm_retries;
	id->remote_id = 0;
	put_path(id->mad, path);
	put_req(id->mad, guid, p);
	id->state = CM_REQ_SENT;
	cm_send_tracked(id, 2 * cm_exp_ns(p->ack_timeout ? p->ack_timeout - 1 : 0) +
				    cm_exp_ns(p->cm_timeout));
	return 0;
}

/* ---- passive side ---------------------------------------------------------------------- */

/* A REJ to a message that belongs to no id here. */
static void refuse(struct cm *cm, const struct cm_path *path, const uint8_t *to, enum cm_rej reason,
		   enum cm_which which)
{
	uint8_t mad[CM_MAD_LEN];

	cm_mad_init(mad, CM_MSG_REJ, cm_get(to, CM_TID));
	cm_put(mad, CM_REMOTE_COMM_ID, cm_get(to, CM_LOCAL_COMM_ID));
	cm_put(mad, CM_REJ_WHICH, which);
	cm_put(mad, CM_REJ_REASON, reason);
	cm->ops->send(cm->ctx, path, mad);
}

/* The program takes its time: the peer shall wait instead of sending again. */
static void send_mra(struct cm_id *id, enum cm_which which)
{
	uint8_t mad[CM_MAD_LEN];

	cm_mad_init(mad, CM_MSG_MRA, id->tid);
	cm_put(mad, CM_LOCAL_COMM_ID, id->local_id);
	cm_put(mad, CM_REMOTE_COMM_ID, id->remote_id);
	cm_put(mad, CM_MRA_WHICH, which);
	cm_put(mad, CM_MRA_TIMEOUT, MRA_TIMEOUT);
	id->cm->ops->send(id->cm->ctx, &id->path, mad);
}

static void take_req(struct cm_id *id, const struct cm_path *path, const uint8_t *mad)
{
	id->path = *path;
	id->passive = true;
	id->tid = cm_get(mad, CM_TID);
	id->remote_id = (uint32_t)cm_get(mad, CM_LOCAL_COMM_ID);
	id->remote_guid = cm_get(mad, CM_REQ_CA_GUID);
	id->remote_qpn = (uint32_t)cm_get(mad, CM_REQ_QPN);
	id->remote_psn = (uint32_t)cm_get(mad, CM_REQ_PSN);
	id->transport = (enum cm_transport)cm_get(mad, CM_REQ_TRANSPORT);
	id->service_id = cm_get(mad, CM_REQ_SERVICE_ID);
	id->mtu = (uint8_t)cm_get(mad, CM_REQ_MTU);
	id->responder_resources = (uint8_t)cm_get(mad, CM_REQ_INITIATOR_DEPTH);
	id->initiator_depth = (uint8_t)cm_get(mad, CM_REQ_RESPONDER_RESOURCES);
	id->retry_count = (uint8_t)cm_get(mad, CM_REQ_RETRY_COUNT);
	id->rnr_retry = (uint8_t)cm_get(mad, CM_REQ_RNR_RETRY);
	id->ack_timeout = (uint8_t)cm_get(mad, CM_REQ_ACK_TIMEOUT);
	id->timeout_ns = cm_exp_ns((uint8_t)cm_get(mad, CM_REQ_LOCAL_TIMEOUT));
	id->max_retries = (uint8_t)cm_get(mad, CM_REQ_MAX_CM_RETRIES);
	id->peer_ece_vendor = (uint32_t)cm_get(mad, CM_REQ_VENDOR_ID);
	id->peer_ece_options = (uint32_t)cm_get(mad, CM_ATTR_MOD);
	id->path.flow_label = (uint32_t)cm_get(mad, CM_REQ_FLOW_LABEL);
	id->path.traffic_class = (uint8_t)cm_get(mad, CM_REQ_TRAFFIC_CLASS);
	id->path.sl = (uint8_t)cm_get(mad, CM_REQ_SL);
}

static void describe_req(struct cm_event *ev, const struct cm_id *id, const uint8_t *mad)
{
	ev->p = (struct cm_params){
		.service_id = id->service_id,
		.transport = id->transport,
		.qpn = id->remote_qpn,
		.psn = id->remote_psn,
		.responder_resources = id->responder_resources,
		.initiator_depth = id->initiator_depth,
		.flow_control = (uint8_t)cm_get(mad, CM_REQ_FLOW_CONTROL),
		.retry_count = id->retry_count,
		.rnr_retry = id->rnr_retry,
		.srq = (uint8_t)cm_get(mad, CM_REQ_SRQ),
		.mtu = id->mtu,
		.ack_timeout = id->ack_timeout,
		.ece_vendor = id->peer_ece_vendor,
		.ece_options = id->peer_ece_options,
	};
	cm_event_priv(ev, mad, CM_MSG_REQ);
}

/* The REQ's own path must be that of the packet: answers and data go there. */
static bool path_agrees(const struct cm_path *path, const uint8_t *mad)
{
	return !memcmp(mad + CM_MAD_HDR + CM_REQ_LOCAL_GID, path->dgid, 16) &&
	       !memcmp(mad + CM_MAD_HDR + CM_REQ_REMOTE_GID, path->sgid, 16);
}

/* A REQ that an id exists for already: true when that is so. */
static bool duplicate_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_remote(cm, cm_get(mad, CM_REQ_CA_GUID),
					  (uint32_t)cm_get(mad, CM_LOCAL_COMM_ID));

	if (!id)
		return false;
	cm_again(cm, path, false, mad);
	if (id->state == CM_REQ_RCVD && cm_same_peer(id, path))
		send_mra(id, CM_WHICH_REQ);
	return true; /* REP_SENT: the REP comes again by its own timer */
}

/* The peer uses a QP that we think is connected: it forgot, or is a new life of it. */
static bool stale_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id =
		cm_find_qpn(cm, cm_get(mad, CM_REQ_CA_GUID), (uint32_t)cm_get(mad, CM_REQ_QPN));

	if (!id)
		return false;
	refuse(cm, path, mad, CM_REJ_STALE_CONN, CM_WHICH_REQ);
	if (id->state == CM_ESTABLISHED && cm_same_peer(id, path))
		cm_disconnect(id);
	return true;
}

static enum cm_rej check_req(const struct cm_path *path, const uint8_t *mad)
{
	uint64_t transport = cm_get(mad, CM_REQ_TRANSPORT), mtu = cm_get(mad, CM_REQ_MTU);

	if (transport != CM_RC && transport != CM_UC)
		return CM_REJ_INVALID_TRANSPORT;
	if (!path_agrees(path, mad))
		return CM_REJ_INVALID_GID;
	return mtu < 1 || mtu > 5 ? CM_REJ_UNSUPPORTED : 0;
}

void cm_rx_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_event ev = {.kind = CM_EV_REQ};
	enum cm_rej fault = check_req(path, mad);
	struct cm_id *id;
	int ret;

	if (duplicate_req(cm, path, mad))
		return;
	if (fault) {
		refuse(cm, path, mad, fault, CM_WHICH_REQ);
		return;
	}
	if (stale_req(cm, path, mad))
		return;
	id = cm_id_new(cm, NULL);
	if (!id)
		return;
	take_req(id, path, mad);
	id->state = CM_REQ_RCVD;
	cm_hash_remote(id);
	cm_hash_qpn(id);
	describe_req(&ev, id, mad);
	ret = cm->ops->request(cm->ctx, id, &ev);
	if (ret > 0)
		refuse(cm, path, mad, (enum cm_rej)ret, CM_WHICH_REQ);
	if (ret)
		cm_id_free(id);
}

static void put_rep(uint8_t *mad, uint64_t guid, const struct cm_params *p)
{
	cm_put(mad, CM_ATTR_MOD, p->ece_options);
	cm_put(mad, CM_REP_VENDOR_H, p->ece_vendor >> 16);
	cm_put(mad, CM_REP_VENDOR_M, p->ece_vendor >> 8);
	cm_put(mad, CM_REP_VENDOR_L, p->ece_vendor);
	cm_put(mad, CM_REP_QPN, p->qpn);
	cm_put(mad, CM_REP_PSN, p->psn);
	cm_put(mad, CM_REP_RESPONDER_RESOURCES, p->responder_resources);
	cm_put(mad, CM_REP_INITIATOR_DEPTH, p->initiator_depth);
	cm_put(mad, CM_REP_ACK_DELAY, p->ack_delay);
	cm_put(mad, CM_REP_FLOW_CONTROL, p->flow_control != 0);
	cm_put(mad, CM_REP_RNR_RETRY, p->rnr_retry);
	cm_put(mad, CM_REP_SRQ, p->srq != 0);
	cm_put(mad, CM_REP_CA_GUID, guid);
}

int cm_accept(struct cm_id *id, uint64_t guid, const struct cm_params *p)
{
	if (id->state != CM_REQ_RCVD || p->ece_vendor > 0xffffff)
		return -EINVAL;
	cm_form(id, CM_MSG_REP);
	if (cm_put_priv(id->mad, CM_MSG_REP, p->priv, p->priv_len))
		return -EINVAL;
	id->local_guid = guid;
	id->local_qpn = p->qpn;
	id->local_psn = p->psn & PSN_MASK;
	id->initiator_depth = p->initiator_depth;
	id->responder_resources = p->responder_resources;
	id->ack_timeout = ack_timeout(p->ack_delay, id->ack_timeout ? id->ack_timeout - 1 : 0);
	put_rep(id->mad, guid, p);
	id->state = CM_REP_SENT;
	cm_send_tracked(id, id->timeout_ns);
	return 0;
}

/* ---- active side: REP, RTU ----------------------------------------------------------------- */

static uint32_t rep_vendor(const uint8_t *mad)
{
	return (uint32_t)(cm_get(mad, CM_REP_VENDOR_H) << 16 | cm_get(mad, CM_REP_VENDOR_M) << 8 |
			  cm_get(mad, CM_REP_VENDOR_L));
}

static void take_rep(struct cm_id *id, const uint8_t *mad)
{
	id->remote_id = (uint32_t)cm_get(mad, CM_LOCAL_COMM_ID);
	id->remote_guid = cm_get(mad, CM_REP_CA_GUID);
	id->remote_qpn = (uint32_t)cm_get(mad, CM_REP_QPN);
	id->remote_psn = (uint32_t)cm_get(mad, CM_REP_PSN);
	id->initiator_depth = (uint8_t)cm_get(mad, CM_REP_RESPONDER_RESOURCES);
	id->responder_resources = (uint8_t)cm_get(mad, CM_REP_INITIATOR_DEPTH);
	id->rnr_retry = (uint8_t)cm_get(mad, CM_REP_RNR_RETRY);
	id->target_ack_delay = (uint8_t)cm_get(mad, CM_REP_ACK_DELAY);
	id->ack_timeout =
		ack_timeout(id->target_ack_delay, id->ack_timeout ? id->ack_timeout - 1 : 0);
	id->peer_ece_vendor = rep_vendor(mad);
	id->peer_ece_options = (uint32_t)cm_get(mad, CM_ATTR_MOD);
}

static void describe_rep(struct cm_event *ev, const struct cm_id *id, const uint8_t *mad)
{
	ev->p = (struct cm_params){
		.qpn = id->remote_qpn,
		.psn = id->remote_psn,
		.responder_resources = id->responder_resources,
		.initiator_depth = id->initiator_depth,
		.flow_control = (uint8_t)cm_get(mad, CM_REP_FLOW_CONTROL),
		.rnr_retry = id->rnr_retry,
		.srq = (uint8_t)cm_get(mad, CM_REP_SRQ),
		.ack_delay = id->target_ack_delay,
		.ece_vendor = id->peer_ece_vendor,
		.ece_options = id->peer_ece_options,
	};
	cm_event_priv(ev, mad, CM_MSG_REP);
}

/* Our RTU was lost, or the program has not answered yet. */
static void duplicate_rep(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_pair(cm, path, mad);

	if (id)
		cm_again(cm, path, false, mad);
	if (id && id->state == CM_ESTABLISHED && !id->passive)
		cm_send_once(id);
	else if (id && id->state == CM_REP_RCVD)
		send_mra(id, CM_WHICH_REP);
}

void cm_rx_rep(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_local(cm, (uint32_t)cm_get(mad, CM_REMOTE_COMM_ID));
	struct cm_event ev = {.kind = CM_EV_REP};

	if (!id || id->state != CM_REQ_SENT || !cm_same_peer(id, path)) {
		duplicate_rep(cm, path, mad);
		return;
	}
	if (cm_find_qpn(cm, cm_get(mad, CM_REP_CA_GUID), (uint32_t)cm_get(mad, CM_REP_QPN))) {
		refuse(cm, path, mad, CM_REJ_STALE_CONN, CM_WHICH_REP);
		return;
	}
	if (cm_find_remote(cm, cm_get(mad, CM_REP_CA_GUID),
			   (uint32_t)cm_get(mad, CM_LOCAL_COMM_ID)))
		return;
	cm_stop(id);
	take_rep(id, mad);
	id->timeout_ns = cm_exp_ns((uint8_t)cm_get(id->mad, CM_REQ_REMOTE_TIMEOUT));
	id->state = CM_REP_RCVD;
	cm_hash_remote(id);
	cm_hash_qpn(id);
	describe_rep(&ev, id, mad);
	cm_emit(id, &ev);
}

int cm_rtu(struct cm_id *id, const void *priv, size_t len)
{
	if (id->state != CM_REP_RCVD)
		return -EINVAL;
	cm_form(id, CM_MSG_RTU);
	if (cm_put_priv(id->mad, CM_MSG_RTU, priv, len))
		return -EINVAL;
	id->state = CM_ESTABLISHED;
	cm_send_once(id); /* again when the REP comes again */
	return 0;
}

void cm_rx_rtu(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_pair(cm, path, mad);
	struct cm_event ev = {.kind = CM_EV_ESTABLISHED};

	if (!id || id->state != CM_REP_SENT)
		return;
	cm_stop(id);
	id->state = CM_ESTABLISHED;
	cm_event_priv(&ev, mad, CM_MSG_RTU);
	cm_emit(id, &ev);
}

int cm_establish(struct cm_id *id)
{
	if (id->state == CM_ESTABLISHED)
		return -EISCONN;
	if (id->state != CM_REP_SENT)
		return -EINVAL;
	cm_stop(id);
	id->state = CM_ESTABLISHED;
	cm_emit_kind(id, CM_EV_ESTABLISHED, 0);
	return 0;
}

/* ---- MRA, REJ ----------------------------------------------------------------------------------- */

void cm_rx_mra(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_local(cm, (uint32_t)cm_get(mad, CM_REMOTE_COMM_ID));
	enum cm_which which = (enum cm_which)cm_get(mad, CM_MRA_WHICH);

	if (!id || !cm_same_peer(id, path))
		return;
	if ((which != CM_WHICH_REQ || id->state != CM_REQ_SENT) &&
	    (which != CM_WHICH_REP || id->state != CM_REP_SENT))
		return;
	rxe_deadline_arm(&cm->timers, &id->timer,
			 cm->now + id->timeout_ns +
				 cm_exp_ns((uint8_t)cm_get(mad, CM_MRA_TIMEOUT)));
}

static void form_rej(struct cm_id *id, enum cm_rej reason)
{
	enum cm_which which = CM_WHICH_OTHER;

	if (id->state == CM_REQ_RCVD)
		which = CM_WHICH_REQ;
	else if (id->state == CM_REP_RCVD)
		which = CM_WHICH_REP;
	cm_form(id, CM_MSG_REJ);
	cm_put(id->mad, CM_REJ_WHICH, which);
	cm_put(id->mad, CM_REJ_REASON, reason);
}

void cm_send_rej(struct cm_id *id, enum cm_rej reason, const void *info, size_t info_len)
{
	form_rej(id, reason);
	cm_put(id->mad, CM_REJ_INFO_LEN, info_len);
	if (info_len)
		memcpy(id->mad + CM_MAD_HDR + CM_REJ_INFO, info, info_len);
	cm_send_once(id);
}

int cm_reject(struct cm_id *id, enum cm_rej reason, const void *priv, size_t len)
{
	size_t room;

	cm_private_data(id->mad, CM_MSG_REJ, &room);
	if (len > room || (id->state != CM_REQ_SENT && id->state != CM_REQ_RCVD &&
			   id->state != CM_REP_RCVD && id->state != CM_REP_SENT))
		return -EINVAL;
	cm_stop(id);
	form_rej(id, reason);
	cm_put_priv(id->mad, CM_MSG_REJ, priv, len);
	cm_send_once(id);
	if (id->state == CM_REP_SENT)
		cm_enter_timewait(id);
	else
		cm_reset(id);
	return 0;
}

/* A side that gave up waiting may not know our id: it says its GUID instead. */
static struct cm_id *rejected_id(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	const uint8_t *info = mad + CM_MAD_HDR + CM_REJ_INFO;
	struct cm_id *id;
	uint64_t guid = 0;

	if (cm_get(mad, CM_REJ_REASON) == CM_REJ_TIMEOUT) {
		for (int i = 0; i < 8; i++)
			guid = guid << 8 | info[i];
		id = cm_find_remote(cm, guid, (uint32_t)cm_get(mad, CM_LOCAL_COMM_ID));
	} else {
		id = cm_find_local(cm, (uint32_t)cm_get(mad, CM_REMOTE_COMM_ID));
		if (id && cm_get(mad, CM_REJ_WHICH) != CM_WHICH_REQ &&
		    id->remote_id != cm_get(mad, CM_LOCAL_COMM_ID))
			return NULL;
	}
	return id && cm_same_peer(id, path) ? id : NULL;
}

void cm_rx_rej(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = rejected_id(cm, path, mad);
	struct cm_event ev = {.kind = CM_EV_REJ};

	if (!id)
		return;
	switch (id->state) {
	case CM_REQ_SENT:
	case CM_REP_SENT:
	case CM_REQ_RCVD:
		if (cm_get(mad, CM_REJ_REASON) == CM_REJ_STALE_CONN)
			cm_enter_timewait(id);
		else if (cm_reset(id))
			return;
		break;
	case CM_REP_RCVD:
	case CM_ESTABLISHED:
	case CM_DREQ_SENT:
		cm_enter_timewait(id);
		break;
	default:
		return;
	}
	ev.status = (int)cm_get(mad, CM_REJ_REASON);
	ev.p.ece_vendor = id->peer_ece_vendor;
	cm_event_priv(&ev, mad, CM_MSG_REJ);
	cm_emit(id, &ev);
}
