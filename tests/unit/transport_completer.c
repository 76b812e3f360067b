/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* completer.c: ACKs, NAKs, READ responses, atomics, retries, timers. */
#include <endian.h>
#include <string.h>
#include "sim/bed.h"

#define PSN(n) rxe_psn_add(BED_SQ_PSN, n)
#define RTO    67108864ull /* timeout 14: 4.096 us << 14 */

static void post_sends(struct bed *b, int n)
{
	for (int i = 0; i < n; i++) {
		struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_SEND, i, 8);

		bed_post(b, &wr);
	}
}

static void expect_sends(struct bed *b, int from, int to)
{
	for (int i = from; i < to; i++)
		assert_int_equal(bed_sent(b, RXE_OP_SEND_ONLY)->info.psn, PSN(i));
	bed_nothing_sent(b);
}

/* FLUSH and ATOMIC_WRITE end by an empty READ response, and by nothing else. */
static void empty_answers(void **state)
{
	static const struct {
		uint32_t opcode, wc_opcode, byte_len;
		enum rxe_op op;
	} kinds[] = {
		{RXE_WR_FLUSH, RXE_WC_OP_FLUSH, 0, RXE_OP_FLUSH},
		{RXE_WR_ATOMIC_WRITE, RXE_WC_OP_ATOMIC_WRITE, 8, RXE_OP_ATOMIC_WRITE},
	};
	uint64_t value = 0x8877665544332211;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct sim_wr wr;
		struct rxe_pktinfo i;
		struct ib_uverbs_wc wc;
		struct bed_sent *s;
		struct bed b;

		bed_init(&b, &bed_rc);
		wr = bed_wr(&b, kinds[k].opcode, 1, 0);
		wr.num_sge = 0;
		wr.flush_type = RXE_FLUSH_GLOBAL;
		wr.flush_level = RXE_FLUSH_MR;
		wr.flush_len = 0x1234;
		wr.inline_data = &value;
		wr.inline_len = sizeof(value);
		bed_post(&b, &wr);
		s = bed_sent(&b, kinds[k].op);
		assert_int_equal(s->info.rkey, 0x77);
		assert_true(s->info.va == 0x7000 && s->info.ack_req);
		if (k == 0) {
			assert_int_equal(s->info.len, 0x1234);
			assert_true(s->info.flush_type == 1 && s->info.flush_level == 1);
			assert_int_equal(s->len, 0);
		} else {
			assert_int_equal(s->info.len, 8);
			assert_int_equal(s->len, 8);
			assert_memory_equal(s->payload, &value, 8);
		}
		bed_ack(&b, PSN(0), 0x1f); /* skips nothing (PROTOCOL 10): asks again */
		bed_no_wc(&b.scq);
		bed_sent(&b, kinds[k].op);
		i = bed_pkt(&b, RXE_OP_READ_RESP_ONLY, PSN(0));
		bed_inject(&b, &i, NULL, 0);
		wc = bed_wc(&b.scq, 1, 0);
		assert_int_equal(wc.opcode, kinds[k].wc_opcode);
		assert_int_equal(wc.byte_len, kinds[k].byte_len);
		bed_fini(&b);

		bed_init(&b, &bed_rc);
		bed_post(&b, &wr);
		i = bed_pkt(&b, RXE_OP_READ_RESP_ONLY, PSN(0));
		bed_inject(&b, &i, NULL, 8); /* data that nobody asked for */
		bed_wc(&b.scq, 1, RXE_WC_BAD_RESP_ERR);
		bed_fini(&b);
	}
}

static void coalesced_ack(void **state)
{
	struct ib_uverbs_wc wc;
	struct bed *b = *state;

	post_sends(b, 5);
	bed_ack(b, PSN(3), 0x1f);
	for (int i = 0; i < 4; i++) {
		wc = bed_wc(&b->scq, i, 0);
		assert_int_equal(wc.opcode, IB_UVERBS_WC_SEND);
		assert_int_equal(wc.byte_len, 8);
	}
	bed_no_wc(&b->scq);
	bed_ack(b, PSN(4), 0x1f);
	bed_wc(&b->scq, 4, 0);
}

