/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory windows of type 1 and 2B. A bound window is a registration of a part
 * of its MR under a key of its own, so looking it up, and waiting for copies
 * that run through it, is what it is for an MR.
 */
#include <errno.h>
#include <pthread.h>
#include "hca.h"
#include "kernel_compat.h"
#include "mr.h"
#include "mw.h"

#define TAG_MASK ((1u << RXE_KEY_BITS) - 1)
#define MW_ACCESS                                                                           \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                     \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                    \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED | RXE_ACCESS_FLUSH_GLOBAL | \
	 RXE_ACCESS_FLUSH_PERSISTENT | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

struct rxe_mw {
	struct rxe_key key; /* key.key is the rkey */
	bool used;	    /* allocated; all of it under bind_lock */
	enum rxe_mw_type type;
	uint32_t pdn;
};

size_t rxe_mw_size(void)
{
	return sizeof(struct rxe_mw);
}

/* ---- allocated and freed -------------------------------------------------------- */

int rxe_mw_create(struct rxe_hca *hca, uint32_t pdn, enum rxe_mw_type type, struct rxe_mw **out)
{
	struct rxe_mw *mw = rxe_slab_take(hca->mrs->windows);

	if (!mw)
		return -ENOMEM;
	pthread_mutex_lock(&hca->mrs->bind_lock);
	mw->used = true;
	mw->type = type;
	mw->pdn = pdn;
	mw->key.key = mw->key.elem.index << RXE_KEY_BITS | ((mw->key.key + 1) & TAG_MASK);
	pthread_mutex_unlock(&hca->mrs->bind_lock);
	*out = mw;
	return 0;
}

uint32_t rxe_mw_rkey(const struct rxe_mw *mw)
{
	return __atomic_load_n(&mw->key.key, __ATOMIC_RELAXED); /* a QP may be binding it */
}

/* The window leads to mr (NULL: nowhere); its old MR may be let go. */
static struct rxe_mr *lead_to(struct rxe_mw *mw, struct rxe_mr *mr)
{
	struct rxe_mr *old = rxe_key_set(&mw->key, mr);

	if (old)
		rxe_mr_drop_window(old->under);
	return old;
}

struct rxe_mr *rxe_mw_destroy(struct rxe_hca *hca, struct rxe_mw *mw)
{
	struct rxe_mr *old;

	pthread_mutex_lock(&hca->mrs->bind_lock);
	old = lead_to(mw, NULL);
	mw->used = false;
	pthread_mutex_unlock(&hca->mrs->bind_lock);
	rxe_slab_give(hca->mrs->windows, mw);
	return old;
}

/* ---- bound and invalidated ---------------------------------------------------------- */

/* The window of an rkey, compared whole, or NULL. */
static struct rxe_mw *find_window(struct rxe_hca *hca, uint32_t pdn, uint32_t rkey)
{
	struct rxe_mw *mw = rxe_slab_at(hca->mrs->windows, RXE_KEY_INDEX(rkey));

	return mw && mw->used && mw->key.key == rkey && mw->pdn == pdn ? mw : NULL;
}

/*
 * Type 1: not zero-based (o10-36.2.2), rebinding and, by a zero length,
 * unbinding it is allowed. Type 2: only while it is free (o10-37.2.30), and
 * not to nothing (o10-37.2.40).
 */
static int check_window(const struct rxe_mw *mw, const struct rxe_mw_bind *b)
{
	if (mw->type == RXE_MW_TYPE_1)
		return b->access & IB_UVERBS_ACCESS_ZERO_BASED ? -EINVAL : 0;
	return mw->key.cur || !b->len ? -EINVAL : 0;
}

/*
 * The MR lets windows on itself (C10-73), is of the same PD, covers the range
 * (C10-75) and is writable if the window is to be (C10-74).
 */
static int find_region(struct rxe_hca *hca, uint32_t pdn, const struct rxe_mw_bind *b,
		       struct rxe_mr **mr, uint64_t *va)
{
	uint32_t need = IB_UVERBS_ACCESS_MW_BIND;

	if (b->access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC))
		need |= IB_UVERBS_ACCESS_LOCAL_WRITE;
	if (rxe_mr_lookup(hca, pdn, b->mr_lkey, b->addr, b->len, need, mr, va))
		return -EINVAL;
	if (!rxe_mr_add_window(*mr))
		return 0;
	rxe_mr_put(*mr);
	return -EINVAL;
}

