// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tunables tree: names of pin directories, values that survive, pins that
 * do not fit, ownership, clamping. The tests of the tree need root and bpffs
 * and are skipped without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/param_table.h"
#include "log.h"
#include "params.h"
#include "pin_tree.h"

static unsigned int warnings;

/* In place of log.c: counts. */
void rxe_log(struct rxe_log_site *site, enum rxe_log_level level, const char *fmt, ...)
{
	(void)site;
	(void)fmt;
	warnings += level <= RXE_LOG_WARN;
}

/* ---- names ------------------------------------------------------------------ */

static void pindir_is(const char *rundir, const char *want)
{
	char out[300];

	assert_int_equal(rxe_pindir(rundir, out, sizeof(out)), 0);
	assert_string_equal(out, want);
}

static void test_pindir(void **state)
{
	char out[24];

	(void)state;
	pindir_is("/nosuch/rxe", "/sys/fs/bpf/rxe");
	pindir_is("/nosuch/rxe//", "/sys/fs/bpf/rxe");
	pindir_is("host1", "/sys/fs/bpf/host1");
	pindir_is("/nosuch/a.b", "/sys/fs/bpf/a%2eb");
	assert_int_equal(rxe_pindir("", out, sizeof(out)), -EINVAL);
	assert_int_equal(rxe_pindir("///", out, sizeof(out)), -EINVAL);
	assert_int_equal(rxe_pindir("/nosuch/12345678901", out, sizeof(out)), 0);
	assert_int_equal(rxe_pindir("/nosuch/123456789012", out, sizeof(out)), -ENAMETOOLONG);
	assert_int_equal(rxe_pindir("/nosuch/123456789.", out, sizeof(out)), -ENAMETOOLONG);
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RXE_PARAM_COUNT; i++) {
		const struct rxe_param_desc *d = &rxe_param_table[i];

		assert_int_equal(rxe_param_find(d->name), i);
		assert_true(d->min <= d->def && d->def <= d->max);
		assert_true(strlen(d->help) > 0);
	}
	assert_int_equal(rxe_param_find("nosuch"), RXE_PARAM_COUNT);
}

/* ---- the tree ----------------------------------------------------------------- */

static char pindir[64], err_text[512];

static struct rxe_params *open_tree(void)
{
	struct rxe_params *p = NULL;

	if (rxe_params_open(pindir, &p, err_text, sizeof(err_text)))
		fail_msg("%s", err_text);
	return p;
}

static void pin_path(char *path, size_t size, enum rxe_param_id id)
{
	snprintf(path, size, "%s/parameters/%s", pindir, rxe_param_table[id].name);
}

static void set(enum rxe_param_id id, uint32_t value)
{
	char path[128];
	uint32_t zero = 0;
	int fd;

	pin_path(path, sizeof(path), id);
	fd = bpf_obj_get(path);
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_update_elem(fd, &zero, &value, BPF_ANY), 0);
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	snprintf(pindir, sizeof(pindir), RXE_BPFFS_ROOT "/rxeunit-%d", getpid());
	warnings = 0;
	return 0;
}

static int teardown(void **state)
{
	char path[128];

	(void)state;
	for (unsigned int i = 0; i < RXE_PARAM_COUNT; i++) {
		pin_path(path, sizeof(path), i);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/parameters", pindir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/lock", pindir);
	rmdir(path);
	rmdir(pindir);
	return 0;
}

static void needs_bpffs(void)
{
	if (geteuid() != 0 || !rxe_on_bpffs(RXE_BPFFS_ROOT))
		skip();
}

static void test_defaults(void **state)
{
	struct rxe_params *p;

	(void)state;
	needs_bpffs();
	p = open_tree();
	for (unsigned int i = 0; i < RXE_PARAM_COUNT; i++) {
		assert_int_equal(rxe_param(p, i), rxe_param_table[i].def);
		assert_true(rxe_param_fds(p)[i] >= 0);
	}
	rxe_params_close(p);
	assert_int_equal(warnings, 0);
}

/* A pin reads as a file only when its map has BTF. */
static void test_cat(void **state)
{
	struct rxe_params *p;
	char path[128], line[128] = "";
	FILE *f;

	(void)state;
	needs_bpffs();
	p = open_tree();
	pin_path(path, sizeof(path), RXE_PARAM_MAX_LOG_CQE);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		;
	fclose(f);
	assert_string_equal(line, "0: 15\n");
	rxe_params_close(p);
}