/* What was never sent cannot be acknowledged; what was already, says nothing. */
static void bogus_acks(void **state)
{
	struct bed *b = *state;

	post_sends(b, 2);
	bed_ack(b, PSN(2), 0x1f);
	bed_ack(b, PSN(0x700000), 0x1f);
	bed_ack(b, PSN(-5), RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	bed_ack(b, PSN(-1), RXE_AETH_RNR_NAK);
	bed_no_wc(&b->scq);
	assert_int_equal(rxe_qp_get_state(b->qp.qp), RXE_QPS_RTS);
	bed_ack(b, PSN(1), 0x1f);
	bed_wc(&b->scq, 0, 0);
	bed_wc(&b->scq, 1, 0);
}

/* PROTOCOL 9: acknowledges what came before, one immediate retry. */
static void sequence_nak(void **state)
{
	struct bed *b = *state;

	post_sends(b, 5);
	expect_sends(b, 0, 5);
	bed_ack(b, PSN(2), RXE_AETH_NAK | RXE_NAK_PSN_SEQ);
	bed_wc(&b->scq, 0, 0);
	bed_wc(&b->scq, 1, 0);
	expect_sends(b, 2, 5);
	bed_ack(b, PSN(2), RXE_AETH_NAK | RXE_NAK_PSN_SEQ); /* again: the timer's turn */
	bed_nothing_sent(b);
	bed_advance(b, RTO);
	expect_sends(b, 2, 3);
}

/* The timer's retry is one packet, so that no rhythm of losses can hit its first each time. */
static void timeout_and_exhaustion(void **state)
{
	struct bed *b = *state;

	post_sends(b, 2);
	expect_sends(b, 0, 2);
	bed_advance(b, RTO - 1);
	bed_nothing_sent(b);
	for (int i = 0; i < 2; i++) {
		bed_advance(b, i ? RTO : 1);
		expect_sends(b, 0, 1);
	}
	bed_advance(b, RTO);
	bed_nothing_sent(b);
	bed_wc(&b->scq, 0, RXE_WC_RETRY_EXC_ERR);
	bed_wc(&b->scq, 1, RXE_WC_WR_FLUSH_ERR);
	assert_int_equal(bed_count(b, RXE_HW_RETRY_EXCEEDED), 1);
}

static void progress_restores_the_retries(void **state)
{
	struct bed *b = *state;

	post_sends(b, 6);
	for (int i = 0; i < 5; i++) {
		bed_advance(b, RTO);
		bed_advance(b, RTO);
		bed_ack(b, PSN(i), 0x1f);
		bed_wc(&b->scq, i, 0);
	}
	assert_int_equal(rxe_qp_get_state(b->qp.qp), RXE_QPS_RTS);
}

static void no_timer_without_timeout(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	o.timeout = 0;
	bed_init(&b, &o);
	post_sends(&b, 1);
	assert_true(rxe_engine_next_timer(b.h.engine) == UINT64_MAX);
	bed_fini(&b);
}

/* PROTOCOL 12. Timer code 1 is 10 us, code 0 is 655.36 ms. */
static void rnr(void **state)
{
	struct bed *b = *state;

	post_sends(b, 3);
	expect_sends(b, 0, 3);
	bed_ack(b, PSN(1), RXE_AETH_RNR_NAK | 1);
	bed_wc(&b->scq, 0, 0);
	bed_ack(b, PSN(1), RXE_AETH_NAK | RXE_NAK_PSN_SEQ); /* does not cut the wait short */
	bed_advance(b, 9999);
	bed_nothing_sent(b);
	bed_advance(b, 1);
	expect_sends(b, 1, 2);
	bed_ack(b, PSN(1), RXE_AETH_RNR_NAK | 0);
	bed_advance(b, 655359999);
	bed_nothing_sent(b);
	bed_advance(b, 1);
	expect_sends(b, 1, 2);
	bed_ack(b, PSN(1), RXE_AETH_RNR_NAK | 1); /* rnr_retry was 2 */
	bed_wc(&b->scq, 1, RXE_WC_RNR_RETRY_EXC_ERR);
	bed_wc(&b->scq, 2, RXE_WC_WR_FLUSH_ERR);
}

/*
 * What was built and not sent when the peer refused is built again when the peer
 * accepts after all, before the wait is over.
 */
static void a_refusal_taken_back_loses_nothing(void **state)
{
	struct bed *b = *state;

	post_sends(b, 1);
	bed_copies(b);
	expect_sends(b, 0, 1);
	post_sends(b, 1); /* its packet waits for its copy */
	bed_ack(b, PSN(0), RXE_AETH_RNR_NAK | 1);
	bed_ack(b, PSN(0), 0x1f);
	bed_wc(&b->scq, 0, 0);
	bed_copies(b);
	expect_sends(b, 1, 2);
	bed_ack(b, PSN(1), 0x1f);
	bed_wc(&b->scq, 0, 0);
}

/* rnr_retry (here 2) counts refusals without a success between them. */
static void progress_restores_the_rnr_retries(void **state)
{
	struct bed *b = *state;

	post_sends(b, 3);
	expect_sends(b, 0, 3);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 2; k++) {
			bed_ack(b, PSN(i), RXE_AETH_RNR_NAK | 1);
			bed_advance(b, 10000);
		}
		bed_ack(b, PSN(i), 0x1f);
		bed_wc(&b->scq, i, 0);
	}
	bed_no_wc(&b->scq);
}

