/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Membership is held by UDP sockets that are never bound and never read: the
 * kernel reports it to the network, again when the link comes back, and ends
 * it with rxed. (The driver only sets the link's filter, dev_mc_add(), whereupon
 * bridges and switches that snoop do not forward.) A socket holds as many
 * groups as the kernel lets it, 20 of IPv4 by default.
 */
#include "group.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gid.h"
#include "log.h"
#include "netns.h"
#include "rxe/bpf_abi.h"

#define IPV6_MIN_MTU 1280

struct rxe_group_sock {
	LIST_ENTRY(rxe_group_sock) link;
	int fd, family;
	uint32_t used;
	bool full; /* it took no more when last asked */
};

struct rxe_group {
	LIST_ENTRY(rxe_group) link;
	union rxe_ip gid;
	struct rxe_group_sock *sock; /* NULL: the netdev has no IPv6 now */
};

static int family_of(const union rxe_ip *gid)
{
	return rxe_ip_is_v4(gid) ? AF_INET : AF_INET6;
}

static int change_membership(int fd, const union rxe_ip *gid, int ifindex, bool join)
{
	struct ip_mreqn four = {.imr_multiaddr.s_addr = gid->w[3], .imr_ifindex = ifindex};
	struct ipv6_mreq six = {.ipv6mr_interface = (unsigned int)ifindex};
	int err;

	memcpy(&six.ipv6mr_multiaddr, gid->raw, sizeof(gid->raw));
	if (family_of(gid) == AF_INET)
		err = setsockopt(fd, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
				 &four, sizeof(four));
	else
		err = setsockopt(fd, IPPROTO_IPV6,
				 join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP, &six,
				 sizeof(six));
	return err ? -errno : 0;
}

/* ---- sockets -------------------------------------------------------------------- */

static int open_in_ns(struct rxe_netns *ns, int family)
{
	int fd, err = rxe_netns_enter(ns);

	if (err)
		return err;
	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		fd = -errno;
	rxe_netns_leave();
	return fd;
}

static int sock_new(struct rxe_dev *dev, int family, struct rxe_group_sock **out)
{
	struct rxe_group_sock *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->family = family;
	s->fd = open_in_ns(dev->ns, family);
	if (s->fd < 0) {
		int err = s->fd;

		free(s);
		return err;
	}
	LIST_INSERT_HEAD(&dev->group_socks, s, link);
	*out = s;
	return 0;
}

static void sock_put(struct rxe_group_sock *s)
{
	if (s->used)
		return;
	close(s->fd);
	LIST_REMOVE(s, link);
	free(s);
}

static bool is_full(int err)
{
	return err == -ENOBUFS || err == -ENOMEM;
}

/* On a socket that has room, or a new one. */
static int join_somewhere(struct rxe_dev *dev, struct rxe_group *g)
{
	struct rxe_group_sock *s;
	int err;

	LIST_FOREACH (s, &dev->group_socks, link) {
		if (s->family != family_of(&g->gid) || s->full)
			continue;
		err = change_membership(s->fd, &g->gid, dev->ifindex, true);
		if (!err || !is_full(err))
			goto done;
		s->full = true;
	}
	err = sock_new(dev, family_of(&g->gid), &s);
	if (err)
		return err;
	err = change_membership(s->fd, &g->gid, dev->ifindex, true);
done:
	s->used += !err;
	if (!err)
		g->sock = s;
	sock_put(s);
	return err;
}

static void leave(struct rxe_dev *dev, struct rxe_group *g)
{
	struct rxe_group_sock *s = g->sock;

	if (!s)
		return;
	g->sock = NULL;
	/* It fails when the netdev is gone, which has ended the membership. */
	change_membership(s->fd, &g->gid, dev->ifindex, false);
	s->full = false;
	s->used--;
	sock_put(s);
}

/* ---- groups ---------------------------------------------------------------------- */

int rxe_group_join(struct rxe_dev *dev, const union rxe_ip *gid)
{
	struct rxe_group *g = calloc(1, sizeof(*g));
	char text[RXE_IP_STRLEN];
	int err;

	if (!g)
		return -ENOMEM;
	g->gid = *gid;
	err = join_somewhere(dev, g);
	if (err) {
		log_warn(
			"device %s: joining the group %s on %s: %s; is that IP version switched on "
			"there (`ip addr show dev %s`)?",
			dev->name, rxe_ip_str(gid, text), dev->netdev, strerror(-err), dev->netdev);
		goto out_free;
	}
	err = dev->dp_ops->addr_set(dev->dp, gid, RXE_ADDR_MULTICAST);
	if (err) {
		log_err("device %s: giving the group %s to the datapath: %s", dev->name,
			rxe_ip_str(gid, text), strerror(-err));
		goto out_leave;
	}
	LIST_INSERT_HEAD(&dev->groups, g, link);
	log_debug("device %s: joined the group %s", dev->name, rxe_ip_str(gid, text));
	return 0;

out_leave:
	leave(dev, g);
out_free:
	free(g);
	return err;
}

void rxe_group_leave(struct rxe_dev *dev, const union rxe_ip *gid)
{
	struct rxe_group *g;
	char text[RXE_IP_STRLEN];

	LIST_FOREACH (g, &dev->groups, link) {
		if (rxe_ip_equal(&g->gid, gid))
			break;
	}
	if (!g)
		return;
	dev->dp_ops->addr_clear(dev->dp, gid);
	leave(dev, g);
	LIST_REMOVE(g, link);
	free(g);
	log_debug("device %s: left the group %s", dev->name, rxe_ip_str(gid, text));
}

/* Down and up, memberships stay; an MTU too small for IPv6 ends those of IPv6. */
void rxe_group_sync(struct rxe_dev *dev)
{
	bool no_six = dev->netdev_mtu < IPV6_MIN_MTU;
	struct rxe_group *g;
	char text[RXE_IP_STRLEN];

	LIST_FOREACH (g, &dev->groups, link) {
		int err = 0;

		if (no_six && family_of(&g->gid) == AF_INET6)
			leave(dev, g);
		else if (!g->sock)
			err = join_somewhere(dev, g);
		if (err)
			log_warn("device %s: joining the group %s again: %s", dev->name,
				 rxe_ip_str(&g->gid, text), strerror(-err));
	}
}
