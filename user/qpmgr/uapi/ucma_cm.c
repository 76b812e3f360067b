/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_cm on top of the connection manager: connect, accept, reject,
 * disconnect; its events as the program gets them, in the kernel's order.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "cm/ip_header.h"
#include "gsi.h"
#include "rtnl.h"

#define CM_TIMEOUT	20  /* CMA_CM_RESPONSE_TIMEOUT: 4.3 s */
#define CM_RETRIES	15  /* CMA_MAX_CM_RETRIES */
#define PACKET_LIFETIME 18  /* CMA_IBOE_PACKET_LIFETIME */
#define ACK_DELAY	15  /* what the device reports as local_ca_ack_delay */
#define QP_ACCESS	0x2 /* IB_ACCESS_REMOTE_WRITE */
#define QP_ACCESS_READ	0xc /* IB_ACCESS_REMOTE_READ and _ATOMIC */

/* ---- the CM and its owner --------------------------------------------------------------- */

static struct cm *the_cm;
static struct rxe_timer cm_timer;

static void count(struct rxe_dev *dev, enum rxe_cm_count what, const uint8_t *mad)
{
	int msg = cm_mad_check(mad, CM_MAD_LEN);

	if (dev && msg >= 0)
		dev->cm_msgs[what][msg - CM_MSG_FIRST]++;
}

static void op_again(void *ctx, const struct cm_path *path, bool sent, const uint8_t *mad)
{
	(void)ctx;
	count(path->port, sent ? RXE_CM_TX_RETRIES : RXE_CM_RX_DUPLICATES, mad);
}

static void op_send(void *ctx, const struct cm_path *path, const uint8_t mad[CM_MAD_LEN])
{
	struct rxe_gsi_to to = {.traffic_class = path->traffic_class,
				.hop_limit = path->hop_limit ? path->hop_limit : 64,
				.flow_label = path->flow_label};

	(void)ctx;
	memcpy(to.sip.raw, path->sgid, 16);
	memcpy(to.dip.raw, path->dgid, 16);
	if (path->port)
		rxe_gsi_send_mad(path->port, &to, mad);
	count(path->port, RXE_CM_TX_MSGS, mad);
}

static uint32_t op_random(void *ctx)
{
	uint32_t v = 0;

	(void)ctx;
	return getrandom(&v, sizeof(v), 0) == sizeof(v) ? v : (uint32_t)rxe_now_ns();
}

static int op_request(void *ctx, struct cm_id *cm, const struct cm_event *ev);
static void op_event(void *ctx, struct cm_id *cm, const struct cm_event *ev);

static const struct cm_ops ops = {.send = op_send,
				  .request = op_request,
				  .event = op_event,
				  .random = op_random,
				  .again = op_again};

static void on_timer(struct rxe_timer *t)
{
	(void)t;
	cm_run(ucma_cm());
	ucma_cm_rearm();
}

struct cm *ucma_cm(void)
{
	if (!the_cm) {
		the_cm = cm_new(&ops, NULL);
		cm_timer.cb = on_timer;
	}
	if (the_cm)
		cm_set_now(the_cm, rxe_now_ns());
	return the_cm;
}

void ucma_cm_rearm(void)
{
	uint64_t due = cm_next(the_cm), now = rxe_now_ns();

	if (cm_timer.armed)
		rxe_loop_cancel(rxed.loop, &cm_timer);
	if (due != UINT64_MAX)
		rxe_loop_timer(rxed.loop, &cm_timer, due > now ? due - now : 0);
}

uint32_t ucma_connections(const struct rxe_dev *dev)
{
	return the_cm ? cm_count(the_cm, dev) : 0;
}

void rxe_cm_mad(struct rxe_dev *dev, const union rxe_ip *from, const union rxe_ip *to,
		const uint8_t *mad, uint32_t len)
{
	struct cm_path path = {.port = dev, .hop_limit = 64};
	struct cm *cm = ucma_cm();

	if (!cm)
		return;
	memcpy(path.sgid, to->raw, 16);
	memcpy(path.dgid, from->raw, 16);
	if (len == CM_MAD_LEN)
		count(dev, RXE_CM_RX_MSGS, mad);
	cm_rx(cm, &path, mad, len);
	ucma_cm_rearm();
}

/* ---- events to the program ------------------------------------------------------------------- */

