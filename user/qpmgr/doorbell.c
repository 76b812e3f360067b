/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking for rung doorbells: two levels of bits, and a list of active pages. */
#include "doorbell.h"

#include <errno.h>
#include <stdlib.h>

#define IDLE_TURNS 256 /* turns without a ring before a context must wake us */

void rxe_doorbell_init(struct rxe_doorbell *db)
{
	db->active = false;
	__atomic_store_n(&db->page->need_wakeup, 1, __ATOMIC_RELAXED);
}

void rxe_doorbell_attach(struct rxe_doorbell *db, struct rxe_db_entry *e, uint32_t handle)
{
	e->slot = handle % RXE_DOORBELL_SLOTS;
	e->next = db->slots[e->slot];
	db->slots[e->slot] = e;
}

void rxe_doorbell_detach(struct rxe_doorbell *db, struct rxe_db_entry *e)
{
	struct rxe_db_entry **p = &db->slots[e->slot];

	while (*p && *p != e)
		p = &(*p)->next;
	if (*p)
		*p = e->next;
}

static int activate(struct rxe_doorbell_set *set, struct rxe_doorbell *db)
{
	if (db->active)
		return 0;
	if (set->nactive == set->room) {
		uint32_t room = set->room ? 2 * set->room : 16;
		void *p = realloc(set->active, room * sizeof(*set->active));

		if (!p)
			return -ENOMEM;
		set->active = p;
		set->room = room;
	}
	db->pos = set->nactive;
	db->active = true;
	db->idle_turns = 0;
	set->active[set->nactive++] = db;
	__atomic_store_n(&db->page->need_wakeup, 0, __ATOMIC_RELAXED);
	return 0;
}

void rxe_doorbell_leave(struct rxe_doorbell_set *set, struct rxe_doorbell *db)
{
	struct rxe_doorbell *last;

	if (!db->active)
		return;
	last = set->active[--set->nactive];
	set->active[db->pos] = last;
	last->pos = db->pos;
	db->active = false;
	__atomic_store_n(&db->page->need_wakeup, 1, __ATOMIC_RELAXED);
}

static uint32_t ring_word(struct rxe_doorbell *db, unsigned int word)
{
	uint64_t bits = __atomic_exchange_n(&db->page->bits[word], 0, __ATOMIC_ACQ_REL);
	uint32_t n = 0;

	while (bits) {
		unsigned int slot = word * 64 + __builtin_ctzll(bits);

		bits &= bits - 1;
		for (struct rxe_db_entry *e = db->slots[slot]; e; e = e->next, n++)
			rxe_qp_doorbell(e->qp);
	}
	return n;
}

static uint32_t scan(struct rxe_doorbell *db)
{
	uint64_t words;
	uint32_t n = 0;

	if (!__atomic_load_n(&db->page->summary, __ATOMIC_RELAXED))
		return 0;
	words = __atomic_exchange_n(&db->page->summary, 0, __ATOMIC_ACQ_REL);
	for (; words; words &= words - 1)
		n += ring_word(db, __builtin_ctzll(words));
	return n;
}

void rxe_doorbell_rang(struct rxe_doorbell_set *set, struct rxe_doorbell *db)
{
	if (activate(set, db))
		scan(db); /* no memory to remember it: it must ring each time */
}

/* It may ring just before it sees need_wakeup: one look after the barrier. */
static uint32_t quieten(struct rxe_doorbell_set *set, struct rxe_doorbell *db)
{
	uint32_t n;

	rxe_doorbell_leave(set, db);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	n = scan(db);
	if (n)
		activate(set, db);
	return n;
}

uint32_t rxe_doorbells_scan(struct rxe_doorbell_set *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->nactive;) {
		struct rxe_doorbell *db = set->active[i];
		uint32_t got = scan(db);

		n += got;
		db->idle_turns = got ? 0 : db->idle_turns + 1;
		if (db->idle_turns < IDLE_TURNS)
			i++;
		else
			n += quieten(set, db); /* another one is at i now */
	}
	return n;
}

void rxe_doorbells_need_wakeup(struct rxe_doorbell_set *set, bool needed)
{
	for (uint32_t i = 0; i < set->nactive; i++)
		__atomic_store_n(&set->active[i]->page->need_wakeup, needed, __ATOMIC_RELAXED);
}

bool rxe_doorbells_pending(const struct rxe_doorbell_set *set)
{
	for (uint32_t i = 0; i < set->nactive; i++)
		if (__atomic_load_n(&set->active[i]->page->summary, __ATOMIC_RELAXED))
			return true;
	return false;
}

void rxe_doorbells_free(struct rxe_doorbell_set *set)
{
	free(set->active);
}
