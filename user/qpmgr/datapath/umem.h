/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet memory of one netdev queue: its UMEM, cut into chunks, and the
 * fill and completion rings. Those rings have ONE owner, a worker; the others
 * hand received chunks back to it, and get their sent chunks back from it,
 * through SPSC rings (DESIGN D5). Receive and transmit chunks are apart, so
 * that neither direction can starve the other.
 */
#ifndef RXE_UMEM_H
#define RXE_UMEM_H

#include <xdp/xsk.h>
#include "datapath/spsc.h"
#include "rxe/bpf_abi.h"
#include "transport/transport.h"

#define RXE_CHUNK_SHIFT 12
#define RXE_CHUNK_SIZE	(1u << RXE_CHUNK_SHIFT)

struct rxe_umem;

/* Part of a frame: bytes [off, off + len) of a chunk. */
struct rxe_frag {
	uint32_t chunk;
	uint16_t off;
	uint16_t len;
};

/* The longest frame that XDP can hand over (18 pages), in chunks of 3840 bytes. */
#define RXE_MAX_FRAGS 20

/* A packet and the chunks it lies in; pkt.dp points back at this. */
struct rxe_chunk_pkt {
	struct rxe_pkt pkt;
	struct rxe_umem *umem; /* NULL: not in chunks (loopback.c) */
	bool received;
	uint8_t nr_frags;
	struct rxe_frag frag[RXE_MAX_FRAGS];
};

/* What one worker has of one UMEM. */
struct rxe_umem_user {
	uint32_t *tx_free; /* its own stack of free transmit chunks */
	uint32_t nr_tx_free;
	uint32_t nr_tx;		 /* transmit chunks it has in all */
	uint32_t handed_back;	 /* receive chunks since the owner was last woken */
	struct rxe_spsc rx_back; /* this worker -> owner: receive chunks */
	struct rxe_spsc tx_back; /* owner -> this worker: sent chunks */
};

struct rxe_umem {
	uint8_t *area;
	size_t size;
	uint32_t nr_rx, nr_tx; /* chunks [0, nr_rx) receive, the rest transmit */
	uint32_t owner;
	uint32_t nr_workers;
	uint32_t wake_every; /* receive chunks handed back per wake-up of the owner */
	uint32_t late_after; /* ... by one worker and not taken: the owner is late */
	struct xsk_umem *xsk;
	bool bound;		   /* a socket took over the rings: closing it unmaps them */
	struct xsk_ring_prod fill; /* owner */
	struct xsk_ring_cons comp; /* owner */
	uint32_t *rx_free;	   /* owner's stack of receive chunks not in the fill ring */
	uint32_t nr_rx_free;
	uint8_t *tx_worker;	    /* [nr_tx]: whose transmit chunk */
	struct rxe_chunk_pkt *pkts; /* [nr_rx + nr_tx], by a packet's first chunk */
	struct rxe_umem_user user[RXE_MAX_WORKERS];
};

struct rxe_umem_config {
	uint32_t nr_rx, nr_tx; /* nr_rx: a power of two */
	uint32_t owner, nr_workers;
	uint64_t tx_workers; /* bit w: worker w transmits from this UMEM */
};

/*
 * Control: maps the memory and registers it; every receive chunk is then in
 * rx_free. Negative errno, nothing left.
 */
int rxe_umem_create(struct rxe_umem *u, const struct rxe_umem_config *cfg);
/* Control; its sockets are closed, no worker uses it. */
void rxe_umem_destroy(struct rxe_umem *u);

static inline uint8_t *rxe_chunk_at(const struct rxe_umem *u, uint32_t chunk)
{
	return u->area + ((size_t)chunk << RXE_CHUNK_SHIFT);
}

/* Owner: takes back what was handed back and fills the fill ring. */
void rxe_umem_refill(struct rxe_umem *u);
/* Owner: takes sent chunks off the completion ring; returns how many. */
uint32_t rxe_umem_reap(struct rxe_umem *u);

/* Worker: gives back a receive chunk. True: the owner should be woken. */
bool rxe_umem_rx_put(struct rxe_umem *u, uint32_t worker, uint32_t chunk);
/*
 * Worker: has the owner so much to take back that the fill ring may run dry?
 * Then packets are better left in the socket's ring: what the kernel finds no
 * chunk for, it drops.
 */
bool rxe_umem_owner_late(const struct rxe_umem *u, uint32_t worker);
/* Worker: takes n transmit chunks, all or none. */
bool rxe_umem_tx_get(struct rxe_umem *u, uint32_t worker, uint32_t n, uint32_t *chunk);
/* Worker: gives back a transmit chunk that the kernel has not seen. */
void rxe_umem_tx_put(struct rxe_umem *u, uint32_t worker, uint32_t chunk);
/* Worker: are transmit chunks of this worker under way? */
bool rxe_umem_tx_busy(struct rxe_umem *u, uint32_t worker);

#endif
