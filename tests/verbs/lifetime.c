// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A command descriptor under everything that programs do to descriptors and
 * to themselves: copies, ranges, threads, fork, vfork, signals, and a daemon
 * that dies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include "fake_rxed.h"

static void answers(int fd)
{
	assert_int_equal(fake_call(fd, FAKE_ECHO, 4711, 0), 4711);
}

/* The daemon hears of an end by itself, perhaps after the next request. */
static void contexts_become(int n)
{
	for (int i = 0; i < 10000 && fake_call(fake_cmd, FAKE_CONTEXTS, 0, 0) != n; i++)
		usleep(1000);
	assert_int_equal(fake_call(fake_cmd, FAKE_CONTEXTS, 0, 0), n);
}

static int open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* ---- copies --------------------------------------------------------------------------- */

static void the_last_copy_ends_the_context(void **state)
{
	int fds[6], before = open_descriptors();

	(void)state;
	fds[0] = open(FAKE_NODE, O_RDWR);
	fds[1] = dup(fds[0]);
	fds[2] = fcntl(fds[0], F_DUPFD, 100);
	fds[3] = dup2(fds[0], 120);
	fds[4] = dup3(fds[1], 121, O_CLOEXEC);
	fds[5] = fcntl(fds[4], F_DUPFD_CLOEXEC, 100);
	for (int i = 0; i < 6; i++) {
		assert_true(fds[i] >= 0);
		answers(fds[i]);
		assert_int_equal(fake_call(fake_cmd, FAKE_CONTEXTS, 0, 0), 2);
		close(fds[i]);
	}
	contexts_become(1);
	assert_int_equal(open_descriptors(), before);
}

static void a_number_may_be_taken_over(void **state)
{
	int fd = open(FAKE_NODE, O_RDWR), p[2];
	char buf[sizeof(struct fake_request)] = "x";

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(dup2(p[1], fd), fd);
	assert_int_equal(write(fd, buf, sizeof(buf)), sizeof(buf));
	assert_int_equal(read(p[0], buf, sizeof(buf)), sizeof(buf));
	contexts_become(1);
	close(p[0]);
	close(p[1]);
	close(fd);
}

static void a_close_behind_our_back_is_noticed(void **state)
{
	int fd = open(FAKE_NODE, O_RDWR), null;

	(void)state;
	syscall(SYS_close, fd);
	null = open("/dev/null", O_WRONLY);
	assert_int_equal(null, fd);
	assert_int_equal(write(null, "hello", 5), 5);
	close(null);
}

static void ring(int fd, uint32_t qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint64_t response;
		uint32_t qp_handle, wr_count, sge_count, wqe_size;
	} q = {{IB_USER_VERBS_CMD_POST_SEND, sizeof(q) / 4, 0}, 0, qp, 0, 0, 208};

	assert_int_equal(write(fd, &q, sizeof(q)), sizeof(q));
}

static void doorbells_wake(int fd)
{
	fake_call(fd, FAKE_NEED_WAKEUP, 0, 1);
	ring(fd, 2);
	assert_int_equal(fake_call(fd, FAKE_WAKEUPS, 0, 0), 1);
	fake_call(fd, FAKE_NEED_WAKEUP, 0, 0);
}

/* The number of one of the library's own eventfds. */
static int find_private(void)
{
	char path[64], what[64];
	ssize_t n;

	for (int fd = 0; fd < 8192; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, what, sizeof(what) - 1);
		what[n > 0 ? n : 0] = '\0';
		if (strstr(what, "eventfd"))
			return fd;
	}
	return -1;
}

static void our_own_descriptors_survive(void **state)
{
	int fd = open(FAKE_NODE, O_RDWR), mine, p[2];

	(void)state;
	mine = find_private();
	assert_true(mine > fd);
	assert_int_equal(close(mine), -1);
	assert_int_equal(errno, EBADF);
	doorbells_wake(fd);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(dup2(p[1], mine), mine);
	doorbells_wake(fd);
	doorbells_wake(fake_cmd);
	assert_int_equal(write(mine, "x", 1), 1);
	close(mine);
	close(fd);
	close(p[0]);
	close(p[1]);
}