/* One packet asks whether the peer is ready now; with its answer all goes on. */
static void rnr_is_probed(void **state)
{
	struct bed *b = *state;

	post_sends(b, 5);
	expect_sends(b, 0, 5);
	bed_ack(b, PSN(0), RXE_AETH_RNR_NAK | 1);
	bed_advance(b, 10000);
	expect_sends(b, 0, 1);
	bed_ack(b, PSN(0), 0x1f);
	bed_wc(&b->scq, 0, 0);
	expect_sends(b, 1, 5);
	bed_ack(b, PSN(3), RXE_AETH_RNR_NAK | 1); /* acknowledges 1 and 2 */
	bed_wc(&b->scq, 1, 0);
	bed_wc(&b->scq, 2, 0);
	bed_advance(b, 10000);
	expect_sends(b, 3, 4);
	bed_advance(b, RTO); /* the probe was lost */
	expect_sends(b, 3, 4);
	bed_ack(b, PSN(3), 0x1f);
	bed_wc(&b->scq, 3, 0);
	expect_sends(b, 4, 5);
}

/* Of a long message, too: the rest of it follows the answer to its first packet. */
static void rnr_in_a_long_message(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 64, 256 * 2 + 5);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_SEND_FIRST);
	bed_sent(b, RXE_OP_SEND_MIDDLE);
	bed_sent(b, RXE_OP_SEND_LAST);
	bed_ack(b, PSN(0), RXE_AETH_RNR_NAK | 1);
	bed_advance(b, 10000);
	assert_true(bed_sent(b, RXE_OP_SEND_FIRST)->info.ack_req);
	bed_nothing_sent(b);
	bed_ack(b, PSN(0), 0x1f);
	bed_sent(b, RXE_OP_SEND_MIDDLE);
	bed_sent(b, RXE_OP_SEND_LAST);
	bed_ack(b, PSN(2), 0x1f);
	bed_wc(&b->scq, 64, 0);
}

static void rnr_without_end(void **state)
{
	struct bed_options o = bed_rc;
	struct bed b;

	(void)state;
	o.rnr_retry = 7;
	bed_init(&b, &o);
	post_sends(&b, 1);
	for (int i = 0; i < 100; i++) {
		bed_ack(&b, PSN(0), RXE_AETH_RNR_NAK | 1);
		bed_advance(&b, 10000);
	}
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_RTS);
	bed_ack(&b, PSN(0), 0x1f);
	bed_wc(&b.scq, 0, 0);
	bed_fini(&b);
}

