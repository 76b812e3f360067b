// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pins of a device's maps: made, replaced, renamed, swept; trusted by owner and
 * mode. Needs root and bpffs, and is skipped without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/param_table.h"
#include "dev_pins.h"
#include "log.h"

#define NOBODY 65534

static char root[64], err_text[512];
static struct rxe_errline err = {err_text, sizeof(err_text)};
static struct rxe_dp_map maps[2] = {{"counters", -1}, {"qpns", -1}};

/* In place of log.c. */
void rxe_log(struct rxe_log_site *site, enum rxe_log_level level, const char *fmt, ...)
{
	(void)site;
	(void)level;
	(void)fmt;
}

static const char *at(const char *path)
{
	static char full[8][256];
	static unsigned int next;
	char *p = full[next++ % 8];

	snprintf(p, sizeof(full[0]), "%s/%s", root, path);
	return p;
}

static bool there(const char *path)
{
	return access(at(path), F_OK) == 0;
}

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = {0};
	uint32_t len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	return info.id;
}

static uint32_t pinned_id(const char *path)
{
	int fd = bpf_obj_get(at(path));
	uint32_t id;

	assert_true(fd >= 0);
	id = map_id(fd);
	close(fd);
	return id;
}

static void make(const char *dev)
{
	if (rxe_dev_pins_make(root, dev, maps, 2, &err))
		fail_msg("%s", err_text);
}

static void new_map(struct rxe_dp_map *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", 4, 8, 1, NULL);
	assert_true(m->fd >= 0);
}

static int setup(void **state)
{
	(void)state;
	if (geteuid() != 0 || !rxe_on_bpffs(RXE_BPFFS_ROOT))
		return 0;
	snprintf(root, sizeof(root), RXE_BPFFS_ROOT "/rxepins-%d", getpid());
	new_map(&maps[0]);
	new_map(&maps[1]);
	return mkdir(root, 0755);
}

static int teardown(void **state)
{
	char cmd[128];

	(void)state;
	if (!root[0])
		return 0;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	return system(cmd);
}

static void needs_bpffs(void)
{
	if (!root[0])
		skip();
}

static void made_and_removed(void **state)
{
	struct stat st;

	(void)state;
	needs_bpffs();
	make("rxe0");
	make("rxe1");
	assert_int_equal(pinned_id("devices/rxe0/counters"), map_id(maps[0].fd));
	assert_int_equal(pinned_id("devices/rxe0/qpns"), map_id(maps[1].fd));
	assert_int_equal(stat(at("devices/rxe0/qpns"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(at("devices/rxe0"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(rxe_dev_pins_remove(root, "rxe0", &err), 0);
	assert_false(there("devices/rxe0"));
	assert_true(there("devices/rxe1/counters"));
	assert_int_equal(rxe_dev_pins_remove(root, "rxe1", &err), 0);
	assert_false(there("devices"));
	/* Nothing there is nothing to complain of. */
	assert_int_equal(rxe_dev_pins_remove(root, "rxe1", &err), 0);
}

static void left_ones_are_replaced(void **state)
{
	(void)state;
	needs_bpffs();
	make("rxe0");
	assert_int_equal(bpf_obj_pin(maps[0].fd, at("devices/rxe0/older")), 0);
	new_map(&maps[0]);
	make("rxe0");
	assert_int_equal(pinned_id("devices/rxe0/counters"), map_id(maps[0].fd));
	assert_false(there("devices/rxe0/older"));
}

static void all_or_nothing(void **state)
{
	struct rxe_dp_map bad[2] = {maps[0], {"qpns", -1}};

	(void)state;
	needs_bpffs();
	assert_true(rxe_dev_pins_make(root, "rxe0", bad, 2, &err) < 0);
	assert_non_null(strstr(err_text, "devices/rxe0/qpns"));
	assert_false(there("devices"));
}

static void renamed(void **state)
{
	(void)state;
	needs_bpffs();
	make("rxe0");
	make("a.b");
	assert_true(there("devices/a%2eb/counters"));
	assert_int_equal(rxe_dev_pins_remove(root, "a.b", &err), 0);
	assert_int_equal(rxe_dev_pins_rename(root, "rxe0", "c.d", &err), 0);
	assert_false(there("devices/rxe0"));
	assert_int_equal(pinned_id("devices/c%2ed/qpns"), map_id(maps[1].fd));
	assert_int_equal(rxe_dev_pins_rename(root, "rxe0", "e", &err), -ENOENT);
}

static void swept(void **state)
{
	(void)state;
	needs_bpffs();
	assert_int_equal(rxe_dev_pins_sweep(root, &err), 0);
	make("rxe0");
	make("a.b");
	assert_int_equal(rxe_dev_pins_sweep(root, &err), 0);
	assert_false(there("devices"));
}

/* What others own or can write is left as it is, and said. */
static void distrusted(const char *path, uid_t uid, mode_t mode)
{
	make("rxe0");
	assert_int_equal(chown(at(path), uid, uid), 0);
	assert_int_equal(chmod(at(path), mode), 0);
	assert_int_equal(rxe_dev_pins_sweep(root, &err), -EPERM);
	assert_non_null(strstr(err_text, at(path)));
	assert_true(there("devices/rxe0/counters"));
	assert_true(there("devices/rxe0/qpns"));
	assert_int_equal(chown(at(path), 0, 0), 0);
	assert_int_equal(chmod(at(path), mode & ~022u), 0);
	assert_int_equal(rxe_dev_pins_sweep(root, &err), 0);
}

static void trust(void **state)
{
	static const char *const parts[] = {"devices", "devices/rxe0", "devices/rxe0/counters"};

	(void)state;
	needs_bpffs();
	for (int i = 0; i < 3; i++) {
		distrusted(parts[i], NOBODY, 0700);
		distrusted(parts[i], 0, 0722);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(made_and_removed),
		TEST(left_ones_are_replaced),
		TEST(all_or_nothing),
		TEST(renamed),
		TEST(swept),
		TEST(trust),
	};

	return cmocka_run_group_tests_name("dev_pins", tests, NULL, NULL);
}
