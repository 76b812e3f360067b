// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asynchronous events and the states of QPs by plain libibverbs, within one
 * device. One behaviour a run; says what was wrong, and exits 1. `watch` prints
 * every event and what verbs say once the device is gone.
 *
 *   async_events DEVICE GID_INDEX TEST
 */
#include <pthread.h>
#include "fault_verbs.h"

#define QKEY 0x1234

static struct bed bed;
static struct ibv_mr *mr;
static char mem[4 * PAGE];

static struct span local(void)
{
	return span_of(mr, 0, 8);
}

static struct span remote(uint32_t rkey)
{
	return (struct span){(uintptr_t)mem + PAGE, 8, rkey};
}

static bool event_waits(int ms)
{
	struct pollfd p = {.fd = bed.ctx->async_fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static struct ibv_async_event next_event(void)
{
	struct ibv_async_event ev;

	CHECK(event_waits(WAIT_MS));
	CHECK(!ibv_get_async_event(bed.ctx, &ev));
	return ev;
}

static void expect(enum ibv_event_type type, const struct ibv_qp *qp)
{
	struct ibv_async_event ev = next_event();

	CHECK(ev.event_type == type && ev.element.qp == qp);
	ibv_ack_async_event(&ev);
}

static void expect_wc(const struct ibv_qp *qp, uint64_t wr_id, enum ibv_wc_status status)
{
	struct ibv_wc wc = next_wc(bed.cq);

	if (wc.qp_num != qp->qp_num || wc.wr_id != wr_id || wc.status != status) {
		fprintf(stderr,
			"completion: QP %u wr_id %llu status %d, not QP %u wr_id %llu status %d\n",
			wc.qp_num, (unsigned long long)wc.wr_id, wc.status, qp->qp_num,
			(unsigned long long)wr_id, status);
		exit(1);
	}
}

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	CHECK(!ibv_query_qp(qp, &a, IBV_QP_STATE, &init));
	CHECK(a.qp_state == a.cur_qp_state);
	return a;
}

static int set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = {.qp_state = state};

	return ibv_modify_qp(qp, &a, IBV_QP_STATE);
}

/* ---- events of QPs ---------------------------------------------------------------------- */

/* A message at a QP that is only in RTR: once. */
static void comm_est(void)
{
	struct pair p = {new_qp(&bed, NULL), new_qp(&bed, NULL)};

	connect_qp(&bed, p.a, p.b->qp_num);
	to_init(p.b);
	CHECK(!post_recv(p.b, local(), 1) && !post_recv(p.b, local(), 2));
	to_rtr(&bed, p.b, p.a->qp_num);
	for (int i = 1; i <= 2; i++) {
		CHECK(!post(p.a, IBV_WR_SEND, local(), remote(0), 10 + i));
		expect_wc(p.b, i, IBV_WC_SUCCESS);
		expect_wc(p.a, 10 + i, IBV_WC_SUCCESS);
	}
	expect(IBV_EVENT_COMM_EST, p.b);
	CHECK(!event_waits(0));
	to_rts(p.b, 14, 7, 7);
	free_pair(&p);
}

static void access_error(void)
{
	struct pair p = new_pair(&bed);

	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, local(), remote(mr->rkey ^ 1), 1));
	expect_wc(p.a, 1, IBV_WC_REM_ACCESS_ERR);
	expect(IBV_EVENT_QP_ACCESS_ERR, p.b);
	CHECK(query(p.a).qp_state == IBV_QPS_ERR && query(p.b).qp_state == IBV_QPS_ERR);
	free_pair(&p);
}

static void request_error(void)
{
	struct pair p = new_pair(&bed);
	struct ibv_qp_attr a = {.qp_access_flags = IBV_ACCESS_REMOTE_READ};

	CHECK(!ibv_modify_qp(p.b, &a, IBV_QP_ACCESS_FLAGS));
	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, local(), remote(mr->rkey), 1));
	expect_wc(p.a, 1, IBV_WC_REM_INV_REQ_ERR);
	expect(IBV_EVENT_QP_REQ_ERR, p.b);
	CHECK(query(p.a).qp_state == IBV_QPS_ERR && query(p.b).qp_state == IBV_QPS_ERR);
	free_pair(&p);
}