static void fatal_naks(void **state)
{
	static const struct {
		uint8_t code;
		uint32_t status;
	} naks[] = {
		{RXE_NAK_INV_REQ, RXE_WC_REM_INV_REQ_ERR},
		{RXE_NAK_REM_ACCESS, RXE_WC_REM_ACCESS_ERR},
		{RXE_NAK_REM_OP, RXE_WC_REM_OP_ERR},
		{31, RXE_WC_REM_OP_ERR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(naks) / sizeof(naks[0]); i++) {
		struct bed b;

		bed_init(&b, &bed_rc);
		post_sends(&b, 3);
		bed_ack(&b, PSN(1), RXE_AETH_NAK | naks[i].code);
		bed_wc(&b.scq, 0, 0);
		bed_wc(&b.scq, 1, naks[i].status);
		bed_wc(&b.scq, 2, RXE_WC_WR_FLUSH_ERR);
		bed_fini(&b);
	}
}

static void read_response(struct bed *b, enum rxe_op op, int n, uint32_t len, uint8_t fill)
{
	struct rxe_pktinfo r = bed_pkt(b, op, PSN(n));
	uint8_t payload[4096];

	memset(payload, fill, len);
	bed_inject(b, &r, payload, len);
}

static void read_completes(void **state)
{
	struct sim_wr wr;
	struct ib_uverbs_wc wc;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 4096, 256 * 2 + 5);
	bed_post(b, &wr);
	assert_int_equal(bed_sent(b, RXE_OP_READ_REQ)->info.len, 517);
	read_response(b, RXE_OP_READ_RESP_FIRST, 0, 256, 1);
	read_response(b, RXE_OP_READ_RESP_MIDDLE, 1, 256, 2);
	bed_no_wc(&b->scq);
	read_response(b, RXE_OP_READ_RESP_LAST, 2, 5, 3);
	wc = bed_wc(&b->scq, 4096, 0);
	assert_int_equal(wc.byte_len, 517);
	assert_int_equal(wc.opcode, IB_UVERBS_WC_RDMA_READ);
	assert_int_equal(b->mem[4096 + 255], 1);
	assert_int_equal(b->mem[4096 + 256], 2);
	assert_int_equal(b->mem[4096 + 516], 3);
}

/* PROTOCOL 10: a lost response is asked for again, from where it is missing. */
static void read_retry_restarts_in_the_middle(void **state)
{
	struct bed_sent *s;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 4096, 256 * 4);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_READ_REQ);
	read_response(b, RXE_OP_READ_RESP_FIRST, 0, 256, 1);
	read_response(b, RXE_OP_READ_RESP_MIDDLE, 2, 256, 0xee); /* 1 is missing */
	s = bed_sent(b, RXE_OP_READ_REQ);
	assert_int_equal(s->info.psn, PSN(1));
	assert_true(s->info.va == wr.remote_addr + 256);
	assert_int_equal(s->info.len, 256 * 3);
	read_response(b, RXE_OP_READ_RESP_LAST, 3, 256, 0xee); /* a straggler */
	bed_nothing_sent(b);
	read_response(b, RXE_OP_READ_RESP_FIRST, 1, 256, 2);
	read_response(b, RXE_OP_READ_RESP_FIRST, 1, 256, 0xdd); /* a duplicate */
	read_response(b, RXE_OP_READ_RESP_MIDDLE, 2, 256, 3);
	read_response(b, RXE_OP_READ_RESP_LAST, 3, 256, 4);
	bed_wc(&b->scq, 4096, 0);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(b->mem[4096 + i], 1 + i / 256);
}

/* PROTOCOL 10: an ACK beyond a READ does not complete it. */
static void ack_does_not_skip_a_read(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	post_sends(b, 1);
	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 4096, 8);
	bed_post(b, &wr);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 3, 8);
	bed_post(b, &wr);
	b->next_sent = b->nr_sent;
	bed_ack(b, PSN(2), 0x1f);
	bed_wc(&b->scq, 0, 0);
	bed_no_wc(&b->scq);
	assert_int_equal(bed_sent(b, RXE_OP_READ_REQ)->info.psn, PSN(1));
	assert_int_equal(bed_sent(b, RXE_OP_SEND_ONLY)->info.psn, PSN(2));
	read_response(b, RXE_OP_READ_RESP_ONLY, 1, 8, 7);
	bed_wc(&b->scq, 4096, 0);
	bed_ack(b, PSN(2), 0x1f);
	bed_wc(&b->scq, 3, 0);
}

