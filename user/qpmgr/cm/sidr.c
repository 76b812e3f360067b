/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service resolution for unreliable datagrams: SIDR_REQ, SIDR_REP. */
#include "cm/cm_int.h"

#define DEFAULT_PKEY 0xffff

int cm_sidr_request(struct cm_id *id, const struct cm_path *path, const struct cm_params *p)
{
	if (id->state != CM_IDLE)
		return -EINVAL;
	cm_form(id, CM_MSG_SIDR_REQ);
	if (cm_put_priv(id->mad, CM_MSG_SIDR_REQ, p->priv, p->priv_len))
		return -EINVAL;
	id->path = *path;
	id->passive = false;
	id->service_id = p->service_id;
	id->max_retries = p->max_cm_retries;
	cm_put(id->mad, CM_SIDR_REQ_PKEY, DEFAULT_PKEY);
	cm_put(id->mad, CM_SIDR_REQ_SERVICE_ID, p->service_id);
	id->state = CM_SIDR_REQ_SENT;
	cm_send_tracked(id, cm_exp_ns(p->cm_timeout));
	return 0;
}

static void put_sidr_rep(uint8_t *mad, const struct cm_id *id, enum cm_sidr_status status)
{
	cm_put(mad, CM_SIDR_REP_ID, id->remote_id);
	cm_put(mad, CM_SIDR_REP_STATUS, status);
	cm_put(mad, CM_SIDR_REP_SERVICE_ID, id->service_id);
}

int cm_sidr_reply(struct cm_id *id, enum cm_sidr_status status, const struct cm_params *p)
{
	if (id->state != CM_SIDR_REQ_RCVD)
		return -EINVAL;
	cm_form(id, CM_MSG_SIDR_REP);
	if (p && cm_put_priv(id->mad, CM_MSG_SIDR_REP, p->priv, p->priv_len))
		return -EINVAL;
	put_sidr_rep(id->mad, id, status);
	if (p && status == CM_SIDR_SUCCESS) {
		cm_put(id->mad, CM_SIDR_REP_QPN, p->qpn);
		cm_put(id->mad, CM_SIDR_REP_QKEY, p->qkey);
		cm_put(id->mad, CM_ATTR_MOD, p->ece_options);
		cm_put(id->mad, CM_SIDR_REP_VENDOR_H, p->ece_vendor >> 8);
		cm_put(id->mad, CM_SIDR_REP_VENDOR_L, p->ece_vendor);
	}
	cm_send_once(id);
	cm_unhash_peer(id);
	id->state = CM_IDLE; /* a lost reply: the peer asks again */
	return 0;
}

void cm_rx_sidr_req(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	uint32_t remote = (uint32_t)cm_get(mad, CM_SIDR_REQ_ID);
	struct cm_event ev = {.kind = CM_EV_SIDR_REQ};
	struct cm_id *id;
	uint64_t peer;
	int ret;

	memcpy(&peer, path->dgid + 8, sizeof(peer)); /* no CA GUID in this message */
	if (cm_find_remote(cm, peer, remote)) {
		cm_again(cm, path, false, mad);
		return; /* the program has not answered yet */
	}
	id = cm_id_new(cm, NULL);
	if (!id)
		return;
	id->path = *path;
	id->passive = true;
	id->tid = cm_get(mad, CM_TID);
	id->remote_id = remote;
	id->remote_guid = peer;
	id->service_id = cm_get(mad, CM_SIDR_REQ_SERVICE_ID);
	id->state = CM_SIDR_REQ_RCVD;
	cm_hash_remote(id);
	ev.p.service_id = id->service_id;
	cm_event_priv(&ev, mad, CM_MSG_SIDR_REQ);
	ret = cm->ops->request(cm->ctx, id, &ev);
	if (ret > 0)
		cm_sidr_reply(id, (enum cm_sidr_status)ret, NULL);
	if (ret)
		cm_id_free(id);
}

void cm_rx_sidr_rep(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_local(cm, (uint32_t)cm_get(mad, CM_SIDR_REP_ID));
	struct cm_event ev = {.kind = CM_EV_SIDR_REP};

	if (!id || id->state != CM_SIDR_REQ_SENT || !cm_same_peer(id, path))
		return;
	cm_stop(id);
	id->state = CM_IDLE;
	ev.status = (int)cm_get(mad, CM_SIDR_REP_STATUS);
	ev.p.qpn = (uint32_t)cm_get(mad, CM_SIDR_REP_QPN);
	ev.p.qkey = (uint32_t)cm_get(mad, CM_SIDR_REP_QKEY);
	ev.p.ece_options = (uint32_t)cm_get(mad, CM_ATTR_MOD);
	ev.p.ece_vendor = (uint32_t)(cm_get(mad, CM_SIDR_REP_VENDOR_H) << 8 |
				     cm_get(mad, CM_SIDR_REP_VENDOR_L));
	cm_event_priv(&ev, mad, CM_MSG_SIDR_REP);
	cm_emit(id, &ev);
}