static void fill_conn(struct rdma_ucm_conn_param *out, const struct cm_params *p,
		      const uint8_t *priv, size_t len)
{
	out->qp_num = p->qpn;
	out->srq = p->srq;
	out->responder_resources = p->responder_resources;
	out->initiator_depth = p->initiator_depth;
	out->flow_control = p->flow_control;
	out->retry_count = p->retry_count;
	out->rnr_retry_count = p->rnr_retry;
	out->private_data_len = (uint8_t)len;
	if (len)
		memcpy(out->private_data, priv, len);
}

static void fill_ud(struct rdma_ucm_ud_param *out, const struct ucma_id *id,
		    const struct cm_params *p, const uint8_t *priv, size_t len)
{
	out->qp_num = p->qpn;
	out->qkey = p->qkey;
	out->private_data_len = (uint8_t)len;
	if (len)
		memcpy(out->private_data, priv, len);
	ucma_fill_ah(id, &id->dst.ip, &out->ah_attr);
}

static bool is_ud(const struct ucma_id *id)
{
	return id->qp_type == RXE_QPT_UD;
}

static void fill_event(struct ucma_event *e, const struct ucma_id *id, const struct cm_event *ev,
		       size_t skip)
{
	const uint8_t *priv = ev->priv ? ev->priv + skip : NULL;
	size_t len = ev->priv ? ev->priv_len - skip : 0;

	if (is_ud(id))
		fill_ud(&e->resp.param.ud, id, &ev->p, priv, len);
	else
		fill_conn(&e->resp.param.conn, &ev->p, priv, len);
	e->resp.ece.vendor_id = ev->p.ece_vendor;
	e->resp.ece.attr_mod = ev->p.ece_options;
}

static void post(struct ucma_id *id, enum ucma_event_type type, int status,
		 const struct cm_event *ev)
{
	struct ucma_event *e = id->uid ? ucma_event_new(id, type, status) : NULL;

	if (!e)
		return;
	fill_event(e, id, ev, 0);
	ucma_event_queue(id->file, e);
}

/* Only the first of DREQ, DREP and no answer is an event. */
static void disconnected(struct ucma_id *id, int status)
{
	if (id->state != UCMA_CONNECT)
		return;
	id->state = UCMA_DISCONNECT;
	ucma_post(id, UCMA_DISCONNECTED, status);
}

static void sidr_answered(struct ucma_id *id, const struct cm_event *ev)
{
	if (ev->status) {
		post(id, UCMA_UNREACHABLE, ev->status, ev);
		return;
	}
	id->qkey = ev->p.qkey;
	id->peer = ev->p;
	post(id, UCMA_ESTABLISHED, 0, ev);
}

static void op_event(void *ctx, struct cm_id *cm, const struct cm_event *ev)
{
	struct ucma_id *id = cm->owner;
	const struct cm_event plain = {.kind = ev->kind};

	(void)ctx;
	switch (ev->kind) {
	case CM_EV_REQ_ERROR:
	case CM_EV_REP_ERROR:
	case CM_EV_SIDR_ERROR:
		post(id, UCMA_UNREACHABLE, -ETIMEDOUT, &plain);
		break;
	case CM_EV_REP:
		post(id, UCMA_CONNECT_RESPONSE, 0, ev);
		break;
	case CM_EV_ESTABLISHED:
		post(id, UCMA_ESTABLISHED, 0, &plain);
		break;
	case CM_EV_REJ:
		post(id, UCMA_REJECTED, ev->status, ev);
		break;
	case CM_EV_DREQ_ERROR:
		disconnected(id, -ETIMEDOUT);
		break;
	case CM_EV_DREQ:
	case CM_EV_DREP:
		disconnected(id, 0);
		break;
	case CM_EV_TIMEWAIT_EXIT:
		if (id->state == UCMA_DISCONNECT)
			ucma_post(id, UCMA_TIMEWAIT_EXIT, 0);
		break;
	case CM_EV_SIDR_REP:
		sidr_answered(id, ev);
		break;
	default:
		break;
	}
}

/* ---- requests from peers ----------------------------------------------------------------------- */

