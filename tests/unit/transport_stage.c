/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stage.c: what runs at once and what after the burst, and that each is counted. */
#include <string.h>
#include "sim/bed.h"

#define BURST 3

static void post(struct bed *b)
{
	struct sim_wr wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 8);

	assert_true(sim_post_send(&b->qp, &wr));
	rxe_qp_doorbell(b->qp.qp);
}

/* Arrives, and the engine does not run yet: more of the burst may follow. */
static void arrive(struct bed *b, enum rxe_op op, uint32_t psn)
{
	struct rxe_pktinfo info = bed_pkt(b, op, psn);
	uint8_t bytes[RXE_MAX_IB_HDR];

	info.ack_req = true;
	rxe_pkt_build(bytes, &info, 0);
	sim_host_rx(&b->h, &b->peer, bytes, info.op->hdr_len);
}

/* ---- a burst for each stage ------------------------------------------------------ */

static void sends(struct bed *b)
{
	for (int i = 0; i < BURST; i++)
		post(b);
}
static unsigned int sent(struct bed *b)
{
	return b->nr_sent;
}

static void acks_before(struct bed *b)
{
	for (int i = 0; i < BURST; i++) {
		post(b);
		bed_run(b);
	}
}
static void acks(struct bed *b)
{
	for (uint32_t i = 0; i < BURST; i++)
		arrive(b, RXE_OP_ACK, rxe_psn_add(BED_SQ_PSN, i));
}
static unsigned int completions(struct bed *b)
{
	struct ib_uverbs_wc wc;
	unsigned int n = 0;

	while (sim_cq_poll(&b->scq, &wc))
		n++;
	return n;
}

static void writes(struct bed *b)
{
	for (uint32_t i = 0; i < BURST; i++)
		arrive(b, RXE_OP_WRITE_ONLY, rxe_psn_add(BED_RQ_PSN, i));
}

static const struct stage_case {
	size_t fast;
	enum rxe_hw_counter direct, deferred;
	void (*before)(struct bed *b);
	void (*burst)(struct bed *b);
	unsigned int (*seen)(struct bed *b); /* of what the stage brings about */
} cases[] = {
	{offsetof(struct rxe_engine_params, fast_req), RXE_HW_REQ_DIRECT, RXE_HW_REQ_DEFERRED, NULL,
	 sends, sent},
	{offsetof(struct rxe_engine_params, fast_comp), RXE_HW_COMP_DIRECT, RXE_HW_COMP_DEFERRED,
	 acks_before, acks, completions},
	{offsetof(struct rxe_engine_params, fast_resp), RXE_HW_RESP_DIRECT, RXE_HW_RESP_DEFERRED,
	 NULL, writes, sent},
};
#define NR_CASES (sizeof(cases) / sizeof(cases[0]))

static void set_fast(struct bed *b, const struct stage_case *c, uint32_t v)
{
	memcpy((char *)rxe_engine_params(b->h.engine) + c->fast, &v, sizeof(v));
}

/* One run for each packet, and all is seen before the burst is over. */
static void at_once(void **state)
{
	struct bed b;

	(void)state;
	for (size_t i = 0; i < NR_CASES; i++) {
		const struct stage_case *c = &cases[i];

		bed_init(&b, &bed_rc);
		set_fast(&b, c, 1);
		if (c->before)
			c->before(&b);
		c->burst(&b);
		assert_int_equal(c->seen(&b), BURST);
		assert_int_equal(bed_count(&b, c->direct), BURST);
		bed_run(&b);
		assert_int_equal(bed_count(&b, c->deferred), 0);
		bed_fini(&b);
	}
}

/* Nothing is seen before the burst is over, and then one run is enough. */
static void after_the_burst(void **state)
{
	struct bed b;

	(void)state;
	for (size_t i = 0; i < NR_CASES; i++) {
		const struct stage_case *c = &cases[i];

		bed_init(&b, &bed_rc);
		set_fast(&b, c, 0);
		if (c->before)
			c->before(&b);
		uint64_t before = bed_count(&b, c->deferred);

		c->burst(&b);
		assert_int_equal(c->seen(&b), 0);
		assert_int_equal(bed_count(&b, c->deferred), before);
		bed_run(&b);
		assert_true(c->seen(&b) > 0);
		assert_int_equal(bed_count(&b, c->deferred), before + 1);
		assert_int_equal(bed_count(&b, c->direct), 0);
		bed_fini(&b);
	}
}

/* A run from the queue for another reason was not put off by a tunable. */
static void other_runs_do_not_count(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 256 * 60);
	bed_post(b, &wr); /* more than a turn: the rest comes from the queue */
	assert_int_equal(b->nr_sent, 60);
	assert_int_equal(bed_count(b, RXE_HW_REQ_DIRECT), 1);
	assert_int_equal(bed_count(b, RXE_HW_REQ_DEFERRED), 0);
}

/* What was put off by a QP that fails before it runs is never done, nor counted. */
static void forgotten_in_error(void **state)
{
	struct rxe_qp_attr attr = {.qp_state = RXE_QPS_ERR};
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_req = 0;
	post(b);
	assert_int_equal(rxe_qp_modify(b->qp.qp, &attr, RXE_QP_STATE), 0);
	bed_run(b);
	assert_int_equal(bed_count(b, RXE_HW_REQ_DEFERRED), 0);
}

/* ---- the arbiter ------------------------------------------------------------------- */

static void flushed_per_packet(void **state)
{
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_arb = 1;
	sends(b);
	assert_int_equal(b->h.flushes, BURST);
	rxe_engine_burst_end(b->h.engine, &b->h.hca);
	assert_int_equal(bed_count(b, RXE_HW_ARB_DIRECT), BURST);
	assert_int_equal(bed_count(b, RXE_HW_ARB_DEFERRED), 0);
}

static void flushed_per_burst(void **state)
{
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_arb = 0;
	for (int burst = 1; burst <= 2; burst++) {
		sends(b);
		rxe_engine_burst_end(b->h.engine, &b->h.hca);
		assert_int_equal(bed_count(b, RXE_HW_ARB_DEFERRED), burst);
		/* A turn without a packet hands nothing on. */
		rxe_engine_burst_end(b->h.engine, &b->h.hca);
		assert_int_equal(bed_count(b, RXE_HW_ARB_DEFERRED), burst);
	}
	assert_int_equal(b->h.flushes, 0);
	assert_int_equal(bed_count(b, RXE_HW_ARB_DIRECT), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_once),	   cmocka_unit_test(after_the_burst),
		BED_TEST(other_runs_do_not_count), BED_TEST(forgotten_in_error),
		BED_TEST(flushed_per_packet),	   BED_TEST(flushed_per_burst),
	};

	return cmocka_run_group_tests_name("transport_stage", tests, NULL, NULL);
}
