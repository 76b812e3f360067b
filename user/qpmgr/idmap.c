/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A bitmap and a cursor. */
#include "idmap.h"

#include <errno.h>
#include <stdlib.h>

int rxe_idmap_init(struct rxe_idmap *m, uint32_t first, uint32_t size)
{
	m->bits = calloc(size / 64 + 1, sizeof(*m->bits));
	m->first = first;
	m->size = size;
	m->next = 0;
	return m->bits ? 0 : -ENOMEM;
}

void rxe_idmap_fini(struct rxe_idmap *m)
{
	free(m->bits);
	m->bits = NULL;
}

/* The first free offset in [from, to), or to. */
static uint32_t scan(const struct rxe_idmap *m, uint32_t from, uint32_t to)
{
	while (from < to) {
		uint64_t free_bits = ~m->bits[from / 64] >> (from % 64);

		if (free_bits) {
			from += (uint32_t)__builtin_ctzll(free_bits);
			return from < to ? from : to;
		}
		from = (from / 64 + 1) * 64;
	}
	return to;
}

int rxe_idmap_get(struct rxe_idmap *m, uint32_t *id)
{
	uint32_t at = scan(m, m->next, m->size);

	if (at == m->size) {
		at = scan(m, 0, m->next);
		if (at == m->next)
			return -ENOSPC;
	}
	m->bits[at / 64] |= 1ull << (at % 64);
	m->next = at + 1 < m->size ? at + 1 : 0;
	*id = m->first + at;
	return 0;
}

void rxe_idmap_put(struct rxe_idmap *m, uint32_t id)
{
	uint32_t at = id - m->first;

	m->bits[at / 64] &= ~(1ull << (at % 64));
}
