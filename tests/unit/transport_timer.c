/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* timer.c: deadlines come out in order whatever is done to them. */
#include "sim/bed.h"
#include "transport/timer.h"

#define N 500

static void order_under_change(void **state)
{
	static struct rxe_deadline d[N];
	struct rxe_timers t = {0};
	struct rxe_deadline *due;
	uint64_t last = 0, x = 88172645463325252ull;
	int n = 0, armed = 0;

	(void)state;
	assert_int_equal(rxe_timers_reserve(&t, N), 0);
	for (int round = 0; round < 20000; round++) {
		struct rxe_deadline *one;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		one = &d[x % N];
		if (x >> 40 & 3)
			rxe_deadline_arm(&t, one, x >> 20 & 0xffff);
		else
			rxe_deadline_cancel(&t, one);
	}
	for (int i = 0; i < N; i++)
		armed += rxe_deadline_armed(&d[i]);
	assert_int_equal(t.count, armed);
	assert_null(rxe_timers_due(&t, rxe_timers_next(&t) - 1));
	while ((due = rxe_timers_due(&t, UINT64_MAX))) {
		assert_true(due->at >= last);
		assert_false(rxe_deadline_armed(due));
		last = due->at;
		n++;
	}
	assert_int_equal(n, armed);
	assert_true(rxe_timers_next(&t) == UINT64_MAX);
	rxe_timers_release(&t, N);
	rxe_timers_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(order_under_change)};

	return cmocka_run_group_tests_name("transport_timer", tests, NULL, NULL);
}
