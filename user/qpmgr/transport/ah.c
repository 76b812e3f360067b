/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address handles: the control thread creates and destroys, engines look up
 * under RCU. Number 0 is never given out: the provider would resolve the
 * address itself.
 */
#include <errno.h>
#include <stdlib.h>
#include "hca.h"
#include "rcu.h"

struct rxe_ah {
	uint32_t pdn;
	uint64_t id;
	struct rxe_address addr;
};

struct rxe_ah_table {
	uint32_t limit, cursor, used;
	uint64_t next_id;
	struct rxe_ah *ah[]; /* [1..limit] */
};

struct rxe_ah_table *rxe_ah_table_new(uint32_t limit)
{
	struct rxe_ah_table *t = calloc(1, sizeof(*t) + ((size_t)limit + 1) * sizeof(t->ah[0]));

	if (t)
		t->limit = limit;
	return t;
}

void rxe_ah_table_free(struct rxe_ah_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 1; i <= t->limit; i++)
		free(t->ah[i]);
	free(t);
}

static uint32_t free_number(struct rxe_ah_table *t)
{
	if (t->used >= t->limit)
		return 0;
	do
		t->cursor = t->cursor % t->limit + 1;
	while (t->ah[t->cursor]);
	return t->cursor;
}

int rxe_ah_create(struct rxe_hca *hca, uint32_t pdn, const struct rxe_address *addr,
		  uint32_t *ah_num)
{
	struct rxe_ah_table *t = hca->ahs;
	uint32_t n = free_number(t);
	struct rxe_ah *ah;

	if (!n)
		return -ENOMEM;
	ah = malloc(sizeof(*ah));
	if (!ah)
		return -ENOMEM;
	*ah = (struct rxe_ah){.pdn = pdn, .id = ++t->next_id, .addr = *addr};
	t->used++;
	rxe_rcu_assign(t->ah[n], ah);
	*ah_num = n;
	return 0;
}

int rxe_ah_destroy(struct rxe_hca *hca, uint32_t ah_num, void **route)
{
	struct rxe_ah_table *t = hca->ahs;
	struct rxe_ah *ah;

	if (!ah_num || ah_num > t->limit || !t->ah[ah_num])
		return -ENOENT;
	ah = t->ah[ah_num];
	rxe_rcu_assign(t->ah[ah_num], NULL);
	t->used--;
	rxe_rcu_synchronize();
	*route = ah->addr.route;
	free(ah);
	return 0;
}

static struct rxe_ah *find(struct rxe_hca *hca, uint32_t ah_num)
{
	struct rxe_ah_table *t = hca->ahs;

	return ah_num && ah_num <= t->limit ? rxe_rcu_get(t->ah[ah_num]) : NULL;
}

int rxe_ah_lookup(struct rxe_hca *hca, uint32_t pdn, uint32_t ah_num, struct rxe_address *addr,
		  uint64_t *id)
{
	struct rxe_ah *ah = find(hca, ah_num);

	if (!ah)
		return -ENOENT;
	if (ah->pdn != pdn)
		return -EACCES;
	*addr = ah->addr;
	*id = ah->id;
	return 0;
}

bool rxe_ah_alive(struct rxe_hca *hca, uint32_t ah_num, uint64_t id)
{
	struct rxe_ah *ah = find(hca, ah_num);

	return ah && ah->id == id;
}
