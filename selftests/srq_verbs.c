/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared receive queues by plain libibverbs, within one device: its own peer.
 * One behaviour a run; says what was wrong, and exits 1.
 *
 *   srq_verbs DEVICE GID_INDEX TEST
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_prog.h"

#define DEPTH	  256 /* receive buffers */
#define SLOT	  256 /* bytes of one */
#define MAX_PAIRS 16
#define QKEY	  0x1234

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static union ibv_gid gid;
static int gid_index;
static char mem[2 * DEPTH * SLOT]; /* receive buffers, then what is sent */

/* ---- objects ------------------------------------------------------------------- */

static struct ibv_srq *new_srq(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};

	return ibv_create_srq(pd, &a);
}

static struct ibv_qp *new_qp(struct ibv_srq *srq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
		.qp_type = type,
		.sq_sig_all = 0,
	};

	if (!srq)
		a.cap.max_recv_wr = a.cap.max_recv_sge = 1;
	return ibv_create_qp(pd, &a);
}

static struct ibv_qp *new_qp_ex(struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex a = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	return ibv_create_qp_ex(ctx, &a);
}

static struct ibv_ah_attr address(void)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = gid, .sgid_index = gid_index, .hop_limit = 1},
	};
}

static void ready_datagram(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	a.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void connect_to(struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int rc = qp->qp_type == IBV_QPT_RC;

	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_256,
		.dest_qp_num = dest,
		.min_rnr_timer = 1,
		.ah_attr = address(),
	};
	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN |
				     (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_SQ_PSN |
				     (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						      IBV_QP_MAX_QP_RD_ATOMIC
					 : 0)));
}

struct pair {
	struct ibv_qp *send, *recv;
	struct ibv_ah *ah;    /* UD: to recv */
	uint32_t posted, got; /* messages */
};

/* QPs go to the workers in turn: every other pair is made the other way round. */
static void make_pair(struct pair *p, struct ibv_srq *srq, enum ibv_qp_type type, bool extended)
{
	static bool sender_first;

	p->posted = p->got = 0;
	sender_first = !sender_first;
	if (sender_first)
		p->send = new_qp(NULL, type);
	p->recv = extended ? new_qp_ex(srq) : new_qp(srq, type);
	if (!sender_first)
		p->send = new_qp(NULL, type);
	CHECK(p->send && p->recv);
	p->ah = NULL;
	if (type == IBV_QPT_UD) {
		struct ibv_ah_attr to = address();

		p->ah = ibv_create_ah(pd, &to);
		CHECK(p->ah);
		ready_datagram(p->send);
		ready_datagram(p->recv);
		return;
	}
	connect_to(p->send, p->recv->qp_num);
	connect_to(p->recv, p->send->qp_num);
}

static void new_pair(struct pair *p, struct ibv_srq *srq)
{
	make_pair(p, srq, IBV_QPT_RC, false);
}

static void free_pair(struct pair *p)
{
	CHECK(!ibv_destroy_qp(p->send));
	CHECK(!ibv_destroy_qp(p->recv));
	CHECK(!p->ah || !ibv_destroy_ah(p->ah));
}

/* ---- traffic --------------------------------------------------------------------- */

static void post_recv(struct ibv_srq *srq, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)mem + slot * SLOT, SLOT, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
}

/* The next message of the pair, with immediate data: its number. */
static void post_send(struct pair *p)
{
	uint32_t n = p->posted++;
	char *at = mem + (DEPTH + n % DEPTH) * SLOT;
	struct ibv_sge sge = {(uintptr_t)at, 8, mr->lkey};
	struct ibv_send_wr *bad, wr = {
					 .opcode = IBV_WR_SEND_WITH_IMM,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .imm_data = n,
					 /* Now and then, so that the send queue is given back. */
					 .send_flags = n % 16 == 15 ? IBV_SEND_SIGNALED : 0,
				 };

	if (p->ah) {
		wr.wr.ud.ah = p->ah;
		wr.wr.ud.remote_qpn = p->recv->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	CHECK(!ibv_post_send(p->send, &wr, &bad));
}

static void expect_recv(uint64_t wr_id, enum ibv_wc_status status, uint32_t qpn)
{
	struct ibv_wc wc;

	do {
		CHECK(poll_within(cq, &wc, WAIT_MS));
	} while (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_SEND);
	CHECK(wc.status == status);
	CHECK(wc.wr_id == wr_id);
	CHECK(wc.qp_num == qpn);
}

static void expect_event(enum ibv_event_type type, const void *element)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event ev;

	do {
		CHECK(poll(&p, 1, WAIT_MS) == 1);
		CHECK(!ibv_get_async_event(ctx, &ev));
		ibv_ack_async_event(&ev);
	} while (ev.event_type == IBV_EVENT_COMM_EST);
	CHECK(ev.event_type == type);
	CHECK((const void *)ev.element.qp == element); /* of a union */
}

