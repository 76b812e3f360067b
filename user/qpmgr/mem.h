/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Client memory, the only way to it (DESIGN D6). A struct rxe_mem is one
 * client address space, reached through the /proc/self/mem descriptor that
 * the client itself opened. Copies run on a thread of that client's, so one
 * whose memory blocks holds up nobody else.
 */
#ifndef RXE_MEM_H
#define RXE_MEM_H

#include "transport/transport.h"

/*
 * Takes over both descriptors (also on failure): /proc/self/mem and
 * /proc/self/maps, opened by the client. -EINVAL when they are anything else.
 */
int rxe_mem_new(int memfd, int mapsfd, struct rxe_mem **out);
void rxe_mem_get(struct rxe_mem *m);
void rxe_mem_put(struct rxe_mem *m);
/*
 * The client is gone, or blocked beyond its deadline: every copy that waits
 * and every later one fails with -EFAULT. Any thread.
 */
void rxe_mem_kill(struct rxe_mem *m);
/*
 * Does the client have [va, va+len) mapped with what `write` asks (mapping.h)?
 * The mem fd ignores page protections, so registration checks them here. The
 * answer may have to wait for the client, so it comes from its copy thread.
 */
struct rxe_mem_check { /* embedded in its user, who keeps it until done() */
	uint64_t va, len;
	bool write;
	int status;			       /* 0, -EFAULT, -ENOMEM */
	void (*done)(struct rxe_mem_check *c); /* any thread, with a lock held: only post */
	struct rxe_mem_check *next;	       /* mem.c's */
};
/* 0: done() follows. Else it does not: -EFAULT, the memory is dead, or pthread_create()'s. */
int rxe_mem_check(struct rxe_mem *m, struct rxe_mem_check *c);

/*
 * Kills every client memory whose current copy has blocked for longer than
 * RXE_MEM_DEADLINE_NS; returns how many. Control thread, each
 * RXE_MEM_EXPIRE_PERIOD_NS; after a pause of two periods (rxed was stopped) the
 * time of every copy begins anew.
 */
#define RXE_MEM_DEADLINE_NS	 5000000000ull
#define RXE_MEM_EXPIRE_PERIOD_NS 1000000000ull
unsigned int rxe_mem_expire(uint64_t now_ns);

struct rxe_mem_waker {
	/* Called on the memory thread when completions wait for `queue`. */
	void (*wake)(void *arg);
	void *arg;
};
/* A worker's queue of finished copies. */
struct rxe_mem_queue;
struct rxe_mem_queue *rxe_mem_queue_new(const struct rxe_mem_waker *waker);
void rxe_mem_queue_free(struct rxe_mem_queue *q);
/* ops->copy of the transport; q takes the completion. Worker. */
int rxe_mem_copy(struct rxe_mem_queue *q, struct rxe_copy *c);
/* Runs done() of finished copies; returns how many. Worker. */
unsigned int rxe_mem_reap(struct rxe_mem_queue *q);
bool rxe_mem_queue_pending(const struct rxe_mem_queue *q);

#endif
