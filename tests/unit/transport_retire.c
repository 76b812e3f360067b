/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* retire.c: order at the end of a request: copy, completion, acknowledgement. */
#include "sim/bed.h"
#include "transport/qp.h"

#define PSN(n) rxe_psn_add(BED_RQ_PSN, n)
#define LOCAL  4096

static void data(struct bed *b, enum rxe_op op, int n, uint32_t len, bool ack_req)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.ack_req = ack_req;
	i.len = len;
	bed_inject(b, &i, NULL, len);
}

/* Nothing is seen before the copies before it are done; then one ACK for all. */
static void nothing_before_the_copy(void **state)
{
	struct bed_sent *s;
	struct bed *b = *state;

	for (int i = 0; i < 3; i++) {
		bed_post_recv(b, i, LOCAL + 64 * i, 64);
		data(b, RXE_OP_SEND_ONLY, i, 8, true);
	}
	data(b, RXE_OP_SEND_ONLY, 3, 0, true); /* RNR NAK waits its turn as well */
	bed_nothing_sent(b);
	bed_no_wc(&b->rcq);
	bed_copies(b);
	for (int i = 0; i < 3; i++)
		bed_wc(&b->rcq, i, 0);
	s = &b->sent[b->nr_sent - 1];
	assert_int_equal(s->info.syndrome, RXE_AETH_RNR_NAK | 12);
	assert_int_equal(s->info.psn, PSN(3));
}

static void a_duplicate_is_not_acknowledged_early(void **state)
{
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 64);
	data(b, RXE_OP_SEND_ONLY, 0, 8, false);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	bed_nothing_sent(b);
	bed_copies(b);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.psn, PSN(0));
	bed_nothing_sent(b);
}

/* A NAK that waits behind a copy is not sent when its gap has closed meanwhile. */
static void a_late_nak_is_an_ack(void **state)
{
	struct bed_sent *s;
	struct bed *b = *state;

	for (int i = 0; i < 2; i++)
		bed_post_recv(b, i, LOCAL + 64 * i, 64);
	data(b, RXE_OP_SEND_ONLY, 0, 8, false);
	data(b, RXE_OP_SEND_ONLY, 2, 8, false); /* a gap */
	data(b, RXE_OP_SEND_ONLY, 1, 8, false);
	bed_nothing_sent(b);
	bed_copies(b);
	do {
		s = bed_sent(b, RXE_OP_ACK);
		assert_int_equal(s->info.syndrome & RXE_AETH_TYPE_MASK, RXE_AETH_ACK);
	} while (b->next_sent < b->nr_sent);
	for (int i = 0; i < 2; i++)
		bed_wc(&b->rcq, i, 0);
}

/* One packet asks for an ACK, the next one, retired in the same run, does not. */
static void a_due_ack_stays_due(void **state)
{
	struct bed_sent *s;
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_resp = 0;
	bed_post_recv(b, 1, LOCAL, 64);
	bed_post_recv(b, 2, LOCAL + 64, 1024);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	data(b, RXE_OP_SEND_FIRST, 1, 256, false);
	bed_nothing_sent(b);
	bed_copies(b);
	s = bed_sent(b, RXE_OP_ACK);
	assert_int_equal(s->info.psn, PSN(1));
	assert_int_equal(s->info.msn, 1);
	bed_nothing_sent(b);
}

/* max_packet_per_ack: at least that often within a message; 0 only when asked. */
static void packets_per_ack(void **state)
{
	struct bed b;

	(void)state;
	for (uint32_t every = 0; every <= 4; every += 4) {
		bed_init(&b, &bed_rc);
		rxe_engine_params(b.h.engine)->max_packet_per_ack = every;
		bed_post_recv(&b, 1, LOCAL, 10000);
		for (int i = 0; i < 10; i++)
			data(&b,
			     i == 0   ? RXE_OP_SEND_FIRST
			     : i == 9 ? RXE_OP_SEND_LAST
				      : RXE_OP_SEND_MIDDLE,
			     i, 256, i == 9);
		assert_int_equal(b.nr_sent, every ? 3 : 1);
		if (every) {
			assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.psn, PSN(3));
			assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.psn, PSN(7));
		}
		assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.msn, 1);
		bed_fini(&b);
	}
}

