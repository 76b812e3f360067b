// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An echo server for any number of clients over rdma_cm, and its client:
 *
 *	cm_echo serve ADDRESS PORT
 *	cm_echo call ADDRESS PORT TIMES
 *
 * The server says "ready" and runs until it is ended. A client exits 0 when
 * every message came back as it was sent. (rping -s -P loses requests.)
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_verbs.h>

#define SIZE  4096u
#define DEPTH 2 /* receives posted; a client has one message under way */

struct end {
	struct ibv_mr *mr;
	struct rdma_cm_id *id;
	char buf[DEPTH + 1][SIZE]; /* the last one is sent from */
};

static int failed(const char *what)
{
	perror(what);
	return 1;
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
}

static int post_recv(struct end *e, uintptr_t i)
{
	return rdma_post_recv(e->id, (void *)i, e->buf[i], SIZE, e->mr);
}

/* With the QP there: memory and receives. NULL: errno says why. */
static struct end *end_new(struct rdma_cm_id *id)
{
	struct end *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->id = id;
	e->mr = rdma_reg_msgs(id, e->buf, sizeof(e->buf));
	for (uintptr_t i = 0; e->mr && i < DEPTH; i++)
		if (post_recv(e, i))
			return NULL;
	return e->mr ? e : NULL;
}

/* ---- server ---------------------------------------------------------------------- */

/* All connections, so that whoever has a completion is found. */
#define MAX_ENDS 4096
static struct end *ends[MAX_ENDS];

static int accept_one(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
	int i = 0;

	while (i < MAX_ENDS && ends[i])
		i++;
	if (i == MAX_ENDS || rdma_create_qp(id, NULL, &attr))
		return failed("making a QP");
	ends[i] = end_new(id);
	if (!ends[i] || ibv_req_notify_cq(id->recv_cq, 0) || rdma_accept(id, &param))
		return failed("accepting");
	return 0;
}

static void drop(struct rdma_cm_id *id)
{
	for (int i = 0; i < MAX_ENDS; i++) {
		if (!ends[i] || ends[i]->id != id)
			continue;
		rdma_destroy_qp(id);
		rdma_dereg_mr(ends[i]->mr);
		free(ends[i]);
		ends[i] = NULL;
	}
	rdma_destroy_id(id);
}

static int cm_event(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(ch, &ev))
		return failed("rdma_get_cm_event");
	type = ev->event;
	id = ev->id;
	rdma_ack_cm_event(ev);
	switch (type) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return accept_one(id);
	case RDMA_CM_EVENT_DISCONNECTED:
		rdma_disconnect(id);
		drop(id);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
		fprintf(stderr, "%s\n", rdma_event_str(type));
		drop(id);
		break;
	default:
		break;
	}
	return 0;
}

/* Sends back what has come; errors show as DISCONNECTED. */
static void echo(struct end *e)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *ctx;

	while (ibv_poll_cq(e->id->send_cq, 1, &wc) > 0)
		;
	if (ibv_get_cq_event(e->id->recv_cq_channel, &cq, &ctx))
		return;
	ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(cq, 0);
	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (wc.status)
			continue;
		memcpy(e->buf[DEPTH], e->buf[wc.wr_id], wc.byte_len);
		post_recv(e, wc.wr_id);
		rdma_post_send(e->id, NULL, e->buf[DEPTH], wc.byte_len, e->mr, 0);
	}
}

static int serve(struct sockaddr_in *addr)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();
	static struct pollfd pfd[MAX_ENDS + 1];
	static struct end *who[MAX_ENDS + 1];
	struct rdma_cm_id *listener;

	if (!ch || rdma_create_id(ch, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)addr) || rdma_listen(listener, 1024))
		return failed("listening");
	puts("ready");
	fflush(stdout);
	for (;;) {
		int n = 1;

		pfd[0] = (struct pollfd){.fd = ch->fd, .events = POLLIN};
		for (int i = 0; i < MAX_ENDS; i++) {
			if (!ends[i])
				continue;
			who[n] = ends[i];
			pfd[n++] = (struct pollfd){.fd = ends[i]->id->recv_cq_channel->fd,
						   .events = POLLIN};
		}
		if (poll(pfd, n, -1) < 0)
			return failed("poll");
		for (int i = 1; i < n; i++)
			if (pfd[i].revents)
				echo(who[i]);
		if (pfd[0].revents && cm_event(ch))
			return 1;
	}
}

/* ---- client ------------------------------------------------------------------------ */

static int connect_to(struct sockaddr_in *addr, struct rdma_cm_id **id)
{
	struct ibv_qp_init_attr attr = qp_attr();

	if (rdma_create_id(NULL, id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(*id, NULL, (struct sockaddr *)addr, 5000))
		return failed("resolving the address");
	if (rdma_resolve_route(*id, 5000))
		return failed("resolving the route");
	return rdma_create_qp(*id, NULL, &attr) ? failed("making a QP") : 0;
}

static int round_trip(struct end *e, uint32_t n)
{
	struct ibv_wc wc;

	memset(e->buf[DEPTH], (int)(n * 37 + 11), SIZE);
	memcpy(e->buf[DEPTH], &n, sizeof(n));
	if (rdma_post_send(e->id, NULL, e->buf[DEPTH], SIZE, e->mr, 0) ||
	    rdma_get_send_comp(e->id, &wc) < 1)
		return failed("sending");
	if (wc.status)
		return fprintf(stderr, "sending: %s\n", ibv_wc_status_str(wc.status)), 1;
	if (rdma_get_recv_comp(e->id, &wc) < 1)
		return failed("receiving");
	if (wc.status || wc.byte_len != SIZE || memcmp(e->buf[wc.wr_id], e->buf[DEPTH], SIZE))
		return fprintf(stderr, "message %u: %s, or not what was sent\n", n,
			       ibv_wc_status_str(wc.status)),
		       1;
	return post_recv(e, wc.wr_id);
}

static int call(struct sockaddr_in *addr, uint32_t times)
{
	struct rdma_conn_param param = {.responder_resources = 1,
					.initiator_depth = 1,
					.retry_count = 7,
					.rnr_retry_count = 7};
	struct rdma_cm_id *id;
	struct end *e;

	if (connect_to(addr, &id))
		return 1;
	e = end_new(id);
	if (!e || rdma_connect(id, &param))
		return failed("connecting");
	for (uint32_t i = 0; i < times; i++)
		if (round_trip(e, i))
			return 1;
	rdma_disconnect(id);
	rdma_destroy_qp(id);
	rdma_dereg_mr(e->mr);
	rdma_destroy_id(id);
	free(e);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};

	if (argc < 4 || inet_pton(AF_INET, argv[2], &addr.sin_addr) != 1)
		return 2;
	addr.sin_port = htons((uint16_t)atoi(argv[3]));
	if (!strcmp(argv[1], "serve"))
		return serve(&addr);
	return argc == 5 ? call(&addr, (uint32_t)strtoul(argv[4], NULL, 10)) : 2;
}
