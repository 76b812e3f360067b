// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which paths are ours, and what becomes of them: a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "verbs/internal.h"

static char dir[] = "/tmp/rxe_paths_test_XXXXXX";

static const char *const made[] = {
	"/sys",
	"/sys/class",
	"/sys/class/infiniband",
	"/sys/class/infiniband/rxe0",
	"/sys/class/infiniband_verbs",
	"/sys/class/infiniband_verbs/uverbs0",
	"/sys/class/infiniband_verbs/uverbs0/dev",
	"/sys/class/infiniband_verbs/uverbs12",
	"/sys/class/infiniband_verbs/uverbs12/dev",
	"/sys/class/infiniband_verbs/abi_version",
	"/sys/class/misc",
	"/sys/class/misc/rdma_cm",
	"/sys/class/misc/rdma_cm/dev",
	"/sys/module",
	"/sys/module/rdma_rxe",
	"/sys/module/rdma_rxe/parameters",
	"/sys/module/rdma_rxe/parameters/max_qp",
	"/sys/module/rdma_rxe_net",
	"/sys/module/rdma_rxe_net/parameters",
	"/sys/module/rdma_rxe_net/parameters/mtu",
};
#define NR_MADE (sizeof(made) / sizeof(made[0]))

static const struct {
	const char *path;
	enum rxe_path_kind kind;
	const char *becomes; /* below the run directory */
	int minor;
} cases[] = {
	{"/sys/class/infiniband", RXE_PATH_SYSFS, "/sys/class/infiniband", 0},
	{"/sys/class/infiniband/", RXE_PATH_SYSFS, "/sys/class/infiniband/", 0},
	{"/sys/class/infiniband/rxe0/", RXE_PATH_SYSFS, "/sys/class/infiniband/rxe0/", 0},
	{"/sys//class/infiniband//rxe0/ports//", RXE_PATH_SYSFS,
	 "/sys/class/infiniband/rxe0/ports/", 0},
	{"/sys/module/rdma_rxe/parameters", RXE_PATH_SYSFS, "/sys/module/rdma_rxe/parameters", 0},
	{"/sys/module/rdma_rxe/parameters/max_qp", RXE_PATH_PARAM,
	 "/sys/module/rdma_rxe/parameters/max_qp", 0},
	{"/sys/module/rdma_rxe_net/parameters/mtu", RXE_PATH_PARAM,
	 "/sys/module/rdma_rxe_net/parameters/mtu", 0},
	{"/sys/module/rdma_rxe2/parameters/mtu", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/infiniband/rxe0", RXE_PATH_SYSFS, "/sys/class/infiniband/rxe0", 0},
	{"/sys/class/infiniband/rxe0/ports/1/state", RXE_PATH_SYSFS,
	 "/sys/class/infiniband/rxe0/ports/1/state", 0},
	{"/sys//class/./infiniband///rxe0/x", RXE_PATH_SYSFS, "/sys/class/infiniband/rxe0/x", 0},
	{"//sys/class/infiniband_verbs/abi_version", RXE_PATH_SYSFS,
	 "/sys/class/infiniband_verbs/abi_version", 0},
	/* another's device stays the kernel's */
	{"/sys/class/infiniband/mlx5_0/ports", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/infiniband/rxe", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/infiniband/rxe00", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/infiniband_mad/umad0", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/misc/rdma_cm/abi_version", RXE_PATH_SYSFS,
	 "/sys/class/misc/rdma_cm/abi_version", 0},
	{"/sys/class/misc/rdma", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/infiniband/../net/lo", RXE_PATH_NATIVE, NULL, 0},
	{"/sys/class/net/lo", RXE_PATH_NATIVE, NULL, 0},
	{"sys/class/infiniband", RXE_PATH_NATIVE, NULL, 0},
	{"", RXE_PATH_NATIVE, NULL, 0},
	{"/", RXE_PATH_NATIVE, NULL, 0},
	{NULL, RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/uverbs0", RXE_PATH_NODE, NULL, 0},
	{"/dev//infiniband/uverbs12", RXE_PATH_NODE, NULL, 12},
	{"/dev/infiniband/uverbs1", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/uverbs00", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/uverbs0x", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/uverbs", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/uverbs99999999999", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/infiniband/rdma_cm", RXE_PATH_NODE, NULL, RXE_NODE_RDMA_CM},
	{"/dev/infiniband/rdma_cm0", RXE_PATH_NATIVE, NULL, 0},
	{"/dev/null", RXE_PATH_NATIVE, NULL, 0},
};

static int listener = -1;
static pid_t hangs_up;

static void daemon_starts(void)
{
	listener = rxe_ipc_listen(dir, 64);
	assert_true(listener >= 0);
	hangs_up = fork();
	assert_true(hangs_up >= 0);
	while (!hangs_up) /* whoever asks for a fresh value hears nothing and goes on */
		close(accept(listener, NULL, NULL));
}

/* As by kill -9: the socket's file stays. */
static void daemon_dies(void)
{
	kill(hangs_up, SIGKILL);
	waitpid(hangs_up, NULL, 0);
	close(listener);
	listener = -1;
}

static void paths_become_what_the_table_says(void **state)
{
	char want[512];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rxe_path p = {.minor = -1};

		errno = 4711;
		if (rxe_path_classify(cases[i].path, &p) != cases[i].kind)
			fail_msg("%s: kind %d, not %d", cases[i].path, p.kind, cases[i].kind);
		assert_int_equal(errno, 4711);
		if (p.kind == RXE_PATH_NODE)
			assert_int_equal(p.minor, cases[i].minor);
		if (p.kind != RXE_PATH_SYSFS && p.kind != RXE_PATH_PARAM)
			continue;
		strcpy(want, dir);
		strcat(want, cases[i].becomes);
		assert_string_equal(p.buf, want);
	}
}

static void long_paths_are_native(void **state)
{
	char path[4096] = "/sys/class/infiniband/rxe0/";
	struct rxe_path p;

	(void)state;
	memset(path + strlen(path), 'x', 4000);
	path[4095] = '\0';
	assert_int_equal(rxe_path_classify(path, &p), RXE_PATH_NATIVE);
	path[360] = '\0';
	assert_int_equal(rxe_path_classify(path, &p), RXE_PATH_SYSFS);
}

/* What the library writes to stderr while fn() runs. */
static void stderr_of(void (*fn)(void), char *text, size_t size)
{
	int saved = dup(STDERR_FILENO), p[2];
	ssize_t n;

	assert_int_equal(pipe(p), 0);
	dup2(p[1], STDERR_FILENO);
	fn();
	dup2(saved, STDERR_FILENO);
	close(p[1]);
	n = read(p[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(p[0]);
	close(saved);
}

static void sysfs_is_native(void)
{
	struct rxe_path p;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (cases[i].kind == RXE_PATH_SYSFS)
			assert_int_equal(rxe_path_classify(cases[i].path, &p), RXE_PATH_NATIVE);
}

/* The tree of a killed daemon: no devices, and one line that says why. */
static void a_dead_daemons_tree_is_nothing(void **state)
{
	struct rxe_path p;
	char said[1024];

	(void)state;
	daemon_dies();
	sleep(1); /* that it lived holds as long */
	stderr_of(sysfs_is_native, said, sizeof(said));
	assert_non_null(strstr(said, "no rxed is running"));
	assert_non_null(strstr(said, dir));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	/* to fail when it is opened, rather than open one of the kernel's */
	assert_int_equal(rxe_path_classify("/dev/infiniband/uverbs0", &p), RXE_PATH_NODE);
	stderr_of(sysfs_is_native, said, sizeof(said));
	assert_string_equal(said, "");
	daemon_starts();
	assert_int_equal(rxe_path_classify("/sys/class/infiniband", &p), RXE_PATH_SYSFS);
}

static int make_tree(void **state)
{
	char path[512];

	(void)state;
	for (size_t i = 0; i < NR_MADE; i++) {
		strcpy(path, dir);
		strcat(path, made[i]);
		if (mkdir(path, 0755))
			return -1;
	}
	daemon_starts();
	return 0;
}

static int remove_tree(void **state)
{
	char path[512];

	(void)state;
	daemon_dies();
	strcpy(path, dir);
	strcat(path, "/" RXE_SOCKET_NAME);
	unlink(path);
	for (size_t i = NR_MADE; i-- > 0;) {
		strcpy(path, dir);
		strcat(path, made[i]);
		rmdir(path);
	}
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_become_what_the_table_says),
		cmocka_unit_test(long_paths_are_native),
		cmocka_unit_test(a_dead_daemons_tree_is_nothing),
	};

	(void)argc;
	if (!getenv("RXE_PATHS_TEST")) { /* the library reads RXE_RUNDIR at start */
		if (!mkdtemp(dir) || setenv("RXE_RUNDIR", dir, 1) ||
		    setenv("RXE_PATHS_TEST", "1", 1))
			return 1;
		execv("/proc/self/exe", argv);
		return 1;
	}
	strcpy(dir, getenv("RXE_RUNDIR"));
	return cmocka_run_group_tests(tests, make_tree, remove_tree) != 0;
}
