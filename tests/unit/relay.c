/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets from worker to worker: in order, bounded, on one account at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "relay.h"

static void in_order_and_accounted(void **state)
{
	struct rxe_detached from = {0}, to = {0};
	uint8_t hdr[12] = {0}, ip[20] = {0};
	struct rxe_pkt p = {.hdr = hdr, .hdr_len = 12, .ip = ip, .ip_version = 4}, *got;
	struct rxe_relay r;

	(void)state;
	assert_int_equal(rxe_relay_init(&r), 0);
	assert_false(rxe_relay_pending(&r));
	for (uint8_t i = 0; i < 3; i++) {
		hdr[0] = i;
		assert_int_equal(rxe_relay_put(&r, &from, &p), 0);
		assert_int_equal(from.bytes, 0);
	}
	assert_false(p.relayed); /* the original is its owner's, as before */
	assert_true(rxe_relay_pending(&r));
	for (uint8_t i = 0; i < 3; i++) {
		got = rxe_relay_get(&r, &to);
		assert_non_null(got);
		assert_true(got->relayed);
		assert_int_equal(got->hdr[0], i);
		assert_true(to.bytes > 0);
		rxe_detached_free(&to, got);
		assert_int_equal(to.bytes, 0);
	}
	assert_null(rxe_relay_get(&r, &to));
	rxe_relay_fini(&r);
}

static void bounded(void **state)
{
	struct rxe_detached from = {0}, to = {0};
	uint8_t hdr[12] = {0}, ip[20] = {0};
	struct rxe_pkt p = {.hdr = hdr, .hdr_len = 12, .ip = ip, .ip_version = 4}, *got;
	struct rxe_relay r;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(rxe_relay_init(&r), 0);
	while (!rxe_relay_put(&r, &from, &p))
		n++;
	assert_int_equal(n, RXE_RELAY_MAX);
	assert_int_equal(from.bytes, 0); /* nothing was kept for the one too many */
	for (; (got = rxe_relay_get(&r, &to)); n--)
		rxe_detached_free(&to, got);
	assert_int_equal(n, 0);
	from.bytes = RXE_DETACHED_MAX;
	assert_int_not_equal(rxe_relay_put(&r, &from, &p), 0);
	assert_false(rxe_relay_pending(&r));
	rxe_relay_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_accounted),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests_name("relay", tests, NULL, NULL);
}
