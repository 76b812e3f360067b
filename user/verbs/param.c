// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Module parameters, rxe(7) FILES: reading one is reading a file of the
 * daemon's tree; one that is opened for writing is a socket to the daemon, so
 * that a write by whatever way (libc's own, a program that was exec'ed with it)
 * takes effect. Through the wrappers the writer also learns of a refusal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "verbs/internal.h"

#define ANSWER_MS 5000 /* a daemon that does not answer is taken for dead */

_Atomic bool rxe_param_used;

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* ---- opening ------------------------------------------------------------------------- */

static int ask_open(int sock, const char *path)
{
	char reply[64];
	struct rxe_ipc_msg msg = {.buf = reply, .size = sizeof(reply)};
	int err;

	path += strlen(rxe_rundir()) + strlen("/sys/");
	err = rxe_ipc_call(sock, RXE_IPC_PARAM_OPEN, path, strlen(path), &msg);
	if (err)
		return err;
	rxe_ipc_close_fds(&msg, 0);
	return msg.hdr.status;
}

int rxe_param_readable(const char *path)
{
	return strstr(path, "/rdma_rxe_net/") ? fail(-EACCES) : 0;
}

int rxe_param_open(const char *path, int flags)
{
	int sock = rxe_ipc_connect(rxe_rundir()), err;
	struct rxe_file *file;

	if (sock < 0)
		return fail(-ENXIO);
	err = ask_open(sock, path);
	file = err ? NULL : rxe_file_new(RXE_FILE_PARAM);
	if (!err)
		err = file ? rxe_fd_install(sock, file) : -ENOMEM;
	if (file)
		rxe_file_put(file);
	if (err) {
		rxe_raw_close(sock);
		return fail(err);
	}
	if (!(flags & O_CLOEXEC))
		ioctl(sock, FIONCLEX);
	atomic_store(&rxe_param_used, true);
	return sock;
}

FILE *rxe_param_fopen(const char *path, const char *mode)
{
	int fd = rxe_param_open(path, strchr(mode, 'e') ? O_CLOEXEC : 0);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* ---- what became of a write ------------------------------------------------------------- */

static int outcome(int fd)
{
	static const char fence[] = RXE_IPC_PARAM_FENCE;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int32_t status;

	if (syscall(SYS_sendto, fd, fence, strlen(fence), MSG_NOSIGNAL, NULL, 0) < 0)
		return -EIO;
	if (poll(&p, 1, ANSWER_MS) != 1 || syscall(SYS_recvfrom, fd, &status, sizeof(status),
						   MSG_DONTWAIT, NULL, NULL) != sizeof(status))
		return -EIO;
	return status;
}

ssize_t rxe_param_write(int fd, const void *buf, size_t len)
{
	ssize_t n = syscall(SYS_sendto, fd, buf, len, MSG_NOSIGNAL, NULL, 0);
	int err;

	if (n < 0)
		return fail(-EIO);
	err = outcome(fd);
	return err ? fail(err) : n;
}

/* libc's stdio writes by itself: a shell's echo learns here, where it looks for errors. */
int rxe_param_flushed(FILE *f, int ret)
{
	int fd = fileno(f);
	struct rxe_file *file =
		fd >= 0 && rxe_fd_tracked(fd) ? rxe_file_get(fd, RXE_FILE_PARAM) : NULL;
	int err;

	if (!file)
		return ret;
	err = outcome(fd);
	rxe_file_put(file);
	if (!err || ret)
		return ret;
	f->_flags |= _IO_ERR_SEEN; /* bash asks ferror() */
	return fail(err);
}
