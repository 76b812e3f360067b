/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The worker loop: one thread, one engine, every device's datapath. It never
 * makes a call that a client could block; what may block runs elsewhere and
 * comes back through a queue (mem.h) or the mailbox.
 */
#include "worker.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detached.h"
#include "gsi.h"
#include "kernel_compat.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "params.h"
#include "relay.h"
#include "rxe/bpf_abi.h"
#include "rxed.h"
#include "transport/pkt.h"
#include "transport/rcu.h"

#define RX_BUDGET	  64
#define TX_BUDGET	  64
#define MAX_POLLFDS	  (RXE_MAX_QUEUES + 8)
#define EPOLL_BATCH	  64
#define SLICE_NS	  100000
#define YIELD_TOO_LONG_NS 300000
#define NO_YIELD_NS	  50000000

struct call {
	void (*fn)(struct rxe_worker *w, void *arg);
	void *arg;
	sem_t done;
	struct call *next;
};

struct attached {
	struct rxe_dev *dev;
	struct pollfd pfd[MAX_POLLFDS];
	int npfd;
};

struct rxe_worker {
	uint32_t index;
	pthread_t thread;
	struct rxe_engine *engine;
	struct rxe_mem_queue *memq;
	int epfd, wakefd;
	uint64_t poll_ns;
	uint64_t no_yield_until; /* a spinner shares our processor */
	bool stop;

	struct attached *devs;
	uint32_t ndevs;
	struct rxe_doorbell_set doorbells;
	struct rxe_detached detached;
	struct rxe_relay relay; /* to this worker */

	/* written by others */
	_Alignas(64) uint32_t sleeping;
	pthread_mutex_t lock;
	struct call *calls, **calls_tail;
};

struct rxe_engine *rxe_worker_engine(struct rxe_worker *w)
{
	return w->engine;
}

uint32_t rxe_worker_index(const struct rxe_worker *w)
{
	return w->index;
}

