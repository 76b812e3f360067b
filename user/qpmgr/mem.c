/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Client memory through the client's own /proc/self/mem descriptor (DESIGN D6,
 * way 2). Each client has a thread that makes its copies, through a bounce
 * buffer of that thread: a copy that blocks for ever can then be given up at
 * once, since what it still holds belongs to nobody else.
 */
#include "mem.h"

#include <errno.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/iov.h"
#include "disposal.h"
#include "log.h"
#include "loop.h"
#include "mapping.h"

#define BOUNCE_SIZE 65536 /* one call's worth; a packet's payload is at most 4096 */
#define BATCH_MAX   64	  /* copies in one call */
#define PAGE	    4096u /* or a part of one, where pages are larger */

struct rxe_mem_queue {
	pthread_mutex_t lock;
	struct rxe_copy *head, **tail;
	struct rxe_mem_waker waker;
};

struct rxe_mem {
	TAILQ_ENTRY(rxe_mem) link;
	int memfd, mapsfd;
	int refs;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	struct rxe_copy *head, **tail;
	struct rxe_mem_check *checks, *checking; /* waiting; under way, or NULL when given up */
	struct rxe_copy *running;		 /* the batch; NULL also when it was given up */
	uint64_t since;				 /* it started, CLOCK_MONOTONIC; 0: no deadline */
	bool waiting, started, dead;
};

static TAILQ_HEAD(, rxe_mem) all_mems = TAILQ_HEAD_INITIALIZER(all_mems);
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

/* Is fd a file of procfs with this last name? A client could send any file. */
static bool is_proc_file(int fd, const char *name)
{
	char link[64], target[256];
	struct statfs sfs;
	const char *base;
	ssize_t n;

	if (fd < 0 || fstatfs(fd, &sfs) || sfs.f_type != PROC_SUPER_MAGIC)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	base = strrchr(target, '/');
	return base && strcmp(base + 1, name) == 0;
}

int rxe_mem_new(int memfd, int mapsfd, struct rxe_mem **out)
{
	struct rxe_mem *m = NULL;
	int err = -EINVAL;

	if (!is_proc_file(memfd, "mem") || !is_proc_file(mapsfd, "maps"))
		goto fail;
	err = -ENOMEM;
	m = calloc(1, sizeof(*m));
	if (!m)
		goto fail;
	m->memfd = memfd;
	m->mapsfd = mapsfd;
	m->refs = 1;
	m->tail = &m->head;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->work, NULL);
	pthread_mutex_lock(&all_lock);
	TAILQ_INSERT_TAIL(&all_mems, m, link);
	pthread_mutex_unlock(&all_lock);
	*out = m;
	return 0;
fail:
	rxe_dispose_fd(memfd);
	rxe_dispose_fd(mapsfd);
	return err;
}

void rxe_mem_get(struct rxe_mem *m)
{
	__atomic_fetch_add(&m->refs, 1, __ATOMIC_RELAXED);
}

void rxe_mem_put(struct rxe_mem *m)
{
	/* Under all_lock, so that rxe_mem_expire() never meets a dying one. */
	pthread_mutex_lock(&all_lock);
	if (__atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL) != 0) {
		pthread_mutex_unlock(&all_lock);
		return;
	}
	TAILQ_REMOVE(&all_mems, m, link);
	pthread_mutex_unlock(&all_lock);
	rxe_dispose_fd(m->memfd);
	rxe_dispose_fd(m->mapsfd);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->work);
	free(m);
}

/* ---- finished copies ---------------------------------------------------- */

struct rxe_mem_queue *rxe_mem_queue_new(const struct rxe_mem_waker *waker)
{
	struct rxe_mem_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	q->tail = &q->head;
	q->waker = *waker;
	return q;
}

