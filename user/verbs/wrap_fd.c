// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The wrappers of functions that take a descriptor. Each looks it up; what is
 * not ours goes on to the original untouched.
 */
#include "verbs/next.h"
#include <string.h>
#include <sys/syscall.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "verbs/internal.h"

/* The file of fd if it is of this kind (-1: of any); NULL costs no lock and no reference. */
static inline struct rxe_file *ours(int fd, int kind)
{
	return rxe_fd_tracked(fd) ? rxe_file_get(fd, kind) : NULL;
}

/* ---- what a command descriptor understands ---------------------------------------- */

static ssize_t write_ours(struct rxe_file *file, int fd, const void *buf, size_t len)
{
	struct iovec iov = {(void *)buf, len};

	if (file->kind == RXE_FILE_COMMAND)
		return rxe_command_write(file, buf, len);
	if (file->kind == RXE_FILE_NETLINK)
		return rxe_netlink_send(file, fd, &iov, 1);
	if (file->kind == RXE_FILE_RDMA_CM)
		return rxe_rdma_cm_write(file, fd, buf, len);
	if (file->kind == RXE_FILE_PARAM)
		return rxe_param_write(fd, buf, len);
	return RXE_NEXT(write)(fd, buf, len);
}

RXE_EXPORT ssize_t write(int fd, const void *buf, size_t len)
{
	struct rxe_file *file = ours(fd, -1);
	ssize_t ret;

	if (__builtin_expect(!file, 1))
		return RXE_NEXT(write)(fd, buf, len);
	ret = write_ours(file, fd, buf, len);
	rxe_file_put(file);
	return ret;
}

RXE_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	struct rxe_file *file;
	va_list ap;
	void *arg;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	file = request == RDMA_VERBS_IOCTL ? ours(fd, RXE_FILE_COMMAND) : NULL;
	if (!file)
		return RXE_NEXT(ioctl)(fd, request, arg);
	ret = rxe_command_ioctl(file, arg);
	rxe_file_put(file);
	return ret;
}

/*
 * An allocator may map memory before, or while, the originals are looked up:
 * then the system call itself serves.
 */
static void *native_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (rxe_next.mmap)
		return rxe_next.mmap(addr, len, prot, flags, fd, offset);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

RXE_EXPORT void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	struct rxe_file *file = flags & MAP_ANONYMOUS ? NULL : ours(fd, RXE_FILE_COMMAND);
	void *ret;

	if (!file)
		return native_mmap(addr, len, prot, flags, fd, offset);
	ret = rxe_command_mmap(file, addr, len, prot, flags, offset);
	rxe_file_put(file);
	return ret;
}

RXE_EXPORT void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	return mmap(addr, len, prot, flags, fd, offset);
}

/* ---- lifetime ------------------------------------------------------------------------ */

RXE_EXPORT int close(int fd)
{
	if (__builtin_expect(rxe_fd_tracked(fd), 0)) {
		if (rxe_fd_is_private(fd) && rxe_process_known()) {
			errno = EBADF; /* the program never opened it */
			return -1;
		}
		/* First: the number may be somebody else's as soon as it is free. */
		rxe_fd_forget(fd);
	}
	return RXE_NEXT(close)(fd);
}

static int copied(int oldfd, int newfd)
{
	if (newfd >= 0)
		rxe_fd_copied(oldfd, newfd);
	return newfd;
}

/* The program claims a number. */
static void vacate(int fd)
{
	if (rxe_fd_tracked(fd) && rxe_fd_is_private(fd))
		rxe_fd_private_move(fd);
}

RXE_EXPORT int dup(int fd)
{
	return copied(fd, RXE_NEXT(dup)(fd));
}

RXE_EXPORT int dup2(int oldfd, int newfd)
{
	vacate(newfd);
	return copied(oldfd, RXE_NEXT(dup2)(oldfd, newfd));
}

RXE_EXPORT int dup3(int oldfd, int newfd, int flags)
{
	vacate(newfd);
	return copied(oldfd, RXE_NEXT(dup3)(oldfd, newfd, flags));
}

#define FCNTL_FN(name)                                                                   \
	RXE_EXPORT int name(int fd, int cmd, ...)                                        \
	{                                                                                \
		va_list ap;                                                              \
		void *arg;                                                               \
		int ret;                                                                 \
		va_start(ap, cmd);                                                       \
		arg = va_arg(ap, void *);                                                \
		va_end(ap);                                                              \
		ret = RXE_NEXT(name)(fd, cmd, arg);                                      \
		return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? copied(fd, ret) : ret; \
	}
FCNTL_FN(fcntl)
FCNTL_FN(fcntl64)

