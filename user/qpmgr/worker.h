/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Worker threads (DESIGN D5, D9): each runs one transport engine to
 * completion: mailbox, receive, finished copies, doorbells, timers, transmit;
 * then yields for a while, then sleeps.
 */
#ifndef RXE_WORKER_H
#define RXE_WORKER_H

#include "doorbell.h"
#include "transport/transport.h"

struct rxe_worker;
struct rxe_dev;

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

/* Called by the engines, on worker threads (uapi/event.c, uapi/uverbs_qp.c). */
void rxe_uverbs_cq_event(struct rxe_cq *cq);
void rxe_uverbs_async_event(enum rxe_event_kind kind, void *obj);
void rxe_uverbs_qp_released(struct rxe_qp *qp);

#endif
