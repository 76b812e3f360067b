/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory regions: the key table, protection checks and references.
 *
 * The memory of a registration is type-stable: it stays a struct rxe_mr for
 * the device's life and is only reused. So a lookup needs no grace period: it
 * takes a reference unless the count is zero, then checks the key again.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "hca.h"
#include "mr.h"

/* ---- the table ---------------------------------------------------------------- */

struct rxe_mr_table *rxe_mr_table_new(uint32_t max_mr, uint32_t max_mw)
{
	struct rxe_mr_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->bind_lock, NULL);
	t->keys = rxe_slab_new(sizeof(struct rxe_key), 0, max_mr + 1);
	t->windows = rxe_slab_new(rxe_mw_size(), RXE_MW_FIRST_INDEX, max_mw);
	t->regs = rxe_slab_new(sizeof(struct rxe_mr), 0, RXE_SLAB_MAX);
	if (t->keys && t->windows && t->regs) {
		rxe_slab_take(t->keys); /* key 0 is nobody's */
		return t;
	}
	rxe_mr_table_free(t);
	return NULL;
}

void rxe_mr_table_free(struct rxe_mr_table *t)
{
	if (!t)
		return;
	rxe_slab_free(t->keys);
	rxe_slab_free(t->windows);
	rxe_slab_free(t->regs);
	pthread_mutex_destroy(&t->bind_lock);
	free(t);
}

/* ---- registrations -------------------------------------------------------------- */

struct rxe_mr *rxe_reg_new(struct rxe_mr_table *t, uint32_t key, const struct rxe_reg *r)
{
	struct rxe_mr *mr = rxe_slab_take(t->regs);

	if (!mr)
		return NULL;
	mr->pdn = r->pdn;
	mr->mem = r->mem;
	mr->va = r->va;
	mr->len = r->len;
	mr->iova = r->iova;
	mr->access = r->access;
	mr->under = NULL;
	mr->qp_id = 0;
	mr->home = t->regs;
	__atomic_store_n(&mr->windows, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->live, true, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->refs, 1, __ATOMIC_RELEASE);
	return mr;
}

void rxe_mr_get(struct rxe_mr *mr)
{
	__atomic_add_fetch(&mr->refs, 1, __ATOMIC_RELAXED);
}

void rxe_mr_put(struct rxe_mr *mr)
{
	struct rxe_mr *under = mr->under;

	if (__atomic_sub_fetch(&mr->refs, 1, __ATOMIC_ACQ_REL))
		return;
	rxe_slab_give(mr->home, mr);
	if (under)
		rxe_mr_put(under);
}

