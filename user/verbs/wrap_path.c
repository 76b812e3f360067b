// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The wrappers of functions that take a path. A table of macros: what a path
 * of ours means depends only on the group that a function belongs to.
 */
#include "verbs/next.h"
#include <string.h>
#include <sys/sysmacros.h>
#include "verbs/internal.h"

/* ---- the path itself ----------------------------------------------------------- */

/* A function that wants a directory or file: sysfs paths are replaced. */
static const char *redirect(const char *path, struct rxe_path *p)
{
	p->kind = RXE_PATH_NATIVE;
	if (!rxe_path_suspect(path))
		return path;
	rxe_path_classify(path, p);
	return p->kind == RXE_PATH_SYSFS || p->kind == RXE_PATH_PARAM ? p->buf : path;
}

#define PATH_FN(ret, name, params, args)    \
	RXE_EXPORT ret name params          \
	{                                   \
		struct rxe_path p;          \
		path = redirect(path, &p);  \
		return RXE_NEXT(name) args; \
	}

/* A parameter that is opened for anything but reading. */
#define FOPEN_FN(name)                                                     \
	RXE_EXPORT FILE *name(const char *path, const char *mode)          \
	{                                                                  \
		struct rxe_path p;                                         \
		path = redirect(path, &p);                                 \
		if (p.kind == RXE_PATH_PARAM && strpbrk(mode, "wa+"))      \
			return rxe_param_fopen(p.buf, mode);               \
		if (p.kind == RXE_PATH_PARAM && rxe_param_readable(p.buf)) \
			return NULL;                                       \
		return RXE_NEXT(name)(path, mode);                         \
	}

FOPEN_FN(fopen)
FOPEN_FN(fopen64)
PATH_FN(FILE *, freopen, (const char *path, const char *mode, FILE *f), (path, mode, f))
PATH_FN(FILE *, freopen64, (const char *path, const char *mode, FILE *f), (path, mode, f))
PATH_FN(DIR *, opendir, (const char *path), (path))
PATH_FN(int, scandir,
	(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	 int (*order)(const struct dirent **, const struct dirent **)),
	(path, list, filter, order))
PATH_FN(int, scandir64,
	(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
	 int (*order)(const struct dirent64 **, const struct dirent64 **)),
	(path, list, filter, order))
PATH_FN(int, chdir, (const char *path), (path))
PATH_FN(ssize_t, readlink, (const char *path, char *buf, size_t len), (path, buf, len))
PATH_FN(ssize_t, readlinkat, (int dir, const char *path, char *buf, size_t len),
	(dir, path, buf, len))
PATH_FN(ssize_t, __readlink_chk, (const char *path, char *buf, size_t len, size_t room),
	(path, buf, len, room))
PATH_FN(ssize_t, __readlinkat_chk, (int dir, const char *path, char *buf, size_t len, size_t room),
	(dir, path, buf, len, room))

/* ---- the canonical name of a path ------------------------------------------------ */

/*
 * A device node is its own canonical name, though nothing lies there. buf NULL:
 * the caller frees the result.
 */
static char *node_name(int minor, char *buf)
{
	char name[64];

	if (minor == RXE_NODE_RDMA_CM)
		strcpy(name, "/dev/infiniband/rdma_cm");
	else
		snprintf(name, sizeof(name), "/dev/infiniband/uverbs%d", minor);
	return buf ? strcpy(buf, name) : strdup(name);
}

#define REALPATH_FN(name, params, args, buf)            \
	RXE_EXPORT char *name params                    \
	{                                               \
		struct rxe_path p;                      \
		path = redirect(path, &p);              \
		if (p.kind == RXE_PATH_NODE)            \
			return node_name(p.minor, buf); \
		return RXE_NEXT(name) args;             \
	}

REALPATH_FN(realpath, (const char *path, char *resolved), (path, resolved), resolved)
REALPATH_FN(__realpath_chk, (const char *path, char *resolved, size_t room), (path, resolved, room),
	    resolved)
REALPATH_FN(canonicalize_file_name, (const char *path), (path), NULL)

/* ---- open ------------------------------------------------------------------------- */

/*
 * A number that the kernel gives out anew stands for nothing of ours, whatever
 * became of it since (a close that did not come through our wrappers).
 */
static int fresh(int fd)
{
	if (fd >= 0)
		rxe_fd_forget(fd);
	return fd;
}

