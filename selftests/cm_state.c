/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Goes to a state of a connection and stays there until it is killed, or
 * reports what becomes of it.
 *
 *	cm_state -s ADDRESS STATE [BACKLOG]	listen, request, accept, established
 *	cm_state -c ADDRESS STATE	bind, addr, route, connect, response,
 *					established, disconnect
 *
 * Prints "at STATE", then each event with its status, flushed. A server waits
 * at "listen" without reading events.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#define PORT "7472"

static struct rdma_event_channel *channel;
static const char *goal;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* There for good. */
static void reached(const char *state)
{
	if (strcmp(state, goal))
		return;
	printf("at %s\n", state);
	fflush(stdout);
	if (!strcmp(state, "listen") || !strcmp(state, "bind"))
		pause();
}

static bool stays(const char *state)
{
	return !strcmp(state, goal);
}

static struct rdma_cm_event *next_event(void)
{
	struct rdma_cm_event *ev;

	if (rdma_get_cm_event(channel, &ev))
		die("rdma_get_cm_event");
	printf("%s %d\n", rdma_event_str(ev->event), ev->status);
	fflush(stdout);
	return ev;
}

static void report_for_ever(void)
{
	for (;;)
		rdma_ack_cm_event(next_event());
}

/* Waits for `type`; what else comes ends the program. */
static struct rdma_cm_id *await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev = next_event();
	struct rdma_cm_id *id = ev->id;
	bool right = ev->event == type;

	rdma_ack_cm_event(ev);
	if (!right)
		exit(3);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	if (rdma_create_qp(id, NULL, &attr))
		die("rdma_create_qp");
}

static void serve(struct rdma_addrinfo *ai, int backlog)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_id *listener, *id;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, ai->ai_src_addr) || rdma_listen(listener, backlog))
		die("listening");
	reached("listen");
	id = await(RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(id);
	reached("request");
	if (stays("request"))
		report_for_ever();
	if (rdma_accept(id, &param))
		die("rdma_accept");
	reached("accept");
	if (stays("accept"))
		report_for_ever();
	await(RDMA_CM_EVENT_ESTABLISHED);
	reached("established");
	report_for_ever();
}

static void resolve(struct rdma_cm_id *id, struct rdma_addrinfo *ai)
{
	if (rdma_resolve_addr(id, NULL, ai->ai_dst_addr, 2000))
		die("rdma_resolve_addr");
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	reached("addr");
	if (stays("addr"))
		report_for_ever();
	if (rdma_resolve_route(id, 2000))
		die("rdma_resolve_route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	reached("route");
	if (stays("route"))
		report_for_ever();
}

/* librdmacm answers a REP by itself for a QP of its own: here the QP is not. */
static void hold_response(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .qp_num = 0x123};

	if (rdma_connect(id, &param))
		die("rdma_connect");
	await(RDMA_CM_EVENT_CONNECT_RESPONSE);
	reached("response");
	report_for_ever();
}

static void connect_to(struct rdma_addrinfo *ai)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		die("rdma_create_id");
	resolve(id, ai);
	if (stays("response"))
		hold_response(id);
	make_qp(id);
	if (rdma_connect(id, &param))
		die("rdma_connect");
	reached("connect");
	if (stays("connect"))
		report_for_ever();
	await(RDMA_CM_EVENT_ESTABLISHED);
	reached("established");
	if (stays("established"))
		report_for_ever();
	if (rdma_disconnect(id))
		die("rdma_disconnect");
	reached("disconnect");
	report_for_ever();
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *ai;

	if (argc < 4)
		return 2;
	goal = argv[3];
	hints.ai_flags = !strcmp(argv[1], "-s") ? RAI_PASSIVE : 0;
	if (rdma_getaddrinfo(argv[2], PORT, &hints, &ai))
		die("rdma_getaddrinfo");
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	if (hints.ai_flags)
		serve(ai, argc > 4 ? atoi(argv[4]) : 8);
	else
		connect_to(ai);
	return 0;
}