/* The new id of a request: between these addresses, on the listener's file. */
static struct ucma_id *fresh_id(struct ucma_id *listener, struct cm_id *cm,
				const struct cm_ip_header *h)
{
	struct ucma_id *id = ucma_id_new(listener->file, listener->ps, listener->qp_type);

	if (!id)
		return NULL;
	id->passive = true;
	id->tos = listener->tos;
	id->tos_set = listener->tos_set;
	id->timeout = listener->timeout;
	id->timeout_set = listener->timeout_set;
	id->src.v6 = id->dst.v6 = h->v6;
	memcpy(id->src.ip.raw, h->dst, 16);
	memcpy(id->dst.ip.raw, h->src, 16);
	id->src.port = listener->src.port;
	id->dst.port = h->src_port;
	if (id->src.ip.raw[0] == 0xfe && h->v6)
		id->src.scope = id->dst.scope =
			(uint32_t)((struct rxe_dev *)cm->path.port)->ifindex;
	if (ucma_id_attach(id, cm->path.port)) {
		ucma_id_free(id);
		return NULL;
	}
	id->state = UCMA_CONNECT;
	id->qkey = UCMA_UD_QKEY;
	return id;
}

/* What the header says must be what the packet says: answers go by the latter. */
static bool header_agrees(const struct cm_ip_header *h, const struct cm_path *path)
{
	return !memcmp(h->src, path->dgid, 16) && !memcmp(h->dst, path->sgid, 16);
}

static struct ucma_id *find_listener(const struct cm_id *cm, const struct cm_event *ev,
				     struct cm_ip_header *h)
{
	struct rxe_dev *dev = cm->path.port;
	union rxe_ip dst;
	uint16_t ps, port;

	if (!rxe_dev_visible(dev, dev->ns)) /* its listeners have lost it */
		return NULL;
	if (!cm_service_port(ev->p.service_id, &ps, &port) ||
	    cm_ip_header_get(ev->priv, ev->priv_len, h) || !header_agrees(h, &cm->path))
		return NULL;
	memcpy(dst.raw, h->dst, 16);
	return ucma_port_listener(dev->ns, ps, port, &dst, dev);
}

static bool type_matches(const struct ucma_id *listener, const struct cm_event *ev)
{
	if (ev->kind == CM_EV_SIDR_REQ)
		return is_ud(listener);
	return listener->qp_type == (ev->p.transport == CM_UC ? RXE_QPT_UC : RXE_QPT_RC);
}

static int op_request(void *ctx, struct cm_id *cm, const struct cm_event *ev)
{
	bool sidr = ev->kind == CM_EV_SIDR_REQ;
	struct ucma_id *listener, *id;
	struct ucma_event *e;
	struct cm_ip_header h;

	(void)ctx;
	listener = find_listener(cm, ev, &h);
	if (!listener || !type_matches(listener, ev))
		return sidr ? (int)CM_SIDR_UNSUPPORTED : (int)CM_REJ_INVALID_SERVICE_ID;
	if (!listener->backlog)
		return -ENOMEM; /* the peer asks again, when there may be room */
	id = fresh_id(listener, cm, &h);
	e = id ? ucma_event_new(listener, UCMA_CONNECT_REQUEST, 0) : NULL;
	if (!e) {
		if (id)
			ucma_id_free(id);
		return -ENOMEM;
	}
	listener->backlog--;
	id->cm = cm;
	cm->owner = id;
	e->fresh = id;
	e->resp.id = id->handle;
	fill_event(e, id, ev, CM_IP_HEADER_LEN);
	ucma_event_queue(listener->file, e);
	return 0;
}

/* ---- connect -------------------------------------------------------------------------------------- */

static uint8_t at_most(uint8_t v, uint8_t most)
{
	return v < most ? v : most;
}

struct cm_params ucma_conn_params(const struct ucma_id *id, const struct rdma_ucm_conn_param *p)
{
	return (struct cm_params){
		.transport = id->qp_type == RXE_QPT_UC ? CM_UC : CM_RC,
		.qpn = p->qp_num & RXE_QPN_MASK,
		.psn = id->psn,
		.qkey = p->qkey,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.retry_count = at_most(p->retry_count, 7),
		.rnr_retry = at_most(p->rnr_retry_count, 7),
		.srq = p->srq != 0,
		.mtu = (uint8_t)rxe_mtu_to_enum(id->dev->hca.mtu),
		.ack_timeout = id->timeout_set ? id->timeout : PACKET_LIFETIME + 1,
		.cm_timeout = CM_TIMEOUT,
		.max_cm_retries = CM_RETRIES,
		.ack_delay = ACK_DELAY,
		.priv = p->private_data,
		.priv_len = p->private_data_len,
	};
}

/* The header, then what the program says. */
static int put_header(const struct ucma_id *id, struct cm_params *p, uint8_t *buf, size_t room)
{
	struct cm_ip_header h = {.v6 = id->src.v6, .src_port = id->src.port};

	if (CM_IP_HEADER_LEN + p->priv_len > room)
		return -EINVAL;
	memcpy(h.src, id->src.ip.raw, 16);
	memcpy(h.dst, id->dst.ip.raw, 16);
	cm_ip_header_put(buf, &h);
	memcpy(buf + CM_IP_HEADER_LEN, p->priv, p->priv_len);
	p->priv = buf;
	p->priv_len += CM_IP_HEADER_LEN;
	return 0;
}

