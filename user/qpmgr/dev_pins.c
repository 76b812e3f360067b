// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The per-device part of the pin tree: made, renamed, taken back. */
#include "dev_pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/param_table.h"
#include "pin_tree.h"

#define DEV_PIN_MODE 0600
#define PATH_LEN     1024 /* root, three times the longest name, a map's name */

/* ---- paths ----------------------------------------------------------------------- */

static int join(char path[PATH_LEN], const char *dir, const char *name, struct rxe_errline *err)
{
	if ((size_t)snprintf(path, PATH_LEN, "%s/%s", dir, name) < PATH_LEN)
		return 0;
	return rxe_fail(err, -ENAMETOOLONG, "cannot pin the maps at %s: the path is too long",
			path);
}

static int all_devices(char path[PATH_LEN], const char *root, struct rxe_errline *err)
{
	return join(path, root, RXE_DEV_SUBDIR, err);
}

static int dev_dir(char path[PATH_LEN], const char *root, const char *dev, struct rxe_errline *err)
{
	char all[PATH_LEN], name[PATH_LEN];
	int ret = all_devices(all, root, err);

	if (!ret && rxe_pin_name(dev, name, sizeof(name)))
		ret = rxe_fail(err, -ENAMETOOLONG,
			       "cannot pin the maps of %s: its name is too long", dev);
	return ret ? ret : join(path, all, name, err);
}

/* ---- taking back ----------------------------------------------------------------- */

/* Calls each(path of an entry) until one fails. -ENOENT: no such directory. */
static int for_each(const char *dir, int (*each)(const char *path, struct rxe_errline *err),
		    struct rxe_errline *err)
{
	char path[PATH_LEN];
	struct dirent *e;
	DIR *d = opendir(dir);
	int ret = 0;

	if (!d)
		return rxe_fail(err, -errno, "cannot read the directory %s: %s", dir,
				strerror(errno));
	while (!ret && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		ret = join(path, dir, e->d_name, err);
		if (!ret)
			ret = each(path, err);
	}
	closedir(d);
	return ret;
}

static int remove_pin(const char *path, struct rxe_errline *err)
{
	int ret = rxe_pin_check(path, err);

	if (!ret && unlink(path) != 0)
		ret = rxe_fail(err, -errno, "cannot remove the pin %s: %s", path, strerror(errno));
	return ret;
}

/* The directory of a device, if it is there. */
static int remove_dir(const char *path, struct rxe_errline *err)
{
	int ret = rxe_pin_dir_check(path, err);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = for_each(path, rxe_pin_check, err);
	if (!ret)
		ret = for_each(path, remove_pin, err);
	if (!ret && rmdir(path) != 0)
		ret = rxe_fail(err, -errno, "cannot remove the directory %s: %s", path,
			       strerror(errno));
	return ret;
}

/* Others' pins may still be in it. */
static void remove_empty(const char *root)
{
	char path[PATH_LEN];
	struct rxe_errline none = {NULL, 0};

	if (!all_devices(path, root, &none))
		rmdir(path);
}

int rxe_dev_pins_remove(const char *root, const char *dev, struct rxe_errline *err)
{
	char dir[PATH_LEN];
	int ret = dev_dir(dir, root, dev, err);

	if (!ret)
		ret = remove_dir(dir, err);
	remove_empty(root);
	return ret;
}

int rxe_dev_pins_sweep(const char *root, struct rxe_errline *err)
{
	char path[PATH_LEN];
	int ret = all_devices(path, root, err);

	if (!ret)
		ret = rxe_pin_dir_check(path, err);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	ret = for_each(path, remove_dir, err);
	if (!ret)
		remove_empty(root);
	return ret;
}

/* ---- making, renaming ------------------------------------------------------------- */

static int pin_map(const char *dir, const struct rxe_dp_map *map, struct rxe_errline *err)
{
	char path[PATH_LEN];
	int ret = join(path, dir, map->name, err);

	if (ret)
		return ret;
	if (bpf_obj_pin(map->fd, path) != 0)
		return rxe_fail(err, -errno, "cannot pin a map at %s: %s", path, strerror(errno));
	if (chmod(path, DEV_PIN_MODE) != 0)
		return rxe_fail(err, -errno, "cannot set the mode of the pin %s: %s", path,
				strerror(errno));
	return 0;
}

static int make_dirs(const char *root, const char *dir, struct rxe_errline *err)
{
	char all[PATH_LEN];
	int ret = all_devices(all, root, err);

	if (!ret)
		ret = rxe_pin_dir_make(all, err);
	if (!ret)
		ret = remove_dir(dir, err);
	return ret ? ret : rxe_pin_dir_make(dir, err);
}

int rxe_dev_pins_make(const char *root, const char *dev, const struct rxe_dp_map *map, uint32_t n,
		      struct rxe_errline *err)
{
	char why[512], dir[PATH_LEN];
	struct rxe_errline second = {why, sizeof(why)};
	int ret = dev_dir(dir, root, dev, err);

	if (!ret)
		ret = make_dirs(root, dir, err);
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = pin_map(dir, &map[i], err);
	if (ret)
		rxe_dev_pins_remove(root, dev, &second);
	return ret;
}

int rxe_dev_pins_rename(const char *root, const char *from, const char *to, struct rxe_errline *err)
{
	char old[PATH_LEN], new[PATH_LEN];
	int ret = dev_dir(old, root, from, err);

	if (!ret)
		ret = dev_dir(new, root, to, err);
	if (!ret)
		ret = remove_dir(new, err);
	if (!ret && rename(old, new) != 0)
		ret = rxe_fail(err, -errno, "cannot rename the pins %s to %s: %s", old, new,
			       strerror(errno));
	return ret;
}
