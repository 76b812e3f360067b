/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* srq.c: who gets which receive WQE, the limit event, resizing; PROTOCOL 25. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "sim/bed.h"
#include "transport/engine.h"
#include "transport/srq.h"

#define PSN(n)	   rxe_psn_add(BED_RQ_PSN, n)
#define LOCAL	   4096 /* where receives go, in the bed's memory */
#define OTHER_QPN  0x33
#define OTHER_PEER 0x44

static const struct bed_options rc = {
	.type = RXE_QPT_RC,
	.rd_atomic = 2,
	.timeout = 14,
	.retry_cnt = 2,
	.rnr_retry = 2,
	.srq_wr = 31,
};
static const struct bed_options uc = {.type = RXE_QPT_UC, .srq_wr = 31};
static const struct bed_options ud = {.type = RXE_QPT_UD, .srq_wr = 31};

/* WQEs that nobody has taken. */
static uint32_t left(const struct sim_srq *s)
{
	const struct rxe_queue_buf *q = s->ring.buf;

	return (q->producer_index - __atomic_load_n(&q->consumer_index, __ATOMIC_ACQUIRE)) &
	       q->index_mask;
}

static void post_recvs(struct bed *b, int n)
{
	for (int i = 0; i < n; i++)
		bed_post_recv(b, i, LOCAL + 1024 * i, 1000);
}

static void data(struct bed *b, enum rxe_op op, int n, uint32_t len)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.ack_req = i.op->flags & RXE_F_END;
	i.len = len;
	bed_inject(b, &i, NULL, len);
}

/* A second QP on the bed's SRQ, with CQs and peer of its own. */
struct other {
	struct sim_cq scq, rcq;
	struct sim_qp qp;
};

static void other_init(struct other *o, struct bed *b)
{
	struct sim_qp_caps caps = {
		.type = RXE_QPT_RC,
		.qpn = OTHER_QPN,
		.pdn = 1,
		.send_wr = 4,
		.send_sge = 1,
		.srq = &b->srq,
	};
	struct sim_path path = {.dip = b->peer,
				.dest_qpn = OTHER_PEER,
				.rq_psn = BED_RQ_PSN,
				.path_mtu = 1,
				.access = 0x0e};

	sim_cq_init(&o->scq, &b->h, 15);
	sim_cq_init(&o->rcq, &b->h, 15);
	sim_qp_init(&o->qp, &b->h, &caps, &o->scq, &o->rcq);
	assert_int_equal(sim_qp_to(&o->qp, &path, RXE_QPS_RTS), 0);
}

static void other_fini(struct other *o)
{
	sim_qp_destroy(&o->qp);
	sim_qp_fini(&o->qp);
	sim_cq_fini(&o->scq);
	sim_cq_fini(&o->rcq);
}

static void other_data(struct bed *b, enum rxe_op op, int n, uint32_t len)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.qpn = OTHER_QPN;
	bed_inject(b, &i, NULL, len);
}

/* ---- who gets which WQE --------------------------------------------------------- */

static void taken_at_the_first_packet(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	post_recvs(&b, 2);
	data(&b, RXE_OP_SEND_FIRST, 0, 256);
	assert_int_equal(left(&b.srq), 1); /* its element may be used again */
	data(&b, RXE_OP_SEND_MIDDLE, 1, 256);
	bed_no_wc(&b.rcq);
	data(&b, RXE_OP_SEND_LAST, 2, 3);
	assert_int_equal(left(&b.srq), 1);
	assert_int_equal(bed_wc(&b.rcq, 0, 0).byte_len, 515);
	assert_int_equal(b.mem[LOCAL + 514], 0x5a);
	data(&b, RXE_OP_WRITE_ONLY_IMM, 3, 20);
	assert_int_equal(bed_wc(&b.rcq, 1, 0).byte_len, 20);
	assert_int_equal(left(&b.srq), 0);
	bed_fini(&b);
}

static void two_qps_take_in_turn(void **state)
{
	struct other o;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	other_init(&o, &b);
	post_recvs(&b, 4);
	data(&b, RXE_OP_SEND_FIRST, 0, 256);
	other_data(&b, RXE_OP_SEND_FIRST, 0, 256);
	other_data(&b, RXE_OP_SEND_LAST, 1, 1);
	other_data(&b, RXE_OP_SEND_ONLY, 2, 7);
	data(&b, RXE_OP_SEND_LAST, 1, 2);
	bed_wc(&o.rcq, 1, 0);
	assert_int_equal(bed_wc(&o.rcq, 2, 0).qp_num, OTHER_QPN);
	assert_int_equal(bed_wc(&b.rcq, 0, 0).qp_num, BED_QPN);
	assert_int_equal(left(&b.srq), 1);
	other_fini(&o);
	bed_fini(&b);
}

