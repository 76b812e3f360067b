// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which paths are ours: the RDMA parts of /sys/class are files of the daemon's
 * run directory, and /dev/infiniband/uverbsN is a device of its if they say so.
 * What the daemon does not have stays the kernel's, and a tree whose daemon was
 * killed counts for nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "verbs/internal.h"

#define PARAM_ROOT "/sys/module/rdma_rxe"

/* Directories with one entry per device, and single entries. */
static const struct root {
	const char *path;
	bool is_class; /* what follows is a device's name */
} roots[] = {
	{"/sys/class/infiniband", true},     {"/sys/class/infiniband_verbs", true},
	{"/sys/class/misc/rdma_cm", false},  {PARAM_ROOT, false},
	{"/sys/module/rdma_rxe_net", false},
};

/* The directory of the nodes; below it, paths are nodes or the kernel's. */
#define NODE_DIR    "/dev/infiniband"
#define NODE_PREFIX "/dev/infiniband/uverbs"
#define CM_NODE	    "/dev/infiniband/rdma_cm"

static bool exists(const char *path)
{
	return syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/*
 * Copies path without "." and doubled or trailing slashes. False when it does
 * not fit or has "..", which only the kernel can follow.
 */
static bool clean(const char *path, char *out, size_t size)
{
	size_t n = 0;

	while (*path) {
		size_t part = strcspn(path, "/");

		if (part == 2 && !memcmp(path, "..", 2))
			return false;
		if (part && !(part == 1 && *path == '.')) {
			if (n + 1 + part >= size)
				return false;
			out[n++] = '/';
			memcpy(out + n, path, part);
			n += part;
		}
		path += part + (path[part] == '/');
	}
	out[n] = '\0';
	return true;
}

/* The rest of path behind a root ("" or "/..."), or NULL. */
static const char *below(const char *path, const char *root)
{
	size_t n = strlen(root);

	return !strncmp(path, root, n) && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/* buf = rundir + path; false when too long. */
static bool in_rundir(char *buf, size_t size, const char *path, size_t len)
{
	const char *rundir = rxe_rundir();
	size_t n = strlen(rundir);

	if (n + len >= size)
		return false;
	memcpy(buf, rundir, n);
	memcpy(buf + n, path, len);
	buf[n + len] = '\0';
	return true;
}

/* The network namespace of this thread, by its inode. */
static bool own_netns(unsigned long long *ino)
{
	struct stat st;

	if (syscall(SYS_newfstatat, AT_FDCWD, "/proc/thread-self/ns/net", &st, 0))
		return false;
	*ino = st.st_ino;
	return true;
}

/*
 * In exclusive mode the daemon has a directory netns, with what the programs
 * of each network namespace see. Which device is seen decides about `path`: buf
 * becomes where it lies in the tree. False when too long.
 */
static bool in_tree(char *buf, size_t size, const char *path, size_t len)
{
	char part[sizeof("/sys/netns//") + 24] = "/sys/netns";
	unsigned long long ino;

	if (!in_rundir(buf, size, part, strlen(part)))
		return false;
	if (!exists(buf) || !own_netns(&ino))
		return in_rundir(buf, size, path, len);
	snprintf(part, sizeof(part), "/sys/netns/%llu", ino);
	len -= strlen("/sys");
	if (!in_rundir(buf, size, part, strlen(part)) || strlen(buf) + len >= size)
		return false;
	strncat(buf, path + strlen("/sys"), len);
	return true;
}

/*
 * Does the daemon of the tree live? Asked when something in the tree is there.
 * A yes holds for a second, since a program that lists devices reads many
 * files; a no only once, so that a new daemon is seen at once.
 */
static bool daemon_lives(void)
{
	static _Atomic time_t lived_at;
	struct timespec now;
	int sock;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == atomic_load_explicit(&lived_at, memory_order_relaxed))
		return true;
	sock = rxe_ipc_connect(rxe_rundir());
	if (sock == -ECONNREFUSED || sock == -ENOENT) {
		rxe_warn_no_daemon(sock);
		return false;
	}
	if (sock >= 0)
		rxe_raw_close(sock);
	atomic_store_explicit(&lived_at, now.tv_sec, memory_order_relaxed);
	return true;
}

/*
 * Counters, parameters and lists are written when somebody asks. path: below
 * RUNDIR/sys. 0, or a negative errno: then they are as they were.
 */
static int sync_file(const char *path)
{
	char reply[256];
	struct rxe_ipc_msg msg = {.buf = reply, .size = sizeof(reply)};
	int sock = rxe_ipc_connect(rxe_rundir()), err;

	if (sock < 0)
		return sock;
	err = rxe_ipc_call(sock, RXE_IPC_SYSFS_SYNC, path, strlen(path), &msg);
	if (!err) {
		err = msg.hdr.status;
		rxe_ipc_close_fds(&msg, 0);
	}
	rxe_raw_close(sock);
	return err;
}

static void sync_path(const char *path)
{
	if (strstr(path, "/hw_counters") || strstr(path, "/counters") || strstr(path, "/1/cm_") ||
	    strstr(path, "module/rdma_rxe"))
		sync_file(path);
}

/*
 * A directory that has the kernel's entries beside the daemon's: the daemon
 * makes such a list, of links, for each network namespace.
 */
static enum rxe_path_kind classify_list(const char *path, struct rxe_path *out)
{
	char list[sizeof("/sys/merged/") + 64];
	unsigned long long ino;

	if (!own_netns(&ino) || !daemon_lives())
		return RXE_PATH_NATIVE;
	snprintf(list, sizeof(list), "/sys/merged/%llu%s", ino, path);
	if (sync_file(list + strlen("/sys/")) ||
	    !in_rundir(out->buf, sizeof(out->buf), list, strlen(list)) || !exists(out->buf))
		return RXE_PATH_NATIVE;
	return RXE_PATH_SYSFS;
}

/* Devices are seen by some, what is no device's by all. */
static bool place(const struct root *root, const char *path, size_t len, struct rxe_path *out)
{
	return root->is_class ? in_tree(out->buf, sizeof(out->buf), path, len)
			      : in_rundir(out->buf, sizeof(out->buf), path, len);
}

static enum rxe_path_kind classify_sysfs(const struct root *root, const char *path,
					 const char *rest, struct rxe_path *out)
{
	size_t entry = rest - path; /* length of the part that decides */

	if (root->is_class && *rest)
		entry += 1 + strcspn(rest + 1, "/");
	if (!place(root, path, entry, out) || !exists(out->buf))
		return RXE_PATH_NATIVE;
	if (root->is_class && !*rest && exists(path))
		return classify_list(path, out);
	if (!place(root, path, strlen(path), out) || !daemon_lives())
		return RXE_PATH_NATIVE;
	sync_path(path + strlen("/sys/"));
	return !strncmp(path, PARAM_ROOT, strlen(PARAM_ROOT)) && strstr(path, "/parameters/")
		       ? RXE_PATH_PARAM
		       : RXE_PATH_SYSFS;
}

/*
 * A node whose daemon is gone stays ours, to fail when it is opened: a program
 * that knows it from before must not get a device of the kernel's by that
 * number.
 */
static enum rxe_path_kind classify_node(const char *number, struct rxe_path *out)
{
	static const char dir[] = "/sys/class/infiniband_verbs/uverbs";
	char path[sizeof(dir) + 16];
	size_t digits = strspn(number, "0123456789");

	if (!digits || digits > 4 || number[digits] || (number[0] == '0' && digits > 1))
		return RXE_PATH_NATIVE;
	strcpy(path, dir);
	strcat(path, number);
	strcat(path, "/dev");
	if (!in_tree(out->buf, sizeof(out->buf), path, strlen(path)) || !exists(out->buf))
		return RXE_PATH_NATIVE;
	out->minor = atoi(number);
	return RXE_PATH_NODE;
}

static enum rxe_path_kind classify_cm_node(struct rxe_path *out)
{
	static const char path[] = "/sys/class/misc/rdma_cm/dev";

	if (!in_rundir(out->buf, sizeof(out->buf), path, strlen(path)) || !exists(out->buf))
		return RXE_PATH_NATIVE;
	out->minor = RXE_NODE_RDMA_CM;
	return RXE_PATH_NODE;
}

static enum rxe_path_kind classify(const char *path, struct rxe_path *out)
{
	const char *rest;

	if (!strcmp(path, CM_NODE))
		return classify_cm_node(out);
	if (!strcmp(path, NODE_DIR))
		return classify_list(path, out);

	if (!strncmp(path, NODE_PREFIX, strlen(NODE_PREFIX)))
		return classify_node(path + strlen(NODE_PREFIX), out);
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		rest = below(path, roots[i].path);
		if (rest)
			return classify_sysfs(&roots[i], path, rest, out);
	}
	return RXE_PATH_NATIVE;
}

/* A slash at the end says: not the link, what it leads to. */
static void follow(struct rxe_path *out)
{
	size_t len = strlen(out->buf);

	if (len + 1 < sizeof(out->buf))
		strcpy(out->buf + len, "/");
}

enum rxe_path_kind rxe_path_classify(const char *path, struct rxe_path *out)
{
	char cleaned[384];
	int saved = errno;

	out->kind = RXE_PATH_NATIVE;
	if (rxe_path_suspect(path) && clean(path, cleaned, sizeof(cleaned)))
		out->kind = classify(cleaned, out);
	if (out->kind == RXE_PATH_SYSFS && path[strlen(path) - 1] == '/')
		follow(out);
	errno = saved;
	return out->kind;
}