static void test_at_once_and_restart(void **state)
{
	struct rxe_params *p;

	(void)state;
	needs_bpffs();
	p = open_tree();
	set(RXE_PARAM_MAX_QP, 77);
	assert_int_equal(rxe_param(p, RXE_PARAM_MAX_QP), 77);
	rxe_params_close(p);
	p = open_tree();
	assert_int_equal(rxe_param(p, RXE_PARAM_MAX_QP), 77);
	rxe_params_close(p);
}

static void test_clamped(void **state)
{
	struct rxe_params *p;

	(void)state;
	needs_bpffs();
	p = open_tree();
	set(RXE_PARAM_MAX_LOG_CQE, 99);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rxe_param(p, RXE_PARAM_MAX_LOG_CQE), 20);
	assert_int_equal(warnings, 1);
	set(RXE_PARAM_MAX_LOG_CQE, 0);
	assert_int_equal(rxe_param(p, RXE_PARAM_MAX_LOG_CQE), 1);
	assert_int_equal(warnings, 2);
	rxe_params_close(p);
}

static void test_foreign_pin(void **state)
{
	struct rxe_params *p;
	char path[128];
	int fd;

	(void)state;
	needs_bpffs();
	rxe_params_close(open_tree());
	pin_path(path, sizeof(path), RXE_PARAM_MAX_QP);
	assert_int_equal(unlink(path), 0);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "other", 4, 8, 1, NULL);
	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_pin(fd, path), 0);
	close(fd);
	p = open_tree();
	assert_int_equal(warnings, 1);
	assert_int_equal(rxe_param(p, RXE_PARAM_MAX_QP), rxe_param_table[RXE_PARAM_MAX_QP].def);
	rxe_params_close(p);
}

static void test_one_owner(void **state)
{
	struct rxe_params *p, *second;
	char pid[32];

	(void)state;
	needs_bpffs();
	p = open_tree();
	assert_int_equal(rxe_params_open(pindir, &second, err_text, sizeof(err_text)), -EBUSY);
	snprintf(pid, sizeof(pid), "pid %d", getpid());
	assert_non_null(strstr(err_text, pid));
	rxe_params_close(p);
	rxe_params_close(open_tree());
}

