// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues by plain libibverbs, within one device: resizing, also
 * under traffic, completion channels, overflow, extended CQs and the extended
 * way of posting. One behaviour a run; says what was wrong, and exits 1.
 *
 *   cq_verbs DEVICE GID_INDEX TEST
 */
#include <fcntl.h>
#include <pthread.h>
#include "fault_verbs.h"

#define MESSAGES 30000
#define MSG	 64
#define WINDOW	 32 /* messages out at a time, each a send and a receive completion */

static struct bed bed;
static struct ibv_mr *mr;
static char mem[4 * PAGE];

static struct span message(unsigned int slot)
{
	return span_of(mr, slot % (2 * WINDOW) * MSG, MSG);
}

static void send_one(struct ibv_qp *qp, uint64_t wr_id, unsigned int flags)
{
	struct ibv_sge sge = sge_of(message(0));
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = flags};

	CHECK(!ibv_post_send(qp, &wr, &bad));
}

/* ---- resizing ------------------------------------------------------------------------ */

static void resize_limits(void)
{
	struct ibv_cq *cq = ibv_create_cq(bed.ctx, 10, NULL, NULL, 0);
	struct ibv_device_attr d;

	CHECK(cq && !ibv_query_device(bed.ctx, &d));
	REFUSED(!ibv_create_cq(bed.ctx, d.max_cqe + 1, NULL, NULL, 0), EINVAL);
	REFUSED(!ibv_create_cq(bed.ctx, 0, NULL, NULL, 0), EINVAL);
	CHECK(ibv_resize_cq(cq, d.max_cqe + 1) == EINVAL);
	CHECK(ibv_resize_cq(cq, 0) == EINVAL);
	CHECK(cq->cqe == 15); /* what the ring holds, as the driver says */
	CHECK(!ibv_resize_cq(cq, d.max_cqe) && cq->cqe == d.max_cqe);
	CHECK(!ibv_resize_cq(cq, 1) && cq->cqe == 1);
	CHECK(!ibv_destroy_cq(cq));
}

/* Fewer than wait is refused, and changes nothing; as many as wait is not. */
static void resize_outstanding(void)
{
	struct pair p = new_pair(&bed);
	struct ibv_wc wc;

	for (int i = 0; i < 10; i++)
		CHECK(!post_recv(p.b, message(WINDOW), 100 + i));
	for (int i = 0; i < 10; i++)
		send_one(p.a, i, IBV_SEND_SIGNALED);
	/* Until all twenty are there. */
	for (int64_t until = now_ms() + WAIT_MS; !ibv_resize_cq(bed.cq, 19);)
		CHECK(now_ms() < until);
	CHECK(ibv_resize_cq(bed.cq, 19) == EINVAL);
	CHECK(!ibv_resize_cq(bed.cq, 20) && bed.cq->cqe == 31);
	for (int i = 0, sent = 0, got = 0; i < 20; i++) {
		wc = next_wc(bed.cq);
		CHECK(wc.status == IBV_WC_SUCCESS);
		if (wc.opcode & IBV_WC_RECV)
			CHECK(wc.wr_id == 100u + got++ && wc.qp_num == p.b->qp_num);
		else
			CHECK(wc.wr_id == (uint64_t)sent++ && wc.qp_num == p.a->qp_num);
	}
	CHECK(!ibv_resize_cq(bed.cq, 1));
	free_pair(&p);
}

static struct {
	struct pair p;
	uint32_t sent, received, completed;
	bool stop;
	uint32_t resized;
} t;

static void *resizer(void *arg)
{
	uint32_t n = 0;

	(void)arg;
	while (!__atomic_load_n(&t.stop, __ATOMIC_RELAXED)) {
		CHECK(!ibv_resize_cq(bed.cq, 2 * WINDOW + n++ % 300));
		t.resized++;
	}
	return NULL;
}

