/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of include/rxe/ipc.h over a unix SEQPACKET socket: framing and
 * descriptor passing, for both ends. What a message means is not known here.
 */
#ifndef RXE_COMMON_IPC_H
#define RXE_COMMON_IPC_H

#include <stdbool.h>
#include <sys/uio.h>
#include "rxe/ipc.h"

/* Most pieces that one message may be gathered from. */
#define RXE_IPC_MAX_IOV 160

/* Most descriptors that one message can carry (the kernel's SCM_MAX_FD). */
#define RXE_IPC_RECV_FDS 253

/*
 * A received message. The caller provides buf and size, and owns the
 * descriptors after a successful receive (they are O_CLOEXEC). There is room for
 * all that a sender can put into it, so that the kernel closes none on the way:
 * a close may take as long as the file's owner likes. close_fd, when not NULL,
 * closes in place of close().
 */
struct rxe_ipc_msg {
	struct rxe_ipc_hdr hdr;
	void *buf;
	size_t size;
	int fds[RXE_IPC_RECV_FDS];
	unsigned int nr_fds;
	void (*close_fd)(int fd);
};

/*
 * Connects to the daemon of `rundir`. Returns an O_CLOEXEC descriptor, or a
 * negative errno: -ENOENT and -ECONNREFUSED when no daemon runs there,
 * -ENAMETOOLONG when the path does not fit into a socket address.
 */
int rxe_ipc_connect(const char *rundir);

/* A listening socket at rundir/rxed.sock for tests and the daemon; mode 0666. */
int rxe_ipc_listen(const char *rundir, int backlog);

/*
 * Sends one message: hdr (magic and len are filled in here), then the bytes
 * of iov, and descriptors, which stay the caller's. Raises no SIGPIPE.
 * Returns 0 or a negative errno; -EAGAIN only on a non-blocking socket or
 * with MSG_DONTWAIT in flags; -EPIPE, -ECONNRESET when the peer is gone;
 * -EFAULT when iov points at memory that cannot be read.
 */
int rxe_ipc_send(int sock, struct rxe_ipc_hdr hdr, const struct iovec *iov, unsigned int nr_iov,
		 const int *fds, unsigned int nr_fds, int flags);

/*
 * Receives one message and checks its frame. Returns 0 or a negative errno:
 * -ECONNRESET at the end of the stream, -EAGAIN as above, -EPROTO for a
 * message that is not framed as ipc.h says or has more than RXE_IPC_MAX_FDS
 * descriptors, -EMSGSIZE for one larger than
 * msg->size. On failure no descriptor is left open.
 */
int rxe_ipc_recv(int sock, struct rxe_ipc_msg *msg, int flags);

/* The same two, waiting also on a socket that somebody made non-blocking. */
int rxe_ipc_send_wait(int sock, struct rxe_ipc_hdr hdr, const struct iovec *iov,
		      unsigned int nr_iov, const int *fds, unsigned int nr_fds);
int rxe_ipc_recv_wait(int sock, struct rxe_ipc_msg *msg);

/* Closes the descriptors of msg from index `from` on; those below 0 are taken. */
void rxe_ipc_close_fds(struct rxe_ipc_msg *msg, unsigned int from);

/*
 * Waits for a reply to a request of this type. -EPROTO: it is another's; a
 * refusal of the connection (RXE_IPC_REFUSED) is the errno that it carries.
 */
int rxe_ipc_reply(int sock, uint16_t type, struct rxe_ipc_msg *reply);
/*
 * One request and its first reply on a socket of the caller's own. Returns 0
 * when a reply came (its answer is reply->hdr.status; while RXE_IPC_F_MORE is
 * set, rxe_ipc_recv_wait() gets the next), or a negative errno.
 */
int rxe_ipc_call(int sock, uint16_t type, const void *payload, size_t len,
		 struct rxe_ipc_msg *reply);

#endif