bool rxe_mr_busy(const struct rxe_mr *mr)
{
	return __atomic_load_n(&mr->refs, __ATOMIC_ACQUIRE) > 1;
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

/* ---- keys -------------------------------------------------------------------------- */

struct rxe_mr *rxe_key_set(struct rxe_key *k, struct rxe_mr *mr)
{
	struct rxe_mr *old = __atomic_exchange_n(&k->cur, mr, __ATOMIC_SEQ_CST);

	/* Ordered against the count that rxe_mr_busy() reads next. */
	if (old)
		__atomic_store_n(&old->live, false, __ATOMIC_SEQ_CST);
	return old;
}

/* A reference unless the registration is free. */
static bool get_unless_free(struct rxe_mr *mr)
{
	uint32_t refs = __atomic_load_n(&mr->refs, __ATOMIC_RELAXED);

	while (refs)
		if (__atomic_compare_exchange_n(&mr->refs, &refs, refs + 1, true, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

/*
 * What is free or not live any more has been replaced before that, so another
 * look finds its successor.
 */
struct rxe_mr *rxe_key_get(struct rxe_key *k, uint32_t key)
{
	struct rxe_mr *mr;

	while ((mr = __atomic_load_n(&k->cur, __ATOMIC_SEQ_CST))) {
		bool same, live;

		if (!get_unless_free(mr))
			continue;
		same = __atomic_load_n(&mr->key, __ATOMIC_RELAXED) == key;
		live = __atomic_load_n(&mr->live, __ATOMIC_SEQ_CST);
		if (same && live)
			return mr;
		rxe_mr_put(mr);
		if (live)
			return NULL;
	}
	return NULL;
}

/* ---- MRs ------------------------------------------------------------------------------ */

static int check_sums(uint64_t va, uint64_t len, uint64_t iova)
{
	return va + len < va || iova + len < iova ? -EINVAL : 0;
}

int rxe_mr_create(struct rxe_hca *hca, uint32_t pdn, struct rxe_mem *mem, uint64_t va, uint64_t len,
		  uint64_t iova, uint32_t access, struct rxe_mr **out)
{
	const struct rxe_reg r = {pdn, access, mem, va, len, iova};
	struct rxe_key *k;
	uint32_t tag;

	if (check_sums(va, len, iova))
		return -EINVAL;
	k = rxe_slab_take(hca->mrs->keys);
	if (!k)
		return -ENOMEM;
	tag = (k->key + 1) & ((1u << RXE_KEY_BITS) - 1);
	k->key = k->elem.index << RXE_KEY_BITS | tag;
	*out = rxe_reg_new(hca->mrs, k->key, &r);
	if (!*out) {
		rxe_slab_give(hca->mrs->keys, k);
		return -ENOMEM;
	}
	rxe_key_set(k, *out);
	return 0;
}

void rxe_mr_destroy(struct rxe_hca *hca, struct rxe_mr *mr)
{
	struct rxe_key *k = rxe_slab_at(hca->mrs->keys, RXE_KEY_INDEX(mr->key));

	rxe_key_set(k, NULL);
	rxe_slab_give(hca->mrs->keys, k);
	rxe_mr_put(mr);
}

int rxe_mr_replace(struct rxe_hca *hca, struct rxe_mr *mr, uint32_t pdn, uint64_t va, uint64_t len,
		   uint64_t iova, uint32_t access, struct rxe_mr **out)
{
	const struct rxe_reg r = {pdn, access, mr->mem, va, len, iova};
	struct rxe_key *k = rxe_slab_at(hca->mrs->keys, RXE_KEY_INDEX(mr->key));

	if (check_sums(va, len, iova))
		return -EINVAL;
	*out = rxe_reg_new(hca->mrs, mr->key, &r);
	if (!*out)
		return -ENOMEM;
	if (rxe_mr_close(mr)) {
		rxe_mr_put(*out);
		return -EBUSY;
	}
	rxe_key_set(k, *out);
	return 0;
}

/* ---- windows on them -------------------------------------------------------------------- */

int rxe_mr_add_window(struct rxe_mr *mr)
{
	int32_t n = __atomic_load_n(&mr->windows, __ATOMIC_RELAXED);

	while (n != RXE_MR_NO_WINDOWS)
		if (__atomic_compare_exchange_n(&mr->windows, &n, n + 1, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return 0;
	return -EINVAL;
}

void rxe_mr_drop_window(struct rxe_mr *mr)
{
	__atomic_sub_fetch(&mr->windows, 1, __ATOMIC_ACQ_REL);
}

int rxe_mr_close(struct rxe_mr *mr)
{
	int32_t none = 0;

	return __atomic_compare_exchange_n(&mr->windows, &none, RXE_MR_NO_WINDOWS, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
		       ? 0
		       : -EBUSY;
}

/* ---- protection ------------------------------------------------------------------------------ */

int rxe_mr_check(const struct rxe_mr *mr, uint32_t pdn, uint64_t iova, uint64_t len,
		 uint32_t access, uint64_t *va)
{
	if (mr->pdn != pdn || (mr->access & access) != access)
		return -EACCES;
	if (iova < mr->iova || len > mr->len || iova - mr->iova > mr->len - len)
		return -ERANGE;
	*va = mr->va + (iova - mr->iova);
	return 0;
}

int rxe_mr_lookup(struct rxe_hca *hca, uint32_t pdn, uint32_t key, uint64_t iova, uint64_t len,
		  uint32_t access, struct rxe_mr **out, uint64_t *va)
{
	struct rxe_key *k = rxe_slab_at(hca->mrs->keys, RXE_KEY_INDEX(key));
	struct rxe_mr *mr = k ? rxe_key_get(k, key) : NULL;
	int err;

	if (!mr)
		return -ENOENT;
	err = rxe_mr_check(mr, pdn, iova, len, access, va);
	if (err) {
		rxe_mr_put(mr);
		return err;
	}
	*out = mr;
	return 0;
}