static void take(const struct ibv_wc *wc)
{
	CHECK(wc->status == IBV_WC_SUCCESS);
	if (wc->opcode & IBV_WC_RECV) {
		CHECK(wc->wr_id == t.received);
		t.received++;
		CHECK(!post_recv(t.p.b, message(WINDOW + wc->wr_id), wc->wr_id + WINDOW));
	} else {
		CHECK(wc->wr_id == t.completed);
		t.completed++;
	}
}

/* Every completion comes once, in order, whatever the size is meanwhile. */
static void resize_traffic(void)
{
	struct ibv_wc wc[8];
	pthread_t other;

	t.p = new_pair(&bed);
	for (uint64_t i = 0; i < WINDOW; i++)
		CHECK(!post_recv(t.p.b, message(WINDOW + i), i));
	CHECK(!pthread_create(&other, NULL, resizer, NULL));
	for (int64_t until = now_ms() + 60000; t.received < MESSAGES || t.completed < MESSAGES;) {
		int n;

		while (t.sent < MESSAGES && t.sent - t.completed < WINDOW &&
		       t.sent - t.received < WINDOW)
			send_one(t.p.a, t.sent++, IBV_SEND_SIGNALED);
		n = ibv_poll_cq(bed.cq, 8, wc);
		CHECK(n >= 0 && now_ms() < until);
		for (int i = 0; i < n; i++)
			take(&wc[i]);
	}
	t.stop = true;
	CHECK(!pthread_join(other, NULL));
	printf("%u resizes\n", t.resized);
	CHECK(t.resized > 100);
	CHECK(!poll_within(bed.cq, wc, 0));
	free_pair(&t.p);
}

/* ---- completion channels ----------------------------------------------------------------- */

static bool readable(const struct ibv_comp_channel *ch, int ms)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

static void take_event(struct ibv_comp_channel *ch, struct ibv_cq *cq, void *context)
{
	struct ibv_cq *from;
	void *what;

	CHECK(readable(ch, WAIT_MS));
	CHECK(!ibv_get_cq_event(ch, &from, &what));
	CHECK(from == cq && what == context);
}

/* A pair whose second QP completes its receives in a CQ with a channel. */
struct listener {
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq, *other;
	struct pair p;
};

static void listen_on(struct listener *l)
{
	l->ch = ibv_create_comp_channel(bed.ctx);
	CHECK(l->ch);
	l->other = bed.cq;
	l->cq = ibv_create_cq(bed.ctx, 10, l, l->ch, 0);
	CHECK(l->cq);
	l->p.a = new_qp(&bed, NULL);
	bed.cq = l->cq;
	l->p.b = new_qp(&bed, NULL);
	bed.cq = l->other;
	connect_qp(&bed, l->p.a, l->p.b->qp_num);
	connect_qp(&bed, l->p.b, l->p.a->qp_num);
	for (int i = 0; i < 10; i++)
		CHECK(!post_recv(l->p.b, message(1), i));
}

static void hang_up(struct listener *l)
{
	free_pair(&l->p);
	CHECK(!ibv_destroy_cq(l->cq));
	CHECK(!ibv_destroy_comp_channel(l->ch));
}

/* Sends and polls both completions. */
static void send_and_poll(struct listener *l, unsigned int flags)
{
	send_one(l->p.a, 0, IBV_SEND_SIGNALED | flags);
	CHECK(next_wc(l->cq).status == IBV_WC_SUCCESS);
	CHECK(next_wc(bed.cq).status == IBV_WC_SUCCESS);
}

