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
#include "common/param_table.h"
#include "disposal.h"
#include "log.h"
#include "netns.h"
#include "rxe/bpf_abi.h"
#include "uapi/nldev.h"
#include "uapi/stat.h"
#include "uapi/sysfs_param.h"
#include "uapi/ucma.h"
#include "uapi/uverbs.h"

#define BACKLOG	 128
#define PAUSE_NS 100000000ull /* without accepting, when there is no room to */
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
	enum rxe_param_id param;  /* a module parameter's file; RXE_PARAM_COUNT: none */
	int32_t stored;		  /* what became of the writes to it */
	bool busy;		  /* a request is being answered */
	bool held;		  /* conn_close() is at work on it */
	bool closed;		  /* the client is gone; freed when neither of these */
	uint16_t type;		  /* of the request under way */
	int reply_fd;		  /* where its answer goes; -1: this connection */
	TAILQ_HEAD(, queued) out; /* replies that wait for room in the socket */
};

struct rxe_server {
	struct rxe_watch listen;
	struct rxe_timer resume; /* listening, after a pause */
	int spare;		 /* a descriptor that makes room to refuse a client; -1 */
	bool full;		 /* the last client was refused: said so in the log */
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
	rxe_dispose_fd(c->watch.fd);
	if (c->peer) {
		rxe_peer_release(c->peer);
		free(c->peer);
	}
	free(c);
}