static void *destroy_qp(void *qp)
{
	return (void *)(intptr_t)ibv_destroy_qp(qp);
}

/* Destroying waits for what was read and not acknowledged; what is unread goes. */
static void references(void)
{
	struct pair p = new_pair(&bed);
	struct ibv_async_event ev;
	struct timespec t;
	pthread_t other;
	void *rc;

	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, local(), remote(mr->rkey ^ 1), 1));
	expect_wc(p.a, 1, IBV_WC_REM_ACCESS_ERR);
	CHECK(event_waits(WAIT_MS));
	CHECK(!ibv_destroy_qp(p.b));
	CHECK(!event_waits(0));
	p.b = new_qp(&bed, NULL);
	CHECK(!set_state(p.a, IBV_QPS_RESET));
	connect_qp(&bed, p.a, p.b->qp_num);
	connect_qp(&bed, p.b, p.a->qp_num);
	CHECK(!post(p.a, IBV_WR_RDMA_WRITE, local(), remote(mr->rkey ^ 1), 2));
	ev = next_event();
	CHECK(ev.event_type == IBV_EVENT_QP_ACCESS_ERR && ev.element.qp == p.b);
	CHECK(!pthread_create(&other, NULL, destroy_qp, p.b));
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	CHECK(pthread_timedjoin_np(other, &rc, &t) == ETIMEDOUT);
	ibv_ack_async_event(&ev);
	CHECK(!pthread_join(other, &rc) && !rc);
	CHECK(!ibv_destroy_qp(p.a));
}

/* ---- SQD ------------------------------------------------------------------------------------ */

