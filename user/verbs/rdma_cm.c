// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The rdma_cm device: its descriptor is a pipe of the daemon's with a byte for
 * each event, so that poll(), O_NONBLOCK and waiting are native; commands go
 * by a private socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include "verbs/internal.h"

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* ---- open --------------------------------------------------------------------- */

struct open_call {
	struct rxe_file *file;
	int fd;
};

static int take_open_reply(void *arg, struct rxe_ipc_msg *msg)
{
	const struct rxe_ipc_cm_open_reply *reply = msg->buf;
	struct open_call *call = arg;

	if (msg->hdr.len < sizeof(*reply) || msg->nr_fds < 1)
		return -EIO;
	call->file->cm_cookie = reply->cookie;
	call->fd = msg->fds[0];
	msg->fds[0] = -1;
	return 0;
}

static void set_flags(int fd, int flags)
{
	if (!(flags & O_CLOEXEC))
		ioctl(fd, FIONCLEX);
	if (flags & O_NONBLOCK)
		ioctl(fd, FIONBIO, &(int){1});
}

int rxe_rdma_cm_open(int flags)
{
	struct rxe_request req = {.type = RXE_IPC_CM_OPEN};
	struct open_call call = {.fd = -1};
	int err, sock;

	if (flags & O_DIRECTORY)
		return fail(-ENOTDIR);
	sock = rxe_ipc_connect(rxe_rundir());
	if (sock < 0) {
		rxe_warn_no_daemon(sock);
		return fail(-ENXIO);
	}
	sock = rxe_fd_private(sock);
	call.file = rxe_file_new(RXE_FILE_RDMA_CM);
	if (!call.file) {
		rxe_fd_private_close(sock);
		return fail(-ENOMEM);
	}
	err = rxe_conn_init(&call.file->conn, sock);
	if (!err)
		err = rxe_conn_request(&call.file->conn, &req, take_open_reply, &call);
	if (!err)
		err = rxe_fd_install(call.fd, call.file);
	rxe_file_put(call.file);
	if (err) {
		if (call.fd >= 0)
			rxe_raw_close(call.fd);
		return fail(err);
	}
	set_flags(call.fd, flags);
	return call.fd;
}

/* ---- write ----------------------------------------------------------------------- */

#define NO_RESPONSE UINT8_MAX
/* Where in a command's struct the pointer for its response is. */
static const uint8_t response_at[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = offsetof(struct rdma_ucm_create_id, response),
	[RDMA_USER_CM_CMD_DESTROY_ID] = offsetof(struct rdma_ucm_destroy_id, response),
	[RDMA_USER_CM_CMD_BIND_IP] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_RESOLVE_IP] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = offsetof(struct rdma_ucm_query, response),
	[RDMA_USER_CM_CMD_CONNECT] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_LISTEN] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_ACCEPT] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_REJECT] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_DISCONNECT] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = offsetof(struct rdma_ucm_init_qp_attr, response),
	[RDMA_USER_CM_CMD_GET_EVENT] = offsetof(struct rdma_ucm_get_event, response),
	[RDMA_USER_CM_CMD_GET_OPTION] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_SET_OPTION] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_NOTIFY] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = offsetof(struct rdma_ucm_join_ip_mcast, response),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = offsetof(struct rdma_ucm_destroy_id, response),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = offsetof(struct rdma_ucm_migrate_id, response),
	[RDMA_USER_CM_CMD_QUERY] = offsetof(struct rdma_ucm_query, response),
	[RDMA_USER_CM_CMD_BIND] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = NO_RESPONSE,
	[RDMA_USER_CM_CMD_JOIN_MCAST] = offsetof(struct rdma_ucm_join_mcast, response),
};

struct cm_call {
	struct rdma_ucm_cmd_hdr hdr;
	const char *body; /* after the header, hdr.in bytes */
	void *response;
	const void *extra;
	size_t extra_len;
	uint64_t cookie;
};

