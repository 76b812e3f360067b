/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel with an RDMA device of its own, for a host that has none: preloaded
 * behind librxe_verbs.so, it answers what that one asks the kernel by
 * NETLINK_RDMA. One device, number 0, "fake0" (FAKE_RDMA_NAME when renamed),
 * which can be shown, counted and renamed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

struct message {
	size_t len;
	char buf[2048] __attribute__((aligned(8)));
};

static void begin(struct message *m, const struct nlmsghdr *req, uint16_t type, uint16_t flags)
{
	struct nlmsghdr nlh = {
		.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = req->nlmsg_seq};

	memset(m, 0, sizeof(*m));
	memcpy(m->buf, &nlh, sizeof(nlh));
	m->len = NLMSG_HDRLEN;
}

static void put(struct message *m, int type, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = (uint16_t)type};

	memcpy(m->buf + m->len, &a, sizeof(a));
	memcpy(m->buf + m->len + NLA_HDRLEN, data, len);
	m->len += NLA_ALIGN(NLA_HDRLEN + len);
}

static void put_u32(struct message *m, int type, uint32_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_u64(struct message *m, int type, uint64_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_u8(struct message *m, int type, uint8_t v)
{
	put(m, type, &v, sizeof(v));
}

static void put_str(struct message *m, int type, const char *s)
{
	put(m, type, s, strlen(s) + 1);
}

static void finish(int sock, struct message *m)
{
	((struct nlmsghdr *)m->buf)->nlmsg_len = (uint32_t)m->len;
	send(sock, m->buf, m->len, MSG_NOSIGNAL);
}

static void status(int sock, const struct nlmsghdr *req, uint16_t type, int err)
{
	struct nlmsgerr e = {.error = err, .msg = *req};
	struct message m;

	begin(&m, req, type, type == NLMSG_DONE ? NLM_F_MULTI : 0);
	memcpy(m.buf + m.len, &e, sizeof(e));
	m.len += type == NLMSG_DONE ? sizeof(e.error) : sizeof(e);
	finish(sock, &m);
}

/* ---- the device ------------------------------------------------------------------- */

static const char *name_file(void)
{
	return getenv("FAKE_RDMA_NAME");
}

static void read_name(char *buf, size_t size)
{
	FILE *f = name_file() ? fopen(name_file(), "r") : NULL;

	snprintf(buf, size, "fake0");
	if (f && fgets(buf, (int)size, f))
		buf[strcspn(buf, "\n")] = 0;
	if (f)
		fclose(f);
}

static void handle(struct message *m)
{
	char name[64];

	read_name(name, sizeof(name));
	put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, 0);
	put_str(m, RDMA_NLDEV_ATTR_DEV_NAME, name);
}

static void describe(struct message *m, unsigned int op)
{
	struct nlattr *table, *entry;
	size_t at;

	handle(m);
	if (op == RDMA_NLDEV_CMD_GET) {
		put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		put_u64(m, RDMA_NLDEV_ATTR_CAP_FLAGS, 2);
		put_u64(m, RDMA_NLDEV_ATTR_NODE_GUID, 0x1122334455667788);
		put_u64(m, RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 0x1122334455667788);
		put_u8(m, RDMA_NLDEV_ATTR_DEV_NODE_TYPE, RDMA_NODE_IB_CA);
	} else if (op == RDMA_NLDEV_CMD_PORT_GET) {
		put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
		put_u8(m, RDMA_NLDEV_ATTR_PORT_STATE, 4);
		put_u8(m, RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5);
	} else if (op == RDMA_NLDEV_CMD_RES_GET) {
		at = m->len;
		put(m, RDMA_NLDEV_ATTR_RES_SUMMARY, "", 0);
		put(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, "", 0);
		put_str(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, "qp");
		put_u64(m, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, 77);
		table = (void *)(m->buf + at);
		entry = (void *)(m->buf + at + NLA_HDRLEN);
		table->nla_len = (uint16_t)(m->len - at);
		entry->nla_len = (uint16_t)(m->len - at - NLA_HDRLEN);
	} else if (op == RDMA_NLDEV_CMD_GET_CHARDEV) {
		put_u64(m, RDMA_NLDEV_ATTR_CHARDEV, 231 << 8 | 192);
		put_u64(m, RDMA_NLDEV_ATTR_CHARDEV_ABI, 1);
		put_str(m, RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs0");
		put_u32(m, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 1);
	}
}

static int rename_fake(const struct nlmsghdr *req)
{
	const char *pos = (const char *)req + NLMSG_HDRLEN,
		   *end = (const char *)req + req->nlmsg_len;
	FILE *f = name_file() ? fopen(name_file(), "w") : NULL;
	struct nlattr a;

	for (; f && pos + sizeof(a) <= end; pos += NLA_ALIGN(a.nla_len)) {
		memcpy(&a, pos, sizeof(a));
		if (a.nla_len < NLA_HDRLEN)
			break;
		if (a.nla_type == RDMA_NLDEV_ATTR_DEV_NAME)
			fprintf(f, "%s\n", pos + NLA_HDRLEN);
	}
	return f ? fclose(f) : -95;
}

static void answer(int sock, const struct nlmsghdr *req)
{
	unsigned int op = RDMA_NL_GET_OP(req->nlmsg_type);
	bool dump = (req->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	struct message m;

	if (op == RDMA_NLDEV_CMD_SET || op == RDMA_NLDEV_CMD_NEWLINK) {
		status(sock, req, NLMSG_ERROR, op == RDMA_NLDEV_CMD_SET ? rename_fake(req) : -22);
		return;
	}
	begin(&m, req, req->nlmsg_type, dump ? NLM_F_MULTI : 0);
	describe(&m, op);
	finish(sock, &m);
	if (dump)
		status(sock, req, NLMSG_DONE, 0);
	else if (req->nlmsg_flags & NLM_F_ACK)
		status(sock, req, NLMSG_ERROR, 0);
}

static void *serve(void *arg)
{
	char buf[8192] __attribute__((aligned(8)));
	int sock = (int)(intptr_t)arg;
	ssize_t n;

	while ((n = recv(sock, buf, sizeof(buf), 0)) >= (ssize_t)sizeof(struct nlmsghdr))
		answer(sock, (void *)buf);
	close(sock);
	return NULL;
}

__attribute__((visibility("default"))) int socket(int domain, int type, int protocol)
{
	static int (*next)(int, int, int);
	pthread_t thread;
	int pair[2];

	if (!next)
		next = dlsym(RTLD_NEXT, "socket");
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return next(domain, type, protocol);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)pair[1])) {
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	pthread_detach(thread);
	return pair[0];
}