static void solicited(void)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	struct listener l;

	listen_on(&l);
	send_and_poll(&l, IBV_SEND_SOLICITED); /* not armed */
	CHECK(!ibv_req_notify_cq(l.cq, 1));
	send_and_poll(&l, 0);
	send_and_poll(&l, 0); /* what the first might have caused would be here now */
	CHECK(!readable(l.ch, 0));
	send_and_poll(&l, IBV_SEND_SOLICITED);
	take_event(l.ch, l.cq, &l);
	send_and_poll(&l, IBV_SEND_SOLICITED); /* armed once is one event */
	send_and_poll(&l, 0);
	CHECK(!readable(l.ch, 0));
	CHECK(!ibv_req_notify_cq(l.cq, 0));
	CHECK(!ibv_req_notify_cq(l.cq, 1)); /* does not weaken the first */
	send_and_poll(&l, 0);
	take_event(l.ch, l.cq, &l);
	CHECK(!ibv_req_notify_cq(l.cq, 1));
	CHECK(!ibv_modify_qp(l.p.b, &err, IBV_QP_STATE)); /* an error is always solicited */
	take_event(l.ch, l.cq, &l);
	CHECK(next_wc(l.cq).status == IBV_WC_WR_FLUSH_ERR);
	ibv_ack_cq_events(l.cq, 3);
	hang_up(&l);
}

static void *destroy_cq(void *cq)
{
	return (void *)(intptr_t)ibv_destroy_cq(cq);
}

/* Destroying waits for what was read and not acknowledged, and for nothing else. */
static void event_references(void)
{
	struct timespec t;
	struct listener l;
	pthread_t other;
	void *rc;

	listen_on(&l);
	for (int i = 0; i < 2; i++) {
		CHECK(!ibv_req_notify_cq(l.cq, 0));
		send_and_poll(&l, 0);
		if (!i)
			take_event(l.ch, l.cq, &l);
	}
	CHECK(readable(l.ch, WAIT_MS)); /* the second one is unread */
	free_pair(&l.p);
	CHECK(!pthread_create(&other, NULL, destroy_cq, l.cq));
	while (readable(l.ch, 1)) /* it vanishes with its CQ */
		;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 200000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	CHECK(pthread_timedjoin_np(other, &rc, &t) == ETIMEDOUT);
	ibv_ack_cq_events(l.cq, 1);
	CHECK(!pthread_join(other, &rc) && !rc);
	CHECK(!ibv_destroy_comp_channel(l.ch));
}

/* Events survive a resize; the channel is in use as long as a CQ has it. */
static void resize_armed(void)
{
	struct listener l;

	listen_on(&l);
	CHECK(!ibv_req_notify_cq(l.cq, 1));
	CHECK(!ibv_resize_cq(l.cq, 50));
	send_and_poll(&l, 0);
	send_and_poll(&l, 0);
	CHECK(!readable(l.ch, 0));
	send_and_poll(&l, IBV_SEND_SOLICITED);
	take_event(l.ch, l.cq, &l);
	ibv_ack_cq_events(l.cq, 1);
	CHECK(ibv_destroy_comp_channel(l.ch) == EBUSY);
	hang_up(&l);
}

/* ---- overflow ----------------------------------------------------------------------------- */

static void expect_async(enum ibv_event_type type, const void *element)
{
	struct pollfd p = {.fd = bed.ctx->async_fd, .events = POLLIN};
	struct ibv_async_event ev;

	do {
		CHECK(poll(&p, 1, WAIT_MS) == 1);
		CHECK(!ibv_get_async_event(bed.ctx, &ev));
		ibv_ack_async_event(&ev);
	} while (ev.event_type == IBV_EVENT_COMM_EST);
	CHECK(ev.event_type == type);
	CHECK((const void *)ev.element.qp == element); /* of a union */
}