static void request_done(struct conn *c)
{
	rxe_dispose_fd(c->reply_fd);
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

/* ---- a module parameter's file ------------------------------------------------- */

/* As the file's mode, 0644: the administrators of this daemon write. */
static int req_param_open(struct conn *c, struct rxe_ipc_msg *m)
{
	enum rxe_param_id id;
	char path[256];

	if (m->hdr.len >= sizeof(path) || c->ctx || c->cm || c->reply_fd >= 0)
		return -EINVAL;
	memcpy(path, m->buf, m->hdr.len);
	path[m->hdr.len] = 0;
	id = rxe_sysfs_param(path);
	if (id == RXE_PARAM_COUNT)
		return -ENOENT;
	if (!c->peer->bpf_admin)
		return -EACCES;
	c->param = id;
	return 0;
}

static void store(struct conn *c, const char *text, size_t len)
{
	int err = rxe_sysfs_store_param(c->param, text, len);

	if (!err)
		return;
	log_warn("process %d (%s) wrote '%.*s' to parameter %s: %s; `rxe param get -j` tells its "
		 "range",
		 c->peer->pid, c->peer->comm, (int)strcspn(text, "\n"), text,
		 rxe_param_table[c->param].name, strerror(-err));
	if (!c->stored)
		c->stored = err;
}

/* One write or fence; false: the file was closed (*closed), or nothing waits. */
static bool param_rx(struct conn *c, bool *closed)
{
	static const char fence[] = RXE_IPC_PARAM_FENCE;
	char text[64];
	ssize_t n = recv(c->watch.fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	*closed = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
	if (n <= 0)
		return false;
	text[n] = 0;
	if (strcmp(text, fence)) {
		store(c, text, (size_t)n);
		return true;
	}
	if (send(c->watch.fd, &c->stored, sizeof(c->stored), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("process %d does not take an answer", c->peer->pid);
	c->stored = 0;
	return true;
}

/* Whoever reads a parameter after a write to it sees what was written. */
static void params_rx(void)
{
	struct conn *c;
	bool closed;

	TAILQ_FOREACH (c, &the_server()->conns, link)
		while (c->param != RXE_PARAM_COUNT && param_rx(c, &closed))
			;
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
	if (rxe_sysfs_is_param(path))
		params_rx();
	return rxe_sysfs_sync(path, c->peer->ns);
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
	[RXE_IPC_PARAM_OPEN] = req_param_open,
};

/* Most descriptors of each request, but for the one to answer on. */
static const uint8_t takes_fds[sizeof(requests) / sizeof(requests[0])] = {
	[RXE_IPC_OPEN] = 2,
	[RXE_IPC_NETLINK] = 1,
};

/*
 * What is sent on a socket bears rxed's credentials, so it must be what the
 * library makes: one of a pair that the client itself created.
 */
static bool own_socket(const struct conn *c, int fd)
{
	int domain, type;
	socklen_t len = sizeof(int), cred_len = sizeof(struct ucred);
	struct ucred cred;

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_SEQPACKET &&
	       !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_len) &&
	       cred.uid == c->peer->uid;
}

static int run(struct conn *c, struct rxe_ipc_msg *m)
{
	if (m->hdr.flags & RXE_IPC_F_REPLY_FD) {
		if (!m->nr_fds)
			return -EINVAL;
		/* Unanswered: on the connection its owner may wait for something else. */
		if (!own_socket(c, m->fds[m->nr_fds - 1]))
			return 1;
		c->reply_fd = m->fds[--m->nr_fds];
	}
	if (m->hdr.type >= sizeof(requests) / sizeof(requests[0]) || !requests[m->hdr.type])
		return -EOPNOTSUPP;
	return m->nr_fds > takes_fds[m->hdr.type] ? -EINVAL : requests[m->hdr.type](c, m);
}

static void handle(struct conn *c, struct rxe_ipc_msg *m)
{
	int ret;

	c->busy = true;
	c->type = m->hdr.type;
	c->reply_fd = -1;
	/* Quiet while it waits; a hang-up is heard all the same. */
	rxe_loop_mod(rxed.loop, &c->watch, 0);
	ret = run(c, m);
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
	struct rxe_ipc_msg m = {.buf = the_server()->buf,
				.size = sizeof(the_server()->buf),
				.close_fd = rxe_dispose_fd};
	bool closed;
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
	if (c->param != RXE_PARAM_COUNT) {
		param_rx(c, &closed);
		if (closed)
			conn_close(c);
		return;
	}
	err = rxe_ipc_recv(w->fd, &m, MSG_DONTWAIT);
	if (!err) {
		handle(c, &m);
	} else if (err == -EMFILE && !(m.hdr.flags & RXE_IPC_F_REPLY_FD)) {
		c->type = m.hdr.type; /* its descriptors found no room */
		send_reply(c, -ENFILE, 0, NULL, 0, NULL, 0);
	} else if (err != -EAGAIN) {
		conn_close(c);
	}
}

/* ---- accepting ----------------------------------------------------------------------- */

/* To a client's next request, and the end of its connection. */
static void refuse(int fd, int status)
{
	struct rxe_ipc_hdr h = {.type = RXE_IPC_REFUSED, .status = status};

	if (status == -EMFILE)
		h.status = -ENFILE; /* the client has descriptors enough */
	rxe_ipc_send(fd, h, NULL, 0, NULL, 0, MSG_DONTWAIT);
	rxe_dispose_fd(fd);
}

static void note_full(struct rxe_server *s, int err)
{
	if (!s->full)
		log_err("accepting a client: %s; clients are refused until there is room: end some, "
			"or raise rxed's limits",
			strerror(-err));
	s->full = true;
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void resume_cb(struct rxe_timer *t)
{
	struct rxe_server *s = caa_container_of(t, struct rxe_server, resume);

	if (s->spare < 0)
		s->spare = open_spare();
	rxe_loop_mod(rxed.loop, &s->listen, EPOLLIN);
}

/* Else the socket would stay readable, and the loop would spin. */
static void pause_accepting(struct rxe_server *s)
{
	rxe_loop_mod(rxed.loop, &s->listen, 0);
	s->resume.cb = resume_cb;
	rxe_loop_timer(rxed.loop, &s->resume, PAUSE_NS);
}

static int accept_one(struct rxe_server *s)
{
	int fd = accept4(s->listen.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

/* No room for the client that waits: it is told so by the spare descriptor. */
static void turn_away(struct rxe_server *s, int err)
{
	int fd = -1;

	note_full(s, err);
	if (s->spare >= 0 && (err == -EMFILE || err == -ENFILE)) {
		close(s->spare);
		fd = accept_one(s);
		if (fd >= 0)
			refuse(fd, err);
		s->spare = open_spare();
	}
	/* The one that was refused is closed elsewhere, soon: then there is a spare again. */
	if (fd < 0 || s->spare < 0)
		pause_accepting(s);
}

/* May one more client of this user come? */
static bool has_room_for(const struct rxe_server *s, uid_t uid)
{
	const struct conn *c;
	unsigned int n = 0;

	if (!uid)
		return true;
	TAILQ_FOREACH (c, &s->conns, link)
		n += c->uid == uid;
	if (n < MAX_CONNS_OF_USER)
		return true;
	log_warn("accepting a client: user %u has %u connections already, the most that one may "
		 "have; it is turned away",
		 uid, n);
	return false;
}

static struct conn *conn_new(int fd)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c)
		c->peer = calloc(1, sizeof(*c->peer));
	if (!c || !c->peer) {
		free(c);
		return NULL;
	}
	c->watch.fd = fd;
	c->watch.cb = conn_cb;
	c->watch.events = EPOLLIN;
	c->reply_fd = -1;
	c->param = RXE_PARAM_COUNT;
	TAILQ_INIT(&c->out);
	return c;
}

static int start_conn(const struct rxe_server *s, struct conn *c)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int err;

	if (getsockopt(c->watch.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	if (!has_room_for(s, cred.uid))
		return -EUSERS;
	c->uid = cred.uid;
	err = rxe_peer_from_socket(c->watch.fd, c->peer);
	if (err) {
		log_debug("a client left before it was known: %s", strerror(-err));
		return err;
	}
	err = rxe_loop_add(rxed.loop, &c->watch);
	if (err)
		rxe_peer_release(c->peer);
	return err;
}

static void accept_cb(struct rxe_watch *w, uint32_t events)
{
	struct rxe_server *s = caa_container_of(w, struct rxe_server, listen);
	struct conn *c;
	int fd = accept_one(s), err;

	(void)events;
	if (fd < 0) {
		if (fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR)
			turn_away(s, fd);
		return;
	}
	c = conn_new(fd);
	err = c ? start_conn(s, c) : -ENOMEM;
	if (!err) {
		TAILQ_INSERT_TAIL(&s->conns, c, link);
		s->full = false;
		if (s->spare < 0)
			s->spare = open_spare();
		return;
	}
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		note_full(s, err);
	refuse(fd, err);
	if (c)
		free(c->peer);
	free(c);
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
	snprintf(s->path, sizeof(s->path), "%s/" RXE_SOCKET_NAME, rundir);
	unlink(s->path); /* of a dead one: nobody answered */
	s->listen.fd = rxe_ipc_listen(rundir, BACKLOG);
	s->spare = open_spare();
	s->listen.cb = accept_cb;
	s->listen.events = EPOLLIN;
	if (s->listen.fd < 0) {
		int ret = s->listen.fd;

		snprintf(err, errlen, "listening on %s: %s", s->path, strerror(-ret));
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
	rxe_loop_cancel(rxed.loop, &s->resume);
	close(s->listen.fd);
	if (s->spare >= 0)
		close(s->spare);
	unlink(s->path);
	for (c = TAILQ_FIRST(&s->conns); c; c = next) {
		next = TAILQ_NEXT(c, link);
		conn_close(c);
	}
}