static void rnr_when_empty(void **state)
{
	struct bed_sent *s;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	s = bed_sent(&b, RXE_OP_ACK);
	assert_int_equal(s->info.syndrome, RXE_AETH_RNR_NAK | 12);
	post_recvs(&b, 1);
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	bed_sent(&b, RXE_OP_ACK);
	bed_wc(&b.rcq, 0, 0);
	data(&b, RXE_OP_WRITE_ONLY_IMM, 1, 8);
	s = bed_sent(&b, RXE_OP_ACK);
	assert_int_equal(s->info.syndrome, RXE_AETH_RNR_NAK | 12);
	assert_int_not_equal(b.mem[0], 0x5a); /* not executed; its MR is let go of: bed_fini() */
	bed_fini(&b);
}

/* As the driver's class E: the program has the WQE back, the QP goes on. */
static void uc_gives_back_what_an_abandoned_message_took(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &uc);
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_NO_RECV), 1);
	post_recvs(&b, 4);
	data(&b, RXE_OP_SEND_FIRST, 1, 256);
	data(&b, RXE_OP_SEND_ONLY, 7, 9); /* the LAST was lost */
	bed_wc(&b.rcq, 0, RXE_WC_REM_INV_REQ_ERR);
	assert_int_equal(bed_wc(&b.rcq, 1, 0).byte_len, 9);
	for (int i = 0; i < 4; i++) /* 1024 bytes for a buffer of 1000 */
		data(&b, i ? RXE_OP_SEND_MIDDLE : RXE_OP_SEND_FIRST, 8 + i, 256);
	bed_wc(&b.rcq, 2, RXE_WC_REM_INV_REQ_ERR);
	data(&b, RXE_OP_SEND_MIDDLE, 12, 256);
	assert_int_equal(left(&b.srq), 1);
	data(&b, RXE_OP_SEND_ONLY, 13, 9);
	bed_wc(&b.rcq, 3, 0);
	post_recvs(&b, 1);
	data(&b, RXE_OP_SEND_FIRST, 14, 256);
	data(&b, RXE_OP_SEND_LAST, 16, 9);
	bed_wc(&b.rcq, 0, RXE_WC_REM_INV_REQ_ERR);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_RTS);
	bed_fini(&b);
}

/* Not before what is being copied to it is done. */
static void what_is_given_back_is_not_written_to(void **state)
{
	struct bed_options o = uc;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	post_recvs(&b, 1);
	data(&b, RXE_OP_SEND_FIRST, 0, 256);
	data(&b, RXE_OP_WRITE_ONLY, 5, 0);
	bed_no_wc(&b.rcq);
	bed_copies(&b);
	bed_wc(&b.rcq, 0, RXE_WC_REM_INV_REQ_ERR);
	bed_fini(&b);
}

static void a_datagram_that_does_not_fit_takes_none(void **state)
{
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	bed_init(&b, &ud);
	i = bed_pkt(&b, RXE_OP_SEND_ONLY, 0);
	bed_inject(&b, &i, NULL, 8);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_NO_RECV), 1);
	bed_post_recv(&b, 1, LOCAL, 48);
	bed_inject(&b, &i, NULL, 9); /* with the GRH: 49 bytes */
	assert_int_equal(bed_count(&b, RXE_HW_DROP_LENGTH), 1);
	assert_int_equal(left(&b.srq), 1);
	bed_inject(&b, &i, NULL, 8);
	assert_int_equal(bed_wc(&b.rcq, 1, 0).byte_len, 48);
	assert_int_equal(left(&b.srq), 0);
	bed_fini(&b);
}

/* The WQEs' keys are of the SRQ's protection domain, whatever the QP's. */
static void keys_are_of_the_srqs_pd(void **state)
{
	struct bed_options o = rc;
	struct rxe_mr *mr;
	struct rxe_sge sge;
	struct bed b;

	(void)state;
	o.srq_pdn = 2;
	bed_init(&b, &o);
	mr = sim_mr(&b.h, 2, b.mem + LOCAL, 64, 0);
	sge = (struct rxe_sge){(uintptr_t)b.mem + LOCAL, 64, rxe_mr_lkey(mr)};
	assert_true(sim_post_srq_recv(&b.srq, 1, &sge, 1));
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	bed_wc(&b.rcq, 1, 0);
	post_recvs(&b, 1); /* the QP's domain */
	data(&b, RXE_OP_SEND_ONLY, 1, 8);
	bed_wc(&b.rcq, 0, RXE_WC_LOC_PROT_ERR);
	sim_mr_free(&b.h, mr);
	bed_fini(&b);
}

