/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ah.c: numbers, protection domains, identity. */
#include <errno.h>
#include "sim/bed.h"
#include "transport/hca.h"

static void life(void **state)
{
	struct rxe_limits lim = sim_limits;
	struct rxe_address av = {.traffic_class = 3, .route = &lim}, got;
	uint32_t n[3], over;
	uint64_t id, id2;
	struct rxe_hca hca;
	void *route;

	(void)state;
	lim.max_ah = 3;
	assert_int_equal(rxe_hca_init(&hca, &lim), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rxe_ah_create(&hca, 5, &av, &n[i]), 0);
		assert_int_not_equal(n[i], 0);
	}
	assert_int_equal(rxe_ah_create(&hca, 5, &av, &over), -ENOMEM);
	assert_int_equal(rxe_ah_lookup(&hca, 5, n[1], &got, &id), 0);
	assert_int_equal(got.traffic_class, 3);
	assert_int_equal(rxe_ah_lookup(&hca, 6, n[1], &got, &id), -EACCES);
	assert_int_equal(rxe_ah_lookup(&hca, 5, 0, &got, &id), -ENOENT);
	assert_int_equal(rxe_ah_lookup(&hca, 5, 0xffffffff, &got, &id), -ENOENT);
	assert_true(rxe_ah_alive(&hca, n[1], id));
	assert_int_equal(rxe_ah_destroy(&hca, n[1], &route), 0);
	assert_ptr_equal(route, &lim);
	assert_int_equal(rxe_ah_destroy(&hca, n[1], &route), -ENOENT);
	assert_false(rxe_ah_alive(&hca, n[1], id));
	assert_int_equal(rxe_ah_create(&hca, 5, &av, &over), 0);
	assert_int_equal(over, n[1]);
	assert_false(rxe_ah_alive(&hca, over, id));
	assert_int_equal(rxe_ah_lookup(&hca, 5, over, &got, &id2), 0);
	assert_true(id2 != id);
	rxe_hca_fini(&hca);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(life)};

	return cmocka_run_group_tests_name("transport_ah", tests, NULL, NULL);
}
