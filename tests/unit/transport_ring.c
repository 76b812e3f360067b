/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ring.c: geometry as the rxe provider expects it, hostile indices masked. */
#include <stdlib.h>
#include <string.h>
#include "sim/bed.h"
#include "transport/ring.h"

static void geometry(void **state)
{
	uint32_t slots, log2;

	(void)state;
	assert_int_equal(rxe_ring_size(0, 0, &slots, &log2), 384 + 2 * 64);
	assert_int_equal(slots, 2);
	assert_int_equal(rxe_ring_size(3, 48, &slots, &log2), 384 + 4 * 64);
	assert_int_equal(slots, 4);
	rxe_ring_size(4, 208 + 16, &slots, &log2);
	assert_int_equal(slots, 8);
	assert_int_equal(log2, 8);
	rxe_ring_size(1 << 20, 720, &slots, &log2);
	assert_int_equal(slots, 1 << 21);
	assert_int_equal(log2, 10);
}

static void header_and_masking(void **state)
{
	uint32_t slots, log2;
	size_t size = rxe_ring_size(7, 64, &slots, &log2);
	struct rxe_queue_buf *q = aligned_alloc(64, (size + 63) / 64 * 64);
	struct rxe_ring r;

	(void)state;
	memset(q, 0, size);
	rxe_ring_init(&r, q, slots, log2);
	assert_int_equal(q->index_mask, 7);
	assert_int_equal(q->log2_elem_size, 6);
	q->producer_index = 0xdeadbeef;
	q->index_mask = 0xffffffff; /* the client lies */
	q->log2_elem_size = 31;
	assert_int_equal(rxe_ring_producer(&r), 7);
	assert_ptr_equal(rxe_ring_elem(&r, 0xffffffff), q->data + 7 * 64);
	r.index = 7;
	rxe_ring_consume(&r);
	assert_int_equal(r.index, 0);
	assert_int_equal(q->consumer_index, 0);
	free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geometry),
		cmocka_unit_test(header_and_masking),
	};

	return cmocka_run_group_tests_name("transport_ring", tests, NULL, NULL);
}
