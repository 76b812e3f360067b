/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_ROUTE of one network namespace: questions that the kernel answers
 * at once, and the stream of link, address, neighbour and route events.
 * Control thread. Errors are negative errno.
 */
#ifndef RXE_RTNL_H
#define RXE_RTNL_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include "transport/transport.h"

struct rxe_netns;
struct rxe_rtnl;
struct nlmsghdr;

#define RXE_LINK_XDP_MODES 3 /* generic, native, offloaded */

struct rxe_link {
	int ifindex;
	char name[IF_NAMESIZE];
	uint8_t mac[6];
	bool ethernet; /* has a 6-byte hardware address (lo included) */
	bool up;       /* IFF_UP */
	bool carrier;  /* IFF_LOWER_UP */
	uint32_t mtu;
	uint32_t xdp_prog[RXE_LINK_XDP_MODES]; /* ids of attached XDP programs, 0: none */
};

struct rxe_ifaddr {
	int ifindex;
	union rxe_ip ip; /* IPv4 v4-mapped */
	bool ready;	 /* not tentative, not a duplicate */
};

struct rxe_neigh {
	int ifindex;
	union rxe_ip ip;
	uint16_t nud; /* NUD_*; 0 when the entry is gone */
	uint8_t mac[6];
	bool has_mac;
};

struct rxe_nexthop {
	int ifindex;
	uint8_t type;	   /* RTN_* */
	union rxe_ip next; /* the gateway, or the destination itself */
	union rxe_ip src;  /* the preferred source; zero when the kernel names none */
};

enum rxe_rtnl_change { RXE_RTNL_NEW, RXE_RTNL_DEL };

/*
 * Where events go. lost: the kernel dropped events; everything known of this
 * namespace has to be asked again. The object that an event reports as gone
 * may be the last user of the rxe_rtnl: handlers may close it.
 */
struct rxe_rtnl_handlers {
	void (*link)(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_link *l);
	void (*addr)(struct rxe_netns *ns, enum rxe_rtnl_change c, const struct rxe_ifaddr *a);
	void (*neigh)(struct rxe_netns *ns, const struct rxe_neigh *n);
	void (*route)(struct rxe_netns *ns);
	void (*lost)(struct rxe_netns *ns);
};

/*
 * Opens (or shares: one per namespace, counted) the sockets of ns and starts
 * delivering its events to h, which must be the same at every call.
 */
int rxe_rtnl_open(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h, struct rxe_rtnl **out);
void rxe_rtnl_close(struct rxe_rtnl *r);

/* -ENODEV when there is no such netdev. */
int rxe_rtnl_link_by_name(struct rxe_rtnl *r, const char *name, struct rxe_link *out);
int rxe_rtnl_link_by_index(struct rxe_rtnl *r, int ifindex, struct rxe_link *out);
int rxe_rtnl_link_set_mtu(struct rxe_rtnl *r, int ifindex, uint32_t mtu);
/* Calls cb for each address of the netdev, IPv4 first, in the kernel's order. */
int rxe_rtnl_addrs(struct rxe_rtnl *r, int ifindex,
		   void (*cb)(void *arg, const struct rxe_ifaddr *a), void *arg);
/*
 * -ENETUNREACH, or what the kernel says, when there is no route. ifindex 0: by
 * any netdev; src NULL: the kernel chooses.
 */
int rxe_rtnl_route_get(struct rxe_rtnl *r, int ifindex, const union rxe_ip *src,
		       const union rxe_ip *dst, struct rxe_nexthop *out);
/* -ENOENT when the kernel has no entry. */
int rxe_rtnl_neigh_get(struct rxe_rtnl *r, int ifindex, const union rxe_ip *ip,
		       struct rxe_neigh *out);
/* Makes the kernel resolve or confirm ip, as if a packet were sent to it. */
int rxe_rtnl_neigh_use(struct rxe_rtnl *r, int ifindex, const union rxe_ip *ip);

/*
 * One event message to its handler; false when it is of no interest. nlh is
 * whole (nlmsg_len checked against the buffer); what is inside is not trusted.
 */
bool rxe_rtnl_dispatch(struct rxe_netns *ns, const struct rxe_rtnl_handlers *h,
		       const struct nlmsghdr *nlh);

static inline bool rxe_ip_is_v4(const union rxe_ip *ip)
{
	return !ip->w[0] && !ip->w[1] && ip->raw[8] == 0 && ip->raw[9] == 0 &&
	       ip->raw[10] == 0xff && ip->raw[11] == 0xff;
}

static inline bool rxe_ip_equal(const union rxe_ip *a, const union rxe_ip *b)
{
	return !__builtin_memcmp(a, b, sizeof(*a));
}

/* Text for messages: "10.0.0.1" or "fe80::1"; buf of RXE_IP_STRLEN bytes. */
#define RXE_IP_STRLEN 48
const char *rxe_ip_str(const union rxe_ip *ip, char *buf);

#endif