/* ---- errors ------------------------------------------------------------------------ */

/* PROTOCOL 25: what is answered by an error consumes no receive WQE. */
static void error_acks_consume_none(void **state)
{
	static const struct {
		enum rxe_op op;
		int psn;
		uint32_t len, reth_len, rkey_off;
		uint8_t syndrome;
	} cases[] = {
		{RXE_OP_SEND_ONLY, 1, 8, 0, 0, RXE_AETH_NAK | RXE_NAK_PSN_SEQ},
		{RXE_OP_SEND_ONLY, 0, 257, 0, 0, RXE_AETH_NAK | RXE_NAK_INV_REQ},
		{RXE_OP_SEND_LAST, 0, 8, 0, 0, RXE_AETH_NAK | RXE_NAK_INV_REQ},
		{RXE_OP_WRITE_ONLY_IMM, 0, 8, 8, 1, RXE_AETH_NAK | RXE_NAK_REM_ACCESS},
		{RXE_OP_WRITE_ONLY_IMM, 0, 8, 9, 0, RXE_AETH_NAK | RXE_NAK_INV_REQ},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct rxe_pktinfo i;
		struct bed b;

		bed_init(&b, &rc);
		post_recvs(&b, 1);
		i = bed_pkt(&b, cases[n].op, PSN(cases[n].psn));
		i.len = cases[n].reth_len;
		i.rkey += cases[n].rkey_off;
		bed_inject(&b, &i, NULL, cases[n].len);
		assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome, cases[n].syndrome);
		assert_int_equal(left(&b.srq), 1);
		bed_no_wc(&b.rcq);
		bed_fini(&b);
	}
}

/* The last packet of a WRITE with immediate data, when its region has gone. */
static void a_write_that_lost_its_region_consumes_none(void **state)
{
	struct rxe_pktinfo i;
	struct rxe_mr *mr;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	post_recvs(&b, 1);
	mr = sim_mr(&b.h, 1, b.mem, 1000, 0);
	i = bed_pkt(&b, RXE_OP_WRITE_FIRST, PSN(0));
	i.rkey = rxe_mr_rkey(mr);
	i.len = 300;
	bed_inject(&b, &i, NULL, 256);
	sim_mr_free(&b.h, mr);
	data(&b, RXE_OP_WRITE_LAST_IMM, 1, 44);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome,
			 RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	assert_int_equal(left(&b.srq), 1);
	bed_no_wc(&b.rcq);
	bed_fini(&b);
}

/* A malformed WQE ends the QP that drew it, with its wr_id, and no other. */
static void a_malformed_wqe_ends_one_qp(void **state)
{
	struct other o;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	other_init(&o, &b);
	post_recvs(&b, 2);
	((struct rxe_recv_wqe *)b.srq.ring.buf->data)->dma.num_sge = 0xffffffff;
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	bed_wc(&b.rcq, 0, RXE_WC_LOC_QP_OP_ERR);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
	other_data(&b, RXE_OP_SEND_ONLY, 0, 8);
	bed_wc(&o.rcq, 1, 0);
	other_fini(&o);
	bed_fini(&b);
}

static void garbage_indices(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	post_recvs(&b, 1);
	rxe_srq_set_limit(b.srq.srq, 0xffffffff);
	b.srq.ring.buf->producer_index = 0xfffffff5;
	b.srq.ring.buf->consumer_index = 0xdeadbeef;
	b.srq.ring.buf->index_mask = 0xffffffff;
	b.srq.ring.buf->log2_elem_size = 60;
	data(&b, RXE_OP_SEND_ONLY, 0, 8);
	bed_wc(&b.rcq, 0, 0);
	data(&b, RXE_OP_SEND_ONLY, 1, 8); /* an element of zeroes: no room */
	bed_wc(&b.rcq, 0, RXE_WC_LOC_LEN_ERR);
	bed_fini(&b);
}

/* ---- events -------------------------------------------------------------------------- */

