/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Doorbells: the right QPs hear, quiet contexts must ring, hostile bits do nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "doorbell.h"

static unsigned int rung[4];

void rxe_qp_doorbell(struct rxe_qp *qp)
{
	rung[(uintptr_t)qp]++;
}

static struct rxe_doorbell *make(void)
{
	struct rxe_doorbell *db = calloc(1, sizeof(*db));

	db->page = calloc(1, sizeof(*db->page));
	db->slots = calloc(RXE_DOORBELL_SLOTS, sizeof(*db->slots));
	rxe_doorbell_init(db);
	memset(rung, 0, sizeof(rung));
	return db;
}

static void unmake(struct rxe_doorbell *db)
{
	free(db->page);
	free(db->slots);
	free(db);
}

static void ring(struct rxe_doorbell *db, uint32_t handle)
{
	uint32_t slot = handle % RXE_DOORBELL_SLOTS;

	db->page->bits[slot / 64] |= 1ull << (slot % 64);
	db->page->summary |= 1ull << (slot / 64);
}

static void the_right_qps_hear(void **state)
{
	struct rxe_db_entry a = {.qp = (void *)1}, b = {.qp = (void *)2}, c = {.qp = (void *)3};
	struct rxe_doorbell_set set = {0};
	struct rxe_doorbell *db = make();

	(void)state;
	rxe_doorbell_attach(db, &a, 0);
	rxe_doorbell_attach(db, &b, 4095);
	rxe_doorbell_attach(db, &c, RXE_DOORBELL_SLOTS); /* shares slot 0 */
	assert_int_equal(db->page->need_wakeup, 1);
	rxe_doorbell_rang(&set, db);
	assert_int_equal(db->page->need_wakeup, 0);
	ring(db, 4095);
	assert_true(rxe_doorbells_pending(&set));
	assert_int_equal(rxe_doorbells_scan(&set), 1);
	assert_false(rxe_doorbells_pending(&set));
	assert_int_equal(rung[2], 1);
	ring(db, 0);
	assert_int_equal(rxe_doorbells_scan(&set), 2);
	assert_int_equal(rung[1], 1);
	assert_int_equal(rung[3], 1);
	rxe_doorbell_detach(db, &a);
	ring(db, 0);
	assert_int_equal(rxe_doorbells_scan(&set), 1);
	assert_int_equal(rung[1], 1);
	rxe_doorbell_leave(&set, db);
	rxe_doorbells_free(&set);
	unmake(db);
}

static void a_quiet_context_must_ring_again(void **state)
{
	struct rxe_db_entry a = {.qp = (void *)1};
	struct rxe_doorbell_set set = {0};
	struct rxe_doorbell *busy = make(), *quiet = make();

	(void)state;
	rxe_doorbell_attach(busy, &a, 7);
	rxe_doorbell_rang(&set, quiet);
	rxe_doorbell_rang(&set, busy);
	for (int i = 0; i < 1000; i++) {
		ring(busy, 7);
		rxe_doorbells_scan(&set);
	}
	assert_int_equal(rung[1], 1000);
	assert_int_equal(quiet->page->need_wakeup, 1);
	assert_false(quiet->active);
	assert_int_equal(busy->page->need_wakeup, 0);
	rxe_doorbells_need_wakeup(&set, true);
	assert_int_equal(busy->page->need_wakeup, 1);
	rxe_doorbell_leave(&set, busy);
	assert_int_equal(set.nactive, 0);
	rxe_doorbells_free(&set);
	unmake(busy);
	unmake(quiet);
}

static void bits_without_qps_do_nothing(void **state)
{
	struct rxe_doorbell_set set = {0};
	struct rxe_doorbell *db = make();

	(void)state;
	rxe_doorbell_rang(&set, db);
	memset(db->page, 0xff, sizeof(*db->page));
	assert_int_equal(rxe_doorbells_scan(&set), 0);
	rxe_doorbell_leave(&set, db);
	rxe_doorbells_free(&set);
	unmake(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_right_qps_hear),
		cmocka_unit_test(a_quiet_context_must_ring_again),
		cmocka_unit_test(bits_without_qps_do_nothing),
	};

	return cmocka_run_group_tests_name("doorbell", tests, NULL, NULL);
}
