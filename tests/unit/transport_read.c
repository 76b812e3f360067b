/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* read.c: READ responses, atomics, and duplicates of both. */
#include <string.h>
#include "sim/bed.h"

#define PSN(n) rxe_psn_add(BED_RQ_PSN, n)

static struct rxe_pktinfo read_req(struct bed *b, int n, uint32_t off, uint32_t len)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_READ_REQ, PSN(n));

	i.va += off;
	i.len = len;
	return i;
}

static void ask(struct bed *b, int n, uint32_t off, uint32_t len)
{
	struct rxe_pktinfo i = read_req(b, n, off, len);

	bed_inject(b, &i, NULL, 0);
}

static void expect(struct bed *b, enum rxe_op op, int n, uint32_t off, uint32_t len)
{
	struct bed_sent *s = bed_sent(b, op);

	assert_int_equal(s->info.psn, PSN(n));
	assert_int_equal(s->len, len);
	assert_memory_equal(s->payload, b->mem + off, len);
}

static void responses(void **state)
{
	struct bed *b = *state;

	ask(b, 0, 100, 256 * 2 + 7);
	expect(b, RXE_OP_READ_RESP_FIRST, 0, 100, 256);
	expect(b, RXE_OP_READ_RESP_MIDDLE, 1, 356, 256);
	expect(b, RXE_OP_READ_RESP_LAST, 2, 612, 7);
	ask(b, 3, 1, 256);
	expect(b, RXE_OP_READ_RESP_ONLY, 3, 1, 256);
	bed_nothing_sent(b);
}

/* PROTOCOL 13, 19: a duplicate is answered from where it asks. */
static void retry_in_the_middle(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	ask(b, 0, 0, 256 * 3);
	b->next_sent = b->nr_sent;
	ask(b, 1, 256, 512);
	expect(b, RXE_OP_READ_RESP_FIRST, 1, 256, 256);
	expect(b, RXE_OP_READ_RESP_LAST, 2, 512, 256);
	ask(b, 2, 512, 256);
	expect(b, RXE_OP_READ_RESP_ONLY, 2, 512, 256);
	/* not the same range, not the same key, more than was asked */
	ask(b, 1, 0, 512);
	ask(b, 1, 256, 513);
	i = read_req(b, 0, 0, 768);
	i.rkey ^= 1;
	bed_inject(b, &i, NULL, 0);
	i = read_req(b, 2, 512, 0xffffff00);
	bed_inject(b, &i, NULL, 0);
	bed_nothing_sent(b);
	assert_int_equal(rxe_qp_get_state(b->qp.qp), RXE_QPS_RTS);
}

/* The peer goes back while the answer is under way: it goes on from there. */
static void reposition_while_answering(void **state)
{
	struct bed *b = *state;

	ask(b, 0, 0, 256 * 100);
	assert_int_equal(b->h.live_copies, 32); /* a bounded number at a time */
	bed_copies(b);
	for (int n = 0; n < 32; n++)
		expect(b, n ? RXE_OP_READ_RESP_MIDDLE : RXE_OP_READ_RESP_FIRST, n, n * 256, 256);
	ask(b, 20, 20 * 256, 80 * 256);
	while (b->h.live_copies)
		bed_copies(b);
	for (int n = 20; n < 100; n++)
		expect(b,
		       n == 20	 ? RXE_OP_READ_RESP_FIRST
		       : n == 99 ? RXE_OP_READ_RESP_LAST
				 : RXE_OP_READ_RESP_MIDDLE,
		       n, n * 256, 256);
	bed_nothing_sent(b);
}

/* Going back before a READ under way ends its answer: it will be asked for again. */
static void earlier_duplicate_stops_later_answers(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	ask(&b, 0, 0, 8);
	expect(&b, RXE_OP_READ_RESP_ONLY, 0, 0, 8);
	rxe_engine_params(b.h.engine)->nsec_per_packet = 1000; /* one at a time */
	ask(&b, 1, 0, 256 * 50);
	expect(&b, RXE_OP_READ_RESP_FIRST, 1, 0, 256);
	ask(&b, 0, 0, 8);
	for (int i = 0; i < 5; i++)
		bed_advance(&b, 1000);
	expect(&b, RXE_OP_READ_RESP_ONLY, 0, 0, 8);
	bed_nothing_sent(&b);
	ask(&b, 1, 0, 256 * 50);
	bed_advance(&b, 1000);
	expect(&b, RXE_OP_READ_RESP_FIRST, 1, 0, 256);
	bed_fini(&b);
}

static void too_many_reads(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	for (int i = 0; i < 3; i++)
		ask(&b, i, 0, 8);
	bed_copies(&b);
	bed_copies(&b);
	bed_copies(&b);
	expect(&b, RXE_OP_READ_RESP_ONLY, 0, 0, 8);
	expect(&b, RXE_OP_READ_RESP_ONLY, 1, 0, 8);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome, RXE_AETH_NAK | RXE_NAK_INV_REQ);
	bed_fini(&b);

	o.rd_atomic = 0;
	o.deferred = false;
	bed_init(&b, &o);
	ask(&b, 0, 0, 8);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome, RXE_AETH_NAK | RXE_NAK_INV_REQ);
	bed_fini(&b);
}

