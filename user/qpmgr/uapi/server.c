/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections: framing, one request at a time, replies. What a request means
 * is for uverbs, nldev, sysfs and stat. A connection that OPENs becomes a
 * uverbs context and ends with it.
 */
#include "uapi/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/ipc.h"
#include "log.h"
#include "netns.h"
#include "rxe/bpf_abi.h"
#include "uapi/nldev.h"
#include "uapi/stat.h"
#include "uapi/ucma.h"
#include "uapi/uverbs.h"

#define BACKLOG 128
/*
 * So that no user takes the descriptors of all: a connection that opened a
 * device holds about six of rxed's, and this many still leave most of them
 * (524288 is the usual hard limit). A job of 1000 processes needs about 3000.
 * Root, who can stop rxed anyway, is not counted.
 */
#define MAX_CONNS_OF_USER 4096

/* A reply that did not fit: the client reads slower than we answer. */
struct queued {
	TAILQ_ENTRY(queued) link;
	struct rxe_ipc_hdr hdr;
	size_t len;
	uint8_t bytes[];
};

struct conn {
	TAILQ_ENTRY(conn) link;
	struct rxe_watch watch;
	struct rxe_peer *peer; /* the context's once there is one */
	uid_t uid;
	struct uctx *ctx;
	struct ucma_file *cm;
	bool busy;		  /* a request is being answered */
	bool held;		  /* conn_close() is at work on it */
	bool closed;		  /* the client is gone; freed when neither of these */
	uint16_t type;		  /* of the request under way */
	int reply_fd;		  /* where its answer goes; -1: this connection */
	TAILQ_HEAD(, queued) out; /* replies that wait for room in the socket */
};

struct rxe_server {
	struct rxe_watch listen;
	int spare; /* given up to accept, and close, a client when there is no descriptor */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	TAILQ_HEAD(, conn) conns;
	uint8_t buf[RXE_IPC_MAX_LEN]; /* the request being read */
};

static struct rxe_server *the_server(void)
{
	return rxed.server;
}

/* ---- replies ---------------------------------------------------------------------- */

static int reply_socket(const struct conn *c)
{
	return c->reply_fd >= 0 ? c->reply_fd : c->watch.fd;
}

static void enqueue(struct conn *c, const struct rxe_ipc_hdr *h, const void *bytes, size_t len)
{
	struct queued *q = malloc(sizeof(*q) + len);

	if (!q) {
		log_err("answering a request of process %d: out of memory", c->peer->pid);
		return;
	}
	q->hdr = *h;
	q->len = len;
	memcpy(q->bytes, bytes, len);
	TAILQ_INSERT_TAIL(&c->out, q, link);
}

/*
 * A reply goes out at once or, while the client is slow to read a long answer,
 * from the connection's queue. One with descriptors is a request's only reply
 * and always fits; a forked child's own socket takes what fits.
 */
static void send_reply(struct conn *c, int status, uint16_t flags, const void *bytes, size_t len,
		       int *fds, unsigned int nr_fds)
{
	struct rxe_ipc_hdr h = {.type = c->type, .flags = flags, .status = status};
	struct iovec iov = {.iov_base = (void *)bytes, .iov_len = len};
	int err = -EAGAIN;

	if (c->closed && c->reply_fd < 0)
		return;
	if (TAILQ_EMPTY(&c->out))
		err = rxe_ipc_send(reply_socket(c), h, &iov, len ? 1 : 0, fds, nr_fds,
				   MSG_DONTWAIT);
	if (err == -EAGAIN && c->reply_fd < 0 && !nr_fds)
		enqueue(c, &h, bytes, len);
	else if (err && err != -EPIPE && err != -ECONNRESET && c->peer)
		log_warn("answering a request of process %d (%s): %s", c->peer->pid, c->peer->comm,
			 strerror(-err));
}

static void drop_queue(struct conn *c)
{
	struct queued *q;

	while ((q = TAILQ_FIRST(&c->out))) {
		TAILQ_REMOVE(&c->out, q, link);
		free(q);
	}
}

/* True when nothing waits any more. */
static bool flush_queue(struct conn *c)
{
	struct queued *q;

	while ((q = TAILQ_FIRST(&c->out))) {
		struct iovec iov = {.iov_base = q->bytes, .iov_len = q->len};
		int err = rxe_ipc_send(c->watch.fd, q->hdr, &iov, q->len ? 1 : 0, NULL, 0,
				       MSG_DONTWAIT);

		if (err == -EAGAIN)
			return false;
		TAILQ_REMOVE(&c->out, q, link);
		free(q);
	}
	return true;
}

static void conn_free(struct conn *c)
{
	TAILQ_REMOVE(&the_server()->conns, c, link);
	drop_queue(c);
	close(c->watch.fd);
	if (c->peer) {
		rxe_peer_release(c->peer);
		free(c->peer);
	}
	free(c);
}

