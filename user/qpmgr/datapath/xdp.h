/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The xdp datapath's own state, shared by its set-up (xdp.c) and its packet
 * path (xdp_io.c).
 */
#ifndef RXE_XDP_H
#define RXE_XDP_H

#include <net/if.h>
#include "datapath/attach.h"
#include "datapath/datapath.h"
#include "datapath/guard.h"
#include "datapath/loopback.h"
#include "datapath/port.h"
#include "datapath/steer.h"
#include "datapath/xsk.h"

/* Counted by each worker: W(SYMBOL, name). */
#define RXE_XDP_COUNTERS(W)                   \
	W(RX_PACKETS, "xsk_rx_packets")       \
	W(RX_TOO_LONG, "xsk_rx_too_long")     \
	W(RX_BAD, "xsk_rx_bad_metadata")      \
	W(TX_PACKETS, "xsk_tx_packets")       \
	W(TX_WAKEUPS, "xsk_tx_wakeups")       \
	W(TX_NO_ROOM, "xsk_tx_no_room")       \
	W(TX_LINK_DOWN, "xsk_tx_link_down")   \
	W(TX_NO_ROUTE, "xsk_tx_no_route")     \
	W(EVENT_WAKEUPS, "xsk_event_wakeups") \
	W(LOOP_PACKETS, "loopback_packets")   \
	W(LOOP_NO_QP, "loopback_no_qp")       \
	W(LOOP_NO_ROOM, "loopback_no_room")
#define RXE_XDP_COUNTER_ENUM(SYM, name) RXE_XDP_##SYM,
enum rxe_xdp_counter { RXE_XDP_COUNTERS(RXE_XDP_COUNTER_ENUM) RXE_XDP_COUNTER_COUNT };
#undef RXE_XDP_COUNTER_ENUM

struct rxe_xdp_queue {
	struct rxe_umem umem;
	struct rxe_xsk *sock; /* [nr_workers] */
};

struct rxe_xdp_worker {
	struct rxe_xsk *tx;  /* its socket on its transmit queue */
	uint32_t nr_queues;  /* that it serves: a new one from pollfds() on */
	uint32_t next_queue; /* where the next receive burst begins */
	uint32_t unsent;     /* packets since the last kick */
	uint32_t spins;	     /* times it stayed awake for transmit without progress */
	uint16_t ip_id;
	bool down;  /* the kernel said that the link is down */
	bool stuck; /* descriptors wait, though the kernel was asked */
	uint64_t count[RXE_XDP_COUNTER_COUNT];
	int event_fd;
	/* Written by others. */
	uint32_t woken __attribute__((aligned(64))); /* event_fd was written */
	uint32_t starved;			     /* no transmit chunk when one was asked for */
} __attribute__((aligned(64)));

/* Worker + 1 by QPN, for loopback; pages appear as QPNs are used. */
#define RXE_QPN_TABLE_SIZE (RXE_QPN_MASK + 1u)

struct rxe_dp {
	char dev_name[64];
	char netdev[IF_NAMESIZE];
	struct rxe_hca *hca;
	void (*rx)(void *ctx, uint32_t worker, struct rxe_hca *hca, struct rxe_pkt *pkt);
	void *rx_ctx;
	uint64_t mac_word; /* as rxe_route.dmac_word */

	struct rxe_xdp_prog prog;
	struct rxe_steer steer;
	struct rxe_guard guard;
	struct rxe_port_claim port;
	struct rxe_loopback loop;
	uint8_t *qpn_worker; /* [RXE_QPN_TABLE_SIZE] */

	bool sg; /* multi-buffer sockets */
	uint32_t nr_workers, nr_queues, nr_tx_queues;
	struct rxe_xdp_worker *worker; /* [nr_workers] */
	struct rxe_xdp_queue *queue;   /* [RXE_MAX_QUEUES], of which nr_queues are open */
	uint16_t bind_flags;	       /* how this netdev takes sockets */
	uint32_t queues_seen;	       /* the count that was last acted on */
	bool have_prog, have_guard, have_port;
};

/* ---- xdp_io.c: the packet path, see datapath.h ------------------------------ */

void rxe_xdp_wake(struct rxe_dp *dp, uint32_t worker); /* any thread */
int rxe_xdp_pollfds(struct rxe_dp *dp, uint32_t worker, struct pollfd *pfd, int max);
uint32_t rxe_xdp_rx_burst(struct rxe_dp *dp, uint32_t worker, uint32_t budget);
struct rxe_pkt *rxe_xdp_pkt_alloc(struct rxe_dp *dp, uint32_t worker, struct rxe_address *addr,
				  uint32_t hdr_len, uint32_t payload_len, uint32_t pad);
void rxe_xdp_pkt_send(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt, bool crc);
void rxe_xdp_pkt_free(struct rxe_dp *dp, uint32_t worker, struct rxe_pkt *pkt);
void rxe_xdp_flush(struct rxe_dp *dp, uint32_t worker);
bool rxe_xdp_pending(struct rxe_dp *dp, uint32_t worker);

/* ---- xdp_stats.c -------------------------------------------------------------- */

void rxe_xdp_stats(struct rxe_dp *dp, void (*put)(void *arg, const char *name, uint64_t v),
		   void *arg);

#endif