/* PROTOCOL 4, 10: the right length, and an opcode of another place in the message. */
static void opcodes_out_of_place(void **state)
{
	static const struct {
		uint32_t len, nr_good;
		enum rxe_op good[2], bad;
	} cases[] = {
		{64, 0, {0}, RXE_OP_READ_RESP_LAST},
		{64, 0, {0}, RXE_OP_READ_RESP_MIDDLE},
		{64, 0, {0}, RXE_OP_READ_RESP_FIRST},
		{700, 0, {0}, RXE_OP_READ_RESP_MIDDLE},
		{700, 1, {RXE_OP_READ_RESP_FIRST}, RXE_OP_READ_RESP_FIRST},
		{700, 2, {RXE_OP_READ_RESP_FIRST, RXE_OP_READ_RESP_MIDDLE}, RXE_OP_READ_RESP_ONLY},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t n = cases[i].nr_good, left = cases[i].len - 256 * n;
		struct sim_wr wr;
		struct bed b;

		bed_init(&b, &bed_rc);
		wr = bed_wr(&b, IB_UVERBS_WR_RDMA_READ, 4096, cases[i].len);
		bed_post(&b, &wr);
		for (uint32_t k = 0; k < n; k++)
			read_response(&b, cases[i].good[k], (int)k, 256, 1);
		bed_no_wc(&b.scq);
		read_response(&b, cases[i].bad, (int)n, left < 256 ? left : 256, 9);
		bed_wc(&b.scq, 4096, RXE_WC_BAD_RESP_ERR);
		bed_fini(&b);
	}
}

static void wrong_shapes(void **state)
{
	static const struct {
		enum rxe_op op;
		uint32_t len;
	} bad[] = {
		{RXE_OP_READ_RESP_FIRST, 255}, {RXE_OP_READ_RESP_FIRST, 260},
		{RXE_OP_READ_RESP_ONLY, 256},  {RXE_OP_READ_RESP_LAST, 256},
		{RXE_OP_READ_RESP_MIDDLE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_wr wr;
		struct bed b;

		bed_init(&b, &bed_rc);
		wr = bed_wr(&b, IB_UVERBS_WR_RDMA_READ, 4096, 300);
		bed_post(&b, &wr);
		read_response(&b, bad[i].op, 0, bad[i].len, 9);
		bed_wc(&b.scq, 4096, RXE_WC_BAD_RESP_ERR);
		bed_fini(&b);
	}
}

static void atomic_result(void **state)
{
	struct rxe_pktinfo r;
	struct bed_sent *s;
	struct sim_wr wr;
	uint64_t got;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, 64, 8);
	wr.compare_add = 0x1111;
	wr.swap = 0x2222;
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_CMP_SWAP);
	assert_true(s->info.compare == 0x1111 && s->info.swap_add == 0x2222);
	wr.opcode = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_FETCH_ADD);
	assert_true(s->info.compare == 0 && s->info.swap_add == 0x1111);
	r = bed_pkt(b, RXE_OP_ATOMIC_ACK, PSN(0));
	r.orig = 0x0102030405060708;
	bed_inject(b, &r, NULL, 0);
	bed_wc(&b->scq, 64, 0);
	memcpy(&got, b->mem + 64, 8);
	assert_true(got == 0x0102030405060708); /* host order in memory */
}

/* A plain ACK is no answer to an atomic, nor an atomic's answer to a READ. */
static void answers_of_the_wrong_kind(void **state)
{
	struct rxe_pktinfo r;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 64, 8);
	bed_post(b, &wr);
	r = bed_pkt(b, RXE_OP_ATOMIC_ACK, PSN(0));
	bed_inject(b, &r, NULL, 0);
	bed_ack(b, PSN(0), 0x1f);
	bed_no_wc(&b->scq);
	read_response(b, RXE_OP_READ_RESP_ONLY, 0, 8, 1);
	bed_wc(&b->scq, 64, 0);
}