static int take_reply(void *arg, struct rxe_ipc_msg *msg)
{
	struct cm_call *call = arg;

	if (msg->hdr.len > call->hdr.out)
		return -EIO;
	if (msg->hdr.len && !call->response)
		return -EFAULT;
	memcpy(call->response, msg->buf, msg->hdr.len);
	return 0;
}

static void find_response(struct cm_call *call)
{
	uint64_t response;
	size_t at;

	if (call->hdr.cmd >= sizeof(response_at) || response_at[call->hdr.cmd] == NO_RESPONSE)
		return;
	at = response_at[call->hdr.cmd];
	if (call->hdr.in < at + sizeof(response))
		return; /* the daemon refuses it */
	memcpy(&response, call->body + at, sizeof(response));
	call->response = (void *)(uintptr_t)response;
}

/* What a pointer or descriptor in the command stands for. */
static int find_extra(struct cm_call *call)
{
	struct rdma_ucm_set_option option;
	struct rdma_ucm_migrate_id migrate;
	struct rxe_file *old;

	if (call->hdr.cmd == RDMA_USER_CM_CMD_SET_OPTION && call->hdr.in >= sizeof(option)) {
		memcpy(&option, call->body, sizeof(option));
		if (option.optlen > 4096)
			return -EINVAL;
		call->extra = (void *)(uintptr_t)option.optval;
		call->extra_len = option.optlen;
	} else if (call->hdr.cmd == RDMA_USER_CM_CMD_MIGRATE_ID &&
		   call->hdr.in >= sizeof(migrate)) {
		memcpy(&migrate, call->body, sizeof(migrate));
		old = rxe_fd_tracked((int)migrate.fd)
			      ? rxe_file_get((int)migrate.fd, RXE_FILE_RDMA_CM)
			      : NULL;
		if (!old)
			return -EINVAL;
		call->cookie = old->cm_cookie;
		call->extra = &call->cookie;
		call->extra_len = sizeof(call->cookie);
		rxe_file_put(old);
	}
	return 0;
}

static int send_command(struct rxe_file *file, struct cm_call *call, const void *buf, size_t len)
{
	struct rxe_ipc_cm_write head = {.cmd_len = (uint32_t)len,
					.extra_len = (uint32_t)call->extra_len};
	struct iovec iov[3] = {
		{&head, sizeof(head)}, {(void *)buf, len}, {(void *)call->extra, call->extra_len}};
	struct rxe_request req = {
		.type = RXE_IPC_CM_WRITE, .iov = iov, .nr_iov = call->extra_len ? 3 : 2};

	return rxe_conn_request(&file->conn, &req, take_reply, call);
}

static void put_file(void *file)
{
	rxe_file_put(file);
}

/* A cancellation point, as the write() that the program called would be. */
static ssize_t wait_byte(struct rxe_file *file, int fd)
{
	ssize_t n;
	char byte;

	pthread_cleanup_push(put_file, file);
	n = read(fd, &byte, 1);
	pthread_cleanup_pop(0);
	return n;
}

/*
 * An event's byte is read as the program set its descriptor to read: waiting
 * or not. A byte whose event went with its object means waiting on.
 */
static int next_event(struct rxe_file *file, int fd, struct cm_call *call, const void *buf,
		      size_t len)
{
	ssize_t n;
	int err;

	do {
		n = wait_byte(file, fd);
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO; /* the daemon is gone */
		err = send_command(file, call, buf, len);
	} while (err == -EAGAIN);
	return err;
}

ssize_t rxe_rdma_cm_write(struct rxe_file *file, int fd, const void *buf, size_t len)
{
	struct cm_call call = {0};
	int err;

	if (len < sizeof(call.hdr))
		return fail(-EINVAL);
	memcpy(&call.hdr, buf, sizeof(call.hdr));
	if (call.hdr.in > len - sizeof(call.hdr))
		return fail(-EINVAL);
	call.body = (const char *)buf + sizeof(call.hdr);
	find_response(&call);
	err = find_extra(&call);
	if (err)
		return fail(err);
	if (call.hdr.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		err = next_event(file, fd, &call, buf, len);
	else
		err = send_command(file, &call, buf, len);
	return err ? fail(err) : (ssize_t)len;
}
