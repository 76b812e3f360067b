/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Worker threads (DESIGN D5, D9): each runs one transport engine to
 * completion: mailbox, receive, finished copies, doorbells, timers, transmit;
 * then yields for a while, then sleeps.
 */
#ifndef RXE_WORKER_H
#define RXE_WORKER_H

#include "rxe/ipc.h"
#include "transport/transport.h"

struct rxe_worker;
struct rxe_dev;

/* One QP behind a doorbell slot; embedded in its user, worker's thread only. */
struct rxe_db_entry {
	struct rxe_qp *qp;
	uint32_t slot;
	struct rxe_db_entry *next;
};

/* One context's doorbell towards one worker; embedded in the context. */
struct rxe_doorbell {
	struct rxe_doorbell_page *page;	/* shared with the client: hostile */
	int	efd;			/* the client writes; never read here */
	struct rxe_db_entry **slots;	/* RXE_DOORBELL_SLOTS heads */
	uint32_t idle_turns;
	uint32_t pos;			/* in the worker's active list, when active */
	bool	active;			/* polled; otherwise it must ring */
};

/*
 * Starts n workers into rxed.workers. poll_us: how long a worker yields after
 * its last work before it sleeps. Control thread.
 */
int rxe_workers_start(uint32_t n, uint32_t poll_us);
void rxe_workers_stop(void);

/* Runs fn on the worker's thread and waits for it. Control thread. */
void rxe_worker_call(struct rxe_worker *w, void (*fn)(struct rxe_worker *w, void *arg), void *arg);

struct rxe_engine *rxe_worker_engine(struct rxe_worker *w);
uint32_t rxe_worker_index(const struct rxe_worker *w);

/* Within rxe_worker_call(): the context's doorbell comes and goes. */
int rxe_worker_db_add(struct rxe_worker *w, struct rxe_doorbell *db);
void rxe_worker_db_del(struct rxe_worker *w, struct rxe_doorbell *db);
/* Within rxe_worker_call(): a QP behind a slot comes and goes. */
void rxe_db_attach(struct rxe_doorbell *db, struct rxe_db_entry *e, uint32_t handle);
void rxe_db_detach(struct rxe_doorbell *db, struct rxe_db_entry *e);

/* Called by the engines, on worker threads (uapi/uverbs_event.c). */
void rxe_uverbs_cq_event(struct rxe_cq *cq);
void rxe_uverbs_async_event(enum rxe_event_kind kind, void *obj);
void rxe_uverbs_qp_released(struct rxe_qp *qp);

#endif
