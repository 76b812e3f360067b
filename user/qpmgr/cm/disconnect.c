/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ending a connection: DREQ, DREP, and then timewait. */
#include "cm/cm_int.h"

int cm_disconnect(struct cm_id *id)
{
	if (id->state != CM_ESTABLISHED)
		return -EINVAL;
	cm_form(id, CM_MSG_DREQ);
	cm_put(id->mad, CM_DREQ_QPN, id->remote_qpn);
	id->state = CM_DREQ_SENT;
	cm_send_tracked(id, id->timeout_ns);
	return 0;
}

int cm_drep(struct cm_id *id)
{
	if (id->state != CM_DREQ_RCVD)
		return -EINVAL;
	cm_form(id, CM_MSG_DREP);
	cm_enter_timewait(id);
	cm_send_once(id); /* again when the DREQ comes again */
	return 0;
}

/* The connection is not known any more: the peer may go, too. */
static void answer_unknown(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	uint8_t rep[CM_MAD_LEN];

	cm_mad_init(rep, CM_MSG_DREP, cm_get(mad, CM_TID));
	cm_put(rep, CM_LOCAL_COMM_ID, cm_get(mad, CM_REMOTE_COMM_ID));
	cm_put(rep, CM_REMOTE_COMM_ID, cm_get(mad, CM_LOCAL_COMM_ID));
	cm->ops->send(cm->ctx, path, rep);
}

void cm_rx_dreq(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_pair(cm, path, mad);
	struct cm_event ev = {.kind = CM_EV_DREQ};

	if (!id) {
		answer_unknown(cm, path, mad);
		return;
	}
	if (cm_get(mad, CM_DREQ_QPN) != id->local_qpn)
		return;
	switch (id->state) {
	case CM_REP_SENT: /* the RTU was lost */
	case CM_DREQ_SENT:
	case CM_ESTABLISHED:
		break;
	case CM_TIMEWAIT:
		cm_again(cm, path, false, mad);
		answer_unknown(cm, path, mad);
		return;
	default:
		return;
	}
	cm_stop(id);
	id->tid = cm_get(mad, CM_TID);
	id->state = CM_DREQ_RCVD;
	if (!id->owner) {
		cm_drep(id);
		return;
	}
	cm_event_priv(&ev, mad, CM_MSG_DREQ);
	cm_emit(id, &ev);
}

void cm_rx_drep(struct cm *cm, const struct cm_path *path, const uint8_t *mad)
{
	struct cm_id *id = cm_find_pair(cm, path, mad);
	struct cm_event ev = {.kind = CM_EV_DREP};

	if (!id || (id->state != CM_DREQ_SENT && id->state != CM_DREQ_RCVD))
		return;
	cm_enter_timewait(id);
	cm_event_priv(&ev, mad, CM_MSG_DREP);
	cm_emit(id, &ev);
}
