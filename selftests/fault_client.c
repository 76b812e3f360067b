/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client that stops at any stage of its life, to be killed there: it says
 * "at STAGE" and waits, or goes on with what the stage is about for ever.
 *
 *   fault_client DEVICE GID_INDEX STAGE
 *   fault_client DEVICE GID_INDEX rounds SECONDS	says how many rounds of traffic
 */
#include "fault_verbs.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>
#include <unistd.h>

static struct bed bed;
static char memory[16 * PAGE] __attribute__((aligned(PAGE)));

static _Noreturn void stay(const char *stage)
{
	char line[64];

	snprintf(line, sizeof(line), "at %s", stage);
	say(line);
	for (;;)
		pause();
}

static struct ibv_mr *region(struct ibv_pd *pd, int extra)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), ALL_ACCESS | extra);

	CHECK(mr);
	return mr;
}

/* ---- one object after another ------------------------------------------------------ */

static void at_open(void)
{
	stay("open");
}

static void at_pd(void)
{
	CHECK(ibv_alloc_pd(bed.ctx));
	stay("pd");
}

static void at_mr(void)
{
	region(ibv_alloc_pd(bed.ctx), 0);
	stay("mr");
}

static void at_cq(void)
{
	CHECK(ibv_create_cq(bed.ctx, 100, NULL, NULL, 0));
	stay("cq");
}

static void at_ah(void)
{
	struct ibv_ah_attr a = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = bed.gid, .sgid_index = bed.gid_index, .hop_limit = 1},
	};

	CHECK(ibv_create_ah(ibv_alloc_pd(bed.ctx), &a));
	stay("ah");
}

static void make_bed(void)
{
	bed.pd = ibv_alloc_pd(bed.ctx);
	bed.cq = ibv_create_cq(bed.ctx, 4 * DEPTH, NULL, NULL, 0);
	CHECK(bed.pd && bed.cq);
}

static void at_qp(void)
{
	make_bed();
	new_qp(&bed, NULL);
	stay("qp");
}

static void at_init(void)
{
	make_bed();
	to_init(new_qp(&bed, NULL));
	stay("init");
}

static void at_rtr(void)
{
	struct ibv_qp *qp;

	make_bed();
	qp = new_qp(&bed, NULL);
	to_init(qp);
	to_rtr(&bed, qp, qp->qp_num);
	stay("rtr");
}

static void at_rts(void)
{
	make_bed();
	new_pair(&bed);
	stay("rts");
}

/* Sends to a peer that does not answer; receives that nobody fills. */
static void at_posted(void)
{
	struct ibv_mr *mr;
	struct ibv_qp *qp;

	make_bed();
	mr = region(bed.pd, 0);
	qp = new_qp(&bed, NULL);
	connect_qp(&bed, qp, 0xfffffe);
	for (int i = 0; i < DEPTH - 1; i++) {
		CHECK(!post_recv(qp, span_of(mr, 0, PAGE), i));
		CHECK(!post(qp, IBV_WR_SEND, span_of(mr, 0, PAGE), (struct span){0}, i));
	}
	stay("posted");
}

/* ---- under traffic ------------------------------------------------------------------ */

static const enum ibv_wr_opcode kinds[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
					   IBV_WR_ATOMIC_FETCH_AND_ADD};
#define NR_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* One of each kind, and its receive; then all its completions. */
static void one_round(struct pair *p, const struct ibv_mr *mr)
{
	CHECK(!post_recv(p->b, span_of(mr, 0, 4 * PAGE), 0));
	for (int i = 0; i < NR_KINDS; i++) {
		bool atomic = kinds[i] == IBV_WR_ATOMIC_FETCH_AND_ADD;
		uint32_t len = atomic ? 8 : 4 * PAGE;

		CHECK(!post(p->a, kinds[i], span_of(mr, 4 * PAGE, len), span_of(mr, 8 * PAGE, len),
			    i));
	}
	for (int i = 0; i < NR_KINDS + 1; i++)
		CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
}

/* For so many milliseconds; returns the number of rounds. */
static unsigned int traffic(int64_t ms)
{
	unsigned int rounds = 0;
	struct ibv_mr *mr;
	struct pair p;
	int64_t until;

	make_bed();
	mr = region(bed.pd, 0);
	p = new_pair(&bed);
	one_round(&p, mr);
	say("at traffic");
	for (until = now_ms() + ms; now_ms() < until; rounds++)
		one_round(&p, mr);
	return rounds;
}

static void at_traffic(void)
{
	traffic(INT64_MAX / 2);
}

/* Everything is made, used and destroyed, again and again. */
static void at_destroying(void)
{
	for (int i = 0;; i++) {
		struct ibv_mr *mr;
		struct pair p;

		make_bed();
		mr = region(bed.pd, 0);
		p = new_pair(&bed);
		one_round(&p, mr);
		CHECK(!post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, 8 * PAGE),
			    span_of(mr, 8 * PAGE, 8 * PAGE), 0));
		free_pair(&p);
		CHECK(!ibv_dereg_mr(mr));
		CHECK(!ibv_destroy_cq(bed.cq));
		CHECK(!ibv_dealloc_pd(bed.pd));
		if (!i)
			say("at destroying");
	}
}

/* ---- channels, with unread events --------------------------------------------------- */

static void at_channel(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(bed.ctx);
	struct pollfd fd;
	struct ibv_mr *mr;
	struct pair p;

	CHECK(channel);
	bed.pd = ibv_alloc_pd(bed.ctx);
	bed.cq = ibv_create_cq(bed.ctx, 4 * DEPTH, NULL, channel, 0);
	CHECK(bed.pd && bed.cq && !ibv_req_notify_cq(bed.cq, 0));
	mr = region(bed.pd, 0);
	p = new_pair(&bed);
	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, 8), span_of(mr, PAGE, 8), 0));
	fd = (struct pollfd){.fd = channel->fd, .events = POLLIN};
	CHECK(poll(&fd, 1, WAIT_MS) == 1);
	stay("channel");
}