/* What is on its way ends, what is posted later waits for RTS. */
static void drain(void)
{
	struct pair p = new_pair(&bed);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};

	/* The peer has no receive: this one is on its way for as long as it has none. */
	CHECK(!post(p.a, IBV_WR_SEND, local(), remote(0), 1));
	for (int64_t until = now_ms() + WAIT_MS;;) {
		CHECK(!ibv_modify_qp(p.a, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
		if (query(p.a).sq_draining)
			break;
		CHECK(now_ms() < until); /* it had not begun yet */
		expect(IBV_EVENT_SQ_DRAINED, p.a);
		CHECK(!set_state(p.a, IBV_QPS_RTS));
	}
	CHECK(query(p.a).qp_state == IBV_QPS_SQD);
	CHECK(!post(p.a, IBV_WR_SEND, local(), remote(0), 2)); /* may be posted */
	CHECK(set_state(p.a, IBV_QPS_RTS) == EINVAL);
	a.timeout = 15;
	CHECK(ibv_modify_qp(p.a, &a, IBV_QP_TIMEOUT) == EINVAL);
	CHECK(!event_waits(0));
	CHECK(!post_recv(p.b, local(), 11) && !post_recv(p.b, local(), 12));
	expect_wc(p.b, 11, IBV_WC_SUCCESS);
	expect_wc(p.a, 1, IBV_WC_SUCCESS);
	expect(IBV_EVENT_SQ_DRAINED, p.a);
	CHECK(query(p.a).qp_state == IBV_QPS_SQD && !query(p.a).sq_draining);
	CHECK(!poll_within(bed.cq, &(struct ibv_wc){0}, 200)); /* the second one waits */
	/* It receives all the while, and its attributes can change. */
	CHECK(!post_recv(p.a, local(), 13));
	CHECK(!post(p.b, IBV_WR_SEND, local(), remote(0), 3));
	expect_wc(p.a, 13, IBV_WC_SUCCESS);
	expect_wc(p.b, 3, IBV_WC_SUCCESS);
	CHECK(!ibv_modify_qp(p.a, &a, IBV_QP_TIMEOUT));
	CHECK(query(p.a).timeout == 15);
	CHECK(!set_state(p.a, IBV_QPS_RTS));
	expect_wc(p.b, 12, IBV_WC_SUCCESS);
	expect_wc(p.a, 2, IBV_WC_SUCCESS);
	free_pair(&p);
}

/* ERR ends it also while it drains. */
static void drain_to_err(void)
{
	struct pair p = new_pair(&bed);

	CHECK(!post(p.a, IBV_WR_SEND, local(), remote(0), 1));
	CHECK(!set_state(p.a, IBV_QPS_SQD));
	CHECK(!post(p.a, IBV_WR_SEND, local(), remote(0), 2));
	CHECK(!set_state(p.a, IBV_QPS_ERR));
	expect_wc(p.a, 1, IBV_WC_WR_FLUSH_ERR);
	expect_wc(p.a, 2, IBV_WC_WR_FLUSH_ERR);
	free_pair(&p);
}

/* ---- SQE ------------------------------------------------------------------------------------- */

static struct ibv_qp *new_datagram_qp(void)
{
	struct ibv_qp_init_attr init = {
		.send_cq = bed.cq,
		.recv_cq = bed.cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_qp *qp = ibv_create_qp(bed.pd, &init);

	CHECK(qp);
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	CHECK(!set_state(qp, IBV_QPS_RTR));
	a.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static struct ibv_ah *own_address(void)
{
	struct ibv_ah_attr a = {
		.is_global = 1,
		.port_num = 1,
		.grh = {.dgid = bed.gid, .sgid_index = bed.gid_index, .hop_limit = 1},
	};
	struct ibv_ah *ah = ibv_create_ah(bed.pd, &a);

	CHECK(ah);
	return ah;
}

static void send_datagram(struct ibv_qp *qp, struct ibv_ah *ah, const struct ibv_qp *to,
			  uint32_t lkey, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)mem, 8, lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .wr.ud = {ah, to->qp_num, QKEY}};

	CHECK(!ibv_post_send(qp, &wr, &bad));
}

/* A failed send flushes the send queue, the rest goes on; RTS makes it whole. */
static void send_queue_error(void)
{
	struct pair p = {new_datagram_qp(), new_datagram_qp()};
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE};
	struct ibv_ah *ah = own_address();

	send_datagram(p.a, ah, p.b, mr->lkey ^ 1, 1);
	expect_wc(p.a, 1, IBV_WC_LOC_PROT_ERR);
	CHECK(query(p.a).qp_state == IBV_QPS_SQE);
	send_datagram(p.a, ah, p.b, mr->lkey, 2);
	expect_wc(p.a, 2, IBV_WC_WR_FLUSH_ERR);
	CHECK(!post_recv(p.a, span_of(mr, PAGE, 100), 3));
	send_datagram(p.b, ah, p.a, mr->lkey, 4);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = next_wc(bed.cq);

		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.wr_id == (wc.qp_num == p.a->qp_num ? 3 : 4));
	}
	CHECK(set_state(p.a, IBV_QPS_SQD) == EINVAL);
	CHECK(!ibv_modify_qp(p.a, &a, IBV_QP_STATE | IBV_QP_CUR_STATE));
	CHECK(!post_recv(p.b, span_of(mr, PAGE, 100), 5));
	send_datagram(p.a, ah, p.b, mr->lkey, 6);
	for (int i = 0; i < 2; i++) {
		struct ibv_wc wc = next_wc(bed.cq);

		CHECK(wc.status == IBV_WC_SUCCESS);
		CHECK(wc.wr_id == (wc.qp_num == p.b->qp_num ? 5 : 6));
	}
	CHECK(!ibv_destroy_ah(ah));
	free_pair(&p);
}

/* ---- states and attributes ----------------------------------------------------------------------- */

