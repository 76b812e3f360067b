/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cq.c: order, arming, overflow (PROTOCOL 26). */
#include <errno.h>
#include "sim/bed.h"

static struct sim_host h;
static struct sim_cq cq;

static int setup(void **state)
{
	(void)state;
	sim_host_init(&h, 1, 1024);
	sim_cq_init(&cq, &h, 3);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_cq_fini(&cq);
	sim_host_fini(&h);
	return 0;
}

static int post(uint64_t wr_id, uint32_t status, bool solicited)
{
	struct ib_uverbs_wc wc = {.wr_id = wr_id, .status = status};

	return rxe_cq_post(h.engine, cq.cq, &wc, solicited);
}

static void full_then_dead(void **state)
{
	struct ib_uverbs_wc wc;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(post(i, 0, false), 0);
	assert_int_equal(post(3, 0, false), -ENOSPC);
	assert_int_equal(post(4, 0, false), -ENOSPC);
	assert_int_equal(sim_host_count_events(&h, RXE_EV_CQ_ERR), 1);
	assert_ptr_equal(h.events[0].obj, cq.cq);
	for (int i = 0; i < 3; i++) {
		assert_true(sim_cq_poll(&cq, &wc));
		assert_int_equal(wc.wr_id, i);
	}
	assert_false(sim_cq_poll(&cq, &wc));
	assert_int_equal(post(5, 0, false), -ENOSPC);
}

static void wraps(void **state)
{
	struct ib_uverbs_wc wc;

	(void)state;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(post(i, 0, false), 0);
		assert_int_equal(post(i + 100, 0, false), 0);
		assert_true(sim_cq_poll(&cq, &wc) && wc.wr_id == (uint64_t)i);
		assert_true(sim_cq_poll(&cq, &wc) && wc.wr_id == (uint64_t)i + 100);
	}
}

static void drain(void)
{
	struct ib_uverbs_wc wc;

	while (sim_cq_poll(&cq, &wc))
		;
}

static void notification(void **state)
{
	bool missed = true;

	(void)state;
	post(0, 0, true);
	assert_int_equal(h.nr_cq_events, 0);
	rxe_cq_arm(cq.cq, true, &missed);
	assert_true(missed);
	drain();
	rxe_cq_arm(cq.cq, true, &missed);
	assert_false(missed);
	post(1, 0, false);
	assert_int_equal(h.nr_cq_events, 0);
	post(2, 0, true);
	assert_int_equal(h.nr_cq_events, 1);
	drain();
	post(3, 0, true); /* once only */
	assert_int_equal(h.nr_cq_events, 1);
	rxe_cq_arm(cq.cq, true, NULL);
	post(4, RXE_WC_WR_FLUSH_ERR, false); /* an error wakes too */
	assert_int_equal(h.nr_cq_events, 2);
	drain();
	rxe_cq_arm(cq.cq, false, NULL);
	rxe_cq_arm(cq.cq, true, NULL); /* does not weaken the first */
	post(5, 0, false);
	assert_int_equal(h.nr_cq_events, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_then_dead, setup, teardown),
		cmocka_unit_test_setup_teardown(wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(notification, setup, teardown),
	};

	return cmocka_run_group_tests_name("transport_cq", tests, NULL, NULL);
}
