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
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/param_table.h"
#include "log.h"
#include "params.h"

static unsigned int warnings;

/* In place of log.c: counts. */
void rxe_log(enum rxe_log_level level, const char *fmt, ...)
{
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
		cmocka_unit_test(test_no_bpffs),
	};

	return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
