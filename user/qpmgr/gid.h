/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device's GID table: which address has which index (DESIGN 6, PROTOCOL
 * rule 30), and keeping it equal to the netdev's addresses. Control thread.
 */
#ifndef RXE_GID_H
#define RXE_GID_H

#include "rtnl.h"
#include "rxed.h"

/*
 * The table alone. Index 0 is for the first link-local IPv6 address; others
 * get the first index never used; a known address gets its old index back.
 * Returns the index, -EEXIST when the address is there, -ENOSPC when full.
 */
int rxe_gid_add(struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip);
/* Makes the address's index a hole and returns it; -ENOENT. */
int rxe_gid_del(struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip);
/* The index of a valid GID, or -ENOENT. */
int rxe_gid_find(const struct rxe_gid_entry tbl[RXE_GID_TBL_LEN], const union rxe_ip *ip);
unsigned int rxe_gid_count(const struct rxe_gid_entry tbl[RXE_GID_TBL_LEN]);

/*
 * Makes the table and the datapath's addresses what the netdev has now.
 * Returns whether anything changed, or a negative errno from netlink.
 */
int rxe_gid_sync(struct rxe_dev *dev);
/* An address event of the device's netdev: updates, then tells everybody. */
void rxe_gid_addr_event(struct rxe_dev *dev, enum rxe_rtnl_change c, const struct rxe_ifaddr *a);
/* Rewrites the files, re-examines routes, raises GID_CHANGE. */
void rxe_gid_announce(struct rxe_dev *dev);

#endif
