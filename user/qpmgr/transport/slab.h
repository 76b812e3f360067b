/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbered objects whose memory is type-stable: it stays what it is until the
 * slab goes and is only reused, so that whoever holds a stale pointer or
 * number still looks at an object of that kind. Reuse is late, first in first
 * out.
 */
#ifndef RXE_SLAB_H
#define RXE_SLAB_H

#include <stddef.h>
#include <stdint.h>

#define RXE_SLAB_MAX (1u << 23) /* numbers of one slab */

struct rxe_slab;

/* The first member of every object. */
struct rxe_slab_elem {
	uint32_t index; /* the slab's first number and up */
	struct rxe_slab_elem *next_free;
};

/* Objects of `size` bytes, zeroed at first; at most `limit` in use. */
struct rxe_slab *rxe_slab_new(size_t size, uint32_t first, uint32_t limit);
void rxe_slab_free(struct rxe_slab *s);
/* An object, in the state in which it was given back. NULL: limit or memory. Any thread. */
void *rxe_slab_take(struct rxe_slab *s);
void rxe_slab_give(struct rxe_slab *s, void *obj);
/* The object of a number, in use or not; NULL when there never was one. Any thread. */
void *rxe_slab_at(struct rxe_slab *s, uint32_t index);

#endif