static int bind_region(struct rxe_hca *hca, struct rxe_mw *mw, uint64_t qp_id, uint32_t key,
		       const struct rxe_mw_bind *b, struct rxe_mr **bound)
{
	struct rxe_reg r = {.pdn = mw->pdn, .len = b->len, .access = b->access};
	struct rxe_mr *mr, *reg;
	int err = find_region(hca, mw->pdn, b, &mr, &r.va);

	if (err)
		return err;
	r.iova = b->access & IB_UVERBS_ACCESS_ZERO_BASED ? 0 : b->addr;
	r.mem = mr->mem;
	reg = rxe_reg_new(hca->mrs, key, &r);
	if (!reg) {
		rxe_mr_drop_window(mr);
		rxe_mr_put(mr);
		return -ENOMEM;
	}
	reg->under = mr; /* takes over the reference */
	reg->qp_id = mw->type == RXE_MW_TYPE_2 ? qp_id : 0;
	*bound = reg;
	return 0;
}

static int bind_window(struct rxe_hca *hca, struct rxe_mw *mw, uint64_t qp_id,
		       const struct rxe_mw_bind *b, struct rxe_mr **old)
{
	uint32_t key = (mw->key.key & ~TAG_MASK) | (b->rkey & TAG_MASK);
	struct rxe_mr *bound = NULL;
	int err = check_window(mw, b);

	if (!err && b->len)
		err = bind_region(hca, mw, qp_id, key, b, &bound);
	if (err)
		return err;
	__atomic_store_n(&mw->key.key, key, __ATOMIC_RELAXED);
	*old = lead_to(mw, bound);
	return 0;
}

int rxe_mw_bind(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, const struct rxe_mw_bind *b,
		struct rxe_mr **old)
{
	struct rxe_mw *mw;
	int err = -EINVAL;

	if (b->access & ~(uint32_t)MW_ACCESS)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&hca->mrs->bind_lock);
	mw = find_window(hca, pdn, b->mw_rkey);
	if (mw)
		err = bind_window(hca, mw, qp_id, b, old);
	pthread_mutex_unlock(&hca->mrs->bind_lock);
	return err;
}

/* Type 1 windows cannot be invalidated (o10-37.2.26), nor can what is not bound. */
int rxe_mw_invalidate(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey,
		      struct rxe_mr **old)
{
	struct rxe_mw *mw;
	int err = -EINVAL;

	pthread_mutex_lock(&hca->mrs->bind_lock);
	mw = find_window(hca, pdn, rkey);
	if (mw && mw->type == RXE_MW_TYPE_2 && mw->key.cur &&
	    (!qp_id || mw->key.cur->qp_id == qp_id)) {
		*old = lead_to(mw, NULL);
		err = 0;
	}
	pthread_mutex_unlock(&hca->mrs->bind_lock);
	return err;
}

/* ---- what a peer names ------------------------------------------------------------------ */

static struct rxe_key *find_key(struct rxe_hca *hca, uint32_t rkey)
{
	uint32_t index = RXE_KEY_INDEX(rkey);

	return rxe_slab_at(index < RXE_MW_FIRST_INDEX ? hca->mrs->keys : hca->mrs->windows, index);
}

int rxe_rkey_get(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey, uint32_t access,
		 struct rxe_mr **out)
{
	struct rxe_key *k = find_key(hca, rkey);
	struct rxe_mr *mr = k ? rxe_key_get(k, rkey) : NULL;

	if (!mr)
		return -ENOENT;
	if (mr->pdn != pdn || (mr->access & access) != access ||
	    (mr->qp_id && mr->qp_id != qp_id)) {
		rxe_mr_put(mr);
		return -EACCES;
	}
	*out = mr;
	return 0;
}

int rxe_rkey_lookup(struct rxe_hca *hca, uint32_t pdn, uint64_t qp_id, uint32_t rkey, uint64_t iova,
		    uint64_t len, uint32_t access, struct rxe_mr **mr, uint64_t *va)
{
	int err = rxe_rkey_get(hca, pdn, qp_id, rkey, access, mr);

	if (err)
		return err;
	err = rxe_mr_check(*mr, pdn, iova, len, access, va);
	if (err)
		rxe_mr_put(*mr);
	return err;
}