/* A full CQ is said once; the QP that could not complete ends. */
static void overflow(void)
{
	struct ibv_cq *tiny = ibv_create_cq(bed.ctx, 1, NULL, NULL, 0), *cq = bed.cq;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair p;

	CHECK(tiny);
	bed.cq = tiny;
	p.a = new_qp(&bed, NULL);
	bed.cq = cq;
	p.b = new_qp(&bed, NULL);
	connect_qp(&bed, p.a, p.b->qp_num);
	connect_qp(&bed, p.b, p.a->qp_num);
	for (int i = 0; i < 2; i++)
		CHECK(!post_recv(p.b, message(1), i));
	send_one(p.a, 0, IBV_SEND_SIGNALED);
	send_one(p.a, 1, IBV_SEND_SIGNALED);
	expect_async(IBV_EVENT_CQ_ERR, tiny);
	expect_async(IBV_EVENT_QP_FATAL, p.a);
	CHECK(!ibv_query_qp(p.a, &attr, IBV_QP_STATE, &init));
	CHECK(attr.qp_state == IBV_QPS_ERR);
	CHECK(next_wc(tiny).wr_id == 0);
	CHECK(!poll_within(tiny, &(struct ibv_wc){0}, 100));
	free_pair(&p);
	CHECK(!ibv_destroy_cq(tiny));
}

/* ---- the extended interfaces ----------------------------------------------------------------- */

static struct ibv_cq_ex *new_cq_ex(uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex a = {.cqe = 20, .wc_flags = wc_flags};

	return ibv_create_cq_ex(bed.ctx, &a);
}

static void next_ex(struct ibv_cq_ex *cq, enum ibv_wc_opcode op, uint64_t wr_id)
{
	struct ibv_poll_cq_attr none = {0};
	int rc;

	for (int64_t until = now_ms() + WAIT_MS; (rc = ibv_start_poll(cq, &none)) == ENOENT;)
		CHECK(now_ms() < until);
	CHECK(!rc);
	CHECK(cq->status == IBV_WC_SUCCESS && cq->wr_id == wr_id);
	CHECK(ibv_wc_read_opcode(cq) == op);
}

/* Polled one by one within a start and an end; resized as any other. */
static void extended(void)
{
	struct ibv_cq_ex *ex = new_cq_ex(IBV_WC_STANDARD_FLAGS);
	struct ibv_cq *cq = bed.cq;
	struct ibv_poll_cq_attr none = {0};
	struct ibv_sge sge = sge_of(message(0));
	struct ibv_send_wr *bad, wr = {.wr_id = 7,
				       .sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND_WITH_IMM,
				       .imm_data = 0x1234,
				       .send_flags = IBV_SEND_SIGNALED};
	struct pair p;

	CHECK(ex);
	REFUSED(!new_cq_ex(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP), EOPNOTSUPP);
	bed.cq = ibv_cq_ex_to_cq(ex);
	p = new_pair(&bed);
	CHECK(!post_recv(p.b, message(1), 5));
	CHECK(ibv_start_poll(ex, &none) == ENOENT);
	CHECK(!ibv_post_send(p.a, &wr, &bad));
	next_ex(ex, IBV_WC_RECV, 5);
	CHECK(ibv_wc_read_byte_len(ex) == MSG && ibv_wc_read_imm_data(ex) == 0x1234);
	CHECK(ibv_wc_read_wc_flags(ex) & IBV_WC_WITH_IMM);
	CHECK(ibv_wc_read_qp_num(ex) == p.b->qp_num);
	ibv_end_poll(ex);
	CHECK(!ibv_resize_cq(bed.cq, 100));
	next_ex(ex, IBV_WC_SEND, 7);
	CHECK(ibv_wc_read_qp_num(ex) == p.a->qp_num);
	CHECK(ibv_next_poll(ex) == ENOENT);
	ibv_end_poll(ex);
	free_pair(&p);
	CHECK(!ibv_destroy_cq(bed.cq));
	bed.cq = cq;
}

static struct ibv_qp_ex *new_qp_ex(void)
{
	struct ibv_qp_init_attr_ex a = {
		.send_cq = bed.cq,
		.recv_cq = bed.cq,
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = bed.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(bed.ctx, &a);

