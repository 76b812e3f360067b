/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The control loop: timers in order, tasks from other threads, safe removal. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "loop.h"

static struct rxe_loop *loop;
static int order[4], norder;

struct numbered {
	struct rxe_timer t;
	int n;
};

static void note(struct rxe_timer *t)
{
	order[norder++] = ((struct numbered *)t)->n;
	if (norder == 2)
		rxe_loop_stop(loop);
}

static void timers_run_in_order_and_cancel(void **state)
{
	struct numbered a = {{.cb = note}, 1}, b = {{.cb = note}, 2}, c = {{.cb = note}, 3};

	(void)state;
	norder = 0;
	rxe_loop_timer(loop, &b.t, 3000000);
	rxe_loop_timer(loop, &c.t, 2000000);
	rxe_loop_timer(loop, &a.t, 1000000);
	rxe_loop_cancel(loop, &c.t);
	rxe_loop_cancel(loop, &c.t);
	assert_int_equal(rxe_loop_run(loop), 0);
	assert_int_equal(norder, 2);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 2);
}

static void stop_task(struct rxe_task *t)
{
	(void)t;
	rxe_loop_stop(loop);
}

static void *poster(void *arg)
{
	rxe_loop_post(loop, arg);
	return NULL;
}

static void a_task_of_another_thread_runs(void **state)
{
	struct rxe_task task = {.cb = stop_task};
	pthread_t t;

	(void)state;
	pthread_create(&t, NULL, poster, &task);
	assert_int_equal(rxe_loop_run(loop), 0);
	pthread_join(t, NULL);
}

static struct rxe_watch w1, w2;
static int calls;

/* Whichever comes first removes the other, which must then not be called. */
static void remove_other(struct rxe_watch *w, uint32_t events)
{
	struct rxe_watch *other = w == &w1 ? &w2 : &w1;

	(void)events;
	calls++;
	rxe_loop_del(loop, other);
	rxe_loop_del(loop, w);
	rxe_loop_stop(loop);
}

static void a_removed_watch_is_not_called(void **state)
{
	(void)state;
	w1 = (struct rxe_watch){.fd = eventfd(1, 0), .cb = remove_other, .events = EPOLLIN};
	w2 = (struct rxe_watch){.fd = eventfd(1, 0), .cb = remove_other, .events = EPOLLIN};
	rxe_loop_add(loop, &w1);
	rxe_loop_add(loop, &w2);
	assert_int_equal(rxe_loop_run(loop), 0);
	assert_int_equal(calls, 1);
	close(w1.fd);
	close(w2.fd);
}

static int setup(void **state)
{
	(void)state;
	loop = rxe_loop_new();
	return loop ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	rxe_loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_run_in_order_and_cancel),
		cmocka_unit_test(a_task_of_another_thread_runs),
		cmocka_unit_test(a_removed_watch_is_not_called),
	};

	return cmocka_run_group_tests_name("loop", tests, setup, teardown);
}
