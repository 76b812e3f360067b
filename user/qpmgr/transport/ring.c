/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Geometry and set-up of a shared ring as the rxe provider expects it.
 */
#include "ring.h"

#define MIN_ELEM 64u /* a cache line, as the driver's */

static uint32_t log2_up(uint32_t n)
{
	return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

/*
 * One slot stays empty: the provider takes producer + 1 == consumer for full.
 * At least two slots, so that a ring of nothing is always full.
 */
size_t rxe_ring_size(uint32_t nr, uint32_t elem, uint32_t *slots, uint32_t *log2_elem)
{
	uint32_t log2_slots = log2_up(nr + 1);

	if (!log2_slots)
		log2_slots = 1;
	*log2_elem = log2_up(elem < MIN_ELEM ? MIN_ELEM : elem);
	*slots = 1u << log2_slots;
	return sizeof(struct rxe_queue_buf) + ((size_t)1 << (log2_slots + *log2_elem));
}

void rxe_ring_init(struct rxe_ring *r, void *buf, uint32_t slots, uint32_t log2_elem)
{
	r->buf = buf;
	r->mask = slots - 1;
	r->log2_elem = log2_elem;
	r->index = 0;
	r->buf->log2_elem_size = log2_elem;
	r->buf->index_mask = r->mask;
	r->buf->producer_index = 0;
	r->buf->consumer_index = 0;
}
