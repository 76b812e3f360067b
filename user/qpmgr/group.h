/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The multicast groups that a device's netdev is a member of, one for each
 * group that has a QP: membership in the network (IGMP, MLD, and so the link's
 * multicast filter) and in the datapath's addresses. Control thread.
 */
#ifndef RXE_GROUP_H
#define RXE_GROUP_H

#include "rxed.h"

/*
 * The netdev joins. A group is joined once. -ENODEV, -EADDRNOTAVAIL, ... when
 * the netdev cannot (IPv6 switched off, say); the log names the cause.
 */
int rxe_group_join(struct rxe_dev *dev, const union rxe_ip *gid);
void rxe_group_leave(struct rxe_dev *dev, const union rxe_ip *gid);
/* The netdev changed: what the kernel forgot is joined again. */
void rxe_group_sync(struct rxe_dev *dev);

#endif
