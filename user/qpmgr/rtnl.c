/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two NETLINK_ROUTE sockets of a network namespace: one that asks (the
 * kernel answers such a request before send returns, so nothing blocks), one
 * that listens to events. Both were made inside the namespace and stay there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include "log.h"
#include "netns.h"
#include "rtnl_parse.h"
#include "rxed.h"

#define EVENT_RCVBUF	(1024 * 1024)
#define REPLY_TIMEOUT_S 2
#define DUMP_TRIES	3
#define RECV_SIZE	32768
#define EVENT_BURST	64 /* datagrams before others get their turn */

struct rxe_rtnl {
	LIST_ENTRY(rxe_rtnl) link;
	struct rxe_watch watch; /* events */
	struct rxe_netns *ns;
	const struct rxe_rtnl_handlers *handlers;
	struct nl_sock *ask;
	int event_fd;
	uint32_t seq;
	unsigned int refs;
};

static LIST_HEAD(, rxe_rtnl) sockets = LIST_HEAD_INITIALIZER(sockets);

/* ---- requests ----------------------------------------------------------- */

typedef void (*reply_fn)(void *arg, const struct nlmsghdr *nlh);

/* A request with its fixed header; NULL when out of memory. */
static struct nl_msg *request(int type, int flags, const void *hdr, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	if (msg && nlmsg_append(msg, (void *)hdr, len, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

static int send_request(struct rxe_rtnl *r, struct nl_msg *msg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	nlh->nlmsg_seq = ++r->seq;
	if (sendto(nl_socket_get_fd(r->ask), nlh, nlh->nlmsg_len, 0, (void *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

/* 0: go on; 1: the exchange is over, *err says how; else an answer for fn. */
static int take_reply(struct rxe_rtnl *r, const struct nlmsghdr *nlh, int *err)
{
	const struct nlmsgerr *e = NLMSG_DATA(nlh);

	if (nlh->nlmsg_seq != r->seq)
		return 0;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		*err = -EAGAIN;
	switch (nlh->nlmsg_type) {
	case NLMSG_DONE:
		return 1;
	case NLMSG_ERROR:
		*err = nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(*e)) ? e->error : -EPROTO;
		return 1;
	default:
		return 2;
	}
}

static int recv_replies(struct rxe_rtnl *r, reply_fn fn, void *arg)
{
	static char buf[RECV_SIZE] __attribute__((aligned(8)));
	int fd = nl_socket_get_fd(r->ask), err = 0, verdict;
	struct nlmsghdr *nlh;
	ssize_t n;
	int left;

	for (;;) {
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		left = (int)n;
		for (nlh = (void *)buf; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
			verdict = take_reply(r, nlh, &err);
			if (verdict == 1)
				return err;
			if (verdict == 2 && fn)
				fn(arg, nlh);
		}
	}
}

/* Sends msg (freed here), hands each answer to fn, returns the kernel's verdict. */
static int ask(struct rxe_rtnl *r, struct nl_msg *msg, reply_fn fn, void *arg)
{
	int err;

	if (!msg)
		return -ENOMEM;
	if (!(nlmsg_hdr(msg)->nlmsg_flags & NLM_F_DUMP))
		nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_ACK;
	err = send_request(r, msg);
	nlmsg_free(msg);
	return err ? err : recv_replies(r, fn, arg);
}

static int ip_family(const union rxe_ip *ip)
{
	return rxe_ip_is_v4(ip) ? AF_INET : AF_INET6;
}

static int put_ip(struct nl_msg *msg, int type, const union rxe_ip *ip)
{
	return rxe_ip_is_v4(ip) ? nla_put(msg, type, 4, &ip->w[3])
				: nla_put(msg, type, sizeof(*ip), ip);
}

struct link_answer {
	struct rxe_link *out;
	bool found;
};

static void on_link(void *arg, const struct nlmsghdr *nlh)
{
	struct link_answer *a = arg;

	if (nlh->nlmsg_type == RTM_NEWLINK)
		a->found |= rxe_rtnl_parse_link(nlh, a->out);
}

static int link_get(struct rxe_rtnl *r, int ifindex, const char *name, struct rxe_link *out)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
	struct link_answer answer = {.out = out};
	struct nl_msg *msg = request(RTM_GETLINK, 0, &ifi, sizeof(ifi));
	int err;

	if (msg && name && nla_put_string(msg, IFLA_IFNAME, name)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	err = ask(r, msg, on_link, &answer);
	if (err)
		return err;
	return answer.found ? 0 : -ENODEV;
}

int rxe_rtnl_link_by_name(struct rxe_rtnl *r, const char *name, struct rxe_link *out)
{
	if (!*name || strlen(name) >= IF_NAMESIZE)
		return -ENODEV;
	return link_get(r, 0, name, out);
}

int rxe_rtnl_link_by_index(struct rxe_rtnl *r, int ifindex, struct rxe_link *out)
{
	return link_get(r, ifindex, NULL, out);
}

int rxe_rtnl_link_set_mtu(struct rxe_rtnl *r, int ifindex, uint32_t mtu)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex};
	struct nl_msg *msg = request(RTM_SETLINK, 0, &ifi, sizeof(ifi));

	if (msg && nla_put_u32(msg, IFLA_MTU, mtu)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return ask(r, msg, NULL, NULL);
}

struct addr_walk {
	int ifindex;
	void (*cb)(void *arg, const struct rxe_ifaddr *a);
	void *arg;
};

static void on_addr(void *arg, const struct nlmsghdr *nlh)
{
	struct addr_walk *w = arg;
	struct rxe_ifaddr a;

	if (nlh->nlmsg_type == RTM_NEWADDR && rxe_rtnl_parse_addr(nlh, &a) &&
	    a.ifindex == w->ifindex)
		w->cb(w->arg, &a);
}

static int dump_addrs(struct rxe_rtnl *r, int family, struct addr_walk *w)
{
	struct ifaddrmsg ifa = {.ifa_family = (uint8_t)family};
	int err = -EAGAIN;

	/* An interrupted dump may have missed one: calling cb twice is harmless. */
	for (int i = 0; i < DUMP_TRIES && err == -EAGAIN; i++)
		err = ask(r, request(RTM_GETADDR, NLM_F_DUMP, &ifa, sizeof(ifa)), on_addr, w);
	return err;
}

int rxe_rtnl_addrs(struct rxe_rtnl *r, int ifindex,
		   void (*cb)(void *arg, const struct rxe_ifaddr *a), void *arg)
{
	struct addr_walk w = {.ifindex = ifindex, .cb = cb, .arg = arg};
	int err = dump_addrs(r, AF_INET, &w);
	int err6 = dump_addrs(r, AF_INET6, &w);

	return err ? err : err6;
}

static void on_route(void *arg, const struct nlmsghdr *nlh)
{
	if (nlh->nlmsg_type == RTM_NEWROUTE)
		rxe_rtnl_parse_route(nlh, arg);
}

int rxe_rtnl_route_get(struct rxe_rtnl *r, int ifindex, const union rxe_ip *src,
		       const union rxe_ip *dst, struct rxe_nexthop *out)
{
	struct rtmsg rtm = {.rtm_family = (uint8_t)ip_family(dst)};
	uint8_t bits = rxe_ip_is_v4(dst) ? 32 : 128;
	struct nl_msg *msg;
	int err;

	if (src && ip_family(src) != ip_family(dst))
		return -EAFNOSUPPORT;
	rtm.rtm_dst_len = bits;
	rtm.rtm_src_len = src ? bits : 0;
	msg = request(RTM_GETROUTE, 0, &rtm, sizeof(rtm));
	if (msg && (put_ip(msg, RTA_DST, dst) || (src && put_ip(msg, RTA_SRC, src)) ||
		    (ifindex && nla_put_u32(msg, RTA_OIF, (uint32_t)ifindex)))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	memset(out, 0, sizeof(*out));
	out->next = *dst;
	err = ask(r, msg, on_route, out);
	if (!err && !out->ifindex)
		err = -ENETUNREACH;
	return err;
}

static struct nl_msg *neigh_request(int type, int flags, int ifindex, uint8_t ndm_flags,
				    const union rxe_ip *ip)
{
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)ip_family(ip),
		.ndm_ifindex = ifindex,
		.ndm_flags = ndm_flags,
	};
	struct nl_msg *msg = request(type, flags, &ndm, sizeof(ndm));

	if (msg && put_ip(msg, NDA_DST, ip)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

struct neigh_answer {
	struct rxe_neigh *out;
	bool found;
};

static void on_neigh(void *arg, const struct nlmsghdr *nlh)
{
	struct neigh_answer *a = arg;

	if (nlh->nlmsg_type == RTM_NEWNEIGH)
		a->found |= rxe_rtnl_parse_neigh(nlh, a->out);
}

int rxe_rtnl_neigh_get(struct rxe_rtnl *r, int ifindex, const union rxe_ip *ip,
		       struct rxe_neigh *out)
{
	struct neigh_answer answer = {.out = out};
	int err = ask(r, neigh_request(RTM_GETNEIGH, 0, ifindex, 0, ip), on_neigh, &answer);

	if (err)
		return err;
	return answer.found ? 0 : -ENOENT;
}

int rxe_rtnl_neigh_use(struct rxe_rtnl *r, int ifindex, const union rxe_ip *ip)
{
	return ask(r, neigh_request(RTM_NEWNEIGH, NLM_F_CREATE, ifindex, NTF_USE, ip), NULL, NULL);
}

/* ---- events ------------------------------------------------------------- */

static void events_ready(struct rxe_watch *w, uint32_t what)
{
	static char buf[RECV_SIZE] __attribute__((aligned(8)));
	struct rxe_rtnl *r = caa_container_of(w, struct rxe_rtnl, watch);
	struct sockaddr_nl from;
	struct nlmsghdr *nlh;
	socklen_t fromlen;
	ssize_t n;
	int left;

	(void)what;
	r->refs++; /* a handler may close the last user's */
	for (int i = 0; i < EVENT_BURST && r->refs > 1; i++) {
		fromlen = sizeof(from);
		n = recvfrom(r->event_fd, buf, sizeof(buf), MSG_DONTWAIT, (void *)&from, &fromlen);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ENOBUFS) {
			r->handlers->lost(r->ns);
			continue;
		}
		if (n < 0)
			break;
		if (from.nl_pid)
			continue; /* only the kernel is believed */
		left = (int)n;
		for (nlh = (void *)buf; r->refs > 1 && nlmsg_ok(nlh, left);
		     nlh = nlmsg_next(nlh, &left))
			rxe_rtnl_dispatch(r->ns, r->handlers, nlh);
	}
	rxe_rtnl_close(r);
}

static int open_events(void)
{
	static const int groups[] = {RTNLGRP_LINK,	  RTNLGRP_NEIGH,      RTNLGRP_IPV4_IFADDR,
				     RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE};
	struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	int size = EVENT_RCVBUF, err;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (bind(fd, (void *)&self, sizeof(self)))
		goto fail;
	for (unsigned int i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &groups[i], sizeof(int)))
			goto fail;
	}
	return fd;

fail:
	err = -errno;
	close(fd);
	return err;
}

static int open_ask(struct nl_sock **out)
{
	struct timeval tv = {.tv_sec = REPLY_TIMEOUT_S};
	struct nl_sock *sk = nl_socket_alloc();
	int err;

	if (!sk)
		return -ENOMEM;
	if (nl_connect(sk, NETLINK_ROUTE)) {
		err = errno ? -errno : -EIO;
		nl_socket_free(sk);
		return err;
	}
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	*out = sk;
	return 0;
}

/* Both sockets, made inside r->ns. */
static int open_sockets(struct rxe_rtnl *r)
{
	int err = rxe_netns_enter(r->ns);

	if (err)
		return err;
	err = open_ask(&r->ask);
	if (!err) {
		r->event_fd = open_events();
		if (r->event_fd < 0) {
			err = r->event_fd;
			nl_socket_free(r->ask);
		}
	}
	rxe_netns_leave();
	return err;
}

int rxe_rtnl_open(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h, struct rxe_rtnl **out)
{
	struct rxe_rtnl *r;
	int err;

	LIST_FOREACH (r, &sockets, link) {
		if (r->ns == ns) {
			r->refs++;
			*out = r;
			return 0;
		}
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->ns = ns;
	r->handlers = h;
	r->refs = 1;
	err = open_sockets(r);
	if (err)
		goto out_free;
	r->watch = (struct rxe_watch){.fd = r->event_fd, .cb = events_ready, .events = EPOLLIN};
	err = rxe_loop_add(rxed.loop, &r->watch);
	if (err)
		goto out_sockets;
	rxe_netns_get(ns);
	LIST_INSERT_HEAD(&sockets, r, link);
	*out = r;
	return 0;

out_sockets:
	nl_socket_free(r->ask);
	close(r->event_fd);
out_free:
	free(r);
	return err;
}

void rxe_rtnl_close(struct rxe_rtnl *r)
{
	if (--r->refs)
		return;
	LIST_REMOVE(r, link);
	rxe_loop_del(rxed.loop, &r->watch);
	nl_socket_free(r->ask);
	close(r->event_fd);
	rxe_netns_put(r->ns);
	free(r);
}