static void expect_no_event(void)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event ev;

	while (poll(&p, 1, 0) == 1) {
		CHECK(!ibv_get_async_event(ctx, &ev));
		CHECK(ev.event_type == IBV_EVENT_COMM_EST);
		ibv_ack_async_event(&ev);
	}
}

/* ---- the tests ---------------------------------------------------------------------- */

static void attributes(void)
{
	struct ibv_device_attr d;
	struct ibv_srq_attr a;
	struct ibv_srq *srq;

	CHECK(!ibv_query_device(ctx, &d));
	CHECK(d.max_srq == 917503 && d.max_srq_wr == 1048576 && d.max_srq_sge == 27);
	CHECK(d.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	REFUSED(!new_srq(0, 1), EINVAL);
	REFUSED(!new_srq(d.max_srq_wr + 1, 1), EINVAL);
	REFUSED(!new_srq(1, d.max_srq_sge + 1), EINVAL);
	srq = new_srq(d.max_srq_wr, 1);
	CHECK(srq && !ibv_query_srq(srq, &a) && a.max_wr == (uint32_t)d.max_srq_wr);
	CHECK(!ibv_destroy_srq(srq));
	srq = new_srq(100, d.max_srq_sge);
	CHECK(srq && !ibv_query_srq(srq, &a));
	CHECK(a.max_wr == 127 && a.max_sge == (uint32_t)d.max_srq_sge && !a.srq_limit);
	CHECK(!ibv_destroy_srq(srq));
}

/* Exactly as many receives as reported can be posted. */
static void capacity(void)
{
	struct ibv_sge sge = {(uintptr_t)mem, SLOT, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_srq *srq = new_srq(10, 1);
	struct ibv_srq_attr a;

	CHECK(srq && !ibv_query_srq(srq, &a));
	for (uint32_t i = 0; i < a.max_wr; i++)
		CHECK(!ibv_post_srq_recv(srq, &wr, &bad));
	CHECK(ibv_post_srq_recv(srq, &wr, &bad));
	wr.num_sge = 2;
	CHECK(ibv_post_srq_recv(srq, &wr, &bad));
	CHECK(!ibv_destroy_srq(srq));
}

/* What the kernel's driver has not: XRC and tag matching. */
static void other_types(void)
{
	struct ibv_srq_init_attr_ex a = {
		.attr = {.max_wr = 10, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ |
			     IBV_SRQ_INIT_ATTR_TM,
		.pd = pd,
		.cq = cq,
		.tm_cap = {.max_num_tags = 1, .max_ops = 1},
	};
	struct ibv_xrcd_init_attr x = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = -1,
				       .oflags = O_CREAT};
	struct ibv_srq *srq;

	a.srq_type = IBV_SRQT_TM;
	REFUSED(!ibv_create_srq_ex(ctx, &a), EOPNOTSUPP);
	REFUSED(!ibv_open_xrcd(ctx, &x), EOPNOTSUPP);
	a.srq_type = IBV_SRQT_BASIC;
	srq = ibv_create_srq_ex(ctx, &a);
	CHECK(srq && !ibv_destroy_srq(srq));
}

static void resize(void)
{
	struct ibv_srq *srq = new_srq(15, 1);
	struct ibv_srq_attr a = {.max_wr = 3};
	struct pair p;

	CHECK(srq);
	new_pair(&p, srq);
	for (uint32_t i = 0; i < 15; i++)
		post_recv(srq, i);
	CHECK(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR) == EINVAL); /* fewer than are posted */
	a.max_wr = 0;
	CHECK(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR) == EINVAL);
	for (uint32_t i = 0; i < 5; i++) {
		post_send(&p);
		expect_recv(i, IBV_WC_SUCCESS, p.recv->qp_num);
	}
	a.max_wr = 100;
	CHECK(!ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR));
	CHECK(!ibv_query_srq(srq, &a) && a.max_wr == 127);
	for (uint32_t i = 15; i < 100; i++)
		post_recv(srq, i);
	for (uint32_t i = 5; i < 95; i++) {
		post_send(&p);
		expect_recv(i, IBV_WC_SUCCESS, p.recv->qp_num);
	}
	a = (struct ibv_srq_attr){.max_wr = 5, .srq_limit = 7};
	CHECK(!ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(srq, &a) && a.max_wr == 7 && a.srq_limit == 7);
	a.srq_limit = 8;
	CHECK(ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT) == EINVAL);
	a.max_wr = 3; /* below the limit that is armed */
	CHECK(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR) == EINVAL);
	for (uint32_t i = 95; i < 100; i++) {
		post_send(&p);
		expect_recv(i, IBV_WC_SUCCESS, p.recv->qp_num);
	}
	expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
	free_pair(&p);
	CHECK(!ibv_destroy_srq(srq));
}

