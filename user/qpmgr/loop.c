/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control thread's event loop: epoll, a sorted timer list, posted tasks. */
#include "loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LOOP_BATCH 64

struct rxe_loop {
	int epfd;
	bool stop;
	struct rxe_timer *timers; /* earliest first */
	struct rxe_watch wake;
	pthread_mutex_t lock; /* tasks */
	struct rxe_task *tasks, **tasks_tail;
	struct epoll_event *batch; /* being dispatched; del() clears entries */
	int batch_n;
};

uint64_t rxe_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void drain_wake(struct rxe_watch *w, uint32_t events)
{
	uint64_t n;

	(void)events;
	if (read(w->fd, &n, sizeof(n)) < 0)
		return; /* EAGAIN: another wake-up was read with it */
}

struct rxe_loop *rxe_loop_new(void)
{
	struct rxe_loop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	pthread_mutex_init(&l->lock, NULL);
	l->tasks_tail = &l->tasks;
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	l->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->wake.cb = drain_wake;
	l->wake.events = EPOLLIN;
	if (l->epfd < 0 || l->wake.fd < 0 || rxe_loop_add(l, &l->wake)) {
		rxe_loop_free(l);
		return NULL;
	}
	return l;
}

void rxe_loop_free(struct rxe_loop *l)
{
	if (l->epfd >= 0)
		close(l->epfd);
	if (l->wake.fd >= 0)
		close(l->wake.fd);
	free(l);
}

int rxe_loop_add(struct rxe_loop *l, struct rxe_watch *w)
{
	struct epoll_event ev = {.events = w->events, .data.ptr = w};

	return epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev) ? -errno : 0;
}

int rxe_loop_mod(struct rxe_loop *l, struct rxe_watch *w, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	if (w->events == events)
		return 0;
	w->events = events;
	return epoll_ctl(l->epfd, EPOLL_CTL_MOD, w->fd, &ev) ? -errno : 0;
}

void rxe_loop_del(struct rxe_loop *l, struct rxe_watch *w)
{
	epoll_ctl(l->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = 0; i < l->batch_n; i++)
		if (l->batch[i].data.ptr == w)
			l->batch[i].data.ptr = NULL;
}

void rxe_loop_cancel(struct rxe_loop *l, struct rxe_timer *t)
{
	struct rxe_timer **p = &l->timers;

	if (!t->armed)
		return;
	while (*p && *p != t)
		p = &(*p)->next;
	if (*p)
		*p = t->next;
	t->armed = 0;
}

void rxe_loop_timer(struct rxe_loop *l, struct rxe_timer *t, uint64_t after_ns)
{
	struct rxe_timer **p = &l->timers;

	rxe_loop_cancel(l, t);
	t->due_ns = rxe_now_ns() + after_ns;
	while (*p && (*p)->due_ns <= t->due_ns)
		p = &(*p)->next;
	t->next = *p;
	*p = t;
	t->armed = 1;
}

void rxe_loop_post(struct rxe_loop *l, struct rxe_task *t)
{
	uint64_t one = 1;

	t->next = NULL;
	pthread_mutex_lock(&l->lock);
	*l->tasks_tail = t;
	l->tasks_tail = &t->next;
	pthread_mutex_unlock(&l->lock);
	/* EAGAIN: the counter is full, so a wake-up is already under way. */
	while (write(l->wake.fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void run_tasks(struct rxe_loop *l)
{
	struct rxe_task *t, *next;

	pthread_mutex_lock(&l->lock);
	t = l->tasks;
	l->tasks = NULL;
	l->tasks_tail = &l->tasks;
	pthread_mutex_unlock(&l->lock);
	for (; t; t = next) {
		next = t->next;
		t->cb(t);
	}
}

static void run_timers(struct rxe_loop *l)
{
	uint64_t now = rxe_now_ns();

	while (l->timers && l->timers->due_ns <= now) {
		struct rxe_timer *t = l->timers;

		l->timers = t->next;
		t->armed = 0;
		t->cb(t);
	}
}

static int timeout_ms(const struct rxe_loop *l)
{
	uint64_t now;

	if (!l->timers)
		return -1;
	now = rxe_now_ns();
	if (l->timers->due_ns <= now)
		return 0;
	return (int)((l->timers->due_ns - now + 999999) / 1000000);
}

int rxe_loop_run(struct rxe_loop *l)
{
	struct epoll_event ev[LOOP_BATCH];

	l->stop = false;
	while (!l->stop) {
		int n = epoll_wait(l->epfd, ev, LOOP_BATCH, timeout_ms(l));

		if (n < 0 && errno != EINTR)
			return -errno;
		l->batch = ev;
		l->batch_n = n > 0 ? n : 0;
		for (int i = 0; i < l->batch_n; i++) {
			struct rxe_watch *w = ev[i].data.ptr;

			if (w)
				w->cb(w, ev[i].events);
		}
		l->batch_n = 0;
		run_tasks(l);
		run_timers(l);
	}
	return 0;
}

void rxe_loop_stop(struct rxe_loop *l)
{
	l->stop = true;
}