/* Any thread, after it has put something where the worker will find it. */
static void wake(void *arg)
{
	struct rxe_worker *w = arg;
	uint64_t one = 1;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&w->sleeping, __ATOMIC_RELAXED))
		return;
	while (write(w->wakefd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* ---- mailbox -------------------------------------------------------------- */

void rxe_worker_call(struct rxe_worker *w, void (*fn)(struct rxe_worker *w, void *arg), void *arg)
{
	struct call c = {.fn = fn, .arg = arg};

	sem_init(&c.done, 0, 0);
	pthread_mutex_lock(&w->lock);
	__atomic_store_n(w->calls_tail, &c,
			 __ATOMIC_RELEASE); /* mailbox_pending() looks unlocked */
	w->calls_tail = &c.next;
	pthread_mutex_unlock(&w->lock);
	wake(w);
	while (sem_wait(&c.done) && errno == EINTR)
		;
	sem_destroy(&c.done);
}

static bool mailbox_pending(struct rxe_worker *w)
{
	return __atomic_load_n(&w->calls, __ATOMIC_ACQUIRE) != NULL;
}

static uint32_t run_mailbox(struct rxe_worker *w)
{
	struct call *c, *next;
	uint32_t n = 0;

	if (!mailbox_pending(w))
		return 0;
	pthread_mutex_lock(&w->lock);
	c = w->calls;
	w->calls = NULL;
	w->calls_tail = &w->calls;
	pthread_mutex_unlock(&w->lock);
	for (; c; c = next, n++) {
		next = c->next; /* c is gone once its caller wakes */
		c->fn(w, c->arg);
		sem_post(&c->done);
	}
	return n;
}

/* ---- engine callbacks ------------------------------------------------------ */

static struct rxe_dev *dev_of(struct rxe_hca *hca)
{
	return hca->owner;
}

static struct rxe_pkt *op_pkt_alloc(void *ctx, struct rxe_hca *hca, struct rxe_address *addr,
				    uint32_t hdr_len, uint32_t payload_len, uint32_t pad)
{
	struct rxe_worker *w = ctx;
	struct rxe_dev *dev = dev_of(hca);
	struct rxe_pkt *pkt;

	pkt = dev->dp_ops->pkt_alloc(dev->dp, w->index, addr, hdr_len, payload_len, pad);
	if (pkt)
		pkt->hca = hca;
	return pkt;
}

static void op_pkt_send(void *ctx, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	struct rxe_worker *w = ctx;
	struct rxe_dev *dev = dev_of(hca);

	dev->dp_ops->pkt_send(dev->dp, w->index, pkt, !rxe_engine_params(w->engine)->crc_disable);
}

static void op_pkt_flush(void *ctx, struct rxe_hca *hca)
{
	struct rxe_worker *w = ctx;
	struct rxe_dev *dev = dev_of(hca);

	dev->dp_ops->flush(dev->dp, w->index);
}

static void op_pkt_free(void *ctx, struct rxe_pkt *pkt)
{
	struct rxe_worker *w = ctx;
	struct rxe_dev *dev = dev_of(pkt->hca);

	if (pkt->detached)
		rxe_detached_free(&w->detached, pkt);
	else
		dev->dp_ops->pkt_free(dev->dp, w->index, pkt);
}

static struct rxe_pkt *op_pkt_detach(void *ctx, struct rxe_pkt *pkt)
{
	struct rxe_worker *w = ctx;
	struct rxe_pkt *moved = rxe_detached_copy(&w->detached, pkt);

	if (moved)
		op_pkt_free(w, pkt);
	return moved;
}

static struct rxe_pkt *op_pkt_copy(void *ctx, const struct rxe_pkt *pkt)
{
	struct rxe_worker *w = ctx;

	return rxe_detached_copy(&w->detached, pkt);
}

static int op_copy(void *ctx, struct rxe_copy *c)
{
	struct rxe_worker *w = ctx;

	return rxe_mem_copy(w->memq, c);
}

static void op_cq_event(void *ctx, struct rxe_cq *cq)
{
	(void)ctx;
	rxe_uverbs_cq_event(cq);
}

static void op_async_event(void *ctx, enum rxe_event_kind kind, void *obj)
{
	(void)ctx;
	rxe_uverbs_async_event(kind, obj);
}

static void op_qp_released(void *ctx, struct rxe_qp *qp)
{
	(void)ctx;
	rxe_uverbs_qp_released(qp);
}

static void op_gsi_rx(void *ctx, struct rxe_hca *hca, const struct rxe_pkt *pkt)
{
	(void)ctx;
	rxe_gsi_received(hca, pkt);
}

static const struct rxe_engine_ops engine_ops = {
	.pkt_alloc = op_pkt_alloc,
	.pkt_send = op_pkt_send,
	.pkt_flush = op_pkt_flush,
	.pkt_free = op_pkt_free,
	.pkt_detach = op_pkt_detach,
	.pkt_copy = op_pkt_copy,
	.copy = op_copy,
	.cq_event = op_cq_event,
	.async_event = op_async_event,
	.qp_released = op_qp_released,
	.gsi_rx = op_gsi_rx,
};

/* A copy to every other worker that has QPs in the group. */
static void relay(struct rxe_worker *w, struct rxe_hca *hca, const struct rxe_pkt *pkt)
{
	for (uint32_t i = 0; i < rxed.nr_workers; i++) {
		struct rxe_worker *to = rxed.workers[i];

		if (to == w || !rxe_mcast_has_member(hca, &pkt->dip, to->engine))
			continue;
		if (rxe_relay_put(&to->relay, &w->detached, pkt))
			rxe_engine_count(w->engine, hca, RXE_HW_DROP_BUSY);
		else
			wake(to);
	}
}

static uint32_t take_relayed(struct rxe_worker *w, uint32_t budget)
{
	struct rxe_pkt *pkt;
	uint32_t n = 0;

	while (n < budget && (pkt = rxe_relay_get(&w->relay, &w->detached))) {
		n++;
		rxe_engine_rx(w->engine, pkt->hca, pkt);
	}
	return n;
}

/* The datapath's cfg->rx. Multicast comes to the control worker only. */
void rxe_worker_rx(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt)
{
	struct rxe_worker *w = rxed.workers[worker];

	(void)ctx;
	pkt->hca = hca;
	if (worker == RXE_CONTROL_WORKER && rxe_pkt_dest_qpn(pkt) == RXE_MULTICAST_QPN)
		relay(w, hca, pkt);
	rxe_engine_rx(w->engine, hca, pkt);
}

/* ---- doorbells of contexts -------------------------------------------------- */

int rxe_worker_db_add(struct rxe_worker *w, struct rxe_doorbell *db)
{
	/* Edge-triggered and never read: the client shares the counter. */
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = db};

	rxe_doorbell_init(db);
	return epoll_ctl(w->epfd, EPOLL_CTL_ADD, db->efd, &ev) ? -errno : 0;
}

void rxe_worker_db_del(struct rxe_worker *w, struct rxe_doorbell *db)
{
	epoll_ctl(w->epfd, EPOLL_CTL_DEL, db->efd, NULL);
	rxe_doorbell_leave(&w->doorbells, db);
}

/* ---- devices ------------------------------------------------------------------ */

/* Those that are not watched yet. -errno: the last that could not be. */
static int watch_sockets(struct rxe_worker *w, struct attached *a)
{
	struct rxe_dev *dev = a->dev;
	int n = dev->dp_ops->pollfds(dev->dp, w->index, a->pfd, MAX_POLLFDS), err = 0;

	for (; a->npfd < n; a->npfd++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};

		if (epoll_ctl(w->epfd, EPOLL_CTL_ADD, a->pfd[a->npfd].fd, &ev)) {
			err = -errno;
			log_err("watching a socket of device %s on worker %u: %s", dev->name,
				w->index, strerror(errno));
		}
	}
	return err;
}

