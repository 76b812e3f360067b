/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* read.c: READ responses, atomics, and duplicates of both. */
#include <string.h>
#include "sim/bed.h"
#include "transport/qp.h"

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

static void flush(struct bed *b, int n, uint32_t rkey, uint32_t len, uint8_t type, uint8_t level)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_FLUSH, PSN(n));

	i.rkey = rkey;
	i.len = len;
	i.flush_type = type;
	i.flush_level = level;
	bed_inject(b, &i, NULL, 0);
}

static void expect_empty(struct bed *b, int n, uint32_t msn)
{
	struct bed_sent *s = bed_sent(b, RXE_OP_READ_RESP_ONLY);

	assert_int_equal(s->info.psn, PSN(n));
	assert_int_equal(s->info.msn, msn);
	assert_int_equal(s->info.syndrome, 0x1f);
	assert_int_equal(s->len, 0);
}

/* Answered when all before it is in place, not earlier. */
static void flush_waits_for_writes(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	i = bed_pkt(&b, RXE_OP_WRITE_ONLY, PSN(0));
	i.len = 100;
	bed_inject(&b, &i, NULL, 100);
	flush(&b, 1, b.key, 100, RXE_FLUSH_GLOBAL, RXE_FLUSH_RANGE);
	bed_nothing_sent(&b);
	bed_copies(&b);
	expect_empty(&b, 1, 2);
	assert_int_equal(b.mem[99], 0x5a);
	flush(&b, 1, b.key, 100, RXE_FLUSH_GLOBAL, RXE_FLUSH_RANGE); /* again */
	expect_empty(&b, 1, 2);
	flush(&b, 2, b.key, 0xffffffff, RXE_FLUSH_GLOBAL, RXE_FLUSH_MR); /* range does not matter */
	bed_sent(&b, RXE_OP_ACK);					 /* ... but C9-94 does */
	bed_fini(&b);
}

static void flush_checks(void **state)
{
	static const struct {
		uint32_t rkey_xor, len;
		uint8_t type, level;
		uint32_t no_access;
		uint8_t nak; /* 0: answered */
	} cases[] = {
		{0, 0, 1, 0, 0, 0},
		{0, BED_MEM, 1, 0, 0, 0},
		{0, BED_MEM + 1, 1, 0, 0, RXE_NAK_REM_ACCESS},
		{0, BED_MEM + 1, 1, 1, 0, 0},		 /* the whole region */
		{0x100, 0, 1, 0, 0, RXE_NAK_REM_ACCESS}, /* rule 21: also at length 0 */
		{0x100, 0, 1, 1, 0, RXE_NAK_REM_ACCESS},
		{0, 8, 1, 0, 0x100, RXE_NAK_INV_REQ}, /* the QP does not allow it */
		{0, 8, 2, 0, 0, RXE_NAK_INV_REQ},     /* nor persistence */
		{0, 8, 0, 0, 0, RXE_NAK_INV_REQ},
		{0, 8, 5, 0, 0, RXE_NAK_INV_REQ},
		{0, 8, 1, 2, 0, RXE_NAK_INV_REQ},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct bed_options o = bed_rc;
		struct bed b;

		o.no_access = cases[c].no_access;
		bed_init(&b, &o);
		flush(&b, 0, b.key ^ cases[c].rkey_xor, cases[c].len, cases[c].type,
		      cases[c].level);
		if (!cases[c].nak)
			expect_empty(&b, 0, 1);
		else
			assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome,
					 RXE_AETH_NAK | cases[c].nak);
		bed_fini(&b);
	}
}

/* An MR without the flag, though the QP has it. */
static void flush_needs_the_regions_consent(void **state)
{
	struct rxe_mr *mr;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	mr = sim_mr(&b.h, 1, b.mem, 64, IB_UVERBS_ACCESS_REMOTE_READ);
	flush(&b, 0, rxe_mr_rkey(mr), 8, RXE_FLUSH_GLOBAL, RXE_FLUSH_RANGE);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome,
			 RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	sim_mr_free(&b.h, mr);
	bed_fini(&b);
}

/* Nor is the whole of a region flushed without its consent. */
static void flush_of_all_needs_it_too(void **state)
{
	struct rxe_mr *mr;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	mr = sim_mr(&b.h, 1, b.mem, 64, IB_UVERBS_ACCESS_REMOTE_READ);
	flush(&b, 0, rxe_mr_rkey(mr), 8, RXE_FLUSH_GLOBAL, RXE_FLUSH_MR);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome,
			 RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	sim_mr_free(&b.h, mr);
	bed_fini(&b);
}