/* PROTOCOL 22. */
static void msn(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 10000);
	data(b, RXE_OP_WRITE_ONLY, 0, 8, true);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.msn, 1);
	i = bed_pkt(b, RXE_OP_READ_REQ, PSN(1));
	i.len = 512;
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_sent(b, RXE_OP_READ_RESP_FIRST)->info.msn, 2);
	assert_int_equal(bed_sent(b, RXE_OP_READ_RESP_LAST)->info.msn, 2);
	data(b, RXE_OP_SEND_FIRST, 3, 256, true);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.msn, 2);
	data(b, RXE_OP_SEND_LAST, 4, 8, true);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.msn, 3);
}

static void solicited_only_at_the_end(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	rxe_cq_arm(b->rcq.cq, true, NULL);
	bed_post_recv(b, 1, LOCAL, 100);
	bed_post_recv(b, 2, LOCAL, 100);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	assert_int_equal(b->h.nr_cq_events, 0);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, PSN(1));
	i.solicited = true;
	bed_inject(b, &i, NULL, 8);
	assert_int_equal(b->h.nr_cq_events, 1);
}

static bool full;
static bool no_room(struct sim_host *h)
{
	(void)h;
	return full;
}

static void an_ack_without_room_is_deferred(void **state)
{
	struct rxe_pktinfo i;
	uint8_t bytes[64] = {0};
	struct bed *b = *state;

	b->h.no_room = no_room;
	bed_post_recv(b, 1, LOCAL, 100);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, PSN(0));
	i.ack_req = true;
	rxe_pkt_build(bytes, &i, 0);
	full = true;
	sim_host_rx(&b->h, &b->peer, bytes, 20);
	assert_true(rxe_engine_run(b->h.engine, 10));
	bed_wc(&b->rcq, 1, 0);
	bed_nothing_sent(b);
	full = false;
	bed_run(b);
	bed_sent(b, RXE_OP_ACK);
	assert_true(bed_count(b, RXE_HW_ACK_DEFERRED) > 0);
}

/* Requests in flight are bounded: beyond that they count as lost. */
static void too_many_in_flight(void **state)
{
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_resp = 0;
	for (unsigned int i = 0; i < RXE_MAX_SLOTS + 44; i++)
		data(b, RXE_OP_WRITE_ONLY, i, 8, true);
	assert_int_equal(b->h.live_copies, RXE_MAX_SLOTS);
	/* Those that wait long do not hold the datapath's buffers. */
	assert_int_equal(b->h.detached, RXE_MAX_SLOTS + 44 - RXE_DETACH_AFTER);
	assert_int_equal(bed_count(b, RXE_HW_DROP_BUSY), 1);
	bed_copies(b);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.psn, PSN(63)); /* max_packet_per_ack */
}

/* Who destroys its QP repeats its last acknowledgement: the first may be lost. */
static void the_last_ack_is_said_twice(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	data(&b, RXE_OP_WRITE_ONLY, 0, 8, true);
	assert_int_equal(b.nr_sent, 1);
	sim_qp_destroy(&b.qp);
	assert_int_equal(b.nr_sent, 2);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.psn, PSN(0));
	bed_fini(&b);
}

static void a_qp_that_never_answered_says_nothing(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	sim_qp_destroy(&b.qp);
	assert_int_equal(b.nr_sent, 0);
	bed_fini(&b);
}

/* A full CQ ends the QP and says so (PROTOCOL 26). */
static void cq_overflow(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	o.recv_wr = 400;
	bed_init(&b, &o);
	for (int i = 0; i < 300; i++) {
		bed_post_recv(&b, i, LOCAL, 100);
		data(&b, RXE_OP_SEND_ONLY, i, 8, true);
	}
	bed_assert_events(&b, RXE_EV_CQ_ERR, 1);
	bed_assert_events(&b, RXE_EV_QP_FATAL, 1);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
	assert_int_equal(b.nr_sent, 255); /* what did not complete is not acknowledged */
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST_WITH(nothing_before_the_copy, &bed_rc_deferred),
		BED_TEST_WITH(a_duplicate_is_not_acknowledged_early, &bed_rc_deferred),
		BED_TEST_WITH(a_late_nak_is_an_ack, &bed_rc_deferred),
		BED_TEST_WITH(a_due_ack_stays_due, &bed_rc_deferred),
		cmocka_unit_test(packets_per_ack),
		BED_TEST(msn),
		BED_TEST(solicited_only_at_the_end),
		BED_TEST(an_ack_without_room_is_deferred),
		BED_TEST_WITH(too_many_in_flight, &bed_rc_deferred),
		cmocka_unit_test(the_last_ack_is_said_twice),
		cmocka_unit_test(a_qp_that_never_answered_says_nothing),
		cmocka_unit_test(cq_overflow),
	};

	return cmocka_run_group_tests_name("transport_retire", tests, NULL, NULL);
}