/* What the original gave; if it found nothing, `rdma dev set netns PID` may. */
static int or_netns(int fd, const char *path, int flags)
{
	return fd < 0 && errno == ENOENT ? rxe_netns_of_pid(path, flags) : fd;
}

static int open_node(int minor, int flags)
{
	return minor == RXE_NODE_RDMA_CM ? rxe_rdma_cm_open(flags) : rxe_command_open(minor, flags);
}

#define NEEDS_MODE(flags) ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE)

#define OPEN_BODY(name, args)                                            \
	struct rxe_path p;                                               \
	path = redirect(path, &p);                                       \
	if (p.kind == RXE_PATH_NODE)                                     \
		return open_node(p.minor, flags);                        \
	if (p.kind == RXE_PATH_PARAM && ((flags)&O_ACCMODE) != O_RDONLY) \
		return rxe_param_open(p.buf, flags);                     \
	if (p.kind == RXE_PATH_PARAM && rxe_param_readable(p.buf))       \
		return -1;                                               \
	return fresh(or_netns(RXE_NEXT(name) args, path, flags));

#define OPEN_FN(name, params, args)   \
	RXE_EXPORT int name params    \
	{                             \
		OPEN_BODY(name, args) \
	}

#define OPEN_MODE_FN(name, params, args)           \
	RXE_EXPORT int name params                 \
	{                                          \
		mode_t mode = 0;                   \
		if (NEEDS_MODE(flags)) {           \
			va_list ap;                \
			va_start(ap, flags);       \
			mode = va_arg(ap, mode_t); \
			va_end(ap);                \
		}                                  \
		OPEN_BODY(name, args)              \
	}

OPEN_MODE_FN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE_FN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN_MODE_FN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_MODE_FN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_FN(__open_2, (const char *path, int flags), (path, flags))
OPEN_FN(__open64_2, (const char *path, int flags), (path, flags))
OPEN_FN(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
OPEN_FN(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))

/* ---- access ------------------------------------------------------------------------ */

/* The node's mode is 0666, as udev's rule gives it. */
static int access_node(int mode)
{
	if (!(mode & X_OK))
		return 0;
	errno = EACCES;
	return -1;
}

#define ACCESS_FN(name, params, args)             \
	RXE_EXPORT int name params                \
	{                                         \
		struct rxe_path p;                \
		path = redirect(path, &p);        \
		if (p.kind == RXE_PATH_NODE)      \
			return access_node(mode); \
		return RXE_NEXT(name) args;       \
	}

ACCESS_FN(access, (const char *path, int mode), (path, mode))
ACCESS_FN(eaccess, (const char *path, int mode), (path, mode))
ACCESS_FN(euidaccess, (const char *path, int mode), (path, mode))
ACCESS_FN(faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags))

/* ---- extended attributes: ls -l asks for access lists --------------------------- */

#define XATTR_FN(name, params, args)           \
	RXE_EXPORT ssize_t name params         \
	{                                      \
		struct rxe_path p;             \
		path = redirect(path, &p);     \
		if (p.kind == RXE_PATH_NODE) { \
			errno = ENOTSUP;       \
			return -1;             \
		}                              \
		return RXE_NEXT(name) args;    \
	}

XATTR_FN(getxattr, (const char *path, const char *name, void *value, size_t size),
	 (path, name, value, size))
XATTR_FN(lgetxattr, (const char *path, const char *name, void *value, size_t size),
	 (path, name, value, size))
XATTR_FN(listxattr, (const char *path, char *list, size_t size), (path, list, size))
XATTR_FN(llistxattr, (const char *path, char *list, size_t size), (path, list, size))

/* ---- stat ---------------------------------------------------------------------------- */

/* struct stat and struct stat64 are one on 64-bit machines, which is all we support. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit file offsets");

static dev_t node_rdev(int minor)
{
	return minor == RXE_NODE_RDMA_CM ? makedev(RXE_RDMA_CM_MAJOR, RXE_RDMA_CM_MINOR)
					 : makedev(RXE_UVERBS_MAJOR, RXE_UVERBS_MINOR_BASE + minor);
}

static void make_node(struct stat *st, int minor)
{
	st->st_mode = S_IFCHR | 0666;
	st->st_rdev = node_rdev(minor);
	st->st_nlink = 1;
	st->st_size = 0;
	st->st_blocks = 0;
}

static void make_nodex(struct statx *st, int minor)
{
	st->stx_mode = S_IFCHR | 0666;
	st->stx_rdev_major = major(node_rdev(minor));
	st->stx_rdev_minor = minor(node_rdev(minor));
	st->stx_nlink = 1;
	st->stx_size = 0;
	st->stx_blocks = 0;
}

/* The minor of a command descriptor, or -1. */
static int node_minor(int fd)
{
	struct rxe_file *file = rxe_fd_tracked(fd) ? rxe_file_get(fd, -1) : NULL;
	int minor = -1;

	if (file) {
		if (file->kind == RXE_FILE_COMMAND)
			minor = file->minor;
		else if (file->kind == RXE_FILE_RDMA_CM)
			minor = RXE_NODE_RDMA_CM;
		rxe_file_put(file);
	}
	return minor;
}