	CHECK(qp);
	return ibv_qp_to_qp_ex(qp);
}

/* Work requests built by calls, several at a time, all or none of them posted. */
static void extended_posting(void)
{
	uint64_t *counter = (uint64_t *)(mem + 3 * PAGE), far = (uintptr_t)mem + PAGE;
	struct ibv_qp_ex *ex = new_qp_ex();
	struct pair p = {&ex->qp_base, new_qp(&bed, NULL)};
	enum ibv_wc_opcode want[] = {IBV_WC_RDMA_WRITE, IBV_WC_RDMA_READ, IBV_WC_FETCH_ADD,
				     IBV_WC_COMP_SWAP, IBV_WC_SEND};
	struct ibv_wc wc;
	int rc;

	connect_qp(&bed, p.a, p.b->qp_num);
	connect_qp(&bed, p.b, p.a->qp_num);
	CHECK(!post_recv(p.b, span_of(mr, 2 * PAGE, MSG), 50));
	memcpy(mem, "abcdefghijklmnop", 16);
	*counter = 40;

	ibv_wr_start(ex); /* given up */
	ex->wr_id = 99;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem, 1);
	ibv_wr_abort(ex);

	ibv_wr_start(ex);
	ex->wr_flags = IBV_SEND_SIGNALED;
	ex->wr_id = 0;
	ibv_wr_rdma_write(ex, mr->rkey, far);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem, 16);
	ex->wr_id = 1;
	ibv_wr_rdma_read(ex, mr->rkey, far);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem + 100, 16);
	ex->wr_id = 2;
	ibv_wr_atomic_fetch_add(ex, mr->rkey, (uintptr_t)counter, 2);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem + 200, 8);
	ex->wr_id = 3;
	ibv_wr_atomic_cmp_swp(ex, mr->rkey, (uintptr_t)counter, 42, 7);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem + 208, 8);
	ex->wr_id = 4;
	ex->wr_flags |= IBV_SEND_INLINE; /* the provider does not set it */
	ibv_wr_send_imm(ex, 0x5678);
	ibv_wr_set_inline_data(ex, mem, 7); /* of a list the provider sends nothing */
	CHECK(!ibv_wr_complete(ex));

	for (int i = 0; i < 5; i++) {
		do {
			wc = next_wc(bed.cq);
			CHECK(wc.status == IBV_WC_SUCCESS);
			if (wc.opcode == IBV_WC_RECV)
				CHECK(wc.wr_id == 50 && wc.byte_len == 7 && wc.imm_data == 0x5678);
		} while (wc.opcode == IBV_WC_RECV);
		CHECK(wc.wr_id == (uint64_t)i && wc.opcode == want[i]);
	}
	CHECK(!memcmp(mem + 100, "abcdefghijklmnop", 16));
	CHECK(*(uint64_t *)(mem + 200) == 40 && *(uint64_t *)(mem + 208) == 42 && *counter == 7);
	CHECK(!memcmp(mem + 2 * PAGE, "abcdefg", 7));

	ibv_wr_start(ex); /* more than the queue holds: none of them */
	for (int i = 0; i < 40; i++) {
		ibv_wr_rdma_write(ex, mr->rkey, far);
		ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)mem, 1);
	}
	rc = ibv_wr_complete(ex);
	CHECK(rc == ENOSPC);
	CHECK(!poll_within(bed.cq, &wc, 100));
	free_pair(&p);
}

static const struct named_test tests[] = {
	{"resize_limits", resize_limits},
	{"resize_outstanding", resize_outstanding},
	{"resize_traffic", resize_traffic},
	{"resize_armed", resize_armed},
	{"solicited", solicited},
	{"event_references", event_references},
	{"overflow", overflow},
	{"extended", extended},
	{"extended_posting", extended_posting},
};

int main(int argc, char **argv)
{
	return run_in_bed(&bed, &mr, mem, sizeof(mem), tests, sizeof(tests) / sizeof(tests[0]),
			  argc, argv);
}
