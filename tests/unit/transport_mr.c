/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mr.c: keys, protection, references, reuse. */
#include <errno.h>
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
		cmocka_unit_test_setup_teardown(limit_and_reuse, setup, teardown),
	};

	return cmocka_run_group_tests_name("transport_mr", tests, NULL, NULL);
}
