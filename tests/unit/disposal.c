/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The disposal pool: it closes what it is given, never on the caller's thread,
 * and closes that hang neither delay the others nor are given more threads
 * than there may be.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "disposal.h"

#define FDS	1024
#define BOUND_S 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool hangs[FDS];
static unsigned int hanging, closed, on_caller;
static pthread_t caller;

/* In place of libc's: the file of a client that does not let go. */
int close(int fd)
{
	pthread_mutex_lock(&lock);
	on_caller += pthread_equal(pthread_self(), caller) != 0;
	if (hangs[fd]) {
		hanging++;
		pthread_cond_broadcast(&changed);
		while (hangs[fd])
			pthread_cond_wait(&changed, &lock);
		hanging--;
	}
	closed++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return (int)syscall(SYS_close, fd);
}

static bool reaches(const unsigned int *what, unsigned int value)
{
	struct timespec end;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += BOUND_S;
	pthread_mutex_lock(&lock);
	while (*what != value)
		if (pthread_cond_timedwait(&changed, &lock, &end))
			break;
	ok = *what == value;
	pthread_mutex_unlock(&lock);
	return ok;
}

static int a_file(bool hang)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_in_range(fd, 0, FDS - 1);
	pthread_mutex_lock(&lock);
	hangs[fd] = hang;
	pthread_mutex_unlock(&lock);
	return fd;
}

static void let_go(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FDS; i++)
		hangs[i] = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int setup(void **state)
{
	(void)state;
	caller = pthread_self();
	closed = on_caller = 0;
	return 0;
}

static void all_are_closed_elsewhere(void **state)
{
	(void)state;
	rxe_dispose_fd(-1);
	for (int i = 0; i < 300; i++)
		rxe_dispose_fd(a_file(false));
	assert_true(reaches(&closed, 300));
	assert_int_equal(on_caller, 0);
}

static void closes_that_hang_delay_no_other(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < RXE_DISPOSAL_MAX; i++) {
		rxe_dispose_fd(a_file(true));
		assert_true(reaches(&hanging, i));
		rxe_dispose_fd(a_file(false));
		assert_true(reaches(&closed, i));
	}
	let_go();
	assert_true(reaches(&closed, 2 * (RXE_DISPOSAL_MAX - 1)));
}

static void there_are_no_more_threads_than_may_be(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * RXE_DISPOSAL_MAX; i++)
		rxe_dispose_fd(a_file(true));
	rxe_dispose_fd(a_file(false));
	assert_true(reaches(&hanging, RXE_DISPOSAL_MAX));
	assert_int_equal(closed, 0);
	let_go();
	assert_true(reaches(&closed, 2 * RXE_DISPOSAL_MAX + 1));
	assert_int_equal(on_caller, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_are_closed_elsewhere, setup),
		cmocka_unit_test_setup(closes_that_hang_delay_no_other, setup),
		cmocka_unit_test_setup(there_are_no_more_threads_than_may_be, setup),
	};

	return cmocka_run_group_tests_name("disposal", tests, NULL, NULL);
}
