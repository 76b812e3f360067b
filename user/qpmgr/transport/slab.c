/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Type-stable numbered objects: chunks that only ever appear, and a free list.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "slab.h"

#define CHUNK_BITS 10
#define CHUNK	   (1u << CHUNK_BITS)
#define MAX_CHUNKS (RXE_SLAB_MAX >> CHUNK_BITS)

struct rxe_slab {
	size_t size;
	uint32_t first;
	void *chunks[MAX_CHUNKS]; /* pointers only ever appear */
	pthread_mutex_t lock;	  /* all below */
	struct rxe_slab_elem *free_head, **free_tail;
	uint32_t nr_slots, nr_used, limit;
};

struct rxe_slab *rxe_slab_new(size_t size, uint32_t first, uint32_t limit)
{
	struct rxe_slab *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->size = size;
	s->first = first;
	s->limit = limit;
	s->free_tail = &s->free_head;
	return s;
}

void rxe_slab_free(struct rxe_slab *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < MAX_CHUNKS && s->chunks[i]; i++)
		free(s->chunks[i]);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void push_free(struct rxe_slab *s, struct rxe_slab_elem *e)
{
	e->next_free = NULL;
	*s->free_tail = e;
	s->free_tail = &e->next_free;
}

static struct rxe_slab_elem *pop_free(struct rxe_slab *s)
{
	struct rxe_slab_elem *e = s->free_head;

	if (!e)
		return NULL;
	s->free_head = e->next_free;
	if (!s->free_head)
		s->free_tail = &s->free_head;
	return e;
}

static int add_chunk(struct rxe_slab *s)
{
	uint32_t n = s->nr_slots >> CHUNK_BITS;
	char *chunk;

	if (n >= MAX_CHUNKS)
		return -ENOMEM;
	chunk = calloc(CHUNK, s->size);
	if (!chunk)
		return -ENOMEM;
	for (uint32_t i = 0; i < CHUNK; i++) {
		struct rxe_slab_elem *e = (void *)(chunk + i * s->size);

		e->index = s->first + s->nr_slots + i;
		push_free(s, e);
	}
	__atomic_store_n(&s->chunks[n], chunk, __ATOMIC_RELEASE);
	s->nr_slots += CHUNK;
	return 0;
}

void *rxe_slab_take(struct rxe_slab *s)
{
	struct rxe_slab_elem *e = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->nr_used < s->limit && (s->free_head || !add_chunk(s))) {
		e = pop_free(s);
		s->nr_used++;
	}
	pthread_mutex_unlock(&s->lock);
	return e;
}

void rxe_slab_give(struct rxe_slab *s, void *obj)
{
	pthread_mutex_lock(&s->lock);
	s->nr_used--;
	push_free(s, obj);
	pthread_mutex_unlock(&s->lock);
}

void *rxe_slab_at(struct rxe_slab *s, uint32_t index)
{
	uint32_t i = index - s->first;
	char *chunk;

	if (index < s->first || i >= RXE_SLAB_MAX)
		return NULL;
	chunk = __atomic_load_n(&s->chunks[i >> CHUNK_BITS], __ATOMIC_ACQUIRE);
	return chunk ? chunk + (i & (CHUNK - 1)) * s->size : NULL;
}
