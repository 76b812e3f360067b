/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers come from their range, rest before reuse, and run out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdlib.h>
#include <cmocka.h>

#include "idmap.h"

static void hands_out_the_whole_range_once(void **state)
{
	bool seen[200] = {false};
	struct rxe_idmap m;
	uint32_t id;

	(void)state;
	assert_int_equal(rxe_idmap_init(&m, 16, 130), 0);
	for (int i = 0; i < 130; i++) {
		assert_int_equal(rxe_idmap_get(&m, &id), 0);
		assert_in_range(id, 16, 145);
		assert_false(seen[id]);
		seen[id] = true;
	}
	assert_int_equal(rxe_idmap_get(&m, &id), -ENOSPC);
	rxe_idmap_put(&m, 77);
	assert_int_equal(rxe_idmap_get(&m, &id), 0);
	assert_int_equal(id, 77);
	rxe_idmap_fini(&m);
}

static void a_freed_number_rests(void **state)
{
	struct rxe_idmap m;
	uint32_t first, id;

	(void)state;
	rxe_idmap_init(&m, 16, 100);
	rxe_idmap_get(&m, &first);
	rxe_idmap_put(&m, first);
	for (int i = 0; i < 99; i++) {
		assert_int_equal(rxe_idmap_get(&m, &id), 0);
		assert_int_not_equal(id, first);
	}
	assert_int_equal(rxe_idmap_get(&m, &id), 0);
	assert_int_equal(id, first);
	rxe_idmap_fini(&m);
}

static void an_empty_range_has_nothing(void **state)
{
	struct rxe_idmap m;
	uint32_t id;

	(void)state;
	rxe_idmap_init(&m, 16, 0);
	assert_int_equal(rxe_idmap_get(&m, &id), -ENOSPC);
	rxe_idmap_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_out_the_whole_range_once),
		cmocka_unit_test(a_freed_number_rests),
		cmocka_unit_test(an_empty_range_has_nothing),
	};

	return cmocka_run_group_tests_name("idmap", tests, NULL, NULL);
}
