/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* slab.c: numbers, late reuse, the limit, memory that stays. */
#include "sim/bed.h"
#include "transport/slab.h"

struct thing {
	struct rxe_slab_elem elem;
	uint64_t mark;
};

static void numbers_and_limit(void **state)
{
	struct rxe_slab *s = rxe_slab_new(sizeof(struct thing), 1000, 3);
	struct thing *t[3];

	(void)state;
	assert_null(rxe_slab_at(s, 1000));
	for (int i = 0; i < 3; i++) {
		t[i] = rxe_slab_take(s);
		assert_int_equal(t[i]->elem.index, 1000 + i);
		assert_ptr_equal(rxe_slab_at(s, 1000 + i), t[i]);
	}
	assert_null(rxe_slab_take(s));
	assert_null(rxe_slab_at(s, 999));
	assert_null(rxe_slab_at(s, 0));
	assert_null(rxe_slab_at(s, 0xffffffff));
	assert_null(rxe_slab_at(s, 1000 + RXE_SLAB_MAX));
	rxe_slab_give(s, t[1]);
	assert_non_null(rxe_slab_take(s));
	rxe_slab_free(s);
}

/* What was given back last is handed out last, and is what it was. */
static void reuse_is_late(void **state)
{
	struct rxe_slab *s = rxe_slab_new(sizeof(struct thing), 0, 5000);
	struct thing *first = rxe_slab_take(s), *t;
	unsigned int n = 0;

	(void)state;
	first->mark = 77;
	rxe_slab_give(s, first);
	do {
		t = rxe_slab_take(s);
		assert_non_null(t);
		assert_true(t == first || !t->mark);
		n++;
	} while (t != first);
	assert_true(n > 1000);
	assert_true(first->mark == 77);
	rxe_slab_free(s);
}

static void many_chunks(void **state)
{
	struct rxe_slab *s = rxe_slab_new(sizeof(struct thing), 7, 3000);

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		struct thing *t = rxe_slab_take(s);

		assert_int_equal(t->elem.index, 7 + i);
		t->mark = i;
	}
	for (uint32_t i = 0; i < 3000; i++)
		assert_true(((struct thing *)rxe_slab_at(s, 7 + i))->mark == i);
	rxe_slab_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_limit),
		cmocka_unit_test(reuse_is_late),
		cmocka_unit_test(many_chunks),
	};

	return cmocka_run_group_tests_name("transport_slab", tests, NULL, NULL);
}
