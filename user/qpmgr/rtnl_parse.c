/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_ROUTE messages: what rxed reads out of each kind, and which handler
 * an event goes to. Attribute layouts are those of linux/rtnetlink.h.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <string.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include "rtnl_parse.h"

#define ETH_ADDR_LEN 6

const char *rxe_ip_str(const union rxe_ip *ip, char *buf)
{
	if (rxe_ip_is_v4(ip))
		inet_ntop(AF_INET, &ip->w[3], buf, RXE_IP_STRLEN);
	else
		inet_ntop(AF_INET6, ip, buf, RXE_IP_STRLEN);
	return buf;
}

/* The attributes behind a fixed header of hdrlen bytes; missing ones are NULL. */
static bool parse_attrs(const struct nlmsghdr *nlh, int hdrlen, struct nlattr **tb, int max)
{
	if (nlh->nlmsg_len < NLMSG_LENGTH((uint32_t)hdrlen))
		return false;
	return nlmsg_parse((struct nlmsghdr *)nlh, hdrlen, tb, max, NULL) == 0;
}

static uint32_t attr_u32(const struct nlattr *a, uint32_t fallback)
{
	return a && nla_len(a) >= 4 ? nla_get_u32(a) : fallback;
}

/* A binary address of `family` into a GID; false when the length is wrong. */
static bool attr_ip(const struct nlattr *a, int family, union rxe_ip *ip)
{
	int len = family == AF_INET ? 4 : 16;

	if (!a || nla_len(a) < len)
		return false;
	memset(ip, 0, sizeof(*ip));
	if (family == AF_INET) {
		ip->raw[10] = 0xff;
		ip->raw[11] = 0xff;
	}
	memcpy(ip->raw + sizeof(*ip) - len, nla_data(a), len);
	return true;
}

static bool is_ip_family(int family)
{
	return family == AF_INET || family == AF_INET6;
}

static bool copy_mac(const struct nlattr *a, uint8_t mac[ETH_ADDR_LEN])
{
	if (!a || nla_len(a) != ETH_ADDR_LEN)
		return false;
	memcpy(mac, nla_data(a), ETH_ADDR_LEN);
	return true;
}

/* One program in each mode, and none of the attributes when there is none. */
static void parse_xdp(struct nlattr *xdp, uint32_t ids[RXE_LINK_XDP_MODES])
{
	static const int attrs[RXE_LINK_XDP_MODES] = {IFLA_XDP_SKB_PROG_ID, IFLA_XDP_DRV_PROG_ID,
						      IFLA_XDP_HW_PROG_ID};
	struct nlattr *tb[IFLA_XDP_MAX + 1];

	if (!xdp || nla_parse_nested(tb, IFLA_XDP_MAX, xdp, NULL))
		return;
	for (int i = 0; i < RXE_LINK_XDP_MODES; i++)
		ids[i] = attr_u32(tb[attrs[i]], 0);
}

bool rxe_rtnl_parse_link(const struct nlmsghdr *nlh, struct rxe_link *out)
{
	const struct ifinfomsg *ifi = NLMSG_DATA(nlh);
	struct nlattr *tb[IFLA_MAX + 1];

	if (!parse_attrs(nlh, sizeof(*ifi), tb, IFLA_MAX))
		return false;
	/* A bridge port event (AF_BRIDGE) says nothing of the netdev itself. */
	if (ifi->ifi_family != AF_UNSPEC || !tb[IFLA_IFNAME])
		return false;
	memset(out, 0, sizeof(*out));
	out->ifindex = ifi->ifi_index;
	nla_strlcpy(out->name, tb[IFLA_IFNAME], sizeof(out->name));
	out->ethernet = (ifi->ifi_type == ARPHRD_ETHER || ifi->ifi_type == ARPHRD_LOOPBACK) &&
			copy_mac(tb[IFLA_ADDRESS], out->mac);
	out->up = ifi->ifi_flags & IFF_UP;
	out->carrier = ifi->ifi_flags & IFF_LOWER_UP;
	out->mtu = attr_u32(tb[IFLA_MTU], 0);
	parse_xdp(tb[IFLA_XDP], out->xdp_prog);
	return true;
}

bool rxe_rtnl_parse_addr(const struct nlmsghdr *nlh, struct rxe_ifaddr *out)
{
	const struct ifaddrmsg *ifa = NLMSG_DATA(nlh);
	struct nlattr *tb[IFA_MAX + 1];
	const struct nlattr *ip;
	uint32_t flags;

	if (!parse_attrs(nlh, sizeof(*ifa), tb, IFA_MAX) || !is_ip_family(ifa->ifa_family))
		return false;
	/* On a point-to-point link IFA_ADDRESS is the peer's. */
	ip = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];
	if (!attr_ip(ip, ifa->ifa_family, &out->ip))
		return false;
	flags = attr_u32(tb[IFA_FLAGS], ifa->ifa_flags);
	out->ifindex = (int)ifa->ifa_index;
	out->ready = ifa->ifa_family == AF_INET || !(flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED));
	return true;
}