static void request_done(struct conn *c)
{
	if (c->reply_fd >= 0)
		close(c->reply_fd);
	c->reply_fd = -1;
	c->busy = false;
	if (c->closed && !c->held)
		conn_free(c);
	else if (!c->closed)
		rxe_loop_mod(rxed.loop, &c->watch, TAILQ_EMPTY(&c->out) ? EPOLLIN : EPOLLOUT);
}

/* ureply of uverbs. */
static void uverbs_reply(void *arg, int status, const void *bytes, size_t len, int fd)
{
	struct conn *c = arg;

	send_reply(c, status, 0, bytes, len, &fd, fd >= 0 ? 1 : 0);
	request_done(c);
}

static void conn_close(struct conn *c)
{
	struct uctx *ctx = c->ctx;

	c->closed = true;
	rxe_loop_del(rxed.loop, &c->watch);
	c->ctx = NULL;
	if (c->cm)
		ucma_close(c->cm);
	c->cm = NULL;
	if (ctx) {
		c->held = true; /* a waiting command is answered in here */
		c->peer = NULL; /* goes with the context */
		uctx_close(ctx);
		c->held = false;
	}
	if (!c->busy)
		conn_free(c);
}

/* ---- requests ---------------------------------------------------------------------- */

static int req_open(struct conn *c, struct rxe_ipc_msg *m)
{
	const struct rxe_ipc_open *in = m->buf;
	struct rxe_ipc_open_reply out = {.nr_workers = rxed.nr_workers};
	int fds[1 + RXE_MAX_WORKERS], err;
	struct rxe_dev *dev;
	uint32_t n;

	if (m->hdr.len < sizeof(*in) || m->nr_fds < 2 || c->ctx || c->cm)
		return -EINVAL;
	if (in->version != RXE_IPC_VERSION) {
		log_warn(
			"opening a device for process %d (%s): its library speaks version %u, this "
			"rxed %u; restart rxed or the program with matching builds",
			c->peer->pid, c->peer->comm, in->version, RXE_IPC_VERSION);
		return -EPROTO;
	}
	dev = rxe_dev_by_minor((uint32_t)in->uverbs_minor);
	if (!dev || !rxe_dev_visible(dev, c->peer->ns))
		return -ENODEV;
	err = uctx_open(dev, c->peer, m->fds[0], m->fds[1], &c->ctx);
	m->fds[0] = m->fds[1] = -1;
	if (err)
		return err;
	n = uctx_doorbell_fds(c->ctx, fds);
	out.doorbell_size = rxed.nr_workers * RXE_DOORBELL_STRIDE;
	send_reply(c, 0, 0, &out, sizeof(out), fds, n);
	return 1;
}

static int req_mmap(struct conn *c, struct rxe_ipc_msg *m)
{
	const struct rxe_ipc_mmap *in = m->buf;
	struct rxe_ipc_mmap_reply out = {0};
	int fd, err;

	if (m->hdr.len < sizeof(*in) || !c->ctx)
		return -EINVAL;
	err = uverbs_mmap(c->ctx, in->offset, in->length, &fd);
	if (err)
		return err;
	send_reply(c, 0, 0, &out, sizeof(out), &fd, 1);
	close(fd);
	return 1;
}

static int req_qp_flags(struct conn *c, struct rxe_ipc_msg *m)
{
	const struct rxe_ipc_qp_flags *in = m->buf;

	if (m->hdr.len < sizeof(*in) || !c->ctx)
		return -EINVAL;
	return uqp_set_flags(c->ctx, in->qp_handle, in->create_flags);
}

static int req_channel_close(struct conn *c, struct rxe_ipc_msg *m)
{
	uint32_t id;

	if (m->hdr.len < sizeof(id) || !c->ctx)
		return -EINVAL;
	memcpy(&id, m->buf, sizeof(id));
	uverbs_channel_close(c->ctx, id);
	return 0;
}

static void more(void *arg, const void *msg, size_t len)
{
	send_reply(arg, 0, RXE_IPC_F_MORE, msg, len, NULL, 0);
}

static int req_netlink(struct conn *c, struct rxe_ipc_msg *m)
{
	struct rxe_netns *netns = NULL;
	int err = 0;

	if (m->nr_fds) {
		err = rxe_netns_from_fd(m->fds[0], &netns);
		m->fds[0] = -1;
	}
	/* Without one, the command that asks for it says so. */
	if (err)
		log_debug("process %d named no network namespace: %s", c->peer->pid,
			  strerror(-err));
	err = rxe_nldev_handle_netns(c->peer, m->buf, m->hdr.len, netns, more, c);
	if (netns)
		rxe_netns_put(netns);
	return err;
}