static void in_use(void)
{
	struct ibv_pd *other = ibv_alloc_pd(ctx), *mine = pd;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	CHECK(other);
	pd = other;
	srq = new_srq(10, 1);
	pd = mine;
	CHECK(srq && ibv_dealloc_pd(other) == EBUSY);
	qp = new_qp(srq, IBV_QPT_RC);
	CHECK(qp);
	CHECK(!ibv_query_qp(qp, &attr, IBV_QP_CAP, &init));
	CHECK(attr.cap.max_recv_wr == 0 && attr.cap.max_recv_sge == 0);
	CHECK(ibv_destroy_srq(srq) == EBUSY);
	CHECK(!ibv_destroy_qp(qp));
	CHECK(!ibv_destroy_srq(srq));
	CHECK(!ibv_dealloc_pd(other));
}

static void limit_event(void)
{
	struct ibv_srq *srq = new_srq(DEPTH - 1, 1);
	struct ibv_srq_attr a = {.srq_limit = 5};
	struct pair p;

	CHECK(srq);
	new_pair(&p, srq);
	for (uint32_t i = 0; i < 10; i++)
		post_recv(srq, i);
	for (uint32_t i = 0; i < 10; i++) {
		if (i == 0)
			CHECK(!ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT));
		if (i == 7) { /* armed again */
			a.srq_limit = 2;
			CHECK(!ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT));
		}
		post_send(&p);
		expect_recv(i, IBV_WC_SUCCESS, p.recv->qp_num);
		if (i != 5 && i != 8) {
			expect_no_event();
			continue;
		}
		expect_event(IBV_EVENT_SRQ_LIMIT_REACHED, srq);
		CHECK(!ibv_query_srq(srq, &a) && a.srq_limit == 0);
	}
	free_pair(&p);
	CHECK(!ibv_destroy_srq(srq)); /* waits for acknowledgement: there was one each */
}

/* An event that nobody has read goes with the SRQ. */
static void unread_event(void)
{
	struct ibv_srq *srq = new_srq(10, 1);
	struct ibv_srq_attr a = {.srq_limit = 10};
	struct pollfd fd = {.fd = ctx->async_fd, .events = POLLIN};
	struct pair p;

	CHECK(srq && !ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT));
	new_pair(&p, srq);
	post_recv(srq, 0);
	post_send(&p);
	expect_recv(0, IBV_WC_SUCCESS, p.recv->qp_num);
	CHECK(poll(&fd, 1, WAIT_MS) == 1);
	free_pair(&p);
	CHECK(!ibv_destroy_srq(srq));
	CHECK(poll(&fd, 1, 0) == 0);
}

static void last_wqe(void)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct ibv_srq *srq = new_srq(10, 1);
	struct pair a, b;
	struct ibv_wc wc;

	CHECK(srq);
	new_pair(&a, srq);
	new_pair(&b, srq);
	for (uint32_t i = 0; i < 4; i++)
		post_recv(srq, i);
	post_send(&a);
	expect_recv(0, IBV_WC_SUCCESS, a.recv->qp_num);
	CHECK(!ibv_modify_qp(a.recv, &err, IBV_QP_STATE));
	expect_event(IBV_EVENT_QP_LAST_WQE_REACHED, a.recv);
	CHECK(!poll_within(cq, &wc, 300)); /* the SRQ's are not flushed */
	for (uint32_t i = 1; i < 4; i++) {
		post_send(&b);
		expect_recv(i, IBV_WC_SUCCESS, b.recv->qp_num);
	}
	CHECK(!ibv_modify_qp(b.recv, &err, IBV_QP_STATE));
	free_pair(&b); /* its event may be unread */
	free_pair(&a);
	CHECK(!ibv_destroy_srq(srq));
}

