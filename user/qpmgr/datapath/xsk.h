/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * AF_XDP sockets: one per worker and receive queue, those of a queue on its
 * one UMEM; descriptors in and out.
 */
#ifndef RXE_XSK_H
#define RXE_XSK_H

#include <linux/if_xdp.h>
#include "datapath/umem.h"

struct rxe_xsk {
	struct xsk_socket *xsk;
	int fd;
	struct rxe_umem *umem;
	struct xsk_ring_cons rx;
	struct xsk_ring_prod tx; /* only when this is its worker's transmit socket */
	bool transmits;
	/* A multi-buffer packet whose last descriptors have not come yet. */
	struct rxe_chunk_pkt *partial;
	bool skipping; /* partial is the rest of a frame that was too long to hold */
};

/*
 * Control, in the netdev's netns: binds a socket to `queue`. The first socket
 * of a UMEM takes bind_flags; the later ones share. -EBUSY: the queue has a
 * UMEM already; -EINVAL: flags unknown to the kernel, or no such queue.
 */
int rxe_xsk_open(struct rxe_xsk *s, struct rxe_umem *u, const char *netdev, uint32_t queue,
		 bool transmits, uint16_t bind_flags);
void rxe_xsk_close(struct rxe_xsk *s); /* control */
bool rxe_xsk_zerocopy(const struct rxe_xsk *s);

/* Worker: descriptors are waiting. */
bool rxe_xsk_rx_ready(const struct rxe_xsk *s);

enum rxe_rx_verdict { RXE_RX_PACKET, RXE_RX_NONE, RXE_RX_TOO_LONG, RXE_RX_BAD };
/*
 * Worker: takes one packet off the receive ring. PACKET: *out is shaped for
 * rxe_engine_rx(). NONE: nothing (complete) is there. Otherwise *out holds
 * the chunks of a packet to be given back and counted.
 */
enum rxe_rx_verdict rxe_xsk_rx(struct rxe_xsk *s, struct rxe_chunk_pkt **out);

/* Worker: queues the frame that p->frag[] describes. */
void rxe_xsk_tx(struct rxe_xsk *s, const struct rxe_chunk_pkt *p);
/* Worker: descriptors that the kernel has not taken yet. */
uint32_t rxe_xsk_tx_queued(const struct rxe_xsk *s);

#endif
