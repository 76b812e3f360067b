/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flow of rdma_get_remote_ece(3), line by line, with a QP of the program's
 * own ("external") or of librdmacm's.
 *
 *	ece -s ADDRESS [-i|-j]	passive side   -i  librdmacm's QP
 *	ece -c ADDRESS [-i]	active side    -j  refuse by rdma_reject_ece()
 *
 * Prints "ece vendor=V options=O" for what each step gave; 0: as the page says.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#define PORT		     "7471"
#define REASON_VENDOR_OPTION 35
#define ASKED		     0xf1u /* options of ours, and some that nobody knows */

static struct rdma_event_channel *channel;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void say(const char *what, const struct ibv_ece *e)
{
	printf("%s vendor=%#x options=%#x\n", what, e->vendor_id, e->options);
}

static void expect(const char *what, bool ok)
{
	if (ok)
		return;
	fprintf(stderr, "%s: not as the page says\n", what);
	exit(1);
}

/* The next event, which must be `type`; its status in *status. The caller acknowledges it. */
static struct rdma_cm_event *next_event(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(channel, &ev))
		die("rdma_get_cm_event");
	if (ev->event != type) {
		fprintf(stderr, "%s, status %d, instead of %s\n", rdma_event_str(ev->event),
			ev->status, rdma_event_str(type));
		exit(1);
	}
	return ev;
}

static void wait_event(enum rdma_cm_event_type type)
{
	rdma_ack_cm_event(next_event(type));
}

static struct ibv_qp *external_qp(struct rdma_cm_id *id)
{
	struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;

	if (!qp)
		die("creating a QP");
	return qp;
}

static void internal_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
	};

	if (rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
}

static void modify(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask) || ibv_modify_qp(qp, &attr, mask))
		die("modifying the QP");
}

static void enable(struct rdma_cm_id *id, struct ibv_qp *qp)
{
	modify(id, qp, IBV_QPS_INIT);
	modify(id, qp, IBV_QPS_RTR);
	modify(id, qp, IBV_QPS_RTS);
}

/* ---- passive ------------------------------------------------------------------ */

static void answer_external(struct rdma_cm_id *id, bool reject)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct ibv_qp *qp = external_qp(id);
	struct ibv_ece ece;

	if (rdma_get_remote_ece(id, &ece))
		die("rdma_get_remote_ece");
	say("remote", &ece);
	expect("what the peer sent", ece.options == ASKED);
	if (ibv_set_ece(qp, &ece))
		die("ibv_set_ece");
	enable(id, qp);
	if (ibv_query_ece(qp, &ece))
		die("ibv_query_ece");
	say("masked", &ece);
	expect("options that the device does not know", ece.options == (ASKED & 1));
	if (rdma_set_local_ece(id, &ece))
		die("rdma_set_local_ece");
	param.qp_num = qp->qp_num;
	if (reject ? rdma_reject_ece(id, NULL, 0) : rdma_accept(id, &param))
		die("the answer");
	if (!reject)
		wait_event(RDMA_CM_EVENT_ESTABLISHED);
	if (!reject)
		wait_event(RDMA_CM_EVENT_DISCONNECTED);
	if (!reject)
		rdma_disconnect(id);
	ibv_destroy_qp(qp);
}

static void answer_internal(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};

	internal_qp(id);
	if (rdma_accept(id, &param))
		die("rdma_accept");
	wait_event(RDMA_CM_EVENT_ESTABLISHED);
	wait_event(RDMA_CM_EVENT_DISCONNECTED);
	rdma_disconnect(id);
	rdma_destroy_qp(id);
}

static void passive(struct rdma_addrinfo *ai, bool internal, bool reject)
{
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *ev;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, ai->ai_src_addr) || rdma_listen(listener, 1))
		die("listening");
	puts("listening");
	fflush(stdout);
	ev = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	id = ev->id;
	rdma_ack_cm_event(ev);
	if (internal)
		answer_internal(id);
	else
		answer_external(id, reject);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
}

/* ---- active ----------------------------------------------------------------------- */

static void connect_external(struct rdma_cm_id *id, bool rejected)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ibv_qp *qp = external_qp(id);
	struct rdma_cm_event *ev;
	struct ibv_ece ece;

	if (ibv_query_ece(qp, &ece))
		die("ibv_query_ece");
	say("own", &ece);
	ece.options = ASKED;
	if (rdma_set_local_ece(id, &ece))
		die("rdma_set_local_ece");
	param.qp_num = qp->qp_num;
	if (rdma_connect(id, &param))
		die("rdma_connect");
	if (rejected) {
		ev = next_event(RDMA_CM_EVENT_REJECTED);
		expect("the reason of the refusal", ev->status == REASON_VENDOR_OPTION);
		rdma_ack_cm_event(ev);
		ibv_destroy_qp(qp);
		return;
	}
	wait_event(RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (rdma_get_remote_ece(id, &ece))
		die("rdma_get_remote_ece");
	say("agreed", &ece);
	expect("what both know", ece.options == (ASKED & 1));
	if (ibv_set_ece(qp, &ece))
		die("ibv_set_ece");
	enable(id, qp);
	if (rdma_establish(id))
		die("rdma_establish");
	rdma_disconnect(id);
	wait_event(RDMA_CM_EVENT_DISCONNECTED);
	ibv_destroy_qp(qp);
}

static void connect_internal(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct ibv_ece ece;

	internal_qp(id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	wait_event(RDMA_CM_EVENT_ESTABLISHED);
	if (ibv_query_ece(id->qp, &ece))
		die("ibv_query_ece");
	say("agreed", &ece);
	expect("what both know", ece.options == 1);
	rdma_disconnect(id);
	wait_event(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
}

static void active(struct rdma_addrinfo *ai, bool internal, bool rejected)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, ai->ai_dst_addr, 2000))
		die("rdma_resolve_addr");
	wait_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	wait_event(RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (internal)
		connect_internal(id);
	else
		connect_external(id, rejected);
	rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *ai;
	bool server = argc > 2 && !strcmp(argv[1], "-s");
	bool internal = argc > 3 && !strcmp(argv[3], "-i");
	bool reject = argc > 3 && !strcmp(argv[3], "-j");

	if (argc < 3)
		return 2;
	hints.ai_flags = server ? RAI_PASSIVE : 0;
	if (rdma_getaddrinfo(argv[2], PORT, &hints, &ai))
		die("rdma_getaddrinfo");
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (server)
		passive(ai, internal, reject);
	else
		active(ai, internal, reject);
	rdma_destroy_event_channel(channel);
	rdma_freeaddrinfo(ai);
	return 0;
}