struct attach {
	struct rxe_dev *dev;
	int err;
};

static void attach_dev(struct rxe_worker *w, void *arg)
{
	struct attach *call = arg;
	struct attached *devs = realloc(w->devs, (w->ndevs + 1) * sizeof(*devs)), *a;

	if (!devs) {
		call->err = -ENOMEM;
		return;
	}
	w->devs = devs;
	a = &devs[w->ndevs++];
	a->dev = call->dev;
	a->npfd = 0;
	call->err = watch_sockets(w, a);
}

static void attach_queues(struct rxe_worker *w, void *arg)
{
	for (uint32_t i = 0; i < w->ndevs; i++)
		if (w->devs[i].dev == arg)
			watch_sockets(w, &w->devs[i]);
}

static void detach_dev(struct rxe_worker *w, void *arg)
{
	for (uint32_t i = 0; i < w->ndevs; i++) {
		struct attached *a = &w->devs[i];

		if (a->dev != arg)
			continue;
		for (int j = 0; j < a->npfd; j++)
			epoll_ctl(w->epfd, EPOLL_CTL_DEL, a->pfd[j].fd, NULL);
		/* The control worker let go first: nothing of dev is relayed after this. */
		take_relayed(w, UINT32_MAX);
		rxe_engine_forget_hca(w->engine, &a->dev->hca);
		*a = w->devs[--w->ndevs];
		return;
	}
}

int rxe_workers_attach(struct rxe_dev *dev)
{
	struct attach call = {.dev = dev};

	for (uint32_t i = 0; i < rxed.nr_workers && !call.err; i++)
		rxe_worker_call(rxed.workers[i], attach_dev, &call);
	if (call.err)
		rxe_workers_detach(dev);
	return call.err;
}

void rxe_workers_attach_queues(struct rxe_dev *dev)
{
	for (uint32_t i = 0; i < rxed.nr_workers; i++)
		rxe_worker_call(rxed.workers[i], attach_queues, dev);
}

void rxe_workers_detach(struct rxe_dev *dev)
{
	for (uint32_t i = 0; i < rxed.nr_workers; i++)
		rxe_worker_call(rxed.workers[i], detach_dev, dev);
}

uint64_t rxe_workers_counter(const struct rxe_dev *dev, enum rxe_hw_counter c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rxed.nr_workers; i++) {
		const uint64_t *v = rxe_engine_counters(rxed.workers[i]->engine, &dev->hca);

		if (v)
			sum += __atomic_load_n(&v[c], __ATOMIC_RELAXED);
	}
	return sum;
}

/* ---- the loop -------------------------------------------------------------------- */