static void cycles(void)
{
	for (int i = 0; i < 10000; i++) {
		struct ibv_srq *srq = new_srq(1 + i % 100, 1);
		struct ibv_qp *qp;

		CHECK(srq);
		qp = new_qp(srq, IBV_QPT_UD);
		CHECK(qp);
		CHECK(!ibv_destroy_qp(qp));
		CHECK(!ibv_destroy_srq(srq));
	}
}

/*
 * QPs of all workers on one SRQ: every message arrives once, in order for each
 * QP, and each receive is used once.
 */
static void share(enum ibv_qp_type type, uint32_t nr, uint32_t each, bool extended)
{
	struct ibv_srq *srq = new_srq(DEPTH - 1, 1);
	uint32_t done = 0;
	bool out[DEPTH] = {0};
	struct pair p[MAX_PAIRS];
	struct ibv_wc wc;

	CHECK(srq);
	for (uint32_t i = 0; i < nr; i++)
		make_pair(&p[i], srq, type, extended);
	for (uint32_t i = 0; i < DEPTH - 1; i++) {
		post_recv(srq, i);
		out[i] = true;
	}
	while (done < nr * each) {
		/* No more under way than a send queue and, for UC and UD, the SRQ hold. */
		for (uint32_t i = 0; i < nr; i++)
			while (p[i].posted < each && p[i].posted - p[i].got < (DEPTH - 1) / nr)
				post_send(&p[i]);
		CHECK(poll_within(cq, &wc, WAIT_MS));
		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_SEND)
			continue;
		for (uint32_t i = 0; i < nr; i++)
			if (p[i].recv->qp_num == wc.qp_num)
				CHECK(wc.imm_data == p[i].got++);
		CHECK(wc.wr_id < DEPTH && out[wc.wr_id]);
		out[wc.wr_id] = false;
		post_recv(srq, wc.wr_id);
		out[wc.wr_id] = true;
		done++;
	}
	for (uint32_t i = 0; i < nr; i++) {
		CHECK(p[i].got == each);
		free_pair(&p[i]);
	}
	CHECK(!ibv_destroy_srq(srq));
}

static void share_rc(void)
{
	share(IBV_QPT_RC, MAX_PAIRS, 2000, false);
}

static void share_uc(void)
{
	share(IBV_QPT_UC, 8, 2000, false);
}

static void share_ud(void)
{
	share(IBV_QPT_UD, 8, 2000, false);
}

static void share_extended(void)
{
	share(IBV_QPT_RC, 4, 1000, true);
}

/* ---- main ------------------------------------------------------------------------------ */

static const struct named_test tests[] = {
	{"attributes", attributes},
	{"capacity", capacity},
	{"other_types", other_types},
	{"resize", resize},
	{"in_use", in_use},
	{"limit_event", limit_event},
	{"last_wqe", last_wqe},
	{"unread_event", unread_event},
	{"cycles", cycles},
	{"share_rc", share_rc},
	{"share_uc", share_uc},
	{"share_ud", share_ud},
	{"share_extended", share_extended},
};

static void open_device(const char *name)
{
	ctx = open_by_name(name);
	CHECK(!ibv_query_gid(ctx, 1, gid_index, &gid));
	pd = ibv_alloc_pd(ctx);
	CHECK(pd);
	cq = ibv_create_cq(ctx, 8 * DEPTH, NULL, NULL, 0);
	CHECK(cq);
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	gid_index = atoi(argv[2]);
	open_device(argv[1]);
	if (!run_named(tests, sizeof(tests) / sizeof(tests[0]), argv[3]))
		return 2;
	CHECK(!ibv_dereg_mr(mr));
	CHECK(!ibv_destroy_cq(cq));
	CHECK(!ibv_dealloc_pd(pd));
	return ibv_close_device(ctx);
}