static int start_connect(struct ucma_id *id, struct cm_params *p)
{
	uint8_t priv[CM_MAD_LEN];
	struct cm_path path;
	int err = put_header(id, p, priv, sizeof(priv));

	if (err)
		return err;
	ucma_path(id, &path);
	p->service_id = cm_service_id(id->ps, id->dst.port);
	if (is_ud(id))
		return cm_sidr_request(id->cm, &path, p);
	return cm_connect(id->cm, &path, id->dev->node_guid, p);
}

static int take_ece(struct cm_params *p, const struct ucma_cmd *c, const struct rdma_ucm_ece *ece,
		    size_t end)
{
	if (c->in_len < end)
		return 0;
	p->ece_vendor = ece->vendor_id;
	p->ece_options = ece->attr_mod;
	return 0;
}

int ucma_connect(struct ucma_cmd *c)
{
	const struct rdma_ucm_connect *in = c->in;
	struct cm *cm = ucma_cm();
	struct cm_params p;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (!cm)
		return -ENOMEM;
	if (!in->conn_param.valid || id->state != UCMA_ROUTE_DONE || !id->dev)
		return -EINVAL;
	if (!id->cm)
		id->cm = cm_id_new(cm, id);
	if (!id->cm)
		return -ENOMEM;
	id->qpn = in->conn_param.qp_num;
	id->srq = in->conn_param.srq;
	p = ucma_conn_params(id, &in->conn_param);
	take_ece(&p, c, &in->ece, sizeof(*in));
	err = start_connect(id, &p);
	ucma_cm_rearm();
	if (!err)
		id->state = UCMA_CONNECT;
	return err;
}

/* ---- accept, reject ---------------------------------------------------------------------------------- */

static int accept_request(struct ucma_id *id, struct cm_params *p)
{
	int err;

	if (is_ud(id)) {
		p->qkey = p->qkey ? p->qkey : UCMA_UD_QKEY;
		id->qkey = p->qkey;
		return cm_sidr_reply(id->cm, CM_SIDR_SUCCESS, p);
	}
	err = cm_accept(id->cm, id->dev->node_guid, p);
	if (err)
		cm_reject(id->cm, CM_REJ_CONSUMER, NULL, 0);
	return err;
}

int ucma_accept(struct ucma_cmd *c)
{
	const struct rdma_ucm_accept *in = c->in;
	struct cm_params p;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (id->state != UCMA_CONNECT || !id->cm || !id->dev || !ucma_cm())
		return -EINVAL;
	if (in->conn_param.valid) {
		id->qpn = in->conn_param.qp_num;
		p = ucma_conn_params(id, &in->conn_param);
		take_ece(&p, c, &in->ece, sizeof(*in));
		id->uid = in->uid; /* its events are heard from now on */
		err = accept_request(id, &p);
		if (err)
			id->uid = 0;
	} else if (is_ud(id)) {
		err = -EINVAL;
	} else {
		err = cm_rtu(id->cm, NULL, 0);
	}
	ucma_cm_rearm();
	return err;
}

int ucma_reject(struct ucma_cmd *c)
{
	const struct rdma_ucm_reject *in = c->in;
	uint8_t reason = in->reason ? in->reason : CM_REJ_CONSUMER;
	struct cm_params p = {.priv = in->private_data, .priv_len = in->private_data_len};
	struct ucma_id *id;
	int err;

	if (reason != CM_REJ_CONSUMER && reason != CM_REJ_VENDOR_OPTION)
		return -EINVAL;
	err = ucma_id_get(c->file, in->id, &id);
	if (err)
		return err;
	if (!id->cm || !ucma_cm())
		return -EINVAL;
	if (is_ud(id))
		err = cm_sidr_reply(id->cm, CM_SIDR_REJECT, &p);
	else
		err = cm_reject(id->cm, reason, p.priv, p.priv_len);
	ucma_cm_rearm();
	return err;
}

int ucma_disconnect(struct ucma_cmd *c)
{
	const struct rdma_ucm_disconnect *in = c->in;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (!id->cm || !ucma_cm())
		return -EINVAL;
	if (!is_ud(id) && cm_disconnect(id->cm))
		cm_drep(id->cm);
	ucma_cm_rearm();
	return 0;
}