/* A thread waits for a completion that never comes. */
static void *wait_for_event(void *arg)
{
	struct ibv_cq *cq;
	void *cq_ctx;

	ibv_get_cq_event(arg, &cq, &cq_ctx);
	return NULL;
}

static void at_waiting(void)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(bed.ctx);
	pthread_t t;

	CHECK(channel);
	bed.cq = ibv_create_cq(bed.ctx, DEPTH, NULL, channel, 0);
	CHECK(bed.cq && !ibv_req_notify_cq(bed.cq, 0));
	CHECK(!pthread_create(&t, NULL, wait_for_event, channel));
	stay("waiting");
}

/* QP errors, both ends, unread. */
static void at_async(void)
{
	struct pollfd fd = {.fd = bed.ctx->async_fd, .events = POLLIN};
	struct ibv_mr *mr;
	struct pair p;

	make_bed();
	mr = region(bed.pd, 0);
	p = new_pair(&bed);
	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, span_of(mr, 0, 8),
		    (struct span){1, 8, mr->rkey ^ 0x5a00}, 0));
	CHECK(next_wc(bed.cq).status == IBV_WC_REM_ACCESS_ERR);
	CHECK(poll(&fd, 1, WAIT_MS) == 1);
	stay("async");
}

/* ---- what is rarer -------------------------------------------------------------------- */

static void at_srq(void)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 16, .max_sge = 1}};
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_srq *srq;
	struct ibv_sge sge;

	make_bed();
	srq = ibv_create_srq(bed.pd, &a);
	CHECK(srq);
	sge = sge_of(span_of(region(bed.pd, 0), 0, PAGE));
	wr.sg_list = &sge;
	for (int i = 0; i < 8; i++)
		CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
	connect_qp(&bed, new_qp(&bed, srq), 0xfffffe);
	stay("srq");
}

/* Bound: neither may go before the other. */
static void at_mw(void)
{
	struct ibv_mw_bind bind = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;
	struct pair p;

	make_bed();
	bind.bind_info = (struct ibv_mw_bind_info){
		.mr = region(bed.pd, IBV_ACCESS_MW_BIND),
		.addr = (uintptr_t)memory,
		.length = PAGE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	mw = ibv_alloc_mw(bed.pd, IBV_MW_TYPE_1);
	p = new_pair(&bed);
	CHECK(mw && !ibv_bind_mw(p.a, mw, &bind));
	CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
	stay("mw");
}

static void at_mcast(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x1234};
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
					.cap = {.max_send_wr = 1, .max_recv_wr = 1}};
	union ibv_gid group = {.raw = {[10] = 0xff, 0xff, 239, 1, 2, 3}};
	struct ibv_qp *qp;

	make_bed();
	init.send_cq = init.recv_cq = bed.cq;
	qp = ibv_create_qp(bed.pd, &init);
	CHECK(qp);
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	CHECK(!ibv_attach_mcast(qp, &group, 0));
	stay("mcast");
}

static struct rdma_cm_event *cm_event(struct rdma_event_channel *ch, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;

	CHECK(!rdma_get_cm_event(ch, &ev));
	CHECK(ev->event == type);
	return ev;
}

/* A listener, and an id that asks it for a connection which it does not accept. */
static void at_cm(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(17471)};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	struct rdma_event_channel *ch = rdma_create_event_channel(), *server;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct rdma_cm_id *listener, *id;

	memcpy(&to.sin_addr, bed.gid.raw + 12, 4);
	server = rdma_create_event_channel();
	CHECK(ch && server);
	CHECK(!rdma_create_id(server, &listener, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(listener, (struct sockaddr *)&to));
	CHECK(!rdma_listen(listener, 1));
	CHECK(!rdma_create_id(ch, &id, NULL, RDMA_PS_TCP));
	CHECK(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000));
	rdma_ack_cm_event(cm_event(ch, RDMA_CM_EVENT_ADDR_RESOLVED));
	CHECK(!rdma_resolve_route(id, 2000));
	rdma_ack_cm_event(cm_event(ch, RDMA_CM_EVENT_ROUTE_RESOLVED));
	CHECK(!rdma_create_qp(id, NULL, &init));
	CHECK(!rdma_connect(id, &param));
	cm_event(server, RDMA_CM_EVENT_CONNECT_REQUEST); /* nobody acknowledges it */
	stay("cm");
}

static const struct {
	const char *name;
	void (*run)(void);
} stages[] = {
	{"open", at_open},	 {"pd", at_pd},		  {"mr", at_mr},
	{"cq", at_cq},		 {"ah", at_ah},		  {"qp", at_qp},
	{"init", at_init},	 {"rtr", at_rtr},	  {"rts", at_rts},
	{"posted", at_posted},	 {"traffic", at_traffic}, {"destroying", at_destroying},
	{"channel", at_channel}, {"waiting", at_waiting}, {"async", at_async},
	{"srq", at_srq},	 {"mw", at_mw},		  {"mcast", at_mcast},
	{"cm", at_cm},
};

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	open_device(&bed, argv[1], atoi(argv[2]));
	if (argc == 5 && !strcmp(argv[3], "rounds")) {
		printf("rounds %u\n", traffic(1000 * atoi(argv[4])));
		return 0;
	}
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (!strcmp(stages[i].name, argv[3]))
			stages[i].run();
	fprintf(stderr, "fault_client: no stage %s\n", argv[3]);
	return 2;
}