/* All states in turn; in each, what cannot follow is refused and changes nothing. */
static void states(void)
{
	static const struct {
		enum ibv_qp_state state;
		unsigned int allowed; /* by IBV_QP_STATE alone: a bit for each state */
	} walk[] = {
		{IBV_QPS_RESET, 1 << IBV_QPS_RESET},
		{IBV_QPS_INIT, 1 << IBV_QPS_RESET | 1 << IBV_QPS_ERR | 1 << IBV_QPS_INIT},
		{IBV_QPS_RTR, 1 << IBV_QPS_RESET | 1 << IBV_QPS_ERR},
		{IBV_QPS_RTS,
		 1 << IBV_QPS_RESET | 1 << IBV_QPS_ERR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD},
		{IBV_QPS_SQD,
		 1 << IBV_QPS_RESET | 1 << IBV_QPS_ERR | 1 << IBV_QPS_RTS | 1 << IBV_QPS_SQD},
		{IBV_QPS_ERR, 1 << IBV_QPS_RESET | 1 << IBV_QPS_ERR},
	};
	struct ibv_qp *qp = new_qp(&bed, NULL);

	for (size_t i = 0; i < sizeof(walk) / sizeof(walk[0]); i++) {
		enum ibv_qp_state now = walk[i].state;

		if (now == IBV_QPS_INIT)
			to_init(qp);
		else if (now == IBV_QPS_RTR)
			to_rtr(&bed, qp, qp->qp_num);
		else if (now == IBV_QPS_RTS)
			to_rts(qp, 14, 7, 7);
		else
			CHECK(!set_state(qp, now));
		if (now == IBV_QPS_SQD)
			expect(IBV_EVENT_SQ_DRAINED, qp);
		CHECK(query(qp).qp_state == now && qp->state == now);
		for (int next = IBV_QPS_RESET; next <= IBV_QPS_ERR; next++) {
			if (walk[i].allowed & 1u << next)
				continue;
			CHECK(set_state(qp, next) == EINVAL);
			CHECK(query(qp).qp_state == now);
		}
	}
	CHECK(!set_state(qp, IBV_QPS_RESET));
	CHECK(!ibv_destroy_qp(qp));
}