/* Closes a range around the library's own descriptors. */
static int close_around(unsigned int first, unsigned int last, int flags)
{
	int limit = last < INT32_MAX ? (int)last : INT32_MAX, fd = first - 1, ret = 0;

	while (!ret && (fd = rxe_fd_next(fd + 1, limit)) >= 0) {
		if (!rxe_fd_is_private(fd)) {
			rxe_fd_forget(fd);
		} else {
			if ((unsigned int)fd > first)
				ret = syscall(SYS_close_range, first, fd - 1, flags);
			first = fd + 1;
		}
	}
	if (!ret && first <= last)
		ret = syscall(SYS_close_range, first, last, flags);
	return ret;
}

RXE_EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (flags || first > INT32_MAX || first > last || rxe_fd_next(first, INT32_MAX) < 0 ||
	    !rxe_process_known())
		return RXE_NEXT(close_range)(first, last, flags);
	return close_around(first, last, 0);
}

RXE_EXPORT void closefrom(int first)
{
	if (first < 0)
		first = 0;
	if (rxe_fd_next(first, INT32_MAX) < 0 || !rxe_process_known() ||
	    close_around(first, ~0u, 0))
		RXE_NEXT(closefrom)(first);
}

/* ---- sockets --------------------------------------------------------------------------- */

RXE_EXPORT int socket(int domain, int type, int protocol)
{
	int fd = -1;

	if (domain == AF_NETLINK && protocol == NETLINK_RDMA)
		fd = rxe_netlink_socket(
			type, RXE_NEXT(socket)(domain, SOCK_RAW | SOCK_CLOEXEC, protocol));
	if (fd < 0) {
		fd = RXE_NEXT(socket)(domain, type, protocol);
		if (fd >= 0)
			rxe_fd_forget(fd);
	}
	return fd;
}

RXE_EXPORT int bind(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	struct rxe_file *file = ours(fd, RXE_FILE_NETLINK);
	int ret;

	if (!file)
		return RXE_NEXT(bind)(fd, addr, len);
	ret = rxe_netlink_bind(file, fd, addr.__sockaddr__, len);
	rxe_file_put(file);
	return ret;
}

/* A program connects to the kernel (port 0), which is where it is connected. */
RXE_EXPORT int connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
	struct rxe_file *file = ours(fd, RXE_FILE_NETLINK);

	if (!file)
		return RXE_NEXT(connect)(fd, addr, len);
	rxe_file_put(file);
	return 0;
}

/* What a call does on a NETLINK_RDMA socket; on other descriptors it is libc's. */
#define NETLINK_FN(name, params, args, mine)                        \
	RXE_EXPORT ssize_t name params                              \
	{                                                           \
		struct rxe_file *file = ours(fd, RXE_FILE_NETLINK); \
		ssize_t ret;                                        \
		if (__builtin_expect(!file, 1))                     \
			return RXE_NEXT(name) args;                 \
		ret = mine;                                         \
		rxe_file_put(file);                                 \
		return ret;                                         \
	}
#define SEND_FN(name, params, args, vec, nvec) \
	NETLINK_FN(name, params, args, rxe_netlink_send(file, fd, vec, nvec))
#define ONE_BUFFER (&(struct iovec){(void *)buf, len})

SEND_FN(send, (int fd, const void *buf, size_t len, int flags), (fd, buf, len, flags), ONE_BUFFER,
	1)
SEND_FN(sendto,
	(int fd, const void *buf, size_t len, int flags, __CONST_SOCKADDR_ARG addr,
	 socklen_t addrlen),
	(fd, buf, len, flags, addr, addrlen), ONE_BUFFER, 1)
SEND_FN(sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags), msg->msg_iov,
	msg->msg_iovlen)

/* Answers come from "the kernel": port 0. */
static void from_kernel(void *name, const socklen_t *len)
{
	if (name && len && *len >= sizeof(struct sockaddr_nl))
		((struct sockaddr_nl *)name)->nl_pid = 0;
}

static ssize_t received(struct rxe_file *file, ssize_t ret, void *from, const socklen_t *fromlen)
{
	if (ret >= 0)
		from_kernel(from, fromlen);
	rxe_netlink_pump(file);
	return ret;
}

#define RECV_FN(name, params, args, from, fromlen) \
	NETLINK_FN(name, params, args, received(file, RXE_NEXT(name) args, from, fromlen))

RECV_FN(recv, (int fd, void *buf, size_t len, int flags), (fd, buf, len, flags), NULL, NULL)
RECV_FN(recvfrom,
	(int fd, void *buf, size_t len, int flags, __SOCKADDR_ARG addr, socklen_t *addrlen),
	(fd, buf, len, flags, addr, addrlen), addr.__sockaddr__, addrlen)
RECV_FN(recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags), msg->msg_name,
	&msg->msg_namelen)
RECV_FN(__recv_chk, (int fd, void *buf, size_t len, size_t room, int flags),
	(fd, buf, len, room, flags), NULL, NULL)
RECV_FN(__recvfrom_chk,
	(int fd, void *buf, size_t len, size_t room, int flags, struct sockaddr *addr,
	 socklen_t *addrlen),
	(fd, buf, len, room, flags, addr, addrlen), addr, addrlen)
