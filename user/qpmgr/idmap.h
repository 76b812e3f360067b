/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers in a range, handed out cyclically so that a freed one rests before
 * it is used again (a stale packet must not find a new QP). Control thread.
 */
#ifndef RXE_IDMAP_H
#define RXE_IDMAP_H

#include <stdint.h>

struct rxe_idmap {
	uint64_t *bits;
	uint32_t first, size; /* numbers first .. first + size - 1 */
	uint32_t next;	      /* offset where the search begins */
};

/* 0 or -ENOMEM. size 0 is allowed: every rxe_idmap_get() then fails. */
int rxe_idmap_init(struct rxe_idmap *m, uint32_t first, uint32_t size);
void rxe_idmap_fini(struct rxe_idmap *m);
/* 0 and *id, or -ENOSPC. */
int rxe_idmap_get(struct rxe_idmap *m, uint32_t *id);
void rxe_idmap_put(struct rxe_idmap *m, uint32_t id);

#endif
