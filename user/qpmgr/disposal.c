/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pool that closes clients' descriptors. Before a thread enters close() it
 * sees to it that another one waits, so a close that hangs delays no other.
 */
#include "disposal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"

#define IDLE_MAX 2 /* threads that wait; a further one ends */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;
	int *fds; /* a ring of room entries, a power of two */
	uint32_t room, head, tail;
	uint32_t threads, idle;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};

static void *run(void *arg);

/* With the lock held. */
static void ensure_idle(void)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t t;
	int err;

	if (pool.idle || pool.threads >= RXE_DISPOSAL_MAX)
		return;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&t, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (err) {
		log_warn("starting a thread that closes clients' descriptors: %s; they wait for "
			 "the next attempt",
			 strerror(err));
		return;
	}
	pool.threads++;
	pool.idle++; /* it will be, and finds what is queued by then */
	if (pool.threads == RXE_DISPOSAL_MAX)
		log_warn("closing clients' descriptors: %d closes hang in files of clients; "
			 "further ones wait. `ls -l /proc/PID/fd` of the clients tells which",
			 RXE_DISPOSAL_MAX - 1);
}

static void *run(void *arg)
{
	/* Frees nothing that its owner still uses: a lingering socket only costs a thread. */
	static const struct linger off;

	(void)arg;
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		int fd;

		while (pool.head == pool.tail)
			pthread_cond_wait(&pool.work, &pool.lock);
		fd = pool.fds[pool.head++ & (pool.room - 1)];
		pool.idle--;
		ensure_idle();
		pthread_mutex_unlock(&pool.lock);
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
		close(fd);
		pthread_mutex_lock(&pool.lock);
		if (pool.idle >= IDLE_MAX)
			break;
		pool.idle++;
	}
	pool.threads--;
	pthread_mutex_unlock(&pool.lock);
	return arg;
}

/* With the lock held. */
static bool grow(void)
{
	uint32_t room = pool.room ? 2 * pool.room : 64, n = pool.tail - pool.head;
	int *fds = malloc(room * sizeof(*fds));

	if (!fds)
		return false;
	for (uint32_t i = 0; i < n; i++)
		fds[i] = pool.fds[(pool.head + i) & (pool.room - 1)];
	free(pool.fds);
	pool.fds = fds;
	pool.room = room;
	pool.head = 0;
	pool.tail = n;
	return true;
}

void rxe_dispose_fd(int fd)
{
	if (fd < 0)
		return;
	pthread_mutex_lock(&pool.lock);
	if (pool.tail - pool.head < pool.room || grow()) {
		pool.fds[pool.tail++ & (pool.room - 1)] = fd;
		ensure_idle();
		pthread_cond_signal(&pool.work);
	} else {
		log_err("closing a client's descriptor: out of memory; it stays open");
	}
	pthread_mutex_unlock(&pool.lock);
}
