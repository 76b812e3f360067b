/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files, directories and links below RUNDIR/sys, each changed in one step so
 * that a reader sees the old or the new. Paths are relative to RUNDIR/sys;
 * missing directories are made. Control thread. Errors are negative errno.
 */
#ifndef RXE_SYSFS_FILE_H
#define RXE_SYSFS_FILE_H

#include <stdbool.h>

/* The file then holds value and a newline. An equal file is left alone. */
int rxe_sysfs_put(const char *path, const char *value);
int rxe_sysfs_mkdir(const char *path);
int rxe_sysfs_link(const char *path, const char *target);
bool rxe_sysfs_exists(const char *dir, const char *name);
/* A file, a link or a whole directory; "" is the tree itself. */
void rxe_sysfs_remove(const char *path);

/*
 * Directory `path`, if there, goes whole and at once; when `by` is not NULL
 * that directory takes its place.
 */
int rxe_sysfs_swap(const char *path, const char *by);

#endif
