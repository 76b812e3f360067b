/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flush.c: a QP in ERR completes what it has and what it gets (PROTOCOL 16, 17). */
#include <errno.h>
#include "sim/bed.h"

#define MS 1000000ull

static void both_queues_then_later_ones(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	for (int i = 0; i < 3; i++) {
		wr = bed_wr(b, IB_UVERBS_WR_SEND, i, 8);
		wr.flags = 0;
		bed_post(b, &wr);
		bed_post_recv(b, 10 + i, 4096, 100);
	}
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_ERR), 0);
	bed_run(b);
	for (int i = 0; i < 3; i++) {
		bed_wc(&b->scq, i, RXE_WC_WR_FLUSH_ERR);
		bed_wc(&b->rcq, 10 + i, RXE_WC_WR_FLUSH_ERR);
	}
	bed_no_wc(&b->scq);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 7, 8); /* by doorbell */
	bed_post(b, &wr);
	bed_wc(&b->scq, 7, RXE_WC_WR_FLUSH_ERR);
	for (int i = 0; i < 5; i++) { /* no doorbell: by the timer */
		bed_post_recv(b, 20 + i, 4096, 100);
		bed_advance(b, 200 * MS);
		bed_wc(&b->rcq, 20 + i, RXE_WC_WR_FLUSH_ERR);
	}
}

/* Elements come back: more is posted than the rings hold, all of it completes. */
static void rings_do_not_fill_up(void **state)
{
	struct bed *b = *state;

	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_ERR), 0);
	for (int i = 0; i < 100; i++) {
		struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_SEND, i, 8);

		bed_post(b, &wr);
		bed_wc(&b->scq, i, RXE_WC_WR_FLUSH_ERR);
		bed_post_recv(b, i, 4096, 100);
		bed_advance(b, 200 * MS);
		bed_wc(&b->rcq, i, RXE_WC_WR_FLUSH_ERR);
	}
}

/* In the middle of a message: one completion for it, and no more (PROTOCOL 17). */
static void in_the_middle_of_a_message(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, 4096, 1000);
	bed_post_recv(b, 2, 4096, 1000);
	i = bed_pkt(b, RXE_OP_SEND_FIRST, BED_RQ_PSN);
	bed_inject(b, &i, NULL, 256);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_ERR), 0);
	bed_run(b);
	for (int n = 0; n < 10; n++)
		bed_advance(b, 200 * MS);
	bed_wc(&b->rcq, 1, RXE_WC_WR_FLUSH_ERR);
	bed_wc(&b->rcq, 2, RXE_WC_WR_FLUSH_ERR);
	bed_no_wc(&b->rcq);
}

/* A receive buffer is handed back only once nothing writes to it. */
static void waits_for_copies(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, 4096, 1000);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, BED_RQ_PSN);
	bed_inject(b, &i, NULL, 256);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_ERR), 0);
	bed_advance(b, 500 * MS);
	bed_no_wc(&b->rcq);
	bed_copies(b);
	bed_wc(&b->rcq, 1, RXE_WC_WR_FLUSH_ERR);
	bed_nothing_sent(b); /* nor is it acknowledged */
}

/* A client that lies about its producer index gets one round of flushes at a time. */
static void garbage_index(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), 0);
	bed_run(&b);
	b.qp.rq.buf->producer_index = 0xfffffff5;
	bed_advance(&b, 500 * MS);
	b.qp.sq.buf->producer_index = 0xdeadbeef;
	rxe_qp_doorbell(b.qp.qp);
	bed_run(&b);
	bed_fini(&b);
}

/* What the peer sends next arrives, whatever the send queue is in. */
static void still_receives(struct bed *b, uint64_t wr_id, uint32_t psn)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_SEND_ONLY, psn);

	bed_post_recv(b, wr_id, 4096, 1000);
	bed_inject(b, &i, NULL, 100);
	bed_wc(&b->rcq, wr_id, RXE_WC_SUCCESS);
}

/* Without the doorbell. */
static void post_bad_lkey(struct bed *b, uint64_t wr_id)
{
	struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_SEND, wr_id, 8);

	wr.sge[0].lkey ^= 0x55;
	assert_true(sim_post_send(&b->qp, &wr));
}

static void ring(struct bed *b)
{
	rxe_qp_doorbell(b->qp.qp);
	bed_run(b);
}

