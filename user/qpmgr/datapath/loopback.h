/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets from one QP of a device to another of the same device: handed from
 * worker to worker in memory, never on a wire and without an ICRC.
 */
#ifndef RXE_LOOPBACK_H
#define RXE_LOOPBACK_H

#include "datapath/spsc.h"
#include "datapath/umem.h"

struct rxe_loopback {
	uint32_t nr_workers;
	struct rxe_spsc *queue; /* [source * nr_workers + destination] */
	/* Packets allocated by a source and not yet freed by a destination. */
	struct {
		uint32_t under_way;
		uint32_t starved; /* the source found no room: wake it */
	} __attribute__((aligned(64))) source[RXE_MAX_WORKERS];
};

int rxe_loopback_init(struct rxe_loopback *lb, uint32_t nr_workers); /* control; -ENOMEM */
void rxe_loopback_fini(struct rxe_loopback *lb); /* control; no worker uses it */

/*
 * Worker `src`: a packet to send, as pkt_alloc of transport.h. NULL: too many
 * are under way (src is woken when that changes) or no memory.
 */
struct rxe_pkt *rxe_loopback_alloc(struct rxe_loopback *lb, uint32_t src, uint32_t hdr_len,
				   uint32_t payload_len, uint32_t pad);
/* Worker `src`: turns it into a received packet and hands it to `dst`. */
void rxe_loopback_send(struct rxe_loopback *lb, uint32_t src, uint32_t dst, struct rxe_pkt *pkt);
/* Worker `dst`: the next packet from anyone, or NULL. */
struct rxe_pkt *rxe_loopback_recv(struct rxe_loopback *lb, uint32_t dst);
bool rxe_loopback_ready(const struct rxe_loopback *lb, uint32_t dst);
/* Any worker. Returns the worker to wake, or -1. */
int rxe_loopback_free(struct rxe_loopback *lb, struct rxe_pkt *pkt);
/* Worker `src`, about to sleep: has room come back since alloc() failed? */
bool rxe_loopback_room(struct rxe_loopback *lb, uint32_t src);

#endif
