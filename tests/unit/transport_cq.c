/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cq.c: order, arming, overflow, resizing (PROTOCOL 26). */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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

static void expect(uint64_t from, uint64_t to)
{
	struct ib_uverbs_wc wc;

	for (uint64_t i = from; i < to; i++) {
		assert_true(sim_cq_poll(&cq, &wc));
		assert_int_equal(wc.wr_id, i);
	}
	assert_false(sim_cq_poll(&cq, &wc));
}

/* Across the end of the old ring, to a larger one and to the smallest that fits. */
static void resize_keeps_every_cqe(void **state)
{
	(void)state;
	for (uint64_t first = 0; first < 8; first++) {
		for (int i = 0; i < 3; i++)
			assert_int_equal(post(i, 0, false), 0);
		assert_int_equal(sim_cq_resize(&cq, &h, 30), 0);
		for (int i = 3; i < 30; i++)
			assert_int_equal(post(i, 0, false), 0);
		expect(0, 30);
		for (int i = 0; i < 3; i++)
			assert_int_equal(post(i, 0, false), 0);
		assert_int_equal(sim_cq_resize(&cq, &h, 3), 0);
		expect(0, 3);
		assert_int_equal(post(first, 0, false), 0); /* the next round begins elsewhere */
		expect(first, first + 1);
	}
	assert_int_equal(sim_host_count_events(&h, RXE_EV_CQ_ERR), 0);
}

static void resize_refusals(void **state)
{
	uint32_t most = h.hca.limits.max_cqe;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(post(i, 0, false), 0);
	assert_int_equal(sim_cq_resize(&cq, &h, 2), -EINVAL); /* fewer than wait */
	assert_int_equal(sim_cq_resize(&cq, &h, 0), -EINVAL);
	h.hca.limits.max_cqe = 100;
	assert_int_equal(sim_cq_resize(&cq, &h, 101), -EINVAL);
	assert_int_equal(sim_cq_resize(&cq, &h, 100), 0);
	h.hca.limits.max_cqe = most;
	expect(0, 3);
}

/* An arming lasts, an overflow too: what was lost stays lost. */
static void resize_keeps_the_state(void **state)
{
	(void)state;
	rxe_cq_arm(cq.cq, true, NULL);
	assert_int_equal(sim_cq_resize(&cq, &h, 7), 0);
	post(0, 0, false);
	assert_int_equal(h.nr_cq_events, 0);
	post(1, 0, true);
	assert_int_equal(h.nr_cq_events, 1);
	for (int i = 2; i < 7; i++)
		assert_int_equal(post(i, 0, false), 0);
	assert_int_equal(post(7, 0, false), -ENOSPC);
	assert_int_equal(sim_cq_resize(&cq, &h, 100), 0);
	assert_int_equal(post(8, 0, false), -ENOSPC);
	assert_int_equal(sim_host_count_events(&h, RXE_EV_CQ_ERR), 1);
	expect(0, 7);
}

/* A client that goes on with the ring it had finds nothing in it. */
static void old_ring_reads_as_empty(void **state)
{
	struct rxe_ring bigger, old = cq.ring;
	uint32_t slots, log2_elem;
	size_t bytes = rxe_ring_size(30, sizeof(struct ib_uverbs_wc), &slots, &log2_elem);
	void *mem = aligned_alloc(64, bytes);

	(void)state;
	assert_non_null(mem);
	memset(mem, 0, bytes);
	rxe_ring_init(&bigger, mem, slots, log2_elem);
	post(0, 0, false);
	post(1, 0, false);
	assert_int_equal(rxe_cq_resize(&h.hca, cq.cq, &bigger, 30), 0);
	post(2, 0, false);
	assert_int_equal(old.buf->producer_index, old.buf->consumer_index);
	free(cq.mem);
	cq.mem = mem;
	cq.ring = bigger;
	expect(0, 3);
}

/* The client's index lies: at most a ring's worth is taken, nothing out of bounds. */
static void lying_index(void **state)
{
	struct ib_uverbs_wc wc;
	int n = 0;

	(void)state;
	post(0, 0, false);
	cq.ring.buf->consumer_index = 0xffffffff;
	assert_int_equal(sim_cq_resize(&cq, &h, 30), 0);
	while (sim_cq_poll(&cq, &wc))
		n++;
	assert_in_range(n, 1, 3);
}

#define TRAFFIC 200000

static void *poster(void *arg)
{
	uint64_t *posted = arg;
	struct ib_uverbs_wc wc = {0};

	for (uint64_t i = 0; i < TRAFFIC; i++) {
		/* As many as the smallest ring holds may wait. */
		while (i - __atomic_load_n(&posted[1], __ATOMIC_ACQUIRE) >= 15)
			sched_yield();
		wc.wr_id = i;
		if (rxe_cq_post(h.engine, cq.cq, &wc, false))
			return NULL;
		__atomic_store_n(&posted[0], i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A worker posts all the while: each completion comes once and in order. */
static void resize_under_traffic(void **state)
{
	uint64_t count[2] = {0}; /* posted, polled */
	unsigned int resized = 0;
	struct ib_uverbs_wc wc;
	pthread_t t;

	(void)state;
	assert_int_equal(sim_cq_resize(&cq, &h, 15), 0);
	assert_int_equal(pthread_create(&t, NULL, poster, count), 0);
	while (count[1] < TRAFFIC) {
		if (sim_cq_poll(&cq, &wc)) {
			assert_int_equal(wc.wr_id, count[1]);
			__atomic_store_n(&count[1], count[1] + 1, __ATOMIC_RELEASE);
		} else {
			assert_int_equal(sim_host_count_events(&h, RXE_EV_CQ_ERR), 0);
			sched_yield();
		}
		if (count[1] % 7 == 0)
			resized += !sim_cq_resize(&cq, &h, 15 + count[1] % 200);
	}
	pthread_join(t, NULL);
	assert_int_equal(count[0], TRAFFIC);
	assert_true(resized > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_then_dead, setup, teardown),
		cmocka_unit_test_setup_teardown(wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(notification, setup, teardown),
		cmocka_unit_test_setup_teardown(resize_keeps_every_cqe, setup, teardown),
		cmocka_unit_test_setup_teardown(resize_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(resize_keeps_the_state, setup, teardown),
		cmocka_unit_test_setup_teardown(old_ring_reads_as_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(lying_index, setup, teardown),
		cmocka_unit_test_setup_teardown(resize_under_traffic, setup, teardown),
	};

	return cmocka_run_group_tests_name("transport_cq", tests, NULL, NULL);
}