/* The completion comes after the data is in place. */
static void completion_waits_for_the_copy(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 64, 8);
	bed_post(b, &wr);
	read_response(b, RXE_OP_READ_RESP_ONLY, 0, 8, 0x42);
	bed_no_wc(&b->scq);
	bed_copies(b);
	bed_wc(&b->scq, 64, 0);
	assert_int_equal(b->mem[64], 0x42);
}

/* Into ERR while the copy runs: the completion (a flush) still comes after it. */
static void error_while_copying(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, 64, 8);
	bed_post(b, &wr);
	read_response(b, RXE_OP_READ_RESP_ONLY, 0, 8, 0x42);
	assert_int_equal(sim_qp_set_state(&b->qp, RXE_QPS_ERR), 0);
	bed_run(b);
	bed_no_wc(&b->scq);
	bed_copies(b);
	bed_wc(&b->scq, 64, RXE_WC_WR_FLUSH_ERR);
}

/* What is still being filled is not lost: no timeout for it. */
static void slow_copies_are_no_loss(void **state)
{
	struct bed *b = *state;

	post_sends(b, 2);
	for (int i = 0; i < 10; i++)
		bed_advance(b, RTO);
	bed_nothing_sent(b);
	bed_no_wc(&b->scq);
	bed_copies(b);
	expect_sends(b, 0, 2);
	assert_int_equal(bed_count(b, RXE_HW_COMP_RETRY), 0);
}

/* Going back drops what is being filled: PSNs leave in order. */
static void going_back_while_filling(void **state)
{
	struct bed *b = *state;

	post_sends(b, 2);
	bed_copies(b);
	expect_sends(b, 0, 2);
	post_sends(b, 3);
	bed_ack(b, PSN(0), RXE_AETH_NAK | RXE_NAK_PSN_SEQ);
	bed_nothing_sent(b);
	bed_copies(b);
	expect_sends(b, 0, 5);
}

static void after_the_burst(void **state)
{
	struct rxe_pktinfo a;
	struct bed *b = *state;
	uint8_t bytes[16];

	rxe_engine_params(b->h.engine)->fast_comp = 0;
	post_sends(b, 1);
	a = bed_pkt(b, RXE_OP_ACK, PSN(0));
	rxe_pkt_build(bytes, &a, 0);
	sim_host_rx(&b->h, &b->peer, bytes, sizeof(bytes));
	bed_no_wc(&b->scq);
	bed_run(b);
	bed_wc(&b->scq, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(coalesced_ack),
		cmocka_unit_test(empty_answers),
		BED_TEST(bogus_acks),
		BED_TEST(sequence_nak),
		BED_TEST(timeout_and_exhaustion),
		BED_TEST(progress_restores_the_retries),
		cmocka_unit_test(no_timer_without_timeout),
		BED_TEST(rnr),
		BED_TEST_WITH(a_refusal_taken_back_loses_nothing, &bed_rc_deferred),
		BED_TEST(progress_restores_the_rnr_retries),
		BED_TEST(rnr_is_probed),
		BED_TEST(rnr_in_a_long_message),
		cmocka_unit_test(rnr_without_end),
		cmocka_unit_test(fatal_naks),
		BED_TEST(read_completes),
		BED_TEST(read_retry_restarts_in_the_middle),
		BED_TEST(ack_does_not_skip_a_read),
		cmocka_unit_test(wrong_shapes),
		cmocka_unit_test(opcodes_out_of_place),
		BED_TEST(atomic_result),
		BED_TEST(answers_of_the_wrong_kind),
		BED_TEST_WITH(completion_waits_for_the_copy, &bed_rc_deferred),
		BED_TEST_WITH(error_while_copying, &bed_rc_deferred),
		BED_TEST_WITH(slow_copies_are_no_loss, &bed_rc_deferred),
		BED_TEST_WITH(going_back_while_filling, &bed_rc_deferred),
		BED_TEST(after_the_burst),
	};

	return cmocka_run_group_tests_name("transport_completer", tests, NULL, NULL);
}
