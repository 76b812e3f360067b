/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys and what they lead to, as mr.c and mw.c share it.
 *
 * A key has a number (its upper 24 bits) for as long as its MR or window
 * lives; the number leads to a registration, which says what memory and for
 * whom. Re-registering an MR and binding a window replace the registration,
 * whole, while others look it up.
 */
#ifndef RXE_MR_H
#define RXE_MR_H

#include <pthread.h>
#include "slab.h"
#include "transport.h"

#define RXE_KEY_BITS	   8 /* the low bits tell reuses of one number apart */
#define RXE_KEY_INDEX(k)   ((k) >> RXE_KEY_BITS)
#define RXE_MW_FIRST_INDEX RXE_SLAB_MAX /* the numbers of windows begin here */
#define RXE_MR_NO_WINDOWS  (-1)

/* A registration. What lookups read is written before refs leaves zero. */
struct rxe_mr {
	struct rxe_slab_elem elem;
	uint32_t refs; /* 0: free. Atomic. */
	uint32_t key;
	bool live; /* lookups may find it; atomic */
	uint32_t pdn;
	uint32_t access;
	struct rxe_mem *mem;
	uint64_t va, len, iova;
	int32_t windows;      /* bound to it, or RXE_MR_NO_WINDOWS: takes none; atomic */
	struct rxe_mr *under; /* of a window: the MR's, with a reference */
	uint64_t qp_id;	      /* of a type 2 window: the only QP that it is for; else 0 */
	struct rxe_slab *home;
};

struct rxe_key {
	struct rxe_slab_elem elem;
	struct rxe_mr *cur; /* NULL: leads nowhere; atomic */
	uint32_t key;	    /* the latest; its owner's */
};

struct rxe_mr_table {
	struct rxe_slab *keys, *windows; /* struct rxe_key, struct rxe_mw */
	struct rxe_slab *regs;		 /* struct rxe_mr */
	pthread_mutex_t bind_lock;	 /* what windows are bound to */
};

/* What a new registration is of. */
struct rxe_reg {
	uint32_t pdn, access;
	struct rxe_mem *mem;
	uint64_t va, len, iova;
};

/* Makes a registration, with one reference, that nothing leads to yet. */
struct rxe_mr *rxe_reg_new(struct rxe_mr_table *t, uint32_t key, const struct rxe_reg *r);
/*
 * From now on k leads to mr (NULL: nowhere). What it led to before is found no
 * more, and is returned with the reference that it was made with.
 */
struct rxe_mr *rxe_key_set(struct rxe_key *k, struct rxe_mr *mr);
/* What `key` leads to through k, with a reference, or NULL. Any thread. */
struct rxe_mr *rxe_key_get(struct rxe_key *k, uint32_t key);
/* 0, -EACCES, -ERANGE; *va is set. */
int rxe_mr_check(const struct rxe_mr *mr, uint32_t pdn, uint64_t iova, uint64_t len,
		 uint32_t access, uint64_t *va);
/* Counts a window in. -EINVAL: the MR is on its way out. */
int rxe_mr_add_window(struct rxe_mr *mr);
void rxe_mr_drop_window(struct rxe_mr *mr);

#endif