static void limit_event_once_for_each_arming(void **state)
{
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	post_recvs(&b, 6);
	rxe_srq_set_limit(b.srq.srq, 4);
	data(&b, RXE_OP_SEND_ONLY, 0, 8); /* 5 left */
	data(&b, RXE_OP_SEND_ONLY, 1, 8); /* 4 left */
	bed_assert_events(&b, RXE_EV_SRQ_LIMIT_REACHED, 0);
	assert_int_equal(rxe_srq_get_limit(b.srq.srq), 4);
	data(&b, RXE_OP_SEND_ONLY, 2, 8);
	bed_assert_events(&b, RXE_EV_SRQ_LIMIT_REACHED, 1);
	assert_ptr_equal(b.h.events[b.h.nr_events - 1].obj, b.srq.srq);
	assert_ptr_equal(rxe_srq_owner(b.srq.srq), &b.srq);
	assert_int_equal(rxe_srq_get_limit(b.srq.srq), 0);
	data(&b, RXE_OP_SEND_ONLY, 3, 8);
	bed_assert_events(&b, RXE_EV_SRQ_LIMIT_REACHED, 1);
	rxe_srq_set_limit(b.srq.srq, 2);
	data(&b, RXE_OP_SEND_ONLY, 4, 8);
	bed_assert_events(&b, RXE_EV_SRQ_LIMIT_REACHED, 2);
	bed_fini(&b);
}

/* In ERR: what the QP has taken is flushed, what is in the SRQ stays; then the event. */
static void last_wqe_reached(void **state)
{
	struct bed_options o = rc;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	post_recvs(&b, 3);
	data(&b, RXE_OP_SEND_FIRST, 0, 256);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), 0);
	bed_run(&b);
	bed_assert_events(&b, RXE_EV_QP_LAST_WQE_REACHED, 0); /* its copy still runs */
	bed_no_wc(&b.rcq);
	bed_copies(&b);
	bed_wc(&b.rcq, 0, RXE_WC_WR_FLUSH_ERR);
	bed_assert_events(&b, RXE_EV_QP_LAST_WQE_REACHED, 1);
	for (int i = 0; i < 10; i++)
		bed_advance(&b, 200000000);
	bed_no_wc(&b.rcq);
	bed_assert_events(&b, RXE_EV_QP_LAST_WQE_REACHED, 1);
	assert_int_equal(left(&b.srq), 2);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_RESET), 0);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), -EINVAL);
	bed_fini(&b);
}

static void no_such_event_without_an_srq(void **state)
{
	struct bed_options o = rc;
	struct bed b;

	(void)state;
	o.srq_wr = 0;
	bed_init(&b, &o);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), 0);
	bed_run(&b);
	bed_assert_events(&b, RXE_EV_QP_LAST_WQE_REACHED, 0);
	bed_fini(&b);
}

/* ---- size and limits -------------------------------------------------------------------- */

static void resize_keeps_wqes_in_order(void **state)
{
	struct bed b;
	int psn = 0;

	(void)state;
	bed_init(&b, &rc);
	for (; psn < 29; psn++) { /* the indices are near their wrap */
		bed_post_recv(&b, 100 + psn, LOCAL, 100);
		data(&b, RXE_OP_SEND_ONLY, psn, 8);
		bed_wc(&b.rcq, 100 + psn, 0);
	}
	post_recvs(&b, 10);
	rxe_srq_set_limit(b.srq.srq, 3);
	assert_int_equal(sim_srq_resize(&b.srq, 7), -EINVAL);
	assert_int_equal(left(&b.srq), 10);
	assert_int_equal(sim_srq_resize(&b.srq, 200), 0);
	assert_int_equal(b.srq.geo.max_wr, 255);
	assert_int_equal(left(&b.srq), 10);
	bed_post_recv(&b, 10, LOCAL, 100);
	assert_int_equal(sim_srq_resize(&b.srq, 12), 0);
	assert_int_equal(b.srq.geo.max_wr, 15);
	for (int i = 0; i < 11; i++, psn++) {
		data(&b, RXE_OP_SEND_ONLY, psn, 8);
		bed_wc(&b.rcq, i, 0);
	}
	bed_assert_events(&b, RXE_EV_SRQ_LIMIT_REACHED, 1);
	bed_fini(&b);
}

static void limits_hold(void **state)
{
	struct rxe_limits lim = sim_limits;
	struct rxe_srq_geometry g;
	struct rxe_srq_init init = {0};
	struct rxe_srq *one, *two;
	struct rxe_hca hca = {.limits = {.max_srq = 1}};

	(void)state;
	assert_int_equal(rxe_srq_ring_geometry(&lim, 0, 1, &g), -EINVAL);
	assert_int_equal(rxe_srq_ring_geometry(&lim, lim.max_srq_wr + 1, 1, &g), -EINVAL);
	assert_int_equal(rxe_srq_ring_geometry(&lim, 1, lim.max_srq_sge + 1, &g), -EINVAL);
	assert_int_equal(rxe_srq_ring_geometry(&lim, lim.max_srq_wr, lim.max_srq_sge, &g), 0);
	assert_int_equal(g.max_wr, lim.max_srq_wr);
	assert_int_equal(g.max_sge, lim.max_srq_sge);
	assert_int_equal(rxe_srq_ring_geometry(&lim, 100, 0, &g), 0);
	assert_int_equal(g.max_wr, 127);
	assert_int_equal(g.max_sge, 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rxe_srq_create(&hca, &init, &one), 0);
		assert_int_equal(rxe_srq_create(&hca, &init, &two), -ENOMEM);
		rxe_srq_destroy(&hca, one);
	}
	assert_int_equal(hca.nr_srqs, 0);
}