int ucma_notify(struct ucma_cmd *c)
{
	const struct rdma_ucm_notify *in = c->in;
	struct ucma_id *id;
	int err = ucma_id_get(c->file, in->id, &id);

	if (err)
		return err;
	if (!id->cm || !ucma_cm() || in->event != RXE_EV_COMM_EST)
		return -EINVAL;
	err = cm_establish(id->cm);
	ucma_cm_rearm();
	return err == -EISCONN ? 0 : err;
}

/* ---- QP attributes --------------------------------------------------------------------------------------- */

static void init_attr(const struct ucma_id *id, bool connected, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = RXE_QP_STATE | RXE_QP_PKEY_INDEX | RXE_QP_PORT;
	a->port_num = 1;
	if (is_ud(id)) {
		a->qkey = id->qkey ? id->qkey : UCMA_UD_QKEY;
		a->qp_attr_mask |= RXE_QP_QKEY;
		return;
	}
	a->qp_attr_mask |= RXE_QP_ACCESS_FLAGS;
	if (connected)
		a->qp_access_flags = QP_ACCESS | (id->cm->responder_resources ? QP_ACCESS_READ : 0);
}

static void rtr_attr(const struct ucma_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct cm_id *cm = id->cm;

	a->qp_attr_mask =
		RXE_QP_STATE | RXE_QP_AV | RXE_QP_PATH_MTU | RXE_QP_DEST_QPN | RXE_QP_RQ_PSN;
	ucma_fill_ah(id, &id->dst.ip, &a->ah_attr);
	a->path_mtu = cm->mtu;
	a->dest_qp_num = cm->remote_qpn;
	a->rq_psn = id->psn;
	if (id->qp_type != RXE_QPT_RC)
		return;
	a->qp_attr_mask |= RXE_QP_MAX_DEST_RD_ATOMIC | RXE_QP_MIN_RNR_TIMER;
	a->max_dest_rd_atomic = cm->responder_resources;
}

static void rts_attr(const struct ucma_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct cm_id *cm = id->cm;

	a->qp_attr_mask = RXE_QP_STATE | RXE_QP_SQ_PSN;
	a->sq_psn = cm->remote_psn;
	if (id->qp_type != RXE_QPT_RC)
		return;
	a->qp_attr_mask |=
		RXE_QP_TIMEOUT | RXE_QP_RETRY_CNT | RXE_QP_RNR_RETRY | RXE_QP_MAX_QP_RD_ATOMIC;
	a->timeout = id->timeout_set ? id->timeout : cm->ack_timeout;
	a->retry_cnt = cm->retry_count;
	a->rnr_retry = cm->rnr_retry;
	a->max_rd_atomic = cm->initiator_depth;
}

static bool knows_peer(const struct cm_id *cm)
{
	return cm->state == CM_REQ_RCVD || cm->state == CM_REP_RCVD || cm->state == CM_REP_SENT ||
	       cm->state == CM_ESTABLISHED;
}

static int fill_qp_attr(const struct ucma_id *id, uint32_t state, struct ib_uverbs_qp_attr *a)
{
	bool cm = id->cm && !is_ud(id);

	a->qp_state = (uint8_t)state;
	if (!cm ||
	    (state == RXE_QPS_INIT && (id->cm->state == CM_REQ_SENT || knows_peer(id->cm)))) {
		init_attr(id, cm, a);
		a->rq_psn = state == RXE_QPS_RTR ? id->psn : 0;
		return 0;
	}
	if (!knows_peer(id->cm))
		return -EINVAL;
	if (state == RXE_QPS_RTR)
		rtr_attr(id, a);
	else if (state == RXE_QPS_RTS)
		rts_attr(id, a);
	else
		return -EINVAL;
	return 0;
}

int ucma_init_qp_attr(struct ucma_cmd *c)
{
	const struct rdma_ucm_init_qp_attr *in = c->in;
	struct ib_uverbs_qp_attr a = {0};
	struct ucma_id *id;
	int err;

	if (c->out_room < sizeof(a))
		return -ENOSPC;
	if (in->qp_state > RXE_QPS_ERR)
		return -EINVAL;
	err = ucma_id_get(c->file, in->id, &id);
	if (err)
		return err;
	if (!id->dev)
		return -EINVAL;
	err = fill_qp_attr(id, in->qp_state, &a);
	return err ? err : ucma_respond(c, &a, sizeof(a), sizeof(a));
}
