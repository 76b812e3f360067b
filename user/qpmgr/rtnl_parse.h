/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_ROUTE messages into the small structs of rtnl.h. Pure: no socket.
 * Each returns false when the message lacks what it needs.
 */
#ifndef RXE_RTNL_PARSE_H
#define RXE_RTNL_PARSE_H

#include "rtnl.h"

bool rxe_rtnl_parse_link(const struct nlmsghdr *nlh, struct rxe_link *out);
bool rxe_rtnl_parse_addr(const struct nlmsghdr *nlh, struct rxe_ifaddr *out);
bool rxe_rtnl_parse_neigh(const struct nlmsghdr *nlh, struct rxe_neigh *out);
/* out->next is left alone when the route has no gateway. */
bool rxe_rtnl_parse_route(const struct nlmsghdr *nlh, struct rxe_nexthop *out);

#endif
