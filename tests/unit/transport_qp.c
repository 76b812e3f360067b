/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* qp.c: geometry, attributes, SQD, life and death. */
#include <errno.h>
#include "sim/bed.h"

static void geometry(void **state)
{
	struct rxe_qp_geometry g;

	(void)state;
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 100, 50, 2, 3, 100, &g), 0);
	assert_int_equal(g.sq_slots, 128);
	assert_int_equal(g.max_send_wr, 127);
	assert_int_equal(g.sq_log2_elem, 9); /* 208 + 100 */
	assert_int_equal(g.max_inline, 100);
	assert_int_equal(g.max_send_sge, 6); /* they share the element, as in the driver */
	assert_int_equal(g.rq_log2_elem, 7); /* 40 + 48 */
	assert_int_equal(g.max_recv_sge, 3);
	assert_int_equal(g.rq_bytes, 384 + 64 * 128);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 16384, 1, 1, 1, 0, &g), 0);
	assert_int_equal(g.max_send_wr, 16384); /* never above what is reported */
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 16385, 1, 1, 1, 0, &g), -EINVAL);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 1, 16385, 1, 1, 0, &g), -EINVAL);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 1, 1, 33, 1, 0, &g), -EINVAL);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 1, 1, 1, 33, 0, &g), -EINVAL);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 1, 1, 1, 1, 513, &g), -EINVAL);
	assert_int_equal(rxe_qp_ring_geometry(&sim_limits, 0, 0, 0, 0, 0, &g), 0);
}

static void bad_values(void **state)
{
	static const struct {
		uint32_t mask;
		struct rxe_qp_attr a;
	} bad[] = {
		{RXE_QP_TIMEOUT, {.timeout = 32}},
		{RXE_QP_RETRY_CNT, {.retry_cnt = 8}},
		{RXE_QP_RNR_RETRY, {.rnr_retry = 8}},
		{RXE_QP_MIN_RNR_TIMER, {.min_rnr_timer = 32}},
		{RXE_QP_MAX_QP_RD_ATOMIC, {.max_rd_atomic = 129}},
		{RXE_QP_MAX_DEST_RD_ATOMIC, {.max_dest_rd_atomic = 129}},
		{RXE_QP_PKEY_INDEX, {.pkey_index = 1}},
		{RXE_QP_PORT, {.port_num = 2}},
	};
	struct rxe_qp_attr a;
	struct bed *b = *state;

	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_SQD), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(rxe_qp_modify(b->qp.qp, &bad[i].a, bad[i].mask), -EINVAL);
	a = (struct rxe_qp_attr){.qp_state = RXE_QPS_RTS, .cur_qp_state = RXE_QPS_RTS};
	assert_int_equal(rxe_qp_modify(b->qp.qp, &a, RXE_QP_STATE | RXE_QP_CUR_STATE), -EINVAL);
	a.cur_qp_state = RXE_QPS_SQD;
	assert_int_equal(rxe_qp_modify(b->qp.qp, &a, RXE_QP_STATE | RXE_QP_CUR_STATE), 0);
}

static void path_mtu_above_the_port(void **state)
{
	struct rxe_qp_attr a = {.path_mtu = 4};
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	o.state = RXE_QPS_INIT;
	bed_init(&b, &o);
	b.h.hca.mtu = 1024;
	a.qp_state = RXE_QPS_RTR;
	a.addr.hop_limit = 1;
	assert_int_equal(rxe_qp_modify(b.qp.qp, &a, 0x129181), -EINVAL);
	a.path_mtu = 3;
	assert_int_equal(rxe_qp_modify(b.qp.qp, &a, 0x129181), 0);
	bed_fini(&b);
}

static void query(void **state)
{
	struct rxe_qp_attr a;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 8);
	bed_post(b, &wr);
	rxe_qp_query(b->qp.qp, &a);
	assert_int_equal(a.qp_state, RXE_QPS_RTS);
	assert_int_equal(a.dest_qp_num, BED_PEER_QPN);
	assert_int_equal(a.sq_psn, rxe_psn_add(BED_SQ_PSN, 1));
	assert_int_equal(a.rq_psn, BED_RQ_PSN);
	assert_int_equal(a.path_mtu, 1);
	assert_int_equal(a.max_rd_atomic, 2);
}

