/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mr.c: keys, protection, references, reuse. */
#include <errno.h>
#include <pthread.h>
#include "sim/bed.h"

static struct rxe_hca hca;

static int setup(void **state)
{
	struct rxe_limits lim = sim_limits;

	(void)state;
	lim.max_mr = 3;
	return rxe_hca_init(&hca, &lim);
}

static int teardown(void **state)
{
	(void)state;
	rxe_hca_fini(&hca);
	return 0;
}

static int look(uint32_t pd, uint32_t key, uint64_t iova, uint64_t len, uint32_t access)
{
	struct rxe_mr *mr;
	uint64_t va;
	int err = rxe_mr_lookup(&hca, pd, key, iova, len, access, &mr, &va);

	if (!err)
		rxe_mr_put(mr);
	return err;
}

static void protection(void **state)
{
	struct rxe_mr *mr, *got;
	uint64_t va;
	uint32_t key;

	(void)state;
	assert_int_equal(rxe_mr_create(&hca, 7, NULL, 0x10000, 0x100, 0x555000,
				       IB_UVERBS_ACCESS_REMOTE_READ, &mr),
			 0);
	key = rxe_mr_lkey(mr);
	assert_int_equal(key, rxe_mr_rkey(mr));
	assert_int_equal(rxe_mr_lookup(&hca, 7, key, 0x555010, 0xf0, 0, &got, &va), 0);
	assert_true(va == 0x10010);
	assert_true(rxe_mr_busy(mr));
	rxe_mr_put(got);
	assert_false(rxe_mr_busy(mr));

	assert_int_equal(look(7, key, 0x555000, 0x100, IB_UVERBS_ACCESS_REMOTE_READ), 0);
	assert_int_equal(look(7, key, 0x555000, 0x101, 0), -ERANGE);
	assert_int_equal(look(7, key, 0x554fff, 1, 0), -ERANGE);
	assert_int_equal(look(7, key, 0x555100, 1, 0), -ERANGE);
	assert_int_equal(look(7, key, 0x555100, 0, 0), 0);
	assert_int_equal(look(7, key, 0x555010, UINT64_MAX, 0), -ERANGE);
	assert_int_equal(look(7, key, UINT64_MAX, 2, 0), -ERANGE);
	assert_int_equal(look(8, key, 0x555000, 1, 0), -EACCES);
	assert_int_equal(look(7, key, 0x555000, 1, IB_UVERBS_ACCESS_REMOTE_WRITE), -EACCES);
	/* keys are compared whole (PROTOCOL 27) */
	for (int bit = 0; bit < 32; bit++)
		assert_int_equal(look(7, key ^ 1u << bit, 0x555000, 1, 0), -ENOENT);
	assert_int_equal(look(7, 0, 0x555000, 1, 0), -ENOENT);
	rxe_mr_destroy(&hca, mr);
	assert_int_equal(look(7, key, 0x555000, 1, 0), -ENOENT);
}

static void range_overflow_is_refused(void **state)
{
	struct rxe_mr *mr;

	(void)state;
	assert_int_equal(rxe_mr_create(&hca, 1, NULL, UINT64_MAX - 4, 8, 0, 0, &mr), -EINVAL);
	assert_int_equal(rxe_mr_create(&hca, 1, NULL, 0, 8, UINT64_MAX - 4, 0, &mr), -EINVAL);
}

static void destroyed_while_in_use(void **state)
{
	struct rxe_mr *mr, *got;
	uint64_t va;
	uint32_t key;

	(void)state;
	assert_int_equal(rxe_mr_create(&hca, 1, NULL, 0, 64, 0, 0, &mr), 0);
	key = rxe_mr_lkey(mr);
	assert_int_equal(rxe_mr_lookup(&hca, 1, key, 0, 64, 0, &got, &va), 0);
	rxe_mr_get(mr);
	rxe_mr_destroy(&hca, mr);
	assert_true(rxe_mr_busy(mr));
	assert_int_equal(look(1, key, 0, 1, 0), -ENOENT);
	rxe_mr_put(got);
	assert_false(rxe_mr_busy(mr));
	rxe_mr_put(mr);
}

