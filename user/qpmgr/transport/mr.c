/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory regions: the key table, protection checks and references.
 *
 * The memory of a region is type-stable: it stays a struct rxe_mr for the
 * device's life and is only reused. So a lookup needs no grace period: it
 * takes a reference unless the count is zero, then checks the key again.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "hca.h"

#define KEY_BITS   8 /* low bits of a key tell reuses of one index apart */
#define CHUNK_BITS 10
#define CHUNK	   (1u << CHUNK_BITS)
#define MAX_CHUNKS (1u << (24 - CHUNK_BITS))
#define MAX_INDEX  (MAX_CHUNKS << CHUNK_BITS)

struct rxe_mr {
	uint32_t refs; /* 0: free. Atomic. */
	uint32_t key;  /* of the registration; atomic */
	bool live;     /* lookups may find it; atomic */
	uint32_t index;
	uint32_t pdn;
	uint32_t access;
	struct rxe_mem *mem;
	uint64_t va, len, iova;
	struct rxe_mr_table *table;
	struct rxe_mr *next_free;
};

struct rxe_mr_table {
	struct rxe_mr *chunks[MAX_CHUNKS];     /* pointers only ever appear */
	pthread_mutex_t lock;		       /* all below */
	struct rxe_mr *free_head, **free_tail; /* first in, first out: late reuse */
	uint32_t nr_slots, nr_used, limit;
};

struct rxe_mr_table *rxe_mr_table_new(uint32_t limit)
{
	struct rxe_mr_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	t->free_tail = &t->free_head;
	t->limit = limit < MAX_INDEX ? limit : MAX_INDEX - 1;
	return t;
}

void rxe_mr_table_free(struct rxe_mr_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < MAX_CHUNKS && t->chunks[i]; i++)
		free(t->chunks[i]);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void push_free(struct rxe_mr_table *t, struct rxe_mr *mr)
{
	mr->next_free = NULL;
	*t->free_tail = mr;
	t->free_tail = &mr->next_free;
}

static struct rxe_mr *pop_free(struct rxe_mr_table *t)
{
	struct rxe_mr *mr = t->free_head;

	if (!mr)
		return NULL;
	t->free_head = mr->next_free;
	if (!t->free_head)
		t->free_tail = &t->free_head;
	return mr;
}

static int add_chunk(struct rxe_mr_table *t)
{
	struct rxe_mr *chunk;
	uint32_t n = t->nr_slots >> CHUNK_BITS;

	if (n >= MAX_CHUNKS)
		return -ENOMEM;
	chunk = calloc(CHUNK, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	for (uint32_t i = 0; i < CHUNK; i++) {
		chunk[i].index = t->nr_slots + i;
		chunk[i].table = t;
		if (chunk[i].index) /* key 0 is nobody's */
			push_free(t, &chunk[i]);
	}
	__atomic_store_n(&t->chunks[n], chunk, __ATOMIC_RELEASE);
	t->nr_slots += CHUNK;
	return 0;
}

static struct rxe_mr *take_slot(struct rxe_mr_table *t)
{
	struct rxe_mr *mr = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->nr_used < t->limit && (t->free_head || !add_chunk(t))) {
		mr = pop_free(t);
		if (mr)
			t->nr_used++;
	}
	pthread_mutex_unlock(&t->lock);
	return mr;
}

int rxe_mr_create(struct rxe_hca *hca, uint32_t pdn, struct rxe_mem *mem, uint64_t va, uint64_t len,
		  uint64_t iova, uint32_t access, struct rxe_mr **out)
{
	struct rxe_mr *mr;
	uint32_t key;

	if (va + len < va || iova + len < iova)
		return -EINVAL;
	mr = take_slot(hca->mrs);
	if (!mr)
		return -ENOMEM;
	mr->pdn = pdn;
	mr->mem = mem;
	mr->va = va;
	mr->len = len;
	mr->iova = iova;
	mr->access = access;
	key = (mr->key + 1) & ((1u << KEY_BITS) - 1);
	__atomic_store_n(&mr->key, mr->index << KEY_BITS | key, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->live, true, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->refs, 1, __ATOMIC_RELEASE);
	*out = mr;
	return 0;
}

uint32_t rxe_mr_lkey(const struct rxe_mr *mr)
{
	return mr->key;
}

uint32_t rxe_mr_rkey(const struct rxe_mr *mr)
{
	return mr->key;
}

struct rxe_mem *rxe_mr_mem(const struct rxe_mr *mr)
{
	return mr->mem;
}

void rxe_mr_get(struct rxe_mr *mr)
{
	__atomic_add_fetch(&mr->refs, 1, __ATOMIC_RELAXED);
}

void rxe_mr_put(struct rxe_mr *mr)
{
	struct rxe_mr_table *t = mr->table;

	if (__atomic_sub_fetch(&mr->refs, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_mutex_lock(&t->lock);
	t->nr_used--;
	push_free(t, mr);
	pthread_mutex_unlock(&t->lock);
}

bool rxe_mr_busy(const struct rxe_mr *mr)
{
	return __atomic_load_n(&mr->refs, __ATOMIC_ACQUIRE) > 1;
}

void rxe_mr_destroy(struct rxe_hca *hca, struct rxe_mr *mr)
{
	(void)hca;
	/* Ordered against the count that rxe_mr_busy() reads next. */
	__atomic_store_n(&mr->live, false, __ATOMIC_SEQ_CST);
	rxe_mr_put(mr);
}

/* A reference unless the region is free. */
static bool get_unless_free(struct rxe_mr *mr)
{
	uint32_t refs = __atomic_load_n(&mr->refs, __ATOMIC_RELAXED);

	while (refs)
		if (__atomic_compare_exchange_n(&mr->refs, &refs, refs + 1, true, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static struct rxe_mr *find_slot(struct rxe_mr_table *t, uint32_t key)
{
	uint32_t index = key >> KEY_BITS;
	struct rxe_mr *chunk;

	if (index >= MAX_INDEX)
		return NULL;
	chunk = __atomic_load_n(&t->chunks[index >> CHUNK_BITS], __ATOMIC_ACQUIRE);
	return chunk ? &chunk[index & (CHUNK - 1)] : NULL;
}

static int check(const struct rxe_mr *mr, uint32_t pdn, uint64_t iova, uint64_t len,
		 uint32_t access)
{
	if (mr->pdn != pdn || (mr->access & access) != access)
		return -EACCES;
	if (iova < mr->iova || len > mr->len || iova - mr->iova > mr->len - len)
		return -ERANGE;
	return 0;
}

int rxe_mr_lookup(struct rxe_hca *hca, uint32_t pdn, uint32_t key, uint64_t iova, uint64_t len,
		  uint32_t access, struct rxe_mr **out, uint64_t *va)
{
	struct rxe_mr *mr = find_slot(hca->mrs, key);
	int err = -ENOENT;

	if (!mr || !get_unless_free(mr))
		return -ENOENT;
	if (__atomic_load_n(&mr->key, __ATOMIC_RELAXED) == key &&
	    __atomic_load_n(&mr->live, __ATOMIC_SEQ_CST))
		err = check(mr, pdn, iova, len, access);
	if (err) {
		rxe_mr_put(mr);
		return err;
	}
	*out = mr;
	*va = mr->va + (iova - mr->iova);
	return 0;
}
