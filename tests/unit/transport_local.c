/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* local.c: BIND_MW and LOCAL_INV in the send queue. */
#include "sim/bed.h"
#include "transport/mw.h"
#include "transport/qp.h"

#define PSN(n)	 rxe_psn_add(BED_SQ_PSN, n)
#define RPSN(n)	 rxe_psn_add(BED_RQ_PSN, n)
#define POLLS_NS 100000ull /* more than one look at copies that still run */

static const struct bed_options rc = {
	.type = RXE_QPT_RC,
	.rd_atomic = 2,
	.timeout = 14,
	.retry_cnt = 2,
	.rnr_retry = 2,
};

static struct rxe_mw *window(struct bed *b, enum rxe_mw_type type)
{
	struct rxe_mw *mw;

	assert_int_equal(rxe_mw_create(&b->h.hca, 1, type, &mw), 0);
	return mw;
}

static void end(struct bed *b, struct rxe_mw *mw)
{
	struct rxe_mr *old = rxe_mw_destroy(&b->h.hca, mw);

	if (old)
		rxe_mr_put(old);
}

static void bind_mw(struct bed *b, uint64_t wr_id, const struct rxe_mw *mw, uint32_t len)
{
	struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_BIND_MW, wr_id, 0);

	wr.num_sge = 0;
	wr.remote_addr = (uintptr_t)b->mem;
	wr.mw_len = len;
	wr.mr_lkey = b->key;
	wr.mw_rkey = rxe_mw_rkey(mw);
	wr.rkey = rxe_mw_rkey(mw) + 1;
	wr.access = IB_UVERBS_ACCESS_REMOTE_WRITE;
	bed_post(b, &wr);
}

static void local_inv(struct bed *b, uint64_t wr_id, uint32_t rkey)
{
	struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_LOCAL_INV, wr_id, 0);

	wr.num_sge = 0;
	wr.imm = rkey;
	bed_post(b, &wr);
}

static void post_send(struct bed *b, uint64_t wr_id)
{
	struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_SEND, wr_id, 8);

	bed_post(b, &wr);
}

static bool open_to_peer(struct bed *b, uint32_t rkey)
{
	struct rxe_mr *mr;

	if (rxe_rkey_get(&b->h.hca, 1, b->qp.qp->id, rkey, IB_UVERBS_ACCESS_REMOTE_WRITE, &mr))
		return false;
	rxe_mr_put(mr);
	return true;
}

static void bound_and_invalidated(void **state)
{
	struct ib_uverbs_wc wc;
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	mw = window(&b, RXE_MW_TYPE_2);
	bind_mw(&b, 1, mw, 100);
	wc = bed_wc(&b.scq, 1, 0);
	assert_int_equal(wc.opcode, IB_UVERBS_WC_BIND_MW);
	assert_true(open_to_peer(&b, rxe_mw_rkey(mw)));
	local_inv(&b, 2, rxe_mw_rkey(mw));
	wc = bed_wc(&b.scq, 2, 0);
	assert_int_equal(wc.opcode, IB_UVERBS_WC_LOCAL_INV);
	assert_false(open_to_peer(&b, rxe_mw_rkey(mw)));
	bed_nothing_sent(&b);
	end(&b, mw);
	bed_fini(&b);
}

/* No PSN, no SSN: the packets around it follow each other. Completions stay in order. */
static void between_sends(void **state)
{
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	mw = window(&b, RXE_MW_TYPE_1);
	post_send(&b, 1);
	bind_mw(&b, 2, mw, 100);
	post_send(&b, 3);
	assert_true(open_to_peer(&b, rxe_mw_rkey(mw))); /* done, though not completed */
	bed_no_wc(&b.scq);
	assert_int_equal(bed_sent(&b, RXE_OP_SEND_ONLY)->info.psn, PSN(0));
	assert_int_equal(bed_sent(&b, RXE_OP_SEND_ONLY)->info.psn, PSN(1));
	bed_ack(&b, PSN(0), 0x1f);
	bed_wc(&b.scq, 1, 0);
	bed_wc(&b.scq, 2, 0);
	bed_ack(&b, PSN(1), 0x1f);
	bed_wc(&b.scq, 3, 0);
	end(&b, mw);
	bed_fini(&b);
}

/* Going back does not bind again, and loses its place nowhere. */
static void passed_by_on_a_retry(void **state)
{
	struct rxe_mw *mw;
	uint32_t rkey;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	mw = window(&b, RXE_MW_TYPE_1);
	for (int round = 0; round < 40; round++) {
		post_send(&b, 1);
		bind_mw(&b, 2, mw, 100);
		bind_mw(&b, 3, mw, 100);
		post_send(&b, 4);
		rkey = rxe_mw_rkey(mw);
		bed_ack(&b, PSN(2 * round), RXE_AETH_NAK | RXE_NAK_PSN_SEQ); /* both once more */
		assert_int_equal(rxe_mw_rkey(mw), rkey);
		if (round % 2) {
			bed_ack(&b, PSN(2 * round), 0x1f);
			bed_wc(&b.scq, 1, 0);
			bed_wc(&b.scq, 2, 0);
			bed_wc(&b.scq, 3, 0);
			bed_ack(&b, PSN(2 * round + 1), 0x1f);
		} else {
			bed_ack(&b, PSN(2 * round + 1), 0x1f);
			bed_wc(&b.scq, 1, 0);
			bed_wc(&b.scq, 2, 0);
			bed_wc(&b.scq, 3, 0);
		}
		bed_wc(&b.scq, 4, 0);
		bed_no_wc(&b.scq);
		b.next_sent = b.nr_sent;
	}
	end(&b, mw);
	bed_fini(&b);
}

