/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bounded ring of 64-bit values between exactly one producer thread and one
 * consumer thread: chunks on their way back to the owner of a queue's rings,
 * loopback packets between two workers (DESIGN D5).
 */
#ifndef RXE_SPSC_H
#define RXE_SPSC_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct rxe_spsc {
	uint64_t *slot;
	uint32_t mask;
	/* Written by the producer. */
	uint32_t tail __attribute__((aligned(64)));
	/* Written by the consumer. */
	uint32_t head __attribute__((aligned(64)));
};

/* Zeroed memory for structs whose members sit on cache lines of their own. */
static inline void *rxe_zalloc_lines(size_t size)
{
	void *p;

	size = (size + 63) & ~(size_t)63;
	p = aligned_alloc(64, size);
	return p ? memset(p, 0, size) : NULL;
}

/* Room for at least nr values (a power of two is taken). -ENOMEM. */
static inline int rxe_spsc_init(struct rxe_spsc *r, uint32_t nr)
{
	uint32_t size = 1;

	while (size < nr)
		size <<= 1;
	r->slot = calloc(size, sizeof(*r->slot));
	if (!r->slot)
		return -ENOMEM;
	r->mask = size - 1;
	r->head = 0;
	r->tail = 0;
	return 0;
}

static inline void rxe_spsc_fini(struct rxe_spsc *r)
{
	free(r->slot);
	r->slot = NULL;
}

/* Producer. False: full, v was not taken. */
static inline bool rxe_spsc_push(struct rxe_spsc *r, uint64_t v)
{
	uint32_t tail = r->tail;

	if (tail - __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) > r->mask)
		return false;
	r->slot[tail & r->mask] = v;
	__atomic_store_n(&r->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

/* Consumer. False: empty. */
static inline bool rxe_spsc_pop(struct rxe_spsc *r, uint64_t *v)
{
	uint32_t head = r->head;

	if (head == __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE))
		return false;
	*v = r->slot[head & r->mask];
	__atomic_store_n(&r->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Producer: values that the consumer has not taken yet. */
static inline uint32_t rxe_spsc_waiting(const struct rxe_spsc *r)
{
	return r->tail - __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
}

/* Consumer. */
static inline bool rxe_spsc_empty(const struct rxe_spsc *r)
{
	return r->head == __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
}

#endif
