// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Framing and descriptor passing of include/rxe/ipc.h over SEQPACKET sockets.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "common/ipc.h"

union ipc_control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int) * RXE_IPC_RECV_FDS)];
};

static int socket_address(const char *rundir, struct sockaddr_un *addr)
{
	int n;

	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	n = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", rundir, RXE_SOCKET_NAME);
	return n < 0 || (size_t)n >= sizeof(addr->sun_path) ? -ENAMETOOLONG : 0;
}

int rxe_ipc_connect(const char *rundir)
{
	struct sockaddr_un addr;
	int err, sock;

	err = socket_address(rundir, &addr);
	if (err)
		return err;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	do
		err = connect(sock, (struct sockaddr *)&addr, sizeof(addr)) ? -errno : 0;
	while (err == -EINTR);
	if (!err)
		return sock;
	close(sock);
	return err;
}

int rxe_ipc_listen(const char *rundir, int backlog)
{
	struct sockaddr_un addr;
	int err, sock;

	err = socket_address(rundir, &addr);
	if (err)
		return err;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	unlink(addr.sun_path);
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr))) {
		err = -errno;
		close(sock);
		return err;
	}
	if (chmod(addr.sun_path, 0666) || listen(sock, backlog)) {
		err = -errno;
		unlink(addr.sun_path);
		close(sock);
		return err;
	}
	return sock;
}

static void put_fds(struct msghdr *mh, union ipc_control *control, const int *fds, unsigned int n)
{
	struct cmsghdr *cm;

	if (!n)
		return;
	mh->msg_control = control;
	mh->msg_controllen = CMSG_SPACE(sizeof(int) * n);
	cm = CMSG_FIRSTHDR(mh);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(cm), fds, sizeof(int) * n);
}

int rxe_ipc_send(int sock, struct rxe_ipc_hdr hdr, const struct iovec *iov, unsigned int nr_iov,
		 const int *fds, unsigned int nr_fds, int flags)
{
	struct iovec all[RXE_IPC_MAX_IOV + 1];
	union ipc_control control = {0};
	struct msghdr mh = {.msg_iov = all, .msg_iovlen = nr_iov + 1};
	size_t len = 0;
	ssize_t n;

	if (nr_iov > RXE_IPC_MAX_IOV || nr_fds > RXE_IPC_MAX_FDS)
		return -EMSGSIZE;
	for (unsigned int i = 0; i < nr_iov; i++) {
		if (iov[i].iov_len > RXE_IPC_MAX_LEN)
			return -EMSGSIZE;
		len += iov[i].iov_len;
		all[i + 1] = iov[i];
	}
	if (len > RXE_IPC_MAX_LEN)
		return -EMSGSIZE;
	hdr.magic = RXE_IPC_MAGIC;
	hdr.len = len;
	all[0] = (struct iovec){&hdr, sizeof(hdr)};
	put_fds(&mh, &control, fds, nr_fds);
	do
		n = sendmsg(sock, &mh, flags | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static void take_fds(struct msghdr *mh, struct rxe_ipc_msg *msg)
{
	struct cmsghdr *cm;
	unsigned int n;

	for (cm = CMSG_FIRSTHDR(mh); cm; cm = CMSG_NXTHDR(mh, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cm->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(msg->fds + msg->nr_fds, CMSG_DATA(cm), n * sizeof(int));
		msg->nr_fds += n;
	}
}

void rxe_ipc_close_fds(struct rxe_ipc_msg *msg, unsigned int from)
{
	for (unsigned int i = from; i < msg->nr_fds; i++) {
		if (msg->fds[i] < 0)
			continue;
		if (msg->close_fd)
			msg->close_fd(msg->fds[i]);
		else
			close(msg->fds[i]);
	}
	if (msg->nr_fds > from)
		msg->nr_fds = from;
}

int rxe_ipc_recv(int sock, struct rxe_ipc_msg *msg, int flags)
{
	struct iovec iov[] = {{&msg->hdr, sizeof(msg->hdr)}, {msg->buf, msg->size}};
	union ipc_control control;
	struct msghdr mh = {.msg_iov = iov,
			    .msg_iovlen = msg->size ? 2 : 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control)};
	ssize_t n;
	int err = 0;

	msg->nr_fds = 0;
	do
		n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	take_fds(&mh, msg);
	if (n == 0)
		err = -ECONNRESET;
	else if ((size_t)n < sizeof(msg->hdr) || msg->hdr.magic != RXE_IPC_MAGIC)
		err = -EPROTO;
	else if (mh.msg_flags & MSG_TRUNC)
		err = -EMSGSIZE;
	else if (msg->hdr.len != n - sizeof(msg->hdr) || msg->nr_fds > RXE_IPC_MAX_FDS)
		err = -EPROTO;
	else if (mh.msg_flags & MSG_CTRUNC)
		err = -EMFILE; /* or more of them than anybody sends */
	if (err)
		rxe_ipc_close_fds(msg, 0);
	return err;
}

static void wait_for(int sock, short events)
{
	struct pollfd pfd = {.fd = sock, .events = events};

	poll(&pfd, 1, -1);
}

int rxe_ipc_send_wait(int sock, struct rxe_ipc_hdr hdr, const struct iovec *iov,
		      unsigned int nr_iov, const int *fds, unsigned int nr_fds)
{
	int err;

	while ((err = rxe_ipc_send(sock, hdr, iov, nr_iov, fds, nr_fds, 0)) == -EAGAIN)
		wait_for(sock, POLLOUT);
	return err;
}

int rxe_ipc_recv_wait(int sock, struct rxe_ipc_msg *msg)
{
	int err;

	while ((err = rxe_ipc_recv(sock, msg, 0)) == -EAGAIN)
		wait_for(sock, POLLIN);
	return err;
}

int rxe_ipc_reply(int sock, uint16_t type, struct rxe_ipc_msg *reply)
{
	int err = rxe_ipc_recv_wait(sock, reply);

	/* Who closes with our request unread resets; what it sent comes behind that. */
	if (err == -ECONNRESET)
		err = rxe_ipc_recv_wait(sock, reply);
	if (err || reply->hdr.type == type)
		return err;
	rxe_ipc_close_fds(reply, 0);
	return reply->hdr.type == RXE_IPC_REFUSED && reply->hdr.status < 0 ? reply->hdr.status
									   : -EPROTO;
}

int rxe_ipc_call(int sock, uint16_t type, const void *payload, size_t len,
		 struct rxe_ipc_msg *reply)
{
	struct iovec iov = {(void *)payload, len};
	int err;

	err = rxe_ipc_send_wait(sock, (struct rxe_ipc_hdr){.type = type}, &iov, 1, NULL, 0);
	/* Refused before it could ask: the answer is there. */
	return err && err != -EPIPE ? err : rxe_ipc_reply(sock, type, reply);
}
