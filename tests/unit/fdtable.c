// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The descriptor table by itself: numbers, references, and lookups that race
 * with changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include "verbs/internal.h"

/* A file without connection or daemon. */
static struct rxe_file *make(void)
{
	struct rxe_file *file = rxe_file_new(RXE_FILE_COMMAND);

	assert_non_null(file);
	assert_int_equal(rxe_conn_init(&file->conn, -1), 0);
	return file;
}

static void a_number_stands_for_a_file(void **state)
{
	struct rxe_file *file = make(), *found;

	(void)state;
	assert_false(rxe_fd_tracked(5));
	assert_int_equal(rxe_fd_install(5, file), 0);
	assert_true(rxe_fd_tracked(5));
	found = rxe_file_get(5, RXE_FILE_COMMAND);
	assert_ptr_equal(found, file);
	rxe_file_put(found);
	assert_null(rxe_file_get(5, RXE_FILE_CHANNEL));
	assert_null(rxe_file_get(6, -1));
	assert_int_equal(atomic_load(&file->refs), 2);
	rxe_fd_forget(5);
	assert_false(rxe_fd_tracked(5));
	assert_int_equal(atomic_load(&file->refs), 1);
	rxe_file_put(file);
}

static void odd_numbers_are_nobodys(void **state)
{
	static const int odd[] = {-1, INT_MIN, INT_MAX, RXE_FD_CHUNK * RXE_FD_CHUNKS};
	struct rxe_file *file = make();

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		assert_false(rxe_fd_tracked(odd[i]));
		assert_null(rxe_file_get(odd[i], -1));
		assert_int_equal(rxe_fd_install(odd[i], file), -EMFILE);
		rxe_fd_forget(odd[i]);
	}
	assert_int_equal(rxe_fd_install(RXE_FD_CHUNK * RXE_FD_CHUNKS - 1, file), 0);
	assert_int_equal(rxe_fd_next(0, INT_MAX), RXE_FD_CHUNK * RXE_FD_CHUNKS - 1);
	rxe_fd_forget(RXE_FD_CHUNK * RXE_FD_CHUNKS - 1);
	assert_int_equal(rxe_fd_next(0, INT_MAX), -1);
	rxe_file_put(file);
}

static void copies_count(void **state)
{
	struct rxe_file *file = make(), *other = make();

	(void)state;
	rxe_fd_install(5, file);
	rxe_fd_copied(5, 5000);
	assert_int_equal(file->nr_fds, 2);
	rxe_fd_copied(5, 5); /* dup2(fd, fd) */
	assert_int_equal(file->nr_fds, 2);
	rxe_fd_install(7, other);
	rxe_fd_copied(5, 7); /* dup2 onto another of ours */
	assert_int_equal(other->nr_fds, 0);
	assert_int_equal(file->nr_fds, 3);
	rxe_fd_copied(3, 7); /* dup2 of a stranger */
	assert_false(rxe_fd_tracked(7));
	rxe_fd_forget(5);
	assert_int_equal(rxe_fd_of(file), 5000);
	rxe_fd_forget(5000);
	assert_int_equal(rxe_fd_of(file), -1);
	rxe_file_put(file);
	rxe_file_put(other);
}

static void memory_is_used_again(void **state)
{
	struct rxe_file *first = make(), *file;

	(void)state;
	rxe_file_put(first);
	for (int i = 0; i < 10000; i++) {
		file = make();
		assert_ptr_equal(file, first);
		rxe_file_put(file);
	}
}

static void private_numbers_move(void **state)
{
	struct rxe_file *file = make();
	int fd = rxe_fd_private(eventfd(0, EFD_CLOEXEC)), moved;

	(void)state;
	assert_true(rxe_fd_is_private(fd));
	file->doorbell.nr_workers = 1;
	file->doorbell.eventfd[0] = fd;
	rxe_fd_install(5, file);
	rxe_fd_private_move(fd);
	moved = file->doorbell.eventfd[0];
	assert_int_not_equal(moved, fd);
	assert_true(rxe_fd_is_private(moved));
	assert_false(rxe_fd_tracked(fd));
	assert_int_equal(fcntl(moved, F_GETFD), FD_CLOEXEC);
	rxe_fd_forget(5);
	rxe_file_put(file); /* has no doorbell pages: leaves the eventfd to us */
	rxe_fd_private_close(moved);
	assert_false(rxe_fd_tracked(moved));
	assert_int_equal(fcntl(moved, F_GETFD), -1);
}

static atomic_bool stop;
static atomic_ulong seen;

static void *look(void *arg)
{
	struct rxe_file *file;

	while (!atomic_load(&stop)) {
		file = rxe_file_get(9, -1);
		if (!file)
			continue;
		/* Held: it is alive and what it was installed as. */
		if (file->kind != RXE_FILE_COMMAND || file->minor != 42)
			return (void *)1;
		atomic_fetch_add(&seen, 1);
		rxe_file_put(file);
	}
	return arg;
}

static void lookups_race_with_changes(void **state)
{
	pthread_t threads[3];
	struct rxe_file *file, *decoy;
	void *wrong;

	(void)state;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, look, NULL);
	for (int i = 0; i < 20000 || (atomic_load(&seen) < 100 && i < 5000000); i++) {
		file = make();
		file->minor = 42;
		rxe_fd_install(9, file);
		rxe_file_put(file);
		rxe_fd_forget(9);
		decoy = make(); /* takes the memory of the one before, most likely */
		decoy->minor = 13;
		rxe_file_put(decoy);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	assert_true(atomic_load(&seen) >= 100);
}

static void fork_is_known_and_vfork_is_not(void **state)
{
	unsigned int generation = rxe_fork_generation();
	int status;
	pid_t pid;

	(void)state;
	assert_true(rxe_process_known());
	pid = fork();
	if (!pid)
		_exit(!rxe_process_known() || rxe_fork_generation() != generation + 1);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
#ifdef __SANITIZE_THREAD__ /* which makes a fork() of it */
	return;
#endif
	pid = vfork();
	if (!pid)
		_exit(rxe_process_known());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_stands_for_a_file),
		cmocka_unit_test(odd_numbers_are_nobodys),
		cmocka_unit_test(copies_count),
		cmocka_unit_test(memory_is_used_again),
		cmocka_unit_test(private_numbers_move),
		cmocka_unit_test(lookups_race_with_changes),
		cmocka_unit_test(fork_is_known_and_vfork_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
