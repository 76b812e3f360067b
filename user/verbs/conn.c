// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests to the daemon and their replies: who may use a connection when.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "verbs/internal.h"

/*
 * This thread has, or is about to have, a connection's lock. A signal handler
 * that finds it set is on top of such a call and must not wait for it. (An
 * error-checking mutex does not serve: it knows its owner a little too late.)
 */
static _Thread_local volatile sig_atomic_t locking;

bool rxe_conn_lock(struct rxe_conn *conn)
{
	if (locking)
		return false;
	locking = 1;
	pthread_mutex_lock(&conn->lock);
	return true;
}

void rxe_conn_unlock(struct rxe_conn *conn)
{
	pthread_mutex_unlock(&conn->lock);
	locking = 0;
}

static void *reply_buffer(void)
{
	void *buf = mmap(NULL, RXE_CONN_BUF, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	return buf == MAP_FAILED ? NULL : buf;
}

int rxe_conn_init(struct rxe_conn *conn, int fd)
{
	pthread_mutex_init(&conn->lock, NULL);
	conn->fd = fd;
	conn->generation = rxe_fork_generation();
	conn->buf = reply_buffer();
	return conn->buf ? 0 : -ENOMEM;
}

void rxe_conn_free(struct rxe_conn *conn)
{
	if (conn->buf)
		munmap(conn->buf, RXE_CONN_BUF);
	conn->buf = NULL;
}

void rxe_conn_forked(struct rxe_conn *conn)
{
	pthread_mutex_init(&conn->lock, NULL);
}

/* The daemon's end went away: every way that it shows is one error. */
static int transport_error(int err)
{
	switch (err) {
	case -EFAULT:
	case -EMSGSIZE:
	case -ENOMEM:
	case -ETOOMANYREFS:
	case -EMFILE: /* no room here for a descriptor that came */
	case -ENFILE: /* none left over there */
		return err;
	default:
		return -EIO;
	}
}

static int take_replies(int sock, void *buf, uint16_t type, rxe_reply_fn fn, void *arg)
{
	struct rxe_ipc_msg msg = {.buf = buf, .size = RXE_CONN_BUF};
	bool more;
	int err, result = 0;

	do {
		err = rxe_ipc_reply(sock, type, &msg);
		if (err)
			return transport_error(err);
		more = msg.hdr.flags & RXE_IPC_F_MORE;
		err = msg.hdr.status;
		if (!err && fn)
			err = fn(arg, &msg);
		for (unsigned int i = 0; i < msg.nr_fds; i++)
			if (msg.fds[i] >= 0)
				rxe_raw_close(msg.fds[i]);
		if (!result)
			result = err;
	} while (more);
	return result;
}

static int request_own(struct rxe_conn *conn, const struct rxe_request *req, rxe_reply_fn fn,
		       void *arg)
{
	int err;

	if (conn->fd < 0)
		return -EBADF;
	err = rxe_ipc_send_wait(conn->fd, (struct rxe_ipc_hdr){.type = req->type}, req->iov,
				req->nr_iov, req->fds, req->nr_fds);
	/* Refused before it could ask: the answer is there. */
	if (err && err != -EPIPE)
		return transport_error(err);
	return take_replies(conn->fd, conn->buf, req->type, fn, arg);
}

/* The reply comes on a socket of this call's own. */
static int request_aside(struct rxe_conn *conn, const struct rxe_request *req, rxe_reply_fn fn,
			 void *arg)
{
	struct rxe_ipc_hdr hdr = {.type = req->type, .flags = RXE_IPC_F_REPLY_FD};
	int fds[RXE_IPC_MAX_FDS], pair[2], err;
	void *buf;

	if (conn->fd < 0)
		return -EBADF;
	if (req->nr_fds >= RXE_IPC_MAX_FDS)
		return -EMSGSIZE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	for (unsigned int i = 0; i < req->nr_fds; i++)
		fds[i] = req->fds[i];
	fds[req->nr_fds] = pair[1];
	err = rxe_ipc_send_wait(conn->fd, hdr, req->iov, req->nr_iov, fds, req->nr_fds + 1);
	rxe_raw_close(pair[1]); /* now the daemon's death ends the stream */
	buf = err ? NULL : reply_buffer();
	if (err)
		err = transport_error(err);
	else
		err = buf ? take_replies(pair[0], buf, req->type, fn, arg) : -ENOMEM;
	if (buf)
		munmap(buf, RXE_CONN_BUF);
	rxe_raw_close(pair[0]);
	return err;
}

int rxe_conn_request(struct rxe_conn *conn, const struct rxe_request *req, rxe_reply_fn fn,
		     void *arg)
{
	bool own = conn->generation == rxe_fork_generation() && rxe_process_known();
	int cancel, err;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (own && rxe_conn_lock(conn)) {
		err = request_own(conn, req, fn, arg);
		rxe_conn_unlock(conn);
	} else {
		err = request_aside(conn, req, fn, arg);
	}
	pthread_setcancelstate(cancel, NULL);
	return err;
}