static void refresh_params(struct rxe_worker *w)
{
	struct rxe_engine_params *p = rxe_engine_params(w->engine);

	p->crc_disable = rxe_param(rxed.params, RXE_PARAM_CRC_DISABLE);
	p->fast_comp = rxe_param(rxed.params, RXE_PARAM_FAST_COMP);
	p->fast_req = rxe_param(rxed.params, RXE_PARAM_FAST_REQ);
	p->fast_resp = rxe_param(rxed.params, RXE_PARAM_FAST_RESP);
	p->fast_arb = rxe_param(rxed.params, RXE_PARAM_FAST_ARB);
	p->nsec_per_packet = rxe_param(rxed.params, RXE_PARAM_NSEC_PER_PACKET);
	p->nsec_per_kbyte = rxe_param(rxed.params, RXE_PARAM_NSEC_PER_KBYTE);
	p->max_packet_per_ack = rxe_param(rxed.params, RXE_PARAM_MAX_PACKET_PER_ACK);
	p->max_skb_per_qp = rxe_param(rxed.params, RXE_PARAM_MAX_SKB_PER_QP);
	p->max_req_comp_gap = rxe_param(rxed.params, RXE_PARAM_MAX_REQ_COMP_GAP);
}

/* One turn; true when anything was done or more is ready. */
static bool turn(struct rxe_worker *w)
{
	uint32_t work;
	bool more;

	refresh_params(w);
	rxe_engine_set_now(w->engine, rxe_now_ns());
	work = run_mailbox(w);
	for (uint32_t i = 0; i < w->ndevs; i++) {
		struct rxe_dev *dev = w->devs[i].dev;

		work += dev->dp_ops->rx_burst(dev->dp, w->index, RX_BUDGET);
	}
	work += take_relayed(w, RX_BUDGET);
	work += rxe_mem_reap(w->memq);
	work += rxe_doorbells_scan(&w->doorbells);
	more = rxe_engine_run(w->engine, TX_BUDGET);
	for (uint32_t i = 0; i < w->ndevs; i++) {
		struct rxe_dev *dev = w->devs[i].dev;

		rxe_engine_burst_end(w->engine, &dev->hca);
		dev->dp_ops->flush(dev->dp, w->index);
	}
	return work || more;
}

static bool must_stay_awake(struct rxe_worker *w)
{
	if (mailbox_pending(w) || rxe_mem_queue_pending(w->memq) ||
	    __atomic_load_n(&w->stop, __ATOMIC_RELAXED))
		return true;
	if (rxe_doorbells_pending(&w->doorbells) || rxe_relay_pending(&w->relay))
		return true;
	for (uint32_t i = 0; i < w->ndevs; i++)
		if (w->devs[i].dev->dp_ops->pending(w->devs[i].dev->dp, w->index))
			return true;
	return false;
}

static void wait_events(struct rxe_worker *w)
{
	uint64_t due = rxe_engine_next_timer(w->engine), now = rxe_now_ns(), n;
	struct epoll_event ev[EPOLL_BATCH];
	struct timespec ts = {0, 0}, *timeout = &ts;
	int got;

	if (due == UINT64_MAX) {
		timeout = NULL;
	} else if (due > now) {
		ts.tv_sec = (due - now) / 1000000000ull;
		ts.tv_nsec = (due - now) % 1000000000ull;
	}
	rxe_rcu_offline();
	got = epoll_pwait2(w->epfd, ev, EPOLL_BATCH, timeout, NULL);
	rcu_thread_online();
	for (int i = 0; i < got; i++) {
		if (ev[i].data.ptr == w) {
			if (read(w->wakefd, &n, sizeof(n)) < 0)
				continue;
		} else if (ev[i].data.ptr) {
			rxe_doorbell_rang(&w->doorbells, ev[i].data.ptr);
		}
	}
}