void rxe_mem_queue_free(struct rxe_mem_queue *q)
{
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static void finish(struct rxe_copy *c, int status)
{
	struct rxe_mem_queue *q = c->dp;
	bool was_empty;

	c->status = status;
	c->next = NULL;
	pthread_mutex_lock(&q->lock);
	was_empty = !q->head;
	__atomic_store_n(q->tail, c, __ATOMIC_RELEASE); /* read without the lock */
	q->tail = &c->next;
	pthread_mutex_unlock(&q->lock);
	if (was_empty)
		q->waker.wake(q->waker.arg);
}

bool rxe_mem_queue_pending(const struct rxe_mem_queue *q)
{
	return __atomic_load_n(&q->head, __ATOMIC_ACQUIRE) != NULL;
}

unsigned int rxe_mem_reap(struct rxe_mem_queue *q)
{
	struct rxe_copy *c, *next;
	unsigned int n = 0;

	if (!rxe_mem_queue_pending(q))
		return 0;
	pthread_mutex_lock(&q->lock);
	c = q->head;
	q->head = NULL;
	q->tail = &q->head;
	pthread_mutex_unlock(&q->lock);
	for (; c; c = next, n++) {
		next = c->next;
		c->done(c);
	}
	return n;
}

/* ---- the client's copy thread ------------------------------------------- */

/* What the thread needs of a copy once the copy itself may be given up. */
struct job {
	enum rxe_copy_kind kind;
	uint16_t nranges;
	uint64_t addr[RXE_MAX_SGE];
	uint32_t len[RXE_MAX_SGE];
	uint64_t compare, swap_add, result;
	uint32_t total;
	int status;
};

/*
 * Copies that are made in one call: the packets of a message touch one stretch
 * of client memory, one behind the other. Only the first of a batch may be an
 * atomic or have several ranges, and it is then alone.
 */
struct batch {
	struct rxe_copy *head; /* linked by next */
	unsigned int n;
	uint32_t total;
	struct job job[BATCH_MAX];
	uint8_t bounce[BOUNCE_SIZE];
};

/* False: no packet makes such a copy. */
static bool fill_job(const struct rxe_copy *c, struct job *j)
{
	j->kind = c->kind;
	j->nranges = c->nranges;
	j->compare = c->compare;
	j->swap_add = c->swap_add;
	j->result = 0;
	j->total = 0;
	j->status = 0;
	if (!c->nranges || c->nranges > RXE_MAX_SGE)
		return false;
	for (int i = 0; i < c->nranges; i++) {
		j->addr[i] = c->range[i].addr;
		j->len[i] = c->range[i].len;
		if (j->len[i] > BOUNCE_SIZE - j->total)
			return false;
		j->total += j->len[i];
	}
	return j->kind > RXE_COPY_WRITE || rxe_iov_len(c->local, c->nlocal) == j->total;
}

static bool continues(const struct batch *b, const struct job *j)
{
	const struct job *last = &b->job[b->n - 1];

	return j->kind <= RXE_COPY_WRITE && j->kind == last->kind && j->nranges == 1 &&
	       last->nranges == 1 && j->addr[0] == last->addr[0] + last->len[0] &&
	       b->total + j->total <= BOUNCE_SIZE;
}

/* With the lock held: moves what goes together from the queue to b. */
static void take_batch(struct rxe_mem *m, struct batch *b)
{
	struct rxe_copy *c, **tail = &b->head;

	b->n = 0;
	b->total = 0;
	while ((c = m->head) && b->n < BATCH_MAX) {
		struct job *j = &b->job[b->n];
		bool good = fill_job(c, j);

		if (b->n && !(good && continues(b, j)))
			break;
		if (!good)
			j->status = -EINVAL;
		else if (j->kind == RXE_COPY_WRITE)
			rxe_iov_gather(c->local, c->nlocal, b->bounce + b->total);
		b->total += j->total;
		b->n++;
		m->head = c->next;
		*tail = c;
		tail = &c->next;
		if (!good)
			break;
	}
	*tail = NULL;
	if (!m->head)
		m->tail = &m->head;
}

/* Under the lock: what rxe_mem_kill() gave up is not ours, and no more of it is written. */
static bool given_up(struct rxe_mem *m)
{
	bool dead;

	pthread_mutex_lock(&m->lock);
	dead = m->dead;
	pthread_mutex_unlock(&m->lock);
	return dead;
}

/* 0: the address space is gone (exec, exit); short: an unmapped page. */
static int read_client(const struct rxe_mem *m, void *buf, uint32_t len, uint64_t addr)
{
	ssize_t n;

	do {
		n = pread(m->memfd, buf, len, (off_t)addr);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -EFAULT;
}

/*
 * Page by page, since a page that never comes stops here: when it comes after
 * all, long after the copy was given up, the client may use the next one for
 * something else. That page itself is written then: a call that has begun
 * cannot be called back.
 */
static int write_client(struct rxe_mem *m, const uint8_t *buf, uint32_t len, uint64_t addr)
{
	while (len) {
		uint32_t part = PAGE - addr % PAGE;
		ssize_t n;

		if (part > len)
			part = len;
		if (given_up(m))
			return -EFAULT;
		n = pwrite(m->memfd, buf, part, (off_t)addr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)part)
			return -EFAULT;
		buf += part;
		addr += part;
		len -= part;
	}
	return 0;
}

/*
 * The mem fd ignores page protections, which may have changed since the region
 * was registered: the mapping is asked each time.
 */
static int move(struct rxe_mem *m, void *buf, uint32_t len, uint64_t addr, bool to_client)
{
	if (rxe_mapping_check_again(m->mapsfd, addr, len, to_client))
		return -EFAULT;
	return to_client ? write_client(m, buf, len, addr) : read_client(m, buf, len, addr);
}

/*
 * One atomic at a time, in the whole daemon: two regions, also of two clients,
 * may be the same memory under different addresses. The page is touched before,
 * so that one which never comes is met without the turn. A client that is
 * killed loses its turn at once and gets none any more. What stays: the kill
 * may come while the write itself is under way, and then that one write, of 8
 * bytes, can still land, also in the middle of another client's atomic on the
 * same memory. (Holding the others until it is done would let one client block
 * all.)
 */
static pthread_mutex_t atomic_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t atomic_free = PTHREAD_COND_INITIALIZER;
static const struct rxe_mem *atomic_owner;

/* False: given up, before or while it waited. */
static bool atomic_enter(struct rxe_mem *m)
{
	bool dead;

	/* Waiting for others is not blocking: no deadline. */
	__atomic_store_n(&m->since, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&atomic_lock);
	while (!(dead = given_up(m)) && atomic_owner)
		pthread_cond_wait(&atomic_free, &atomic_lock);
	if (!dead)
		atomic_owner = m;
	pthread_mutex_unlock(&atomic_lock);
	__atomic_store_n(&m->since, rxe_now_ns(), __ATOMIC_RELAXED);
	return !dead;
}

static void atomic_leave(const struct rxe_mem *m)
{
	pthread_mutex_lock(&atomic_lock);
	if (atomic_owner == m)
		atomic_owner = NULL;
	pthread_cond_broadcast(&atomic_free); /* or m is killed, and waits itself */
	pthread_mutex_unlock(&atomic_lock);
}

/* The write looks once more whether m was given up, and so lost its turn. */
static int read_modify_write(struct rxe_mem *m, struct job *j)
{
	uint64_t old, new;
	int err;

	if (j->kind == RXE_COPY_STORE)
		return move(m, &j->swap_add, sizeof(j->swap_add), j->addr[0], true);
	err = move(m, &old, sizeof(old), j->addr[0], false);
	if (err)
		return err;
	j->result = old;
	if (j->kind == RXE_COPY_FETCH_ADD)
		new = old + j->swap_add;
	else if (old == j->compare)
		new = j->swap_add;
	else
		return 0;
	return move(m, &new, sizeof(new), j->addr[0], true);
}

static int do_atomic(struct rxe_mem *m, struct job *j)
{
	uint64_t touched;
	int err = move(m, &touched, sizeof(touched), j->addr[0], false);

	if (err)
		return err;
	if (!atomic_enter(m))
		return -EFAULT;
	err = read_modify_write(m, j);
	atomic_leave(m);
	return err;
}

static int do_job(struct rxe_mem *m, struct job *j, uint8_t *bounce)
{
	int err = 0;

	if (j->kind > RXE_COPY_WRITE)
		return do_atomic(m, j);
	for (unsigned int i = 0; !err && i < j->nranges; i++) {
		err = move(m, bounce, j->len[i], j->addr[i], j->kind == RXE_COPY_WRITE);
		bounce += j->len[i];
	}
	return err;
}

/*
 * In one go; one by one when that fails, so that each gets its own status. Of
 * a batch that was given up no status is looked at.
 */
static void do_batch(struct rxe_mem *m, struct batch *b)
{
	struct job *first = &b->job[0];
	uint8_t *bounce = b->bounce;

	if (first->status)
		return;
	if (b->n > 1 && !move(m, bounce, b->total, first->addr[0], first->kind == RXE_COPY_WRITE))
		return;
	for (unsigned int i = 0; i < b->n && !given_up(m); i++) {
		b->job[i].status = do_job(m, &b->job[i], bounce);
		bounce += b->job[i].total;
	}
}

static void finish_batch(struct batch *b)
{
	const uint8_t *bounce = b->bounce;
	struct rxe_copy *c = b->head, *next;

	for (unsigned int i = 0; i < b->n; i++, c = next) {
		const struct job *j = &b->job[i];

		next = c->next;
		if (!j->status && j->kind == RXE_COPY_READ)
			rxe_iov_scatter(c->local, c->nlocal, bounce);
		bounce += j->total;
		c->result = j->result;
		finish(c, j->status);
	}
}

/* Both with the lock held; false: given up by rxe_mem_kill(), nothing is ours any more. */
static bool run_batch(struct rxe_mem *m, struct batch *b)
{
	take_batch(m, b);
	m->running = b->head;
	m->since = rxe_now_ns();
	pthread_mutex_unlock(&m->lock);
	do_batch(m, b);
	pthread_mutex_lock(&m->lock);
	if (!m->running)
		return false;
	m->running = NULL;
	finish_batch(b);
	return true;
}

static bool run_check(struct rxe_mem *m)
{
	struct rxe_mem_check *c = m->checks, job = *c;

	m->checks = c->next;
	m->checking = c;
	m->since = rxe_now_ns();
	pthread_mutex_unlock(&m->lock);
	job.status = rxe_mapping_check(m->mapsfd, job.va, job.len, job.write);
	pthread_mutex_lock(&m->lock);
	if (!m->checking)
		return false;
	m->checking = NULL;
	c->status = job.status;
	c->done(c);
	return true;
}

static void run_copies(struct rxe_mem *m, struct batch *b)
{
	bool ours = true;

	while (ours && !m->dead) {
		if (m->checks) {
			ours = run_check(m);
		} else if (m->head) {
			ours = run_batch(m, b);
		} else {
			m->waiting = true;
			pthread_cond_wait(&m->work, &m->lock);
			m->waiting = false;
		}
	}
}

static void *copy_thread(void *arg)
{
	struct rxe_mem *m = arg;
	struct batch *b = malloc(sizeof(*b));

	if (!b) {
		log_err("copying for a client: out of memory; its QPs will fail");
		rxe_mem_kill(m);
	}
	pthread_mutex_lock(&m->lock);
	run_copies(m, b);
	pthread_mutex_unlock(&m->lock);
	free(b);
	rxe_mem_put(m);
	return NULL;
}

static int start_thread(struct rxe_mem *m)
{
	pthread_attr_t attr;
	pthread_t t;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	rxe_mem_get(m);
	err = pthread_create(&t, &attr, copy_thread, m);
	pthread_attr_destroy(&attr);
	if (err)
		__atomic_fetch_sub(&m->refs, 1, __ATOMIC_RELAXED);
	return -err;
}

/* With the lock held: a thread is there to do something for m. */
static int ready(struct rxe_mem *m)
{
	int err;

	if (m->dead)
		return -EFAULT;
	err = m->started ? 0 : start_thread(m);
	if (!err)
		m->started = true;
	return err;
}

int rxe_mem_copy(struct rxe_mem_queue *q, struct rxe_copy *c)
{
	struct rxe_mem *m = rxe_mr_mem(c->range[0].mr);
	bool signal;
	int err;

	pthread_mutex_lock(&m->lock);
	err = ready(m);
	if (err) {
		pthread_mutex_unlock(&m->lock);
		c->status = err;
		return 0;
	}
	c->dp = q;
	c->next = NULL;
	*m->tail = c;
	m->tail = &c->next;
	signal = m->waiting;
	pthread_mutex_unlock(&m->lock);
	if (signal)
		pthread_cond_signal(&m->work);
	return -EINPROGRESS;
}

int rxe_mem_check(struct rxe_mem *m, struct rxe_mem_check *c)
{
	int err;

	pthread_mutex_lock(&m->lock);
	err = ready(m);
	if (!err) {
		c->next = m->checks;
		m->checks = c;
		pthread_cond_signal(&m->work);
	}
	pthread_mutex_unlock(&m->lock);
	return err;
}

static void give_up_check(struct rxe_mem_check *c)
{
	c->status = -EFAULT;
	c->done(c);
}

static void give_up(struct rxe_copy *list)
{
	struct rxe_copy *c, *next;

	for (c = list; c; c = next) {
		next = c->next;
		finish(c, -EFAULT);
	}
}

void rxe_mem_kill(struct rxe_mem *m)
{
	pthread_mutex_lock(&m->lock);
	m->dead = true;
	give_up(m->running);
	m->running = NULL;
	give_up(m->head);
	m->head = NULL;
	m->tail = &m->head;
	if (m->checking)
		give_up_check(m->checking);
	m->checking = NULL;
	while (m->checks) {
		struct rxe_mem_check *c = m->checks;

		m->checks = c->next;
		give_up_check(c);
	}
	pthread_cond_signal(&m->work);
	pthread_mutex_unlock(&m->lock);
	atomic_leave(m);
}

/*
 * From when on rxed itself has run without a pause: what it did not do while it
 * was stopped is no fault of its clients. all_lock is held.
 */
static uint64_t running_since(uint64_t now_ns)
{
	static uint64_t since, looked;

	if (now_ns > looked + 2 * RXE_MEM_EXPIRE_PERIOD_NS)
		since = now_ns;
	looked = now_ns;
	return since;
}

unsigned int rxe_mem_expire(uint64_t now_ns)
{
	uint64_t running;
	unsigned int n = 0;
	struct rxe_mem *m;

	pthread_mutex_lock(&all_lock);
	running = running_since(now_ns);
	TAILQ_FOREACH (m, &all_mems, link) {
		uint64_t since;
		bool late;

		pthread_mutex_lock(&m->lock);
		since = __atomic_load_n(&m->since, __ATOMIC_RELAXED);
		late = (m->running || m->checking) && !m->dead && since &&
		       now_ns > (since > running ? since : running) + RXE_MEM_DEADLINE_NS;
		pthread_mutex_unlock(&m->lock);
		if (!late)
			continue;
		log_warn("copying to or from a client's memory blocked for %llu s: its memory is "
			 "given up, its QPs will fail",
			 RXE_MEM_DEADLINE_NS / 1000000000ull);
		rxe_mem_kill(m);
		n++;
	}
	pthread_mutex_unlock(&all_lock);
	return n;
}