static void atomic_write(struct bed *b, int n, uint32_t off, uint64_t value)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_ATOMIC_WRITE, PSN(n));

	i.va += off;
	i.len = 8;
	bed_inject(b, &i, &value, 8);
}

static void atomic_write_once(void **state)
{
	uint64_t *at;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	at = (uint64_t *)b.mem;
	atomic_write(&b, 0, 0, 0x1122334455667788);
	expect_empty(&b, 0, 1);
	assert_true(*at == 0x1122334455667788);
	*at = 5;
	atomic_write(&b, 0, 0, 0x1122334455667788); /* a duplicate is answered, and that is all */
	expect_empty(&b, 0, 1);
	assert_true(*at == 5);
	atomic_write(&b, 0, 8, 1); /* another address: no duplicate of it */
	bed_nothing_sent(&b);
	atomic_write(&b, 1, 4, 1);
	assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome, RXE_AETH_NAK | RXE_NAK_INV_REQ);
	bed_fini(&b);
}

/* Behind a WRITE of the same memory, whose copy is late. */
static void atomic_write_is_ordered(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	i = bed_pkt(&b, RXE_OP_WRITE_ONLY, PSN(0));
	i.len = 64;
	bed_inject(&b, &i, NULL, 64);
	atomic_write(&b, 1, 8, 77);
	bed_nothing_sent(&b);
	while (b.h.live_copies)
		bed_copies(&b);
	expect_empty(&b, 1, 2);
	assert_true(((uint64_t *)b.mem)[1] == 77);
	assert_int_equal(b.mem[16], 0x5a);
	bed_fini(&b);
}

/* A stray duplicate of a READ whose region is gone: no answer, and no harm. */
static void stray_duplicate_of_a_read(void **state)
{
	struct rxe_pktinfo i;
	struct rxe_mr *mr;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	mr = sim_mr(&b.h, 1, b.mem, 64, 0);
	i = read_req(&b, 0, 0, 64);
	i.rkey = rxe_mr_rkey(mr);
	bed_inject(&b, &i, NULL, 0);
	bed_sent(&b, RXE_OP_READ_RESP_ONLY);
	sim_mr_free(&b.h, mr);
	bed_inject(&b, &i, NULL, 0);
	bed_nothing_sent(&b);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_RTS);
	ask(&b, 1, 0, 8);
	bed_sent(&b, RXE_OP_READ_RESP_ONLY);
	bed_fini(&b);
}

/* Once around the PSNs, an operation of old may have the PSN of a later one. */
static void the_newest_of_one_psn_answers(void **state)
{
	struct bed *b = *state;

	ask(b, 0, 0, 256 * 2);
	expect(b, RXE_OP_READ_RESP_FIRST, 0, 0, 256);
	expect(b, RXE_OP_READ_RESP_LAST, 1, 256, 256);
	b->qp.qp->resp.psn = PSN(1); /* 2^24 - 1 packets of SENDs and WRITEs later */
	ask(b, 1, 64, 8);
	expect(b, RXE_OP_READ_RESP_ONLY, 1, 64, 8);
	ask(b, 1, 64, 8); /* its answer was lost */
	expect(b, RXE_OP_READ_RESP_ONLY, 1, 64, 8);
	/* and across the end of the ring of saved operations */
	ask(b, 2, 128, 256 * 2);
	expect(b, RXE_OP_READ_RESP_FIRST, 2, 128, 256);
	expect(b, RXE_OP_READ_RESP_LAST, 3, 384, 256);
	b->qp.qp->resp.psn = PSN(3);
	ask(b, 3, 192, 8);
	expect(b, RXE_OP_READ_RESP_ONLY, 3, 192, 8);
	ask(b, 3, 192, 8);
	expect(b, RXE_OP_READ_RESP_ONLY, 3, 192, 8);
	bed_nothing_sent(b);
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
		BED_TEST(the_newest_of_one_psn_answers),
		BED_TEST_WITH(order_of_answers, &bed_rc_deferred),
		cmocka_unit_test(flush_waits_for_writes),
		cmocka_unit_test(flush_checks),
		cmocka_unit_test(flush_needs_the_regions_consent),
		cmocka_unit_test(flush_of_all_needs_it_too),
		cmocka_unit_test(atomic_write_once),
		cmocka_unit_test(atomic_write_is_ordered),
		cmocka_unit_test(stray_duplicate_of_a_read),
	};

	return cmocka_run_group_tests_name("transport_read", tests, NULL, NULL);
}