/* The node itself is described by the file that stands for it, then corrected. */
static int stat_path(const char **path, struct rxe_path *p)
{
	if (!rxe_path_suspect(*path) || rxe_path_classify(*path, p) == RXE_PATH_NATIVE)
		return -1;
	*path = p->buf;
	return p->kind == RXE_PATH_NODE ? p->minor : -1;
}

#define STAT_FN(name, params, args, correct)      \
	RXE_EXPORT int name params                \
	{                                         \
		struct rxe_path p;                \
		int minor = stat_path(&path, &p); \
		int ret = RXE_NEXT(name) args;    \
		if (!ret && minor >= 0)           \
			correct;                  \
		return ret;                       \
	}

#define FSTAT_FN(name, params, args)                         \
	RXE_EXPORT int name params                           \
	{                                                    \
		int minor = node_minor(fd);                  \
		int ret = RXE_NEXT(name) args;               \
		if (!ret && minor >= 0)                      \
			make_node((struct stat *)st, minor); \
		return ret;                                  \
	}

/* fstatat(fd, "", , AT_EMPTY_PATH) is fstat(fd). */
static int statat_minor(int dir, const char **path, int flags, struct rxe_path *p)
{
	int minor = stat_path(path, p);

	if (minor < 0 && flags & AT_EMPTY_PATH && *path && !**path)
		minor = node_minor(dir);
	return minor;
}

#define STATAT_FN(name, params, args, correct)                   \
	RXE_EXPORT int name params                               \
	{                                                        \
		struct rxe_path p;                               \
		int minor = statat_minor(dir, &path, flags, &p); \
		int ret = RXE_NEXT(name) args;                   \
		if (!ret && minor >= 0)                          \
			correct;                                 \
		return ret;                                      \
	}

#define CORRECT make_node((struct stat *)st, minor)

STAT_FN(stat, (const char *path, struct stat *st), (path, st), CORRECT)
STAT_FN(stat64, (const char *path, struct stat64 *st), (path, st), CORRECT)
STAT_FN(lstat, (const char *path, struct stat *st), (path, st), CORRECT)
STAT_FN(lstat64, (const char *path, struct stat64 *st), (path, st), CORRECT)
STAT_FN(__xstat, (int ver, const char *path, struct stat *st), (ver, path, st), CORRECT)
STAT_FN(__xstat64, (int ver, const char *path, struct stat64 *st), (ver, path, st), CORRECT)
STAT_FN(__lxstat, (int ver, const char *path, struct stat *st), (ver, path, st), CORRECT)
STAT_FN(__lxstat64, (int ver, const char *path, struct stat64 *st), (ver, path, st), CORRECT)
STATAT_FN(fstatat, (int dir, const char *path, struct stat *st, int flags), (dir, path, st, flags),
	  CORRECT)
STATAT_FN(fstatat64, (int dir, const char *path, struct stat64 *st, int flags),
	  (dir, path, st, flags), CORRECT)
STATAT_FN(__fxstatat, (int ver, int dir, const char *path, struct stat *st, int flags),
	  (ver, dir, path, st, flags), CORRECT)
STATAT_FN(__fxstatat64, (int ver, int dir, const char *path, struct stat64 *st, int flags),
	  (ver, dir, path, st, flags), CORRECT)
STATAT_FN(statx, (int dir, const char *path, int flags, unsigned int mask, struct statx *st),
	  (dir, path, flags, mask, st), make_nodex(st, minor))
FSTAT_FN(fstat, (int fd, struct stat *st), (fd, st))
FSTAT_FN(fstat64, (int fd, struct stat64 *st), (fd, st))
FSTAT_FN(__fxstat, (int ver, int fd, struct stat *st), (ver, fd, st))
FSTAT_FN(__fxstat64, (int ver, int fd, struct stat64 *st), (ver, fd, st))
