/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Merged lists: what rxed has for that namespace, and the kernel's entries. */
#include "sysfs_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "netns.h"
#include "rxed.h"
#include "sysfs_file.h"

#define CLASS_DIR "/sys/class/infiniband"
#define VERBS_DIR "/sys/class/infiniband_verbs"
#define NODE_DIR  "/dev/infiniband"

bool rxe_kernel_has_rdma(void)
{
	return access(VERBS_DIR, F_OK) == 0;
}

bool rxe_kernel_has_device(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), CLASS_DIR "/%s", name);
	return access(path, F_OK) == 0;
}

/* ---- entries ------------------------------------------------------------------------ */

#define MAX_NAMES 256

struct list {
	const char *dir; /* below RUNDIR/sys */
	unsigned int n;
	char name[MAX_NAMES][RXE_DEV_NAME_MAX];
};

static bool has(const struct list *l, const char *name)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (!strcmp(l->name[i], name))
			return true;
	return false;
}

/* Notes a name that belongs to the list; 0, or -E2BIG. */
static int note(struct list *l, const char *name)
{
	if (l->n == MAX_NAMES || strlen(name) >= RXE_DEV_NAME_MAX)
		return -E2BIG;
	strcpy(l->name[l->n++], name);
	return 0;
}

static int put_link(struct list *l, const char *name, const char *target)
{
	char path[PATH_MAX];
	int err = note(l, name);

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return err ? err : rxe_sysfs_link(path, target);
}

/* A node is made of its name alone, by the preload library. */
static int put_file(struct list *l, const char *name)
{
	char path[PATH_MAX];
	int err = note(l, name);

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return err ? err : rxe_sysfs_put(path, "");
}

/* What the list has already, ours, stays so. */
static int put_kernels(struct list *l, const char *dir)
{
	char target[PATH_MAX];
	struct dirent *e;
	DIR *d = opendir(dir);
	int err = 0;

	while (d && !err && (e = readdir(d))) {
		if (e->d_name[0] == '.' || has(l, e->d_name))
			continue;
		snprintf(target, sizeof(target), "%s/%s", dir, e->d_name);
		err = put_link(l, e->d_name, target);
	}
	if (d)
		closedir(d);
	return err;
}

/* Below RUNDIR/sys, where a link in l->dir has to climb to. */
#define UP "../../../../.." /* merged/INO/sys/class/infiniband */

static int put_device(struct list *l, const struct rxe_dev *dev)
{
	char target[PATH_MAX];

	snprintf(target, sizeof(target), UP "/devices/virtual/infiniband/%s", dev->name);
	return put_link(l, dev->name, target);
}

static int put_verbs(struct list *l, const struct rxe_dev *dev)
{
	char name[32], target[PATH_MAX];

	snprintf(name, sizeof(name), "uverbs%u", dev->minor);
	snprintf(target, sizeof(target), UP "/devices/virtual/infiniband_verbs/%s", name);
	return put_link(l, name, target);
}

static int put_node(struct list *l, const struct rxe_dev *dev)
{
	char name[32];

	snprintf(name, sizeof(name), "uverbs%u", dev->minor);
	return put_file(l, name);
}

static int put_cm(struct list *l)
{
	return put_file(l, "rdma_cm");
}

static int put_abi(struct list *l)
{
	return put_link(l, "abi_version", UP "/class/infiniband_verbs/abi_version");
}

/* ---- the lists ------------------------------------------------------------------------ */

static const struct {
	const char *dir;
	int (*device)(struct list *l, const struct rxe_dev *dev);
	int (*more)(struct list *l);
} lists[] = {
	{CLASS_DIR, put_device, NULL},
	{VERBS_DIR, put_verbs, put_abi},
	{NODE_DIR, put_node, put_cm},
};

static void drop_others(const struct list *l)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/sys/%s", rxed.rundir, l->dir);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || has(l, e->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", l->dir, e->d_name);
		rxe_sysfs_remove(path);
	}
	if (d)
		closedir(d);
}

/* In place: whoever walks through it compares the directory with what it was. */
static int fill(struct list *l, unsigned int i, const struct rxe_netns *ns)
{
	struct rxe_dev *dev;
	int err = rxe_sysfs_mkdir(l->dir);

	TAILQ_FOREACH (dev, &rxed.devs, link)
		if (!err && rxe_dev_visible(dev, ns))
			err = lists[i].device(l, dev);
	if (!err && lists[i].more)
		err = lists[i].more(l);
	if (!err)
		err = put_kernels(l, lists[i].dir);
	drop_others(l);
	return err;
}

int rxe_sysfs_sync_list(const char *path, const struct rxe_netns *ns)
{
	static struct list l; /* control thread only */
	char dir[64];
	unsigned int i = 0;

	snprintf(dir, sizeof(dir), RXE_MERGED_DIR "/%llu", (unsigned long long)rxe_netns_ino(ns));
	if (strncmp(path, dir, strlen(dir)) || path[strlen(dir)] != '/')
		return -EACCES;
	path += strlen(dir);
	while (i < sizeof(lists) / sizeof(lists[0]) && strcmp(path, lists[i].dir))
		i++;
	if (i == sizeof(lists) / sizeof(lists[0]))
		return -ENOENT;
	snprintf(dir + strlen(dir), sizeof(dir) - strlen(dir), "%s", path);
	l.dir = dir;
	l.n = 0;
	return fill(&l, i, ns);
}
