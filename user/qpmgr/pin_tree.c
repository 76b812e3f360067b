// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The directories of a pin tree: trusted, locked, and taken back (DESIGN D8,
 * D9).
 *
 * bpffs is mounted with mode 1777, as /tmp: whoever comes first owns a name
 * there. A tree is used only if root or rxed's own user owns each part of it
 * and nobody else may write there; then nobody else can move it either. What
 * two instances would fight for is the tree, so the lock lies in it; flock
 * ends with its holder, so a dead owner's tree is taken over without a trace.
 */
#include "pin_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/param_table.h"
#include "fail.h"
#include "log.h"

#define DIR_MODE   0755
#define LOCK_MODE  0700
#define LOCK_TRIES 20 /* a tree may be taken back while it is being opened */

/* ---- trust ------------------------------------------------------------------ */

static const struct kind {
	const char *what;
	mode_t type;
	mode_t forbidden; /* bits that would let others in */
	const char *fix;  /* of such bits */
} kind_dir = {"directory", S_IFDIR, 022, "chmod go-w"},
  kind_lock = {"lock directory", S_IFDIR, 077, "rmdir"},
  kind_pin = {"pin", S_IFREG, 022, "chmod go-w"};

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static int check(const char *path, const struct kind *k, struct rxe_errline *err)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return rxe_fail(err, -errno, "cannot look at the %s %s: %s", k->what, path,
				strerror(errno));
	if (!is_ours(&st))
		return rxe_fail(
			err, -EPERM,
			"cannot use the %s %s: it belongs to user %u, who could change or move "
			"what rxed keeps there; remove it as root (`rm -r %s`) and start rxed again",
			k->what, path, (unsigned int)st.st_uid, path);
	if ((st.st_mode & S_IFMT) != k->type)
		return rxe_fail(err, -EPERM,
				"cannot use the %s %s: something else is there; remove it (`rm -r "
				"%s`) and start rxed again",
				k->what, path, path);
	if (st.st_mode & k->forbidden)
		return rxe_fail(
			err, -EPERM,
			"cannot use the %s %s: its mode %04o lets other users in; type `%s %s` "
			"and start rxed again",
			k->what, path, (unsigned int)st.st_mode & 07777, k->fix, path);
	return 0;
}

int rxe_pin_check(const char *path, struct rxe_errline *err)
{
	return check(path, &kind_pin, err);
}

int rxe_pin_dir_check(const char *path, struct rxe_errline *err)
{
	return check(path, &kind_dir, err);
}

/* In the directory of the tree itself others may make names, but move none. */
static int check_parent(const char *root, struct rxe_errline *err)
{
	char path[sizeof(((struct rxe_pin_tree *)0)->root)];
	const char *parent;
	struct stat st;

	snprintf(path, sizeof(path), "%s", root);
	parent = dirname(path);
	if (stat(parent, &st) != 0)
		return rxe_fail(err, -errno, "cannot look at %s: %s", parent, strerror(errno));
	if (!is_ours(&st) || (st.st_mode & 022 && !(st.st_mode & S_ISVTX)))
		return rxe_fail(
			err, -EPERM,
			"cannot pin the parameters under %s: in %s (user %u, mode %04o) other "
			"users could move them away; type `chown root %s; chmod 1777 %s`",
			root, parent, (unsigned int)st.st_uid, (unsigned int)st.st_mode & 07777,
			parent, parent);
	return 0;
}

/* ---- making ------------------------------------------------------------------- */

static int make_dir(const char *path, mode_t mode, bool *made, struct rxe_errline *err)
{
	if (mkdir(path, mode) == 0) {
		*made = true;
		if (chmod(path, mode) != 0) /* whatever the umask is */
			log_warn("pin directory %s: cannot set mode %04o: %s", path,
				 (unsigned int)mode, strerror(errno));
		return 0;
	}
	if (errno == EEXIST)
		return 0;
	return rxe_fail(err, -errno, "cannot make %s: %s; rxed needs root or CAP_BPF", path,
			strerror(errno));
}

static int make_and_check(const char *path, const struct kind *k, mode_t mode, bool *made,
			  struct rxe_errline *err)
{
	int code;

	*made = false;
	code = make_dir(path, mode, made, err);

	return code ? code : check(path, k, err);
}

int rxe_pin_dir_make(const char *path, struct rxe_errline *err)
{
	bool made;

	return make_and_check(path, &kind_dir, DIR_MODE, &made, err);
}

