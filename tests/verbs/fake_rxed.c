// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The daemon of fake_rxed.h: one poll loop, one table of requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include "common/ipc.h"
#include "fake_rxed.h"

#define MAX_CONNS 64

struct conn {
	int sock, mem;
	int event[FAKE_WORKERS];
	struct rxe_doorbell_page *doorbell[FAKE_WORKERS];
};

static struct conn conns[MAX_CONNS];
static uint32_t next_channel = 1, closed_channel;
static uint64_t aside;
static _Alignas(8) char request_buf[RXE_IPC_MAX_LEN];

struct reply {
	int32_t status;
	uint16_t flags;
	_Alignas(8) char bytes[RXE_IPC_MAX_LEN];
	size_t len;
	int fds[RXE_IPC_MAX_FDS];
	unsigned int nr_fds;
};

/* ---- requests ------------------------------------------------------------------ */

static void on_open(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	struct rxe_ipc_open_reply *open = (void *)r->bytes;
	int memfd = memfd_create("doorbell", MFD_CLOEXEC);
	char *pages;

	if (m->nr_fds != 2) {
		r->status = -EINVAL;
		return;
	}
	c->mem = dup(m->fds[0]);
	open->nr_workers = FAKE_WORKERS;
	open->doorbell_size = FAKE_WORKERS * RXE_DOORBELL_STRIDE;
	r->len = sizeof(*open);
	if (ftruncate(memfd, open->doorbell_size))
		abort();
	pages = mmap(NULL, open->doorbell_size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	r->fds[r->nr_fds++] = memfd;
	for (int i = 0; i < FAKE_WORKERS; i++) {
		c->doorbell[i] = (void *)(pages + i * RXE_DOORBELL_STRIDE);
		c->event[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		r->fds[r->nr_fds++] = dup(c->event[i]);
	}
	for (unsigned int slot = 0; slot < RXE_DOORBELL_SLOTS; slot++)
		c->doorbell[0]->worker[slot] = slot % FAKE_WORKERS;
}

static uint64_t take_bits(struct rxe_doorbell_page *page)
{
	uint64_t bits = 0, summary = __atomic_exchange_n(&page->summary, 0, __ATOMIC_SEQ_CST);

	for (unsigned int i = 0; i < RXE_DOORBELL_WORDS; i++)
		if (summary & 1ull << i)
			bits |= __atomic_exchange_n(&page->bits[i], 0, __ATOMIC_SEQ_CST);
	return bits;
}

static uint64_t sum_of(struct conn *c, uint64_t at, uint64_t n)
{
	unsigned char byte;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		if (pread(c->mem, &byte, 1, at + i) == 1)
			sum += byte;
	return sum;
}

static uint64_t nr_contexts(void)
{
	uint64_t n = 0;

	for (int i = 0; i < MAX_CONNS; i++)
		n += conns[i].sock >= 0 && conns[i].mem >= 0;
	return n;
}

static void put_u64(struct reply *r, uint64_t v)
{
	memcpy(r->bytes + sizeof(struct rxe_ipc_write_reply), &v, sizeof(v));
	r->len = sizeof(struct rxe_ipc_write_reply) + sizeof(v);
}

static void on_fake(struct conn *c, const struct fake_request *q, struct reply *r)
{
	uint64_t count = 0;

	switch (q->command) {
	case FAKE_ECHO:
		put_u64(r, q->arg);
		break;
	case FAKE_SUM:
		put_u64(r, sum_of(c, q->arg, q->arg2));
		break;
	case FAKE_DIE:
		_exit(0);
	case FAKE_CLOSED_CHANNEL:
		put_u64(r, closed_channel);
		break;
	case FAKE_CONTEXTS:
		put_u64(r, nr_contexts());
		break;
	case FAKE_NEED_WAKEUP:
		__atomic_store_n(&c->doorbell[q->arg]->need_wakeup, q->arg2, __ATOMIC_SEQ_CST);
		put_u64(r, 0);
		break;
	case FAKE_DOORBELL:
		put_u64(r, take_bits(c->doorbell[q->arg]));
		break;
	case FAKE_WAKEUPS:
		put_u64(r, read(c->event[q->arg], &count, sizeof(count)) < 0 ? 0 : count);
		break;
	case FAKE_ASIDE:
		put_u64(r, aside);
		break;
	default:
		r->status = -EOPNOTSUPP;
	}
}

static int new_channel(struct reply *r)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		abort();
	if (write(p[1], "channel", 8) != 8)
		abort();
	close(p[1]);
	r->fds[r->nr_fds++] = p[0];
	return next_channel++;
}

static void on_write(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	const struct ib_uverbs_cmd_hdr *hdr = m->buf;
	struct rxe_ipc_write_reply *reply = (void *)r->bytes;
	char *out = r->bytes + sizeof(*reply), *core = (char *)m->buf + sizeof(*hdr);

	r->len = sizeof(*reply);
	switch (hdr->command) {
	case IB_USER_VERBS_CMD_QUERY_DEVICE:
		memset(out, 0x5a, sizeof(struct ib_uverbs_query_device_resp));
		r->len += sizeof(struct ib_uverbs_query_device_resp);
		break;
	case IB_USER_VERBS_CMD_DEALLOC_PD:
		r->len = 0;
		break;
	case IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL:
		reply->channel_id = new_channel(r);
		r->len += sizeof(uint32_t);
		break;
	case IB_USER_VERBS_CMD_MODIFY_SRQ: /* with as many bytes as it has room for */
		memset(out, 0x33, 4 * hdr->out_words);
		r->len += 4 * hdr->out_words;
		break;
	case IB_USER_VERBS_CMD_CREATE_CQ:
		memcpy(out, &((struct ib_uverbs_create_cq *)core)->comp_channel, 4);
		r->len += sizeof(struct ib_uverbs_create_cq_resp);
		break;
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ:
		core += sizeof(struct ib_uverbs_ex_cmd_hdr);
		memcpy(out, &((struct ib_uverbs_ex_create_cq *)core)->comp_channel, 4);
		r->len += sizeof(struct ib_uverbs_ex_create_cq_resp);
		break;
	default:
		on_fake(c, m->buf, r);
	}
}

/* ---- ioctl ------------------------------------------------------------------------ */

static struct rxe_ipc_attr *request_attr(struct rxe_ipc_msg *m, uint16_t id)
{
	struct rxe_ipc_ioctl *head = m->buf;
	struct rxe_ipc_attr *attr = (void *)(head + 1);

	for (int i = 0; i < head->num_attrs; i++)
		if (attr[i].attr_id == id)
			return &attr[i];
	return NULL;
}

/* The answer to one attribute: its bytes (len > 8 behind the attributes), or data. */
static void put_attr(struct reply *r, const struct rxe_ipc_attr *to, uint16_t kind,
		     const void *bytes, size_t len)
{
	struct rxe_ipc_ioctl *head = (void *)r->bytes;
	struct rxe_ipc_attr *attr = (void *)(head + 1);

	attr += head->num_attrs++;
	*attr = (struct rxe_ipc_attr){
		.attr_id = to->attr_id, .index = to->index, .kind = kind, .len = len};
	if (len <= 8) {
		memcpy(&attr->data, bytes, len);
	} else {
		attr->data_off = r->len > 1024 ? r->len : 1024;
		memcpy(r->bytes + attr->data_off, bytes, len);
		r->len = attr->data_off + len;
	}
	if (r->len < sizeof(*head) + head->num_attrs * sizeof(*attr))
		r->len = sizeof(*head) + head->num_attrs * sizeof(*attr);
}

static void on_invoke(struct rxe_ipc_msg *m, struct reply *r)
{
	struct rxe_ipc_attr *cmd = request_attr(m, UVERBS_ATTR_WRITE_CMD);
	struct rxe_ipc_attr *in = request_attr(m, UVERBS_ATTR_CORE_IN);
	struct rxe_ipc_attr *out = request_attr(m, UVERBS_ATTR_CORE_OUT);
	struct rxe_ipc_attr *uhw = request_attr(m, UVERBS_ATTR_UHW_IN);
	struct ib_uverbs_create_cq_resp cq = {0};
	uint32_t fd = 0;

	if (cmd->data == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL) {
		((struct rxe_ipc_ioctl *)r->bytes)->channel_id = new_channel(r);
		put_attr(r, out, RXE_ATTR_BYTES, &fd, sizeof(fd));
	} else if (cmd->data == IB_USER_VERBS_CMD_MODIFY_SRQ) {
		char mminfo[16];

		memset(mminfo, 0x44, sizeof(mminfo));
		out = request_attr(m, UVERBS_ATTR_UHW_OUT);
		if (out && out->len == sizeof(mminfo))
			put_attr(r, out, RXE_ATTR_BYTES, mminfo, sizeof(mminfo));
	} else if (cmd->data == IB_USER_VERBS_CMD_CREATE_CQ && in->data_off) {
		struct ib_uverbs_create_cq *q = (void *)((char *)m->buf + in->data_off);

		cq.cq_handle = q->comp_channel;
		cq.cqe = uhw ? *(char *)((char *)m->buf + uhw->data_off) : 0;
		put_attr(r, out, RXE_ATTR_BYTES, &cq, sizeof(cq));
	} else {
		r->status = -EOPNOTSUPP;
	}
}

static void on_query_port(struct rxe_ipc_msg *m, struct reply *r)
{
	struct rxe_ipc_attr *port = request_attr(m, UVERBS_ATTR_QUERY_PORT_PORT_NUM);
	char resp[48];

	memset(resp, 0x40 + (int)(port->data & 0xff), sizeof(resp));
	put_attr(r, request_attr(m, UVERBS_ATTR_QUERY_PORT_RESP), RXE_ATTR_BYTES, resp,
		 sizeof(resp));
}

static void on_ioctl(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	struct rxe_ipc_ioctl *head = m->buf, *out = (void *)r->bytes;
	struct rxe_ipc_attr *channel;

	(void)c;
	*out = (struct rxe_ipc_ioctl){.object_id = head->object_id, .method_id = head->method_id};
	r->len = sizeof(*out);
	switch (head->object_id << 16 | head->method_id) {
	case UVERBS_OBJECT_DEVICE << 16 | UVERBS_METHOD_INVOKE_WRITE:
		on_invoke(m, r);
		break;
	case UVERBS_OBJECT_DEVICE << 16 | UVERBS_METHOD_QUERY_PORT:
		on_query_port(m, r);
		break;
	case UVERBS_OBJECT_ASYNC_EVENT << 16 | UVERBS_METHOD_ASYNC_EVENT_ALLOC:
		out->channel_id = new_channel(r);
		put_attr(r, request_attr(m, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE), RXE_ATTR_FD,
			 "", 0);
		break;
	case UVERBS_OBJECT_CQ << 16 | UVERBS_METHOD_CQ_CREATE:
		channel = request_attr(m, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
		put_attr(r, request_attr(m, UVERBS_ATTR_CREATE_CQ_HANDLE), RXE_ATTR_DATA,
			 &channel->data, sizeof(channel->data));
		break;
	default:
		r->status = -EPROTONOSUPPORT;
	}
}

/* ---- the rest ----------------------------------------------------------------------- */

static void on_mmap(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	const struct rxe_ipc_mmap *q = m->buf;
	struct rxe_ipc_mmap_reply *reply = (void *)r->bytes;
	int memfd;

	(void)c;
	if (q->offset == 0) {
		r->status = -EINVAL;
		return;
	}
	memfd = memfd_create("ring", MFD_CLOEXEC);
	if (ftruncate(memfd, FAKE_MMAP_SKEW + q->length) ||
	    pwrite(memfd, &q->offset, sizeof(q->offset), FAKE_MMAP_SKEW) != sizeof(q->offset))
		abort();
	reply->file_offset = FAKE_MMAP_SKEW;
	r->len = sizeof(*reply);
	r->fds[r->nr_fds++] = memfd;
}

static void on_channel_close(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	(void)c, (void)r;
	memcpy(&closed_channel, m->buf, sizeof(closed_channel));
}

static void on_sysfs_sync(struct conn *c, struct rxe_ipc_msg *m, struct reply *r)
{
	static int value;
	char path[512];
	int fd;

	(void)c, (void)r;
	snprintf(path, sizeof(path), "%s/sys/%.*s", getenv("RXE_RUNDIR"), (int)m->hdr.len,
		 (char *)m->buf);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || dprintf(fd, "%d\n", ++value) < 0)
		return;
	close(fd);
}

static void answer(struct conn *c, int sock, uint16_t type, struct reply *r)
{
	struct rxe_ipc_hdr hdr = {.type = type, .flags = r->flags, .status = r->status};
	struct iovec iov = {r->bytes, r->status ? 0 : r->len};

	(void)c;
	rxe_ipc_send_wait(sock, hdr, &iov, 1, r->fds, r->nr_fds);
	for (unsigned int i = 0; i < r->nr_fds; i++)
		close(r->fds[i]);
	r->nr_fds = 0;
}

/* A dump gives numbered parts and DONE; anything else itself. */
static void on_netlink(struct conn *c, struct rxe_ipc_msg *m, struct reply *r, int sock)
{
	struct nlmsghdr *q = m->buf, *nlh = (void *)r->bytes;

	memcpy(r->bytes, m->buf, m->hdr.len);
	r->len = m->hdr.len;
	if ((q->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		return;
	for (uint32_t i = 0; i < FAKE_DUMP_PARTS; i++) {
		nlh->nlmsg_len = r->len = FAKE_DUMP_SIZE;
		nlh->nlmsg_flags = NLM_F_MULTI;
		memcpy(NLMSG_DATA(nlh), &i, sizeof(i));
		r->flags = RXE_IPC_F_MORE;
		answer(c, sock, m->hdr.type, r);
	}
	r->flags = 0;
	nlh->nlmsg_type = NLMSG_DONE;
	nlh->nlmsg_len = r->len = NLMSG_LENGTH(4);
}

static void (*const handlers[])(struct conn *, struct rxe_ipc_msg *, struct reply *) = {
	[RXE_IPC_OPEN] = on_open,
	[RXE_IPC_WRITE] = on_write,
	[RXE_IPC_IOCTL] = on_ioctl,
	[RXE_IPC_MMAP] = on_mmap,
	[RXE_IPC_SYSFS_SYNC] = on_sysfs_sync,
	[RXE_IPC_CHANNEL_CLOSE] = on_channel_close,
};

static void conn_close(struct conn *c)
{
	close(c->sock);
	if (c->mem >= 0)
		close(c->mem);
	c->sock = c->mem = -1;
}

static void serve(struct conn *c)
{
	struct rxe_ipc_msg m = {.buf = request_buf, .size = sizeof(request_buf)};
	static struct reply r;
	int sock = c->sock;

	if (rxe_ipc_recv(c->sock, &m, 0)) {
		conn_close(c);
		return;
	}
	memset(&r, 0, sizeof(r));
	if (m.hdr.flags & RXE_IPC_F_REPLY_FD) {
		sock = m.fds[m.nr_fds - 1];
		aside++;
	}
	if (m.hdr.type == RXE_IPC_NETLINK)
		on_netlink(c, &m, &r, sock);
	else if (m.hdr.type < sizeof(handlers) / sizeof(handlers[0]) && handlers[m.hdr.type])
		handlers[m.hdr.type](c, &m, &r);
	else
		r.status = -EOPNOTSUPP;
	answer(c, sock, m.hdr.type, &r);
	rxe_ipc_close_fds(&m, 0);
}

static void take_client(int listener)
{
	int sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	for (int i = 0; i < MAX_CONNS && sock >= 0; i++)
		if (conns[i].sock < 0) {
			conns[i].sock = sock;
			return;
		}
	close(sock);
}

static void run(int listener)
{
	struct pollfd pfd[MAX_CONNS + 1];

	for (int i = 0; i < MAX_CONNS; i++)
		conns[i].sock = conns[i].mem = -1;
	for (;;) {
		pfd[MAX_CONNS] = (struct pollfd){listener, POLLIN, 0};
		for (int i = 0; i < MAX_CONNS; i++)
			pfd[i] = (struct pollfd){conns[i].sock, POLLIN, 0};
		if (poll(pfd, MAX_CONNS + 1, -1) < 0)
			continue;
		for (int i = 0; i < MAX_CONNS; i++)
			if (pfd[i].revents && conns[i].sock == pfd[i].fd)
				serve(&conns[i]);
		if (pfd[MAX_CONNS].revents)
			take_client(listener);
	}
}

pid_t fake_rxed_start(void)
{
	int listener = rxe_ipc_listen(getenv("RXE_RUNDIR"), 16);
	pid_t pid;

	if (listener < 0)
		abort();
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(listener);
	}
	close(listener);
	return pid;
}

void fake_rxed_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- the run directory ---------------------------------------------------------------- */

static const struct {
	const char *path, *content; /* NULL: a directory */
} tree[] = {
	{"sys", NULL},
	{"sys/class", NULL},
	{"sys/class/infiniband", NULL},
	{"sys/class/infiniband/rxe0", NULL},
	{"sys/class/infiniband/rxe0/node_type", "1: CA\n"},
	{"sys/class/infiniband/rxe0/ports", NULL},
	{"sys/class/infiniband/rxe0/ports/1", NULL},
	{"sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n"},
	{"sys/class/infiniband/rxe0/ports/1/hw_counters", NULL},
	{"sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", "0\n"},
	{"sys/class/infiniband_verbs", NULL},
	{"sys/class/infiniband_verbs/abi_version", "6\n"},
	{"sys/class/infiniband_verbs/uverbs0", NULL},
	{"sys/class/infiniband_verbs/uverbs0/dev", "231:192\n"},
	{"sys/class/infiniband_verbs/uverbs0/ibdev", "rxe0\n"},
};
#define NR_TREE (sizeof(tree) / sizeof(tree[0]))

static void make_entry(const char *dir, const char *path, const char *content)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	if (!content) {
		if (mkdir(full, 0755))
			abort();
		return;
	}
	f = fopen(full, "w");
	if (!f || fputs(content, f) < 0 || fclose(f))
		abort();
}

void fake_rundir(char **argv)
{
	char dir[] = "/tmp/rxe_verbs_test_XXXXXX";

	if (getenv("FAKE_RXED"))
		return;
	if (!mkdtemp(dir))
		abort();
	for (size_t i = 0; i < NR_TREE; i++)
		make_entry(dir, tree[i].path, tree[i].content);
	setenv("FAKE_RXED", "1", 1);
	setenv("RXE_RUNDIR", dir, 1);
	execv("/proc/self/exe", argv);
	abort();
}

void fake_rundir_remove(void)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", getenv("RXE_RUNDIR"), RXE_SOCKET_NAME);
	unlink(full);
	for (size_t i = NR_TREE; i-- > 0;) {
		snprintf(full, sizeof(full), "%s/%s", getenv("RXE_RUNDIR"), tree[i].path);
		remove(full);
	}
	rmdir(getenv("RXE_RUNDIR"));
}

/* ---- the client's side ------------------------------------------------------------------- */

pid_t fake_daemon;
int fake_cmd = -1;

int fake_setup(void **state)
{
	(void)state;
	fake_daemon = fake_rxed_start();
	fake_cmd = open(FAKE_NODE, O_RDWR | O_CLOEXEC);
	return fake_cmd < 0;
}

int fake_teardown(void **state)
{
	(void)state;
	close(fake_cmd);
	fake_rxed_stop(fake_daemon);
	return 0;
}

int fake_end(int failed)
{
	fake_rundir_remove();
	return failed != 0;
}

int64_t fake_call(int fd, enum fake_command command, uint64_t arg, uint64_t arg2)
{
	uint64_t answer = 0;
	struct fake_request q = {.command = command,
				 .in_words = sizeof(q) / 4,
				 .out_words = 2,
				 .response = (uintptr_t)&answer,
				 .arg = arg,
				 .arg2 = arg2};
	ssize_t n = write(fd, &q, sizeof(q));

	if (n < 0)
		return -errno;
	return n == sizeof(q) ? (int64_t)answer : -EBADMSG;
}