/* ---- several workers ----------------------------------------------------------------------- */

#define THREADS	  4
#define PER_ROUND 1000u
#define ROUNDS	  50u

static uint32_t limit_events;

static void count_event(void *ctx, enum rxe_event_kind kind, void *obj)
{
	(void)ctx;
	(void)obj;
	if (kind == RXE_EV_SRQ_LIMIT_REACHED)
		__atomic_fetch_add(&limit_events, 1, __ATOMIC_RELAXED);
}

struct taker {
	pthread_t thread;
	struct rxe_srq *srq;
	uint8_t *seen; /* by wr_id */
	bool ordered;
};

static void *take_all(void *arg)
{
	static const struct rxe_engine_ops ops = {.async_event = count_event};
	struct rxe_engine e = {.ops = &ops};
	struct taker *t = arg;
	uint64_t last = 0;
	struct rxe_rwqe w;

	t->ordered = true;
	while (last <= PER_ROUND * ROUNDS) {
		if (rxe_srq_take(&e, t->srq, 0, &w))
			continue;
		t->ordered &= w.wr_id > last;
		last = w.wr_id;
		if (last <= PER_ROUND * ROUNDS)
			__atomic_fetch_add(&t->seen[last], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Each WQE goes to one of the workers, in order for each; a limit fires once. */
static void workers_share_it(void **state)
{
	static uint8_t seen[PER_ROUND * ROUNDS + 1];
	struct taker t[THREADS];
	struct sim_host h;
	struct sim_srq s;
	uint64_t id = 1;

	(void)state;
	sim_host_init(&h, 0x0a000001, 4096);
	sim_srq_init(&s, &h, 1, PER_ROUND, 1);
	limit_events = 0;
	for (int i = 0; i < THREADS; i++) {
		t[i] = (struct taker){.srq = s.srq, .seen = seen};
		assert_int_equal(pthread_create(&t[i].thread, NULL, take_all, &t[i]), 0);
	}
	for (uint32_t r = 0; r < ROUNDS; r++) {
		/* Nobody takes before the limit is armed: the queue is empty. */
		rxe_srq_set_limit(s.srq, 1);
		for (uint32_t i = 0; i < PER_ROUND; i++)
			while (!sim_post_srq_recv(&s, id + i, NULL, 0))
				sched_yield();
		id += PER_ROUND;
		while (left(&s))
			sched_yield();
		/* The event of the one that found it empty comes after the element. */
		while (__atomic_load_n(&limit_events, __ATOMIC_ACQUIRE) <= r)
			sched_yield();
		assert_int_equal(__atomic_load_n(&limit_events, __ATOMIC_ACQUIRE), r + 1);
	}
	for (int i = 0; i < THREADS; i++) /* tells them to end */
		assert_true(sim_post_srq_recv(&s, id + i, NULL, 0));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i].thread, NULL);
		assert_true(t[i].ordered);
	}
	for (uint32_t i = 1; i <= PER_ROUND * ROUNDS; i++)
		assert_int_equal(seen[i], 1);
	sim_srq_fini(&s, &h);
	sim_host_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_at_the_first_packet),
		cmocka_unit_test(two_qps_take_in_turn),
		cmocka_unit_test(rnr_when_empty),
		cmocka_unit_test(uc_gives_back_what_an_abandoned_message_took),
		cmocka_unit_test(what_is_given_back_is_not_written_to),
		cmocka_unit_test(a_datagram_that_does_not_fit_takes_none),
		cmocka_unit_test(keys_are_of_the_srqs_pd),
		cmocka_unit_test(error_acks_consume_none),
		cmocka_unit_test(a_write_that_lost_its_region_consumes_none),
		cmocka_unit_test(a_malformed_wqe_ends_one_qp),
		cmocka_unit_test(garbage_indices),
		cmocka_unit_test(limit_event_once_for_each_arming),
		cmocka_unit_test(last_wqe_reached),
		cmocka_unit_test(no_such_event_without_an_srq),
		cmocka_unit_test(resize_keeps_wqes_in_order),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(workers_share_it),
	};

	return cmocka_run_group_tests_name("transport_srq", tests, NULL, NULL);
}
