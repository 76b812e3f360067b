/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Access to the shared rings. The client may write anything into a ring at
 * any time: indices are masked, geometry is our own copy, elements are copied
 * before they are looked at (DESIGN D7).
 */
#ifndef RXE_RING_H
#define RXE_RING_H

#include "transport.h"

static inline uint8_t *rxe_ring_elem(const struct rxe_ring *r, uint32_t index)
{
	return r->buf->data + ((size_t)(index & r->mask) << r->log2_elem);
}

static inline uint32_t rxe_ring_next(const struct rxe_ring *r, uint32_t index)
{
	return (index + 1) & r->mask;
}

/* SQ and RQ: where the client will write next. Orders the element's reads. */
static inline uint32_t rxe_ring_producer(const struct rxe_ring *r)
{
	return __atomic_load_n(&r->buf->producer_index, __ATOMIC_ACQUIRE) & r->mask;
}

/* CQ: what the client will poll next. */
static inline uint32_t rxe_ring_consumer(const struct rxe_ring *r)
{
	return __atomic_load_n(&r->buf->consumer_index, __ATOMIC_ACQUIRE) & r->mask;
}

/* SQ and RQ: gives the element at our index back to the client. */
static inline void rxe_ring_consume(struct rxe_ring *r)
{
	r->index = rxe_ring_next(r, r->index);
	__atomic_store_n(&r->buf->consumer_index, r->index, __ATOMIC_RELEASE);
}

/* CQ: makes the element at our index visible. */
static inline void rxe_ring_produce(struct rxe_ring *r)
{
	r->index = rxe_ring_next(r, r->index);
	__atomic_store_n(&r->buf->producer_index, r->index, __ATOMIC_RELEASE);
}

#endif
