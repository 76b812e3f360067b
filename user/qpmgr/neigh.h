/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What device.c and gid.c tell the route table (neigh.c) of. The table's
 * users see only rxe_route_resolve() and its kin in rxed.h. Control thread.
 */
#ifndef RXE_NEIGH_H
#define RXE_NEIGH_H

#include "rtnl.h"
#include "rxed.h"

/* A neighbour entry of ns changed. */
void rxe_neigh_event(struct rxe_netns *ns, const struct rxe_neigh *n);
/* Routes, addresses or links of ns changed: look every route up again, soon. */
void rxe_neigh_recheck(struct rxe_netns *ns);
/* The device is deleted: whoever waits gets -ENODEV; its routes stay as they are. */
void rxe_neigh_dev_gone(struct rxe_dev *dev);
/* The MAC of a multicast address (RFC 1112, RFC 2464). */
void rxe_multicast_mac(const union rxe_ip *ip, uint8_t mac[6]);
bool rxe_ip_is_multicast(const union rxe_ip *ip);

#endif