/* PROTOCOL 16: finishes what is started, starts nothing, says when it is done. */
static void drain(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->max_req_comp_gap = 1;
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 512);
	bed_post(b, &wr);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 2, 8);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_SEND_FIRST);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_SQD), 0);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_RTS), -EINVAL); /* it drains */
	bed_assert_events(b, RXE_EV_SQ_DRAINED, 0);
	bed_ack(b, BED_SQ_PSN, 0x1f);
	bed_sent(b, RXE_OP_SEND_LAST);
	bed_ack(b, rxe_psn_add(BED_SQ_PSN, 1), 0x1f);
	bed_wc(&b->scq, 1, 0);
	bed_assert_events(b, RXE_EV_SQ_DRAINED, 1);
	bed_nothing_sent(b);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_RTS), 0);
	bed_run(b);
	bed_sent(b, RXE_OP_SEND_ONLY);
}

static void drain_of_nothing(void **state)
{
	struct bed *b = *state;

	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_SQD), 0);
	bed_assert_events(b, RXE_EV_SQ_DRAINED, 1);
}

/* Its path changes in SQD while packets are filled for the old one. */
static void new_path_while_filling(void **state)
{
	struct rxe_qp_attr a = {.addr = {.sip = sim_ip(0x0a000001), .dip = sim_ip(0x0a000009)}};
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 512);
	bed_post(b, &wr);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_SQD), 0);
	/* while it drains only ERR and RESET are possible: the path cannot change */
	assert_int_equal(rxe_qp_modify(b->qp.qp, &a, RXE_QP_AV), -EINVAL);
	bed_copies(b);
	bed_ack(b, rxe_psn_add(BED_SQ_PSN, 1), 0x1f);
	assert_int_equal(rxe_qp_modify(b->qp.qp, &a, RXE_QP_AV), 0);
}

/* A destroyed QP is released only when its last copy is done. */
static void destroyed_while_copying(void **state)
{
	struct rxe_pktinfo i;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 512);
	bed_post(b, &wr);
	bed_post_recv(b, 1, 4096, 1000);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, BED_RQ_PSN);
	bed_inject(b, &i, NULL, 100);
	sim_qp_destroy(&b->qp);
	assert_non_null(b->qp.qp);
	bed_inject(b, &i, NULL, 100);
	assert_int_equal(bed_count(b, RXE_HW_DROP_NO_QP), 1);
	bed_copies(b);
	assert_null(b->qp.qp);
	bed_no_wc(&b->scq);
	bed_no_wc(&b->rcq);
}

static void comm_est(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	o.state = RXE_QPS_RTR;
	bed_init(&b, &o);
	i = bed_pkt(&b, RXE_OP_WRITE_ONLY, BED_RQ_PSN);
	bed_inject(&b, &i, NULL, 0);
	bed_inject(&b, &i, NULL, 0);
	bed_assert_events(&b, RXE_EV_COMM_EST, 1);
	bed_fini(&b);
}

static void same_number_twice(void **state)
{
	struct rxe_qp_init init = {.type = RXE_QPT_RC, .qpn = BED_QPN};
	struct rxe_qp *qp;
	struct bed *b = *state;

	assert_int_equal(rxe_qp_create(b->h.engine, &b->h.hca, &init, &qp), -EEXIST);
	init.type = 9;
	init.qpn++;
	assert_int_equal(rxe_qp_create(b->h.engine, &b->h.hca, &init, &qp), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry),
		BED_TEST(bad_values),
		cmocka_unit_test(path_mtu_above_the_port),
		BED_TEST(query),
		BED_TEST(drain),
		BED_TEST(drain_of_nothing),
		BED_TEST_WITH(new_path_while_filling, &bed_rc_deferred),
		BED_TEST_WITH(destroyed_while_copying, &bed_rc_deferred),
		cmocka_unit_test(comm_est),
		BED_TEST(same_number_twice),
	};

	return cmocka_run_group_tests_name("transport_qp", tests, NULL, NULL);
}