/* What was set is what is said, and only what the device has is taken. */
static void attributes(void)
{
	struct ibv_qp *qp = new_qp(&bed, NULL);
	struct ibv_qp_init_attr init;
	struct ibv_device_attr d;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1}, got;
	const int init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	CHECK(!ibv_query_device(bed.ctx, &d));
	a.port_num = 2;
	CHECK(ibv_modify_qp(qp, &a, init_mask) == EINVAL);
	a.port_num = 1;
	a.pkey_index = 1;
	CHECK(ibv_modify_qp(qp, &a, init_mask) == EINVAL);
	a.pkey_index = 0;
	a.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	CHECK(!ibv_modify_qp(qp, &a, init_mask));
	got = query(qp);
	CHECK(got.qp_access_flags == a.qp_access_flags && got.port_num == 1 && !got.pkey_index);

	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = 0x123456,
		.rq_psn = 0xabcdef,
		.max_dest_rd_atomic = 7,
		.min_rnr_timer = 13,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .sl = 3,
			    .grh = {.dgid = bed.gid,
				    .sgid_index = bed.gid_index,
				    .hop_limit = 9,
				    .traffic_class = 0x68,
				    .flow_label = 0x12345}},
	};
	const int rtr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	a.max_dest_rd_atomic = d.max_qp_rd_atom + 1;
	CHECK(ibv_modify_qp(qp, &a, rtr_mask) == EINVAL);
	a.max_dest_rd_atomic = 7;
	a.path_mtu = 6;
	CHECK(ibv_modify_qp(qp, &a, rtr_mask) == EINVAL);
	a.path_mtu = IBV_MTU_1024;
	a.min_rnr_timer = 32;
	CHECK(ibv_modify_qp(qp, &a, rtr_mask) == EINVAL);
	a.min_rnr_timer = 13;
	a.ah_attr.grh.sgid_index = 200;
	CHECK(ibv_modify_qp(qp, &a, rtr_mask) == EINVAL);
	a.ah_attr.grh.sgid_index = bed.gid_index;
	CHECK(!ibv_modify_qp(qp, &a, rtr_mask));
	got = query(qp);
	CHECK(got.path_mtu == a.path_mtu && got.dest_qp_num == a.dest_qp_num);
	CHECK(got.rq_psn == a.rq_psn && got.max_dest_rd_atomic == 7 && got.min_rnr_timer == 13);
	CHECK(got.ah_attr.is_global && got.ah_attr.port_num == 1 && got.ah_attr.sl == 3);
	CHECK(!memcmp(&got.ah_attr.grh.dgid, &bed.gid, sizeof(bed.gid)));
	CHECK(got.ah_attr.grh.sgid_index == bed.gid_index && got.ah_attr.grh.hop_limit == 9);
	CHECK(got.ah_attr.grh.traffic_class == 0x68 && got.ah_attr.grh.flow_label == 0x12345);

	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 17,
				 .retry_cnt = 5,
				 .rnr_retry = 6,
				 .sq_psn = 0x654321,
				 .max_rd_atomic = 3};
	const int rts_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	a.max_rd_atomic = d.max_qp_init_rd_atom + 1;
	CHECK(ibv_modify_qp(qp, &a, rts_mask) == EINVAL);
	a.max_rd_atomic = 3;
	a.timeout = 32;
	CHECK(ibv_modify_qp(qp, &a, rts_mask) == EINVAL);
	a.timeout = 17;
	CHECK(!ibv_modify_qp(qp, &a, rts_mask));
	got = query(qp);
	CHECK(got.timeout == 17 && got.retry_cnt == 5 && got.rnr_retry == 6);
	CHECK(got.sq_psn == 0x654321 && got.max_rd_atomic == 3);
	CHECK(!ibv_query_qp(qp, &got, IBV_QP_CAP, &init));
	CHECK(init.qp_type == IBV_QPT_RC && init.sq_sig_all == 1 && init.send_cq == bed.cq &&
	      init.recv_cq == bed.cq && init.qp_context == NULL);
	CHECK(init.cap.max_send_wr >= DEPTH && init.cap.max_recv_wr >= DEPTH);
	CHECK(got.cap.max_send_sge >= 2 && got.cap.max_recv_sge >= 2);
	CHECK(!ibv_destroy_qp(qp));
}

/* ---- watching -------------------------------------------------------------------------------------- */

/* Prints every event until the device is gone, then what its verbs say. */
static void watch(void)
{
	struct ibv_comp_channel *ch = ibv_create_comp_channel(bed.ctx);
	struct pollfd end = {.fd = ch ? ch->fd : -1, .events = POLLIN};
	struct ibv_async_event ev;
	struct ibv_port_attr port = {0};
	char line[80];

	CHECK(ch);
	say("watching");
	while (!ibv_get_async_event(bed.ctx, &ev)) {
		CHECK(!ibv_query_port(bed.ctx, 1, &port) ||
		      ev.event_type == IBV_EVENT_DEVICE_FATAL);
		snprintf(line, sizeof(line), "%s, port %d, state %d",
			 ibv_event_type_str(ev.event_type), ev.element.port_num, port.state);
		say(line);
		ibv_ack_async_event(&ev);
	}
	CHECK(poll(&end, 1, WAIT_MS) == 1 && end.revents & (POLLHUP | POLLERR));
	CHECK(!ibv_alloc_pd(bed.ctx));
	snprintf(line, sizeof(line), "the end, errno %d", errno);
	say(line);
	exit(0);
}

static const struct named_test tests[] = {
	{"comm_est", comm_est},
	{"access_error", access_error},
	{"request_error", request_error},
	{"references", references},
	{"drain", drain},
	{"drain_to_err", drain_to_err},
	{"send_queue_error", send_queue_error},
	{"states", states},
	{"attributes", attributes},
	{"watch", watch},
};

int main(int argc, char **argv)
{
	return run_in_bed(&bed, &mr, mem, sizeof(mem), tests, sizeof(tests) / sizeof(tests[0]),
			  argc, argv);
}
