/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* psn.h: 24-bit circular arithmetic (PROTOCOL 8). */
#include "sim/bed.h"

static void add_wraps(void **state)
{
	(void)state;
	assert_int_equal(rxe_psn_add(0xffffff, 1), 0);
	assert_int_equal(rxe_psn_add(0, -1), 0xffffff);
	assert_int_equal(rxe_psn_add(0xfffff0, 0x20), 0x10);
}

static void diff_is_circular(void **state)
{
	(void)state;
	assert_int_equal(rxe_psn_diff(5, 5), 0);
	assert_int_equal(rxe_psn_diff(0, 0xffffff), 1);
	assert_int_equal(rxe_psn_diff(0xffffff, 0), -1);
	assert_int_equal(rxe_psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(rxe_psn_diff(0x800000, 0), -0x800000);
	for (uint32_t a = 0; a <= RXE_PSN_MASK; a += 4099)
		for (int32_t n = -0x7fffff; n < 0x7fffff; n += 1000003)
			assert_int_equal(rxe_psn_diff(rxe_psn_add(a, n), a), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_wraps),
		cmocka_unit_test(diff_is_circular),
	};

	return cmocka_run_group_tests_name("transport_psn", tests, NULL, NULL);
}
