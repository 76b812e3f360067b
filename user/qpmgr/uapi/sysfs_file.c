/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file operations of the sysfs-like tree: write aside and rename, make
 * what is missing, remove what is below.
 */
#include "sysfs_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "rxed.h"

#define FILE_MODE 0444
#define DIR_MODE  0755
#define VALUE_MAX 512

static void full_path(char buf[PATH_MAX], const char *path)
{
	snprintf(buf, PATH_MAX, "%s/sys/%s", rxed.rundir, path);
}

/* Makes every directory of the path up to its last slash. */
static int make_parents(const char *full)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", full);
	for (slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(dir, DIR_MODE) == 0)
			chmod(dir, DIR_MODE); /* whatever the umask is */
		else if (errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static bool already_holds(const char *full, const char *text, size_t len)
{
	char now[VALUE_MAX + 1];
	int fd = open(full, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, now, sizeof(now));
	close(fd);
	return n == (ssize_t)len && !memcmp(now, text, len);
}

static int write_aside(const char *aside, const char *text, size_t len)
{
	int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, len);
	if (n != (ssize_t)len)
		err = n < 0 ? -errno : -ENOSPC;
	else if (fchmod(fd, FILE_MODE))
		err = -errno;
	close(fd);
	return err;
}

int rxe_sysfs_put(const char *path, const char *value)
{
	char full[PATH_MAX], aside[PATH_MAX], text[VALUE_MAX];
	int len = snprintf(text, sizeof(text), "%s\n", value), err;

	if (len >= (int)sizeof(text))
		return -E2BIG;
	full_path(full, path);
	if (already_holds(full, text, (size_t)len))
		return 0;
	full_path(aside, ".new");
	err = make_parents(full);
	if (!err)
		err = write_aside(aside, text, (size_t)len);
	if (!err && rename(aside, full))
		err = -errno;
	if (err)
		unlink(aside);
	return err;
}

int rxe_sysfs_mkdir(const char *path)
{
	char full[PATH_MAX];
	size_t len;

	full_path(full, path);
	len = strlen(full);
	if (len + 1 >= sizeof(full))
		return -ENAMETOOLONG;
	full[len] = '/';
	full[len + 1] = 0;
	return make_parents(full);
}

int rxe_sysfs_link(const char *path, const char *target)
{
	char full[PATH_MAX], aside[PATH_MAX], now[PATH_MAX];
	ssize_t n;
	int err;

	full_path(full, path);
	n = readlink(full, now, sizeof(now));
	if (n == (ssize_t)strlen(target) && !memcmp(now, target, (size_t)n))
		return 0;
	err = make_parents(full);
	if (err)
		return err;
	full_path(aside, ".newlink");
	unlink(aside);
	if (symlink(target, aside) || rename(aside, full)) {
		err = -errno;
		unlink(aside);
	}
	return err;
}

bool rxe_sysfs_exists(const char *dir, const char *name)
{
	char full[PATH_MAX], path[1024];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	full_path(full, path);
	return access(full, F_OK) == 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void rxe_sysfs_remove(const char *path)
{
	char full[PATH_MAX];

	full_path(full, path);
	nftw(full, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int rxe_sysfs_swap(const char *path, const char *by)
{
	char full[PATH_MAX], aside[PATH_MAX], from[PATH_MAX];
	int err = 0;

	full_path(full, path);
	full_path(aside, ".old");
	if (by) {
		full_path(from, by);
		/* Both names change at once where the file system can; there may be no old one. */
		if (!renameat2(AT_FDCWD, from, AT_FDCWD, full, RENAME_EXCHANGE)) {
			rxe_sysfs_remove(by);
			return 0;
		}
	}
	if (rename(full, aside) && errno != ENOENT)
		err = -errno;
	if (!err && by && rename(from, full))
		err = -errno;
	rxe_sysfs_remove(".old");
	return err;
}
