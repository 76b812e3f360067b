/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Workers that cannot take a device up, or watch a doorbell, say so. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "gsi.h"
#include "params.h"
#include "rxed.h"
#include "worker.h"

struct rxed rxed;

/* ---- what a worker calls: nothing here that is called in these tests --------------- */

uint32_t rxe_param(struct rxe_params *p, enum rxe_param_id id)
{
	(void)p;
	(void)id;
	return 1;
}

void rxe_uverbs_cq_event(struct rxe_cq *cq)
{
	(void)cq;
}

void rxe_uverbs_async_event(enum rxe_event_kind kind, void *obj)
{
	(void)kind;
	(void)obj;
}

void rxe_uverbs_qp_released(struct rxe_qp *qp)
{
	(void)qp;
}

void rxe_gsi_received(struct rxe_hca *hca, const struct rxe_pkt *pkt)
{
	(void)hca;
	(void)pkt;
}

/* ---- a datapath with one socket a worker ---------------------------------------------- */

static int sock[2];
static uint32_t bursts;

static int pollfds(struct rxe_dp *dp, uint32_t worker, struct pollfd *fds, int max)
{
	(void)dp;
	(void)max;
	fds[0] = (struct pollfd){.fd = sock[worker], .events = POLLIN};
	return 1;
}

static uint32_t rx_burst(struct rxe_dp *dp, uint32_t worker, uint32_t budget)
{
	(void)dp;
	(void)worker;
	(void)budget;
	__atomic_fetch_add(&bursts, 1, __ATOMIC_RELAXED);
	return 0;
}

static void flush(struct rxe_dp *dp, uint32_t worker)
{
	(void)dp;
	(void)worker;
}

static bool pending(struct rxe_dp *dp, uint32_t worker)
{
	(void)dp;
	(void)worker;
	return false;
}

static const struct rxe_dp_ops ops = {
	.pollfds = pollfds, .rx_burst = rx_burst, .flush = flush, .pending = pending};

/* ---- failures at a chosen call --------------------------------------------------------- */

static int no_memory_in = -1, no_watch_in = -1; /* calls until one fails; -1: never */

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
int __real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);

void *__wrap_realloc(void *p, size_t n)
{
	return no_memory_in >= 0 && !no_memory_in-- ? NULL : __real_realloc(p, n);
}

int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	if (op != EPOLL_CTL_ADD || no_watch_in < 0 || no_watch_in--)
		return __real_epoll_ctl(epfd, op, fd, ev);
	errno = ENOSPC;
	return -1;
}

static void turn(struct rxe_worker *w, void *arg)
{
	(void)w;
	(void)arg;
}

/* Whether any worker still looks at the device in its turns. */
static bool is_served(void)
{
	for (int round = 0; round < 2; round++) {
		if (round)
			__atomic_store_n(&bursts, 0, __ATOMIC_RELAXED);
		for (int i = 0; i < 3; i++)
			for (uint32_t w = 0; w < rxed.nr_workers; w++)
				rxe_worker_call(rxed.workers[w], turn, NULL);
	}
	return __atomic_load_n(&bursts, __ATOMIC_RELAXED) != 0;
}

static void a_device_is_served_by_all_or_none(void **state)
{
	struct rxe_dev dev = {.name = "rxe0", .dp_ops = &ops};

	(void)state;
	for (int nth = 0; nth < 2; nth++) {
		no_memory_in = nth;
		assert_int_equal(rxe_workers_attach(&dev), -ENOMEM);
		assert_false(is_served());
		no_watch_in = nth;
		assert_int_equal(rxe_workers_attach(&dev), -ENOSPC);
		assert_false(is_served());
	}
	assert_int_equal(rxe_workers_attach(&dev), 0);
	assert_true(is_served());
	rxe_workers_detach(&dev);
	assert_false(is_served());
}

static int setup(void **state)
{
	(void)state;
	sock[0] = eventfd(0, 0);
	sock[1] = eventfd(0, 0);
	return rxe_workers_start(2, 0);
}

static int teardown(void **state)
{
	(void)state;
	rxe_workers_stop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_served_by_all_or_none),
	};

	return cmocka_run_group_tests_name("worker", tests, setup, teardown);
}
