/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A packet moved off the datapath's buffers keeps every byte; memory is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "detached.h"

static uint8_t hdr[16], ip[40], a[1000], b[3000];

static struct rxe_pkt original(void)
{
	struct rxe_pkt p = {.hdr = hdr,
			    .hdr_len = 16,
			    .nsegs = 2,
			    .ip = ip,
			    .ip_version = 6,
			    .payload_len = 4000,
			    .ib_len = 4016};

	memset(hdr, 'h', sizeof(hdr));
	memset(ip, 'i', sizeof(ip));
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	p.seg[0] = (struct iovec){a, sizeof(a)};
	p.seg[1] = (struct iovec){b, sizeof(b)};
	return p;
}

static void every_byte_is_kept(void **state)
{
	struct rxe_detached d = {0};
	struct rxe_pkt p = original(), *q = rxe_detached_copy(&d, &p);

	(void)state;
	assert_non_null(q);
	assert_true(q->detached);
	memset(hdr, 0, sizeof(hdr));
	memset(ip, 0, sizeof(ip));
	memset(a, 0, sizeof(a));
	assert_int_equal(q->hdr[15], 'h');
	assert_int_equal(q->ip[39], 'i');
	assert_int_equal(q->nsegs, 1);
	assert_int_equal(q->seg[0].iov_len, 4000);
	assert_int_equal(((uint8_t *)q->seg[0].iov_base)[999], 'a');
	assert_int_equal(((uint8_t *)q->seg[0].iov_base)[1000], 'b');
	rxe_detached_free(&d, q);
	assert_int_equal(d.bytes, 0);
}

static void the_bound_holds_and_room_comes_back(void **state)
{
	struct rxe_detached d = {.bytes = RXE_DETACHED_MAX - 100};
	struct rxe_pkt p = original(), *q;

	(void)state;
	assert_null(rxe_detached_copy(&d, &p));
	d.bytes = 0;
	q = rxe_detached_copy(&d, &p);
	assert_non_null(q);
	rxe_detached_free(&d, q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_is_kept),
		cmocka_unit_test(the_bound_holds_and_room_comes_back),
	};

	return cmocka_run_group_tests_name("detached", tests, NULL, NULL);
}