/* UC, UD: one failed send flushes those behind it; RTS makes the queue work again. */
static void sqe(const struct bed_options *o)
{
	struct sim_wr wr;
	struct bed b;

	bed_init(&b, o);
	for (int round = 0; round < 3; round++) {
		uint32_t psn = rxe_psn_add(BED_RQ_PSN, 2 * round);

		wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
		bed_post(&b, &wr);
		bed_sent(&b, RXE_OP_SEND_ONLY);
		rxe_engine_params(b.h.engine)->fast_req = round == 1;
		post_bad_lkey(&b, 2);
		wr = bed_wr(&b, IB_UVERBS_WR_SEND, 3, 8);
		wr.flags = 0;
		bed_post(&b, &wr);
		bed_wc(&b.scq, 1, RXE_WC_SUCCESS);
		bed_wc(&b.scq, 2, RXE_WC_LOC_PROT_ERR);
		bed_wc(&b.scq, 3, RXE_WC_WR_FLUSH_ERR);
		assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_SQE);
		bed_post(&b, &wr); /* in SQE */
		bed_wc(&b.scq, 3, RXE_WC_WR_FLUSH_ERR);
		still_receives(&b, 4, psn);
		assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_SQD), -EINVAL);
		assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_RTS), 0);
		still_receives(&b, 5, rxe_psn_add(psn, 1));
		bed_nothing_sent(&b);
		bed_no_wc(&b.scq);
	}
	post_bad_lkey(&b, 6);
	ring(&b);
	bed_post_recv(&b, 7, 4096, 1000);
	bed_wc(&b.scq, 6, RXE_WC_LOC_PROT_ERR);
	bed_no_wc(&b.rcq);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), 0);
	bed_run(&b);
	bed_wc(&b.rcq, 7, RXE_WC_WR_FLUSH_ERR);
	bed_fini(&b);
}

static void sqe_uc(void **state)
{
	(void)state;
	sqe(&bed_uc);
}

static void sqe_ud(void **state)
{
	(void)state;
	sqe(&bed_ud);
}

/* While packets behind the failed one are being filled, and in SQD. */
static void sqe_while_copying(void **state)
{
	struct bed_options o = bed_ud;
	struct sim_wr wr;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
	bed_post(&b, &wr);
	post_bad_lkey(&b, 2);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 3, 8);
	bed_post(&b, &wr);
	bed_no_wc(&b.scq);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_SQD), 0);
	bed_copies(&b);
	bed_wc(&b.scq, 1, RXE_WC_SUCCESS);
	bed_wc(&b.scq, 2, RXE_WC_LOC_PROT_ERR);
	bed_wc(&b.scq, 3, RXE_WC_WR_FLUSH_ERR);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_SQE);
	bed_assert_events(&b, RXE_EV_SQ_DRAINED, 0);
	assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_RTS), 0);
	bed_sent(&b, RXE_OP_SEND_ONLY);
	bed_post(&b, &wr);
	bed_copies(&b);
	bed_sent(&b, RXE_OP_SEND_ONLY);
	bed_wc(&b.scq, 3, RXE_WC_SUCCESS);
	bed_fini(&b);
}

/* RC has no such state: it ends. */
static void no_sqe_for_rc(void **state)
{
	struct bed *b = *state;

	post_bad_lkey(b, 1);
	ring(b);
	bed_wc(&b->scq, 1, RXE_WC_LOC_PROT_ERR);
	assert_int_equal(rxe_qp_get_state(b->qp.qp), RXE_QPS_ERR);
}

/* What its peer asked in the life before is not answered in this one. */
static void reset_forgets_answers(void **state)
{
	struct sim_path path = {.dip = sim_ip(0x0a000002),
				.dest_qpn = BED_PEER_QPN,
				.path_mtu = 1,
				.rd_atomic = 1,
				.access = 0x0e,
				.rq_psn = rxe_psn_add(BED_RQ_PSN, 1)};
	struct bed *b = *state;
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_FETCH_ADD, BED_RQ_PSN);

	bed_inject(b, &i, NULL, 0);
	bed_sent(b, RXE_OP_ATOMIC_ACK);
	bed_inject(b, &i, NULL, 0);
	bed_sent(b, RXE_OP_ATOMIC_ACK);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_RESET), 0);
	assert_int_equal(sim_qp_to(&b->qp, &path, RXE_QPS_RTS), 0);
	bed_inject(b, &i, NULL, 0);
	bed_nothing_sent(b);
}

static void reset_forgets(void **state)
{
	struct sim_path path = {.dip = sim_ip(0x0a000002),
				.dest_qpn = BED_PEER_QPN,
				.path_mtu = 1,
				.rd_atomic = 1,
				.timeout = 14,
				.sq_psn = 5,
				.rq_psn = 6};
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 8);
	bed_post(b, &wr);
	bed_post_recv(b, 1, 4096, 100);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_RESET), 0);
	bed_advance(b, 1000 * MS);
	bed_no_wc(&b->scq);
	bed_no_wc(&b->rcq);
	assert_int_equal(b->qp.sq.buf->consumer_index, b->qp.sq.buf->producer_index);
	assert_int_equal(sim_qp_to(&b->qp, &path, RXE_QPS_RTS), 0);
	b->next_sent = b->nr_sent;
	bed_post(b, &wr);
	assert_int_equal(bed_sent(b, RXE_OP_SEND_ONLY)->info.psn, 5);
	bed_ack(b, 5, 0x1f);
	bed_wc(&b->scq, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(both_queues_then_later_ones),
		BED_TEST(rings_do_not_fill_up),
		BED_TEST(in_the_middle_of_a_message),
		BED_TEST_WITH(waits_for_copies, &bed_rc_deferred),
		cmocka_unit_test(garbage_index),
		cmocka_unit_test(sqe_uc),
		cmocka_unit_test(sqe_ud),
		cmocka_unit_test(sqe_while_copying),
		BED_TEST(no_sqe_for_rc),
		BED_TEST(reset_forgets_answers),
		BED_TEST(reset_forgets),
	};

	return cmocka_run_group_tests_name("transport_flush", tests, NULL, NULL);
}