/* LOCAL_INV waits until all before it has completed. */
static void invalidation_is_fenced(void **state)
{
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	bed_init(&b, &rc);
	mw = window(&b, RXE_MW_TYPE_2);
	bind_mw(&b, 1, mw, 100);
	bed_wc(&b.scq, 1, 0);
	post_send(&b, 2);
	local_inv(&b, 3, rxe_mw_rkey(mw));
	post_send(&b, 4);
	assert_true(open_to_peer(&b, rxe_mw_rkey(mw)));
	bed_sent(&b, RXE_OP_SEND_ONLY);
	bed_nothing_sent(&b);
	bed_ack(&b, PSN(0), 0x1f);
	assert_false(open_to_peer(&b, rxe_mw_rkey(mw)));
	bed_wc(&b.scq, 2, 0);
	bed_wc(&b.scq, 3, 0);
	bed_sent(&b, RXE_OP_SEND_ONLY);
	end(&b, mw);
	bed_fini(&b);
}

/* It completes when no copy runs through the window any more. */
static void waits_for_copies(void **state)
{
	struct bed_options o = rc;
	struct rxe_pktinfo i;
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	mw = window(&b, RXE_MW_TYPE_2);
	bind_mw(&b, 1, mw, 100);
	bed_wc(&b.scq, 1, 0);
	i = bed_pkt(&b, RXE_OP_WRITE_ONLY, RPSN(0));
	i.rkey = rxe_mw_rkey(mw);
	i.len = 8;
	bed_inject(&b, &i, NULL, 8);
	local_inv(&b, 2, rxe_mw_rkey(mw));
	assert_false(open_to_peer(&b, rxe_mw_rkey(mw)));
	bed_advance(&b, POLLS_NS);
	bed_no_wc(&b.scq);
	bed_copies(&b);
	bed_advance(&b, POLLS_NS);
	bed_wc(&b.scq, 2, 0);
	end(&b, mw);
	bed_fini(&b);
}

/* Destroyed, or in ERR, while it waits: nothing is left of it. */
static void given_up_while_it_waits(void **state)
{
	for (int how = 0; how < 2; how++) {
		struct bed_options o = rc;
		struct rxe_pktinfo i;
		struct rxe_mw *mw;
		struct bed b;

		(void)state;
		o.deferred = true;
		bed_init(&b, &o);
		mw = window(&b, RXE_MW_TYPE_2);
		bind_mw(&b, 1, mw, 100);
		i = bed_pkt(&b, RXE_OP_WRITE_ONLY, RPSN(0));
		i.rkey = rxe_mw_rkey(mw);
		i.len = 8;
		bed_inject(&b, &i, NULL, 8);
		local_inv(&b, 2, rxe_mw_rkey(mw));
		bed_wc(&b.scq, 1, 0);
		if (how) {
			assert_int_equal(sim_qp_set_state(&b.qp, RXE_QPS_ERR), 0);
			bed_copies(&b);
			bed_wc(&b.scq, 2, RXE_WC_WR_FLUSH_ERR);
		}
		end(&b, mw);
		bed_fini(&b);
	}
}

static void failures(void **state)
{
	for (int c = 0; c < 4; c++) {
		struct rxe_mw *mw;
		struct bed b;

		(void)state;
		bed_init(&b, &rc);
		mw = window(&b, c == 3 ? RXE_MW_TYPE_1 : RXE_MW_TYPE_2);
		if (c == 0) {
			bind_mw(&b, 1, mw, BED_MEM + 1); /* outside the MR */
			bed_wc(&b.scq, 1, RXE_WC_MW_BIND_ERR);
		} else if (c == 1) {
			local_inv(&b, 1, b.key); /* rule 27: an ordinary MR */
			bed_wc(&b.scq, 1, RXE_WC_LOC_QP_OP_ERR);
			assert_true(open_to_peer(&b, b.key));
		} else if (c == 2) {
			local_inv(&b, 1, rxe_mw_rkey(mw)); /* not bound */
			bed_wc(&b.scq, 1, RXE_WC_LOC_QP_OP_ERR);
		} else {
			bind_mw(&b, 1, mw, 100);
			bed_wc(&b.scq, 1, 0);
			local_inv(&b, 2, rxe_mw_rkey(mw)); /* type 1 */
			bed_wc(&b.scq, 2, RXE_WC_LOC_QP_OP_ERR);
			assert_true(open_to_peer(&b, rxe_mw_rkey(mw)));
		}
		assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
		end(&b, mw);
		bed_fini(&b);
	}
}

/* UC binds as well; LOCAL_INV is RC's. */
static void uc(void **state)
{
	static const struct bed_options o = {.type = RXE_QPT_UC};
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	mw = window(&b, RXE_MW_TYPE_1);
	post_send(&b, 1);
	bind_mw(&b, 2, mw, 100);
	post_send(&b, 3);
	bed_wc(&b.scq, 1, 0);
	bed_wc(&b.scq, 2, 0);
	bed_wc(&b.scq, 3, 0);
	assert_true(open_to_peer(&b, rxe_mw_rkey(mw)));
	local_inv(&b, 4, rxe_mw_rkey(mw));
	bed_wc(&b.scq, 4, RXE_WC_LOC_QP_OP_ERR);
	end(&b, mw);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_and_invalidated),
		cmocka_unit_test(between_sends),
		cmocka_unit_test(passed_by_on_a_retry),
		cmocka_unit_test(invalidation_is_fenced),
		cmocka_unit_test(waits_for_copies),
		cmocka_unit_test(given_up_while_it_waits),
		cmocka_unit_test(failures),
		cmocka_unit_test(uc),
	};

	return cmocka_run_group_tests_name("transport_local", tests, NULL, NULL);
}