static void ranges_end_contexts_only(void **state)
{
	int low = fcntl(fake_cmd, F_DUPFD, 200), fd = fcntl(0, F_DUPFD, 210);

	(void)state;
	assert_int_equal(close_range(200, ~0u, 0), 0);
	assert_int_equal(fcntl(low, F_GETFD), -1);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	answers(fake_cmd);
	doorbells_wake(fake_cmd);
	fd = fcntl(fake_cmd, F_DUPFD, 200);
	closefrom(200);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	answers(fake_cmd);
	doorbells_wake(fake_cmd);
}

/* ---- threads --------------------------------------------------------------------------- */

#define THREADS 8
#define CALLS	400

static void *call_many(void *arg)
{
	uintptr_t id = (uintptr_t)arg << 32, wrong = 0;

	for (unsigned int i = 0; i < CALLS; i++)
		wrong += fake_call(fake_cmd, FAKE_ECHO, id | i, 0) != (int64_t)(id | i);
	return (void *)wrong;
}

static void threads_get_their_own_answers(void **state)
{
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_many, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
}

static atomic_int churn_stop;

static void *churn(void *arg)
{
	while (!churn_stop) {
		int fd = dup(fake_cmd);

		fake_call(fd, FAKE_ECHO, 1, 0);
		close(fd);
	}
	return arg;
}

static void copies_come_and_go_in_threads(void **state)
{
	pthread_t threads[4];

	(void)state;
	churn_stop = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int i = 0; i < CALLS; i++)
		answers(fake_cmd);
	churn_stop = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	contexts_become(1);
}

/* ---- processes --------------------------------------------------------------------------- */

static int wait_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void a_child_gets_its_own_answers(void **state)
{
	int64_t before = fake_call(fake_cmd, FAKE_ASIDE, 0, 0);
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(call_many((void *)99) != NULL);
	assert_null(call_many((void *)98));
	assert_int_equal(wait_status(pid), 0);
	assert_int_equal(fake_call(fake_cmd, FAKE_ASIDE, 0, 0), before + CALLS);
}

/* fork() while other threads hold the connection's lock must not stop the child. */
static void a_child_of_a_busy_process_works(void **state)
{
	pthread_t thread;
	pid_t pid;

	(void)state;
	churn_stop = 0;
	pthread_create(&thread, NULL, churn, NULL);
	for (int i = 0; i < 50; i++) {
		pid = fork();
		if (!pid) {
			alarm(20);
			_exit(fake_call(fake_cmd, FAKE_ECHO, i, 0) != i || close(fake_cmd) != 0);
		}
		assert_int_equal(wait_status(pid), 0);
	}
	churn_stop = 1;
	pthread_join(thread, NULL);
	answers(fake_cmd);
}

static void a_childs_copy_keeps_the_context(void **state)
{
	int fd = open(FAKE_NODE, O_RDWR), go[2];
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0 || fake_call(fd, FAKE_ECHO, 5, 0) != 5);
	}
	close(fd);
	assert_int_equal(fake_call(fake_cmd, FAKE_CONTEXTS, 0, 0), 2);
	close(go[0]);
	close(go[1]);
	assert_int_equal(wait_status(pid), 0);
	contexts_become(1);
}

static void a_child_opens_devices_too(void **state)
{
	pid_t pid = fork();
	int fd;

	(void)state;
	if (!pid) {
		fd = open(FAKE_NODE, O_RDWR);
		_exit(fd < 0 || fake_call(fd, FAKE_ECHO, 6, 0) != 6 ||
		      fake_call(fd, FAKE_ASIDE, 0, 0) != fake_call(fd, FAKE_ASIDE, 0, 0));
	}
	assert_int_equal(wait_status(pid), 0);
}

