/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flush.c: a QP in ERR completes what it has and what it gets (PROTOCOL 16, 17). */
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
		BED_TEST(in_the_middle_of_a_message),
		BED_TEST_WITH(waits_for_copies, &bed_rc_deferred),
		cmocka_unit_test(garbage_index),
		BED_TEST(reset_forgets),
	};

	return cmocka_run_group_tests_name("transport_flush", tests, NULL, NULL);
}
