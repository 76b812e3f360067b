// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A kernel with RDMA devices of its own, beside the daemon's: which of the two
 * a netlink request is for, and the kernel's answers. The daemon's devices
 * have numbers from RXE_NL_BASE on then, so that no two are alike; the daemon
 * itself does not know of it.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "verbs/internal.h"

#define ANSWER_S 5
#define DATAGRAM 4096 /* as the rdma tool reads: the kernel fits its dumps to it */

/* ---- the kernel's socket ------------------------------------------------------------ */

int rxe_nl_kernel_socket(int sock)
{
	struct timeval limit = {.tv_sec = ANSWER_S};

	if (sock < 0)
		return -1;
	/* It has no name to be forged to: only the kernel is asked, by a socket of ours. */
	if (setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit))) {
		rxe_raw_close(sock);
		return -1;
	}
	return rxe_fd_private(sock);
}

/* ---- messages ---------------------------------------------------------------------------- */

void *rxe_nl_attr(void *attrs, size_t left, int type, size_t size)
{
	char *pos = attrs;
	struct nlattr a;

	while (left >= sizeof(a)) {
		memcpy(&a, pos, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > left)
			return NULL;
		if ((a.nla_type & NLA_TYPE_MASK) == type)
			return a.nla_len >= NLA_HDRLEN + size ? pos + NLA_HDRLEN : NULL;
		if ((size_t)NLA_ALIGN(a.nla_len) >= left)
			return NULL;
		pos += NLA_ALIGN(a.nla_len);
		left -= NLA_ALIGN(a.nla_len);
	}
	return NULL;
}

static void *attr(struct nlmsghdr *nlh, int type, size_t size)
{
	return rxe_nl_attr((char *)nlh + NLMSG_HDRLEN, nlh->nlmsg_len - NLMSG_HDRLEN, type, size);
}

static bool is_nldev(const struct nlmsghdr *nlh)
{
	return nlh->nlmsg_type >= NLMSG_MIN_TYPE &&
	       RDMA_NL_GET_CLIENT(nlh->nlmsg_type) == RDMA_NL_NLDEV;
}

void rxe_nl_shift(struct nlmsghdr *nlh, int32_t by)
{
	void *index = is_nldev(nlh) ? attr(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, sizeof(uint32_t)) : NULL;
	uint32_t v;

	if (!index)
		return;
	memcpy(&v, index, sizeof(v));
	v += (uint32_t)by;
	memcpy(index, &v, sizeof(v));
}

static bool dumps(const struct nlmsghdr *nlh)
{
	return (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

enum rxe_nl_route rxe_nl_route(struct nlmsghdr *nlh)
{
	const char *type;
	const void *index;
	uint32_t v;

	if (!is_nldev(nlh))
		return RXE_NL_KERNEL;
	if (RDMA_NL_GET_OP(nlh->nlmsg_type) == RDMA_NLDEV_CMD_NEWLINK) {
		type = attr(nlh, RDMA_NLDEV_ATTR_LINK_TYPE, sizeof("rxe"));
		return type && !memcmp(type, "rxe", sizeof("rxe")) ? RXE_NL_DAEMON : RXE_NL_KERNEL;
	}
	index = attr(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, sizeof(v));
	if (!index)
		return dumps(nlh) ? RXE_NL_BOTH : RXE_NL_DAEMON;
	memcpy(&v, index, sizeof(v));
	return v >= RXE_NL_BASE ? RXE_NL_DAEMON : RXE_NL_KERNEL;
}

/* ---- asking the kernel ------------------------------------------------------------------------ */

struct answer {
	const struct nlmsghdr *req;
	bool part; /* of a dump that the daemon ends */
	int (*take)(void *arg, const void *msg, size_t len);
	void *arg;
};

/* One message: 1 when it was the last. */
static int take_message(const struct answer *a, const struct nlmsghdr *nlh)
{
	bool end = nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR;
	int err = end && a->part ? 0 : a->take(a->arg, nlh, nlh->nlmsg_len);

	if (err)
		return err;
	return end || !(dumps(a->req) || a->req->nlmsg_flags & NLM_F_ACK);
}

static int take_datagram(const struct answer *a, const char *pos, size_t left)
{
	char copy[DATAGRAM] __attribute__((aligned(8)));
	struct nlmsghdr nlh;
	int ret = 0;

	while (!ret && left >= sizeof(nlh)) {
		memcpy(&nlh, pos, sizeof(nlh));
		if (nlh.nlmsg_len < sizeof(nlh) || nlh.nlmsg_len > left)
			return -EPROTO;
		memcpy(copy, pos, nlh.nlmsg_len);
		if (nlh.nlmsg_seq == a->req->nlmsg_seq)
			ret = take_message(a, (void *)copy);
		if ((size_t)NLMSG_ALIGN(nlh.nlmsg_len) >= left)
			break;
		pos += NLMSG_ALIGN(nlh.nlmsg_len);
		left -= NLMSG_ALIGN(nlh.nlmsg_len);
	}
	return ret;
}

int rxe_nl_ask_kernel(int sock, const struct nlmsghdr *req, bool part,
		      int (*take)(void *arg, const void *msg, size_t len), void *arg)
{
	struct answer a = {req, part, take, arg};
	char buf[DATAGRAM];
	ssize_t n;
	int ret = 0;

	if (syscall(SYS_sendto, sock, req, req->nlmsg_len, MSG_NOSIGNAL, NULL, 0) < 0)
		return -errno;
	while (!ret) {
		n = syscall(SYS_recvfrom, sock, buf, sizeof(buf), 0, NULL, NULL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		ret = take_datagram(&a, buf, (size_t)n);
	}
	return ret < 0 ? ret : 0;
}
