/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Doorbells as a worker sees them (include/rxe/ipc.h, struct
 * rxe_doorbell_page). A context that rang lately is active: its page is looked
 * at every turn, and its client makes no call to ring. One that is quiet must
 * wake the worker. Everything here is called on the worker's thread.
 */
#ifndef RXE_DOORBELL_H
#define RXE_DOORBELL_H

#include <stdbool.h>
#include "rxe/ipc.h"
#include "transport/transport.h"

/* One QP behind a slot; embedded in its user. */
struct rxe_db_entry {
	struct rxe_qp *qp;
	uint32_t slot;
	struct rxe_db_entry *next;
};

/* One context's doorbell towards one worker; embedded in the context. */
struct rxe_doorbell {
	struct rxe_doorbell_page *page; /* shared with the client: hostile */
	int efd;			/* the client writes; never read here */
	struct rxe_db_entry **slots;	/* RXE_DOORBELL_SLOTS heads */
	uint32_t idle_turns;
	uint32_t pos; /* in the set's active list, when active */
	bool active;
};

/* A worker's active ones. Zeroed memory is an empty set. */
struct rxe_doorbell_set {
	struct rxe_doorbell **active;
	uint32_t nactive, room;
};

/* page, efd and slots are set; the doorbell must ring from now on. */
void rxe_doorbell_init(struct rxe_doorbell *db);
/* A QP behind a slot comes and goes. */
void rxe_doorbell_attach(struct rxe_doorbell *db, struct rxe_db_entry *e, uint32_t handle);
void rxe_doorbell_detach(struct rxe_doorbell *db, struct rxe_db_entry *e);

/* Its eventfd was written: active from now on. */
void rxe_doorbell_rang(struct rxe_doorbell_set *set, struct rxe_doorbell *db);
void rxe_doorbell_leave(struct rxe_doorbell_set *set, struct rxe_doorbell *db);
/* Rings for every QP whose bit is set; returns how many. Drops idle ones. */
uint32_t rxe_doorbells_scan(struct rxe_doorbell_set *set);
/*
 * Before sleep: need_wakeup(true), a full barrier, then pending() once more.
 * The client rings first and looks at need_wakeup afterwards.
 */
void rxe_doorbells_need_wakeup(struct rxe_doorbell_set *set, bool needed);
bool rxe_doorbells_pending(const struct rxe_doorbell_set *set);
void rxe_doorbells_free(struct rxe_doorbell_set *set);

#endif