static int req_sysfs_sync(struct conn *c, struct rxe_ipc_msg *m)
{
	char path[512];

	(void)c;
	if (m->hdr.len >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, m->buf, m->hdr.len);
	path[m->hdr.len] = 0;
	return rxe_sysfs_sync(path);
}

static int req_stat(struct conn *c, struct rxe_ipc_msg *m)
{
	(void)m;
	rxe_stat_report(c->peer, more, c);
	return 0;
}

static int req_write(struct conn *c, struct rxe_ipc_msg *m)
{
	if (!c->ctx)
		return -EINVAL;
	uverbs_write(c->ctx, m->buf, m->hdr.len, uverbs_reply, c);
	return -EINPROGRESS;
}

static int req_ioctl(struct conn *c, struct rxe_ipc_msg *m)
{
	if (!c->ctx)
		return -EINVAL;
	uverbs_ioctl(c->ctx, m->buf, m->hdr.len, uverbs_reply, c);
	return -EINPROGRESS;
}

static int req_cm_open(struct conn *c, struct rxe_ipc_msg *m)
{
	struct rxe_ipc_cm_open_reply out;
	int fd, err;

	(void)m;
	if (c->ctx || c->cm)
		return -EINVAL;
	err = ucma_open(c->peer, &c->cm, &fd);
	if (err)
		return err;
	out.cookie = c->cm->cookie;
	send_reply(c, 0, 0, &out, sizeof(out), &fd, 1);
	close(fd);
	return 1;
}

static int req_cm_write(struct conn *c, struct rxe_ipc_msg *m)
{
	const struct rxe_ipc_cm_write *in = m->buf;
	const uint8_t *cmd = (const uint8_t *)(in + 1);
	size_t len, room = m->hdr.len - sizeof(*in);
	uint8_t out[UCMA_OUT_MAX];
	int err;

	if (m->hdr.len < sizeof(*in) || !c->cm || in->cmd_len > room ||
	    in->extra_len > room - in->cmd_len)
		return -EINVAL;
	err = ucma_write(c->cm, cmd, in->cmd_len, cmd + in->cmd_len, in->extra_len, out, &len);
	if (err)
		return err;
	send_reply(c, 0, 0, out, len, NULL, 0);
	return 1;
}

static int req_ece(struct conn *c, struct rxe_ipc_msg *m)
{
	struct rxe_ipc_ece e;
	int err;

	if (m->hdr.len < sizeof(e) || !c->ctx)
		return -EINVAL;
	memcpy(&e, m->buf, sizeof(e));
	err = uverbs_ece(c->ctx, &e);
	if (err)
		return err;
	send_reply(c, 0, 0, &e, sizeof(e), NULL, 0);
	return 1;
}

/*
 * Returns 0 or a negative errno to be sent as the reply, 1 when the reply is
 * out, -EINPROGRESS when uverbs_reply() has been or will be called.
 */
static int (*const requests[])(struct conn *c, struct rxe_ipc_msg *m) = {
	[RXE_IPC_OPEN] = req_open,
	[RXE_IPC_WRITE] = req_write,
	[RXE_IPC_IOCTL] = req_ioctl,
	[RXE_IPC_MMAP] = req_mmap,
	[RXE_IPC_CHANNEL_CLOSE] = req_channel_close,
	[RXE_IPC_NETLINK] = req_netlink,
	[RXE_IPC_SYSFS_SYNC] = req_sysfs_sync,
	[RXE_IPC_STAT] = req_stat,
	[RXE_IPC_QP_FLAGS] = req_qp_flags,
	[RXE_IPC_CM_OPEN] = req_cm_open,
	[RXE_IPC_CM_WRITE] = req_cm_write,
	[RXE_IPC_ECE] = req_ece,
};

static void handle(struct conn *c, struct rxe_ipc_msg *m)
{
	int ret = -EOPNOTSUPP;

	c->busy = true;
	c->type = m->hdr.type;
	c->reply_fd = -1;
	if (m->hdr.flags & RXE_IPC_F_REPLY_FD && m->nr_fds) {
		c->reply_fd = m->fds[--m->nr_fds];
		m->fds[m->nr_fds] = -1;
	}
	/* Quiet while it waits; a hang-up is heard all the same. */
	rxe_loop_mod(rxed.loop, &c->watch, 0);
	if (m->hdr.type < sizeof(requests) / sizeof(requests[0]) && requests[m->hdr.type])
		ret = requests[m->hdr.type](c, m);
	if (ret != -EINPROGRESS) {
		if (ret != 1)
			send_reply(c, ret, 0, NULL, 0, NULL, 0);
		request_done(c);
	}
	rxe_ipc_close_fds(m, 0);
}