static void sleep_a_while(struct rxe_worker *w)
{
	rxe_doorbells_need_wakeup(&w->doorbells, true);
	__atomic_store_n(&w->sleeping, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (must_stay_awake(w))
		sched_yield(); /* perhaps to the worker that it waits for */
	else
		wait_events(w);
	__atomic_store_n(&w->sleeping, 0, __ATOMIC_RELAXED);
	rxe_doorbells_need_wakeup(&w->doorbells, false);
}

/*
 * Nothing to do: yield for a while, since the next packet is often near, then
 * sleep. A yield that took long gave the processor to somebody who spins on it
 * and will again: sleeping is then the faster way to be scheduled, because a
 * wake-up preempts.
 */
static void idle(struct rxe_worker *w, uint64_t last_work)
{
	uint64_t now = rxe_now_ns(), after;

	if (now - last_work > w->poll_ns || now < w->no_yield_until) {
		sleep_a_while(w);
		return;
	}
	sched_yield();
	after = rxe_now_ns();
	if (after - now > YIELD_TOO_LONG_NS)
		w->no_yield_until = after + NO_YIELD_NS;
}

/*
 * A short slice: woken, the worker is due before a program that spins with the
 * usual one (EEVDF takes it from 6.12 on; before, the kernel ignores it).
 */
static void ask_for_short_slice(void)
{
	struct rxe_sched_attr a = {
		.size = sizeof(a), .sched_policy = SCHED_OTHER, .sched_runtime = SLICE_NS};

	if (syscall(SYS_sched_setattr, 0, &a, 0))
		log_debug("asking for a short time slice: %s", strerror(errno));
}

static void *worker_main(void *arg)
{
	struct rxe_worker *w = arg;
	uint64_t last_work = rxe_now_ns();

	ask_for_short_slice();
	rcu_register_thread();
	while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
		if (turn(w))
			last_work = rxe_now_ns();
		else
			idle(w, last_work);
		rxe_rcu_quiescent();
	}
	rcu_unregister_thread();
	return NULL;
}

static void worker_free(struct rxe_worker *w)
{
	if (w->engine)
		rxe_engine_free(w->engine);
	if (w->memq)
		rxe_mem_queue_free(w->memq);
	if (w->epfd >= 0)
		close(w->epfd);
	if (w->wakefd >= 0)
		close(w->wakefd);
	rxe_doorbells_free(&w->doorbells);
	rxe_relay_fini(&w->relay);
	free(w->devs);
	free(w);
}

static struct rxe_worker *worker_new(uint32_t index, uint32_t poll_us)
{
	struct rxe_worker *w = aligned_alloc(64, (sizeof(*w) + 63) & ~63ul);
	struct rxe_mem_waker waker = {.wake = wake, .arg = w};
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = w};

	if (!w)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->index = index;
	w->poll_ns = (uint64_t)poll_us * 1000;
	w->calls_tail = &w->calls;
	pthread_mutex_init(&w->lock, NULL);
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	w->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->engine = rxe_engine_new(&engine_ops, w);
	w->memq = rxe_mem_queue_new(&waker);
	if (w->epfd < 0 || w->wakefd < 0 || !w->engine || !w->memq || rxe_relay_init(&w->relay) ||
	    epoll_ctl(w->epfd, EPOLL_CTL_ADD, w->wakefd, &ev)) {
		worker_free(w);
		return NULL;
	}
	return w;
}

int rxe_workers_start(uint32_t n, uint32_t poll_us)
{
	char name[16];

	rxed.workers = calloc(n, sizeof(*rxed.workers));
	if (!rxed.workers)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct rxe_worker *w = worker_new(i, poll_us);
		int err = w ? pthread_create(&w->thread, NULL, worker_main, w) : ENOMEM;

		if (err) {
			log_err("starting worker %u: %s", i, strerror(err));
			if (w)
				worker_free(w);
			rxe_workers_stop();
			return -err;
		}
		snprintf(name, sizeof(name), "rxed/%u", i);
		pthread_setname_np(w->thread, name);
		rxed.workers[i] = w;
		rxed.nr_workers = i + 1;
	}
	return 0;
}

static void stop_worker(struct rxe_worker *w, void *arg)
{
	(void)arg;
	__atomic_store_n(&w->stop, true, __ATOMIC_RELAXED);
}

void rxe_workers_stop(void)
{
	for (uint32_t i = 0; i < rxed.nr_workers; i++) {
		struct rxe_worker *w = rxed.workers[i];

		rxe_worker_call(w, stop_worker, NULL);
		pthread_join(w->thread, NULL);
		worker_free(w);
	}
	rxed.nr_workers = 0;
	free(rxed.workers);
	rxed.workers = NULL;
}