/* An owner that dies without a word leaves a tree to be taken over. */
static void test_dead_owner(void **state)
{
	pid_t child;
	int status;

	(void)state;
	needs_bpffs();
	child = fork();
	if (child == 0) {
		open_tree();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	rxe_params_close(open_tree());
}

/* ---- whose tree it is ------------------------------------------------------------ */

#define USER 65534

/* The part of the tree, made as a run of root leaves it. */
static const char *part(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s%s%s", pindir, *name ? "/" : "", name);
	return path;
}

static void is_refused(const char *path, const char *remedy)
{
	struct rxe_params *p;

	assert_int_equal(rxe_params_open(pindir, &p, err_text, sizeof(err_text)), -EPERM);
	assert_non_null(strstr(err_text, path));
	assert_non_null(strstr(err_text, remedy));
}

static const char *const parts[] = {"", "lock", "parameters", "parameters/max_qp"};
#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

static void test_others_tree(void **state)
{
	struct stat st;

	(void)state;
	needs_bpffs();
	rxe_params_close(open_tree());
	for (size_t i = 0; i < NR_PARTS; i++) {
		const char *path = part(parts[i]);

		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(chown(path, USER, USER), 0);
		is_refused(path, "rm -r ");
		assert_int_equal(chown(path, 0, 0), 0);
		assert_int_equal(chmod(path, st.st_mode | 020), 0);
		is_refused(path, *parts[i] == 'l' ? "rmdir " : "chmod go-w ");
		assert_int_equal(chmod(path, st.st_mode), 0);
		rxe_params_close(open_tree());
	}
}

/* What a user made first is neither used nor touched. */
static void test_user_came_first(void **state)
{
	(void)state;
	needs_bpffs();
	assert_int_equal(mkdir(pindir, 0777), 0);
	assert_int_equal(chown(pindir, USER, USER), 0);
	is_refused(pindir, "rm -r ");
	assert_int_equal(access(part("parameters"), F_OK), -1);
	assert_int_equal(access(part("lock"), F_OK), -1);
	assert_int_equal(rmdir(pindir), 0);
	assert_int_equal(symlink("/sys/fs/bpf", pindir), 0);
	is_refused(pindir, "rm -r ");
	assert_int_equal(unlink(pindir), 0);
}

/* As an ordinary user: 0 when fn() says so. */
static int as_user(int (*fn)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(setgid(USER) || setuid(USER) || fn());
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int pipe_fds[2];

/* Holds every lock that a user can have of the tree, for ever. */
static int lock_what_can_be_had(void)
{
	for (size_t i = 0; i < NR_PARTS; i++) {
		int fd = open(part(parts[i]), O_RDONLY);

		if (fd >= 0)
			flock(fd, LOCK_EX | LOCK_NB);
	}
	if (write(pipe_fds[1], "x", 1) != 1)
		return 1;
	for (;;)
		pause();
}

static void test_user_locks(void **state)
{
	pid_t child;
	char c;

	(void)state;
	needs_bpffs();
	rxe_params_close(open_tree());
	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (child == 0)
		_exit(setgid(USER) || setuid(USER) || lock_what_can_be_had());
	assert_int_equal(read(pipe_fds[0], &c, 1), 1);
	rxe_params_close(open_tree());
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* ---- nothing is left -------------------------------------------------------------- */

static int open_fails(void)
{
	struct rxe_params *p;

	return rxe_params_open(pindir, &p, err_text, sizeof(err_text)) == 0;
}

static void test_user_leaves_nothing(void **state)
{
	(void)state;
	needs_bpffs();
	assert_int_equal(as_user(open_fails), 0);
	assert_int_equal(access(pindir, F_OK), -1);
}

static void test_discard(void **state)
{
	struct rxe_params *p;

	(void)state;
	needs_bpffs();
	rxe_params_discard(open_tree());
	assert_int_equal(access(pindir, F_OK), -1);
	/* What an earlier run made stays. */
	rxe_params_close(open_tree());
	set(RXE_PARAM_MAX_QP, 77);
	assert_int_equal(unlink(part("parameters/max_mr")), 0);
	rxe_params_discard(open_tree());
	assert_int_equal(access(part("parameters/max_mr"), F_OK), -1);
	p = open_tree();
	assert_int_equal(rxe_param(p, RXE_PARAM_MAX_QP), 77);
	rxe_params_close(p);
}

/* One that comes while another takes its tree back gets a whole one. */
static void test_discard_race(void **state)
{
	pid_t child;
	int status;

	(void)state;
	needs_bpffs();
	child = fork();
	for (int i = 0; i < 200; i++) {
		struct rxe_pin_tree t;
		int code = rxe_pin_tree_open(&t, pindir,
					     &(struct rxe_errline){err_text, sizeof(err_text)});

		if (code && code != -EBUSY)
			fail_msg("%s", err_text);
		if (code)
			continue;
		if (mkdir(part("parameters/mine"), 0755) || rmdir(part("parameters/mine")))
			fail_msg("a tree that is not there: %s", strerror(errno));
		rxe_pin_tree_discard(&t);
	}
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(access(pindir, F_OK), -1);
}

static void test_no_bpffs(void **state)
{
	struct rxe_params *p;

	(void)state;
	assert_int_equal(rxe_params_open("/proc/rxeunit", &p, err_text, sizeof(err_text)), -ENOENT);
	assert_non_null(strstr(err_text, "mount -t bpf bpf"));
	assert_non_null(strstr(err_text, "ip netns exec"));
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pindir),
		cmocka_unit_test(test_table),
		TREE_TEST(test_defaults),
		TREE_TEST(test_cat),
		TREE_TEST(test_at_once_and_restart),
		TREE_TEST(test_clamped),
		TREE_TEST(test_foreign_pin),
		TREE_TEST(test_one_owner),
		TREE_TEST(test_dead_owner),
		TREE_TEST(test_others_tree),
		TREE_TEST(test_user_came_first),
		TREE_TEST(test_user_locks),
		TREE_TEST(test_user_leaves_nothing),
		TREE_TEST(test_discard),
		TREE_TEST(test_discard_race),
		cmocka_unit_test(test_no_bpffs),
	};

	return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