static void conn_cb(struct rxe_watch *w, uint32_t events)
{
	struct conn *c = caa_container_of(w, struct conn, watch);
	struct rxe_ipc_msg m = {.buf = the_server()->buf, .size = sizeof(the_server()->buf)};
	int err;

	if (events & EPOLLOUT && !(events & EPOLLERR)) {
		if (flush_queue(c))
			rxe_loop_mod(rxed.loop, w, EPOLLIN);
		return;
	}
	if (!(events & EPOLLIN)) {
		conn_close(c);
		return;
	}
	err = rxe_ipc_recv(w->fd, &m, MSG_DONTWAIT);
	if (!err)
		handle(c, &m);
	else if (err != -EAGAIN)
		conn_close(c);
}

/*
 * The listener stays ready as long as somebody waits in it: he is taken out of
 * it, by the spare descriptor, and sent away.
 */
static void turn_away(int listener, int why)
{
	static uint64_t next_log;
	int fd;

	if (log_seldom(&next_log))
		log_err("accepting a client: %s; it is turned away%s", strerror(why),
			why == EMFILE	? ": start rxed with a larger `ulimit -n`"
			: why == ENFILE ? ": raise the sysctl fs.file-max"
					: "");
	if (the_server()->spare < 0)
		return;
	close(the_server()->spare);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	the_server()->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int new_client(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
		turn_away(listener, errno);
	return fd;
}

/* May one more client of this user come? */
static bool has_room_for(uid_t uid)
{
	static uint64_t next_log;
	unsigned int n = 0;
	struct conn *c;

	if (!uid)
		return true;
	TAILQ_FOREACH (c, &the_server()->conns, link)
		n += c->uid == uid;
	if (n < MAX_CONNS_OF_USER)
		return true;
	if (log_seldom(&next_log))
		log_warn("accepting a client: user %u has %u connections already, the most that "
			 "one may have; it is turned away",
			 uid, n);
	return false;
}

static struct conn *conn_new(int fd, uid_t uid)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->peer = calloc(1, sizeof(*c->peer));
	if (!c->peer) {
		free(c);
		return NULL;
	}
	c->uid = uid;
	c->watch.fd = fd;
	c->watch.cb = conn_cb;
	c->watch.events = EPOLLIN;
	c->reply_fd = -1;
	TAILQ_INIT(&c->out);
	TAILQ_INSERT_TAIL(&the_server()->conns, c, link);
	return c;
}

static void accept_cb(struct rxe_watch *w, uint32_t events)
{
	int fd = new_client(w->fd), err;
	struct conn *c = NULL;
	struct ucred cred;
	socklen_t len = sizeof(cred);

	(void)events;
	if (fd < 0)
		return;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && has_room_for(cred.uid))
		c = conn_new(fd, cred.uid);
	if (!c) {
		close(fd);
		return;
	}
	err = rxe_peer_from_socket(fd, c->peer);
	if (err) {
		log_debug("a client left before it was known: %s", strerror(-err));
		free(c->peer);
		c->peer = NULL;
	}
	if (err || rxe_loop_add(rxed.loop, &c->watch))
		conn_free(c);
}

void rxe_server_hang_up(const struct uctx *ctx)
{
	struct conn *c;

	TAILQ_FOREACH (c, &the_server()->conns, link)
		if (c->ctx == ctx)
			shutdown(c->watch.fd, SHUT_RDWR); /* conn_cb() hears of it */
}

/* ---- start and stop ------------------------------------------------------------------ */

int rxe_server_start(const char *rundir, struct rxe_server **out, char *err, size_t errlen)
{
	struct rxe_server *s;
	int fd;

	fd = rxe_ipc_connect(rundir);
	if (fd >= 0) {
		close(fd);
		snprintf(err, errlen,
			 "another rxed answers in %s: stop it, or give this one a "
			 "--rundir of its own",
			 rundir);
		return -EADDRINUSE;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	TAILQ_INIT(&s->conns);
	s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	snprintf(s->path, sizeof(s->path), "%s/" RXE_SOCKET_NAME, rundir);
	unlink(s->path); /* of a dead one: nobody answered */
	s->listen.fd = rxe_ipc_listen(rundir, BACKLOG);
	s->listen.cb = accept_cb;
	s->listen.events = EPOLLIN;
	if (s->listen.fd < 0) {
		int ret = s->listen.fd;

		snprintf(err, errlen, "listening on %s: %s", s->path, strerror(-ret));
		close(s->spare);
		free(s);
		return ret;
	}
	rxed.server = s;
	*out = s;
	return rxe_loop_add(rxed.loop, &s->listen);
}

void rxe_server_stop(struct rxe_server *s)
{
	struct conn *c, *next;

	rxe_loop_del(rxed.loop, &s->listen);
	close(s->listen.fd);
	close(s->spare);
	unlink(s->path);
	for (c = TAILQ_FIRST(&s->conns); c; c = next) {
		next = TAILQ_NEXT(c, link);
		conn_close(c);
	}
}
