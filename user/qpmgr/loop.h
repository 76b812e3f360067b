/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control thread's event loop: descriptors and timers with callbacks.
 * Everything here is called on the control thread, except rxe_loop_post().
 */
#ifndef RXE_LOOP_H
#define RXE_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>
#include <urcu/compiler.h> /* caa_container_of(), for callbacks of embedded objects */

struct rxe_loop;

struct rxe_watch { /* embedded in its user; cb may free it after del */
	int fd;
	void (*cb)(struct rxe_watch *w, uint32_t events);
	uint32_t events; /* EPOLLIN ... */
};

struct rxe_timer {	 /* embedded in its user; one shot */
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	void (*cb)(struct rxe_timer *t);
	struct rxe_timer *next;
	int armed;
};

/* A function to run on the control thread, posted from any thread. */
struct rxe_task {
	void (*cb)(struct rxe_task *t);
	struct rxe_task *next;
};

struct rxe_loop *rxe_loop_new(void);
void rxe_loop_free(struct rxe_loop *l);
int rxe_loop_add(struct rxe_loop *l, struct rxe_watch *w);
/* Changes w->events (0: keep it registered, hear of errors only). */
int rxe_loop_mod(struct rxe_loop *l, struct rxe_watch *w, uint32_t events);
void rxe_loop_del(struct rxe_loop *l, struct rxe_watch *w);
void rxe_loop_timer(struct rxe_loop *l, struct rxe_timer *t, uint64_t after_ns);
void rxe_loop_cancel(struct rxe_loop *l, struct rxe_timer *t);
void rxe_loop_post(struct rxe_loop *l, struct rxe_task *t); /* any thread */
int rxe_loop_run(struct rxe_loop *l);			    /* until rxe_loop_stop() */
void rxe_loop_stop(struct rxe_loop *l);
uint64_t rxe_now_ns(void); /* CLOCK_MONOTONIC; any thread */

#endif
