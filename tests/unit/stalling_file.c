/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The smallest FUSE server that lets a file be opened and mapped. */
#include "stalling_file.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_INODE 2
#define FILE_SIZE  4096

static void answer(int dev, const struct fuse_in_header *in, const void *body, size_t len)
{
	struct fuse_out_header out = {.len = (uint32_t)(sizeof(out) + len), .unique = in->unique};
	struct iovec iov[2] = {{&out, sizeof(out)}, {(void *)body, len}};

	if (writev(dev, iov, len ? 2 : 1) < 0)
		return; /* interrupted request: nobody waits for it */
}

static struct fuse_attr attr_of(uint64_t inode)
{
	struct fuse_attr a = {.ino = inode, .nlink = 1, .blksize = 4096};

	a.mode = inode == FILE_INODE ? S_IFREG | 0600 : S_IFDIR | 0700;
	a.size = inode == FILE_INODE ? FILE_SIZE : 0;
	return a;
}

static void serve_one(int dev, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
	struct fuse_entry_out entry = {.nodeid = FILE_INODE,
				       .attr = attr_of(FILE_INODE),
				       .entry_valid = 100,
				       .attr_valid = 100};
	struct fuse_attr_out attr = {.attr_valid = 100, .attr = attr_of(in->nodeid)};
	struct fuse_open_out open_out = {.fh = 1};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(dev, in, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(dev, in, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(dev, in, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(dev, in, &open_out, sizeof(open_out));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(dev, in, NULL, 0);
		break;
	default:
		break; /* READ above all: never answered */
	}
}

static void serve(int dev)
{
	char buf[16384];

	while (read(dev, buf, sizeof(buf)) > 0)
		serve_one(dev, (const void *)buf);
	_exit(0);
}

/*
 * The server is a process of its own, so that its /dev/fuse is closed, and
 * every blocked access ended, even while a thread of ours is blocked for good.
 * The mount leaves the tree once the file is open: nobody else can meet it.
 */
int stalling_file_open(struct stalling_file *f)
{
	char opts[96], path[80], dir[] = "/tmp/rxe-stall-XXXXXX";
	int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (dev < 0 || !mkdtemp(dir))
		return -1;
	snprintf(opts, sizeof(opts), "fd=%d,rootmode=40700,user_id=0,group_id=0", dev);
	if (mount("stall", dir, "fuse", MS_NOSUID | MS_NODEV, opts)) {
		rmdir(dir);
		close(dev);
		return -1;
	}
	f->server = fork();
	if (!f->server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* its user may be killed */
		serve(dev);
	}
	close(dev);
	snprintf(path, sizeof(path), "%s/file", dir);
	f->fd = open(path, O_RDWR);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	return f->fd < 0 ? -1 : 0;
}

void stalling_file_release(struct stalling_file *f)
{
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
	close(f->fd);
}