/* Re-registered: the key stays and leads to the new region, whole; old copies go on. */
static void replaced_under_traffic(void **state)
{
	struct rxe_mr *mr, *now, *copy, *got;
	uint64_t va;
	uint32_t key;

	(void)state;
	assert_int_equal(
		rxe_mr_create(&hca, 1, NULL, 0x1000, 64, 0x1000, IB_UVERBS_ACCESS_REMOTE_READ, &mr),
		0);
	key = rxe_mr_lkey(mr);
	assert_int_equal(rxe_mr_lookup(&hca, 1, key, 0x1000, 64, 0, &copy, &va), 0);
	assert_int_equal(
		rxe_mr_replace(&hca, mr, 2, 0x9000, 32, 0x8000, IB_UVERBS_ACCESS_LOCAL_WRITE, &now),
		0);
	assert_int_equal(rxe_mr_lkey(now), key);
	assert_true(rxe_mr_busy(mr));
	assert_false(rxe_mr_busy(now));
	assert_int_equal(look(1, key, 0x8000, 1, 0), -EACCES);
	assert_int_equal(look(2, key, 0x1000, 1, 0), -ERANGE);
	assert_int_equal(look(2, key, 0x8000, 33, 0), -ERANGE);
	assert_int_equal(look(2, key, 0x8000, 1, IB_UVERBS_ACCESS_REMOTE_READ), -EACCES);
	assert_int_equal(
		rxe_mr_lookup(&hca, 2, key, 0x8010, 16, IB_UVERBS_ACCESS_LOCAL_WRITE, &got, &va),
		0);
	assert_true(va == 0x9010);
	rxe_mr_put(got);
	rxe_mr_put(copy);
	assert_false(rxe_mr_busy(mr));
	rxe_mr_put(mr);
	assert_int_equal(rxe_mr_replace(&hca, now, 2, UINT64_MAX, 2, 0, 0, &got), -EINVAL);
	assert_int_equal(look(2, key, 0x8000, 32, 0), 0);
	rxe_mr_destroy(&hca, now);
	assert_int_equal(look(2, key, 0x8000, 32, 0), -ENOENT);
}

struct swapper {
	uint32_t key;
	bool stop;
	unsigned int looked;
};

/* Sees one of the two regions, never a mixture nor nothing. */
static void *look_on(void *arg)
{
	struct swapper *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		struct rxe_mr *got;
		uint64_t va;

		for (uint32_t pd = 1; pd <= 2; pd++) {
			int err = rxe_mr_lookup(&hca, pd, s->key, pd << 16, 8, 0, &got, &va);

			if (err == -EACCES)
				continue; /* it is the other one */
			if (err || va != (uint64_t)pd << 20)
				return "a mixture, or nothing";
			rxe_mr_put(got);
			__atomic_add_fetch(&s->looked, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void replaced_while_threads_look(void **state)
{
	struct swapper s = {0};
	struct rxe_mr *mr, *now;
	pthread_t t[2];
	void *fault;

	(void)state;
	assert_int_equal(rxe_mr_create(&hca, 1, NULL, 1 << 20, 8, 1 << 16, 0, &mr), 0);
	s.key = rxe_mr_lkey(mr);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, look_on, &s), 0);
	for (uint32_t i = 0; i < 20000 || __atomic_load_n(&s.looked, __ATOMIC_RELAXED) < 1000;
	     i++) {
		uint32_t pd = i % 2 ? 1 : 2;

		assert_int_equal(rxe_mr_replace(&hca, mr, pd, pd << 20, 8, pd << 16, 0, &now), 0);
		rxe_mr_put(mr);
		mr = now;
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &fault);
		assert_null(fault);
	}
	rxe_mr_destroy(&hca, mr);
}

/* The limit holds, is given back, and a new region of an index has a new key. */
static void limit_and_reuse(void **state)
{
	struct rxe_mr *mr[4];
	uint32_t old = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		for (int i = 0; i < 3; i++)
			assert_int_equal(rxe_mr_create(&hca, 1, NULL, 0, 8, 0, 0, &mr[i]), 0);
		assert_int_equal(rxe_mr_create(&hca, 1, NULL, 0, 8, 0, 0, &mr[3]), -ENOMEM);
		assert_int_not_equal(rxe_mr_rkey(mr[0]), old);
		old = rxe_mr_rkey(mr[0]);
		for (int i = 0; i < 3; i++)
			rxe_mr_destroy(&hca, mr[i]);
		assert_int_equal(look(1, old, 0, 1, 0), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(protection, setup, teardown),
		cmocka_unit_test_setup_teardown(range_overflow_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(destroyed_while_in_use, setup, teardown),
		cmocka_unit_test_setup_teardown(replaced_under_traffic, setup, teardown),
		cmocka_unit_test_setup_teardown(replaced_while_threads_look, setup, teardown),
		cmocka_unit_test_setup_teardown(limit_and_reuse, setup, teardown),
	};

	return cmocka_run_group_tests_name("transport_mr", tests, NULL, NULL);
}