/* As Python's subprocess does it: vfork, close everything, exec. */
static void vfork_and_close_all_leaves_us_alone(void **state)
{
	pid_t pid = vfork();

	(void)state;
	if (!pid) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		close_range(3, ~0u, 0);
		dup2(1, fake_cmd);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	assert_int_equal(wait_status(pid), 0);
	answers(fake_cmd);
	doorbells_wake(fake_cmd);
}

/* ---- signals ---------------------------------------------------------------------------- */

static atomic_int handled, handled_wrong;

static void on_alarm(int sig)
{
	int saved = errno;

	(void)sig;
	handled_wrong += fake_call(fake_cmd, FAKE_ECHO, 31337, 0) != 31337;
	handled++;
	errno = saved;
}

static void a_handler_may_interrupt_a_call(void **state)
{
	struct sigaction sa = {.sa_handler = on_alarm};
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	uintptr_t wrong = 0;

	(void)state;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 200)
		wrong += (uintptr_t)call_many((void *)7);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(wrong, 0);
	assert_int_equal(handled_wrong, 0);
}

static void non_blocking_descriptors_wait(void **state)
{
	(void)state;
	fcntl(fake_cmd, F_SETFL, O_RDWR | O_NONBLOCK);
	assert_null(call_many((void *)3));
	fcntl(fake_cmd, F_SETFL, O_RDWR);
}

/* ---- the daemon's end --------------------------------------------------------------------- */

static void a_dead_daemon_is_an_error(void **state)
{
	pid_t child;
	int dup_fd = dup(fake_cmd);

	(void)state;
	signal(SIGPIPE, SIG_DFL); /* would kill this test */
	assert_int_equal(fake_call(fake_cmd, FAKE_DIE, 0, 0), -EIO);
	assert_int_equal(fake_call(fake_cmd, FAKE_ECHO, 1, 0), -EIO);
	assert_int_equal(fake_call(dup_fd, FAKE_ECHO, 1, 0), -EIO);
	child = fork();
	if (!child)
		_exit(fake_call(fake_cmd, FAKE_ECHO, 1, 0) != -EIO);
	assert_int_equal(wait_status(child), 0);
	assert_int_equal(open(FAKE_NODE, O_RDWR), -1);
	assert_int_equal(errno, ENXIO);
	assert_int_equal(close(dup_fd), 0);
}

static void a_new_daemon_serves_new_descriptors(void **state)
{
	int fd;

	(void)state;
	fake_rxed_stop(fake_daemon);
	fake_daemon = fake_rxed_start();
	fd = open(FAKE_NODE, O_RDWR);
	answers(fd);
	assert_int_equal(fake_call(fake_cmd, FAKE_ECHO, 1, 0), -EIO);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_copy_ends_the_context),
		cmocka_unit_test(a_number_may_be_taken_over),
		cmocka_unit_test(a_close_behind_our_back_is_noticed),
		cmocka_unit_test(our_own_descriptors_survive),
		cmocka_unit_test(ranges_end_contexts_only),
		cmocka_unit_test(threads_get_their_own_answers),
		cmocka_unit_test(copies_come_and_go_in_threads),
		cmocka_unit_test(a_child_gets_its_own_answers),
		cmocka_unit_test(a_child_of_a_busy_process_works),
		cmocka_unit_test(a_childs_copy_keeps_the_context),
		cmocka_unit_test(a_child_opens_devices_too),
		cmocka_unit_test(vfork_and_close_all_leaves_us_alone),
		cmocka_unit_test(a_handler_may_interrupt_a_call),
		cmocka_unit_test(non_blocking_descriptors_wait),
		cmocka_unit_test(a_dead_daemon_is_an_error),
		cmocka_unit_test(a_new_daemon_serves_new_descriptors),
	};

	(void)argc;
	return FAKE_RUN(argv, tests);
}