/* ---- the lock -------------------------------------------------------------------- */

/* The pid in /proc/locks that flocks fd's inode, 0 when it cannot be told. */
static int lock_holder(int fd)
{
	struct stat st;
	char line[256], want[64], field[64];
	int pid = 0, p;
	FILE *f;

	if (fstat(fd, &st) != 0)
		return 0;
	snprintf(want, sizeof(want), "%02x:%02x:%lu", major(st.st_dev), minor(st.st_dev),
		 (unsigned long)st.st_ino);
	f = fopen("/proc/locks", "re");
	if (!f)
		return 0;
	while (!pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s FLOCK %*s %*s %d %63s", &p, field) == 2 &&
		    !strcmp(field, want))
			pid = p;
	fclose(f);
	return pid;
}

/* Does path still lead to what fd has open? */
static bool same_file(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* -ENOENT: its holder took the tree back meanwhile; it has to be made again. */
static int take_lock(struct rxe_pin_tree *t, struct rxe_errline *err)
{
	int pid;

	t->lock_fd = open(t->lock, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->lock_fd < 0)
		return rxe_fail(err, -errno,
				"cannot open the lock directory %s: %s; start rxed as root",
				t->lock, strerror(errno));
	if (flock(t->lock_fd, LOCK_EX | LOCK_NB) == 0) {
		t->locked = same_file(t->lock_fd, t->lock);
		return t->locked
			       ? 0
			       : rxe_fail(
					 err, -ENOENT,
					 "cannot lock the pin directory %s: another rxed removes it; "
					 "start rxed again",
					 t->root);
	}
	if (errno != EWOULDBLOCK)
		return rxe_fail(err, -errno, "cannot lock the pin directory %s: %s", t->root,
				strerror(errno));
	pid = lock_holder(t->lock_fd);
	return rxe_fail(err, -EBUSY,
			"cannot take the pin directory %s: a live rxed (pid %d) owns it; "
			"stop it, or give this one a --rundir of another basename",
			t->root, pid);
}

/* ---- open and close ---------------------------------------------------------------- */

static int try_open(struct rxe_pin_tree *t, struct rxe_errline *err)
{
	int code = make_and_check(t->root, &kind_dir, DIR_MODE, &t->made_root, err);
	bool made_lock;

	if (!code)
		code = make_and_check(t->lock, &kind_lock, LOCK_MODE, &made_lock, err);
	if (!code)
		code = take_lock(t, err);
	if (!code)
		code = make_and_check(t->params, &kind_dir, DIR_MODE, &t->made_params, err);
	if (code)
		rxe_pin_tree_discard(t);
	return code;
}

int rxe_pin_tree_open(struct rxe_pin_tree *t, const char *root, struct rxe_errline *err)
{
	int code;

	*t = (struct rxe_pin_tree){.lock_fd = -1};
	if (strlen(root) >= sizeof(t->root))
		return rxe_fail(err, -ENAMETOOLONG,
				"cannot pin the parameters under %s: the path is too long; use a "
				"--rundir with a shorter last component",
				root);
	strcpy(t->root, root);
	snprintf(t->params, sizeof(t->params), "%s/%s", root, RXE_PARAM_SUBDIR);
	snprintf(t->lock, sizeof(t->lock), "%s/lock", root);
	code = check_parent(root, err);
	if (code)
		return code;
	for (int i = 0; i < LOCK_TRIES; i++) {
		code = try_open(t, err);
		if (code != -ENOENT)
			break;
	}
	return code;
}

void rxe_pin_tree_close(struct rxe_pin_tree *t)
{
	if (t->lock_fd >= 0)
		close(t->lock_fd);
	t->lock_fd = -1;
	t->locked = false;
}

/*
 * With the lock, a tree without parameters is nobody else's; it is held until
 * all is gone, so that whoever takes it next sees that. Without the lock only
 * an empty root goes: the rest may be in use by whoever has it.
 */
void rxe_pin_tree_discard(struct rxe_pin_tree *t)
{
	if (t->made_params)
		rmdir(t->params);
	if (t->locked && access(t->params, F_OK) != 0)
		rmdir(t->lock);
	if (t->made_root || t->locked)
		rmdir(t->root);
	t->made_params = t->made_root = false;
	rxe_pin_tree_close(t);
}