/* The region goes while it is read: the access ends with a NAK, not with data. */
static void region_destroyed_under_a_read(void **state)
{
	struct rxe_pktinfo i;
	struct rxe_mr *mr;
	struct bed_sent *s;
	struct bed *b = *state;

	mr = sim_mr(&b->h, 1, b->mem, 256 * 64, 0);
	i = read_req(b, 0, 0, 256 * 64);
	i.rkey = rxe_mr_rkey(mr);
	bed_inject(b, &i, NULL, 0);
	rxe_mr_get(mr);
	rxe_mr_destroy(&b->h.hca, mr);
	assert_true(rxe_mr_busy(mr));
	bed_copies(b);
	assert_false(rxe_mr_busy(mr));
	rxe_mr_put(mr);
	s = &b->sent[b->nr_sent - 1];
	assert_int_equal(s->info.syndrome, RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	bed_assert_events(b, RXE_EV_QP_ACCESS_ERR, 1);
}

static void atomic(struct bed *b, enum rxe_op op, int n, uint64_t compare, uint64_t swap_add)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.compare = compare;
	i.swap_add = swap_add;
	bed_inject(b, &i, NULL, 0);
}

/* PROTOCOL 11: the retry of an atomic returns the saved value. */
static void atomics_execute_once(void **state)
{
	uint64_t *at;
	struct bed *b = *state;

	at = (uint64_t *)b->mem;
	*at = 100;
	atomic(b, RXE_OP_FETCH_ADD, 0, 0, 11);
	assert_true(bed_sent(b, RXE_OP_ATOMIC_ACK)->info.orig == 100);
	atomic(b, RXE_OP_CMP_SWAP, 1, 111, 5);
	assert_true(bed_sent(b, RXE_OP_ATOMIC_ACK)->info.orig == 111);
	assert_true(*at == 5);
	for (int i = 0; i < 3; i++) {
		atomic(b, RXE_OP_FETCH_ADD, 0, 0, 11);
		assert_true(bed_sent(b, RXE_OP_ATOMIC_ACK)->info.orig == 100);
		atomic(b, RXE_OP_CMP_SWAP, 1, 111, 5);
		assert_true(bed_sent(b, RXE_OP_ATOMIC_ACK)->info.orig == 111);
	}
	assert_true(*at == 5);
	atomic(b, RXE_OP_CMP_SWAP, 2, 111, 77); /* no match: unchanged */
	assert_true(bed_sent(b, RXE_OP_ATOMIC_ACK)->info.orig == 5);
	assert_true(*at == 5);
	/* its slot in the ring is taken: too old to be answered */
	atomic(b, RXE_OP_FETCH_ADD, 0, 0, 11);
	bed_nothing_sent(b);
}

static void a_duplicate_during_the_first(void **state)
{
	struct bed *b = *state;

	*(uint64_t *)b->mem = 1;
	atomic(b, RXE_OP_FETCH_ADD, 0, 0, 1);
	atomic(b, RXE_OP_FETCH_ADD, 0, 0, 1);
	assert_int_equal(b->h.live_copies, 1);
	bed_copies(b);
	bed_sent(b, RXE_OP_ATOMIC_ACK);
	bed_nothing_sent(b);
	assert_true(*(uint64_t *)b->mem == 2);
}

static void misaligned(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	i = bed_pkt(b, RXE_OP_FETCH_ADD, PSN(0));
	i.va += 4;
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.syndrome, RXE_AETH_NAK | RXE_NAK_INV_REQ);
}

/* A SEND behind a READ is acknowledged after the READ's last response. */
static void order_of_answers(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, 9000, 100);
	ask(b, 0, 0, 512);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, PSN(2));
	i.ack_req = true;
	bed_inject(b, &i, NULL, 8);
	while (b->h.live_copies)
		bed_copies(b);
	expect(b, RXE_OP_READ_RESP_FIRST, 0, 0, 256);
	expect(b, RXE_OP_READ_RESP_LAST, 1, 256, 256);
	assert_int_equal(bed_sent(b, RXE_OP_ACK)->info.psn, PSN(2));
	bed_wc(&b->rcq, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(responses),
		BED_TEST(retry_in_the_middle),
		BED_TEST_WITH(reposition_while_answering, &bed_rc_deferred),
		cmocka_unit_test(earlier_duplicate_stops_later_answers),
		cmocka_unit_test(too_many_reads),
		BED_TEST_WITH(region_destroyed_under_a_read, &bed_rc_deferred),
		BED_TEST(atomics_execute_once),
		BED_TEST_WITH(a_duplicate_during_the_first, &bed_rc_deferred),
		BED_TEST(misaligned),
		BED_TEST_WITH(order_of_answers, &bed_rc_deferred),
	};

	return cmocka_run_group_tests_name("transport_read", tests, NULL, NULL);
}