bool rxe_rtnl_parse_neigh(const struct nlmsghdr *nlh, struct rxe_neigh *out)
{
	const struct ndmsg *ndm = NLMSG_DATA(nlh);
	struct nlattr *tb[NDA_MAX + 1];

	if (!parse_attrs(nlh, sizeof(*ndm), tb, NDA_MAX) || !is_ip_family(ndm->ndm_family))
		return false;
	memset(out, 0, sizeof(*out));
	if (!attr_ip(tb[NDA_DST], ndm->ndm_family, &out->ip))
		return false;
	out->ifindex = ndm->ndm_ifindex;
	out->nud = nlh->nlmsg_type == RTM_DELNEIGH ? 0 : ndm->ndm_state;
	out->has_mac = copy_mac(tb[NDA_LLADDR], out->mac);
	return true;
}

/* RTA_VIA carries a gateway of another family than the route's. */
static bool parse_via(const struct nlattr *a, union rxe_ip *ip)
{
	const struct rtvia *via;
	int len;

	if (!a || nla_len(a) < (int)sizeof(*via))
		return false;
	via = nla_data(a);
	len = nla_len(a) - (int)sizeof(*via);
	if (via->rtvia_family != AF_INET6 || len < 16)
		return false;
	memcpy(ip, via->rtvia_addr, 16);
	return true;
}

bool rxe_rtnl_parse_route(const struct nlmsghdr *nlh, struct rxe_nexthop *out)
{
	const struct rtmsg *rtm = NLMSG_DATA(nlh);
	struct nlattr *tb[RTA_MAX + 1];

	if (!parse_attrs(nlh, sizeof(*rtm), tb, RTA_MAX) || !is_ip_family(rtm->rtm_family))
		return false;
	out->type = rtm->rtm_type;
	out->ifindex = (int)attr_u32(tb[RTA_OIF], 0);
	if (tb[RTA_PREFSRC] && !attr_ip(tb[RTA_PREFSRC], rtm->rtm_family, &out->src))
		return false;
	if (tb[RTA_GATEWAY])
		return attr_ip(tb[RTA_GATEWAY], rtm->rtm_family, &out->next);
	if (tb[RTA_VIA])
		return parse_via(tb[RTA_VIA], &out->next);
	return true;
}

static bool event_link(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
		       enum rxe_rtnl_change c, const struct nlmsghdr *nlh)
{
	struct rxe_link l;

	if (!rxe_rtnl_parse_link(nlh, &l))
		return false;
	h->link(ns, c, &l);
	return true;
}

static bool event_addr(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
		       enum rxe_rtnl_change c, const struct nlmsghdr *nlh)
{
	struct rxe_ifaddr a;

	if (!rxe_rtnl_parse_addr(nlh, &a))
		return false;
	h->addr(ns, c, &a);
	return true;
}

static bool event_neigh(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
			enum rxe_rtnl_change c, const struct nlmsghdr *nlh)
{
	struct rxe_neigh n;

	(void)c; /* n.nud is 0 for an entry that is gone */
	if (!rxe_rtnl_parse_neigh(nlh, &n))
		return false;
	h->neigh(ns, &n);
	return true;
}

static bool event_route(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
			enum rxe_rtnl_change c, const struct nlmsghdr *nlh)
{
	(void)c;
	(void)nlh;
	h->route(ns);
	return true;
}

static const struct {
	uint16_t type;
	enum rxe_rtnl_change change;
	bool (*handle)(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
		       enum rxe_rtnl_change c, const struct nlmsghdr *nlh);
} events[] = {
	{RTM_NEWLINK, RXE_RTNL_NEW, event_link},   {RTM_DELLINK, RXE_RTNL_DEL, event_link},
	{RTM_NEWADDR, RXE_RTNL_NEW, event_addr},   {RTM_DELADDR, RXE_RTNL_DEL, event_addr},
	{RTM_NEWNEIGH, RXE_RTNL_NEW, event_neigh}, {RTM_DELNEIGH, RXE_RTNL_DEL, event_neigh},
	{RTM_NEWROUTE, RXE_RTNL_NEW, event_route}, {RTM_DELROUTE, RXE_RTNL_DEL, event_route},
};

bool rxe_rtnl_dispatch(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
		       const struct nlmsghdr *nlh)
{
	for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (events[i].type == nlh->nlmsg_type)
			return events[i].handle(ns, h, events[i].change, nlh);
	}
	return false;
}
