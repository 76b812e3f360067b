/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETLINK_RDMA: the messages of RDMA_NL_NLDEV that libibverbs and the rdma
 * tool send (UABI.md section 5). Control thread.
 */
#ifndef RXE_NLDEV_H
#define RXE_NLDEV_H

#include <stddef.h>

struct rxe_netns;
struct rxe_peer;

/*
 * Answers the bytes of one send: one or more netlink messages of `peer`. Each
 * reply() carries one message or a batch of at most RXE_NLDEV_BATCH bytes, as
 * one datagram of the kernel's would; seq and pid are the request's. Hostile
 * bytes get what the kernel gives them: an error message, or nothing.
 * Returns 0, or -EINVAL when not even one whole header came.
 */
#define RXE_NLDEV_BATCH 4096 /* libmnl's receive buffer, which the rdma tool uses */
int rxe_nldev_handle(struct rxe_peer *peer, const void *msg, size_t len,
		     void (*reply)(void *arg, const void *msg, size_t len), void *arg);
/*
 * The same. netns: what the descriptor in NET_NS_FD is, since its number means
 * something in the client only; stays the caller's. NULL: no such descriptor.
 */
int rxe_nldev_handle_netns(struct rxe_peer *peer, const void *msg, size_t len,
			   struct rxe_netns *netns,
			   void (*reply)(void *arg, const void *msg, size_t len), void *arg);

#endif
