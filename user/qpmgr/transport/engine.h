/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine's insides: what its QPs share on one worker.
 */
#ifndef RXE_ENGINE_H
#define RXE_ENGINE_H

#include <sys/queue.h>
#include "xfer.h"
#include "timer.h"
#include "transport.h"
#include "wqe.h"

struct rxe_stats {
	const struct rxe_hca *hca;
	uint64_t count[RXE_HW_COUNT];
	bool unflushed; /* sent in this burst, not handed on; the engine's thread */
};

#define RXE_MAX_HCAS 256 /* devices that one engine counts for at a time */

TAILQ_HEAD(rxe_qp_queue, rxe_qp);

struct rxe_engine {
	const struct rxe_engine_ops *ops;
	void *ctx;
	uint64_t now;
	struct rxe_engine_params params;
	struct rxe_timers timers;
	struct rxe_qp_queue runq;
	bool tx_blocked;	 /* pkt_alloc had no room in this run */
	struct rxe_qp **buckets; /* QPN hash */
	uint32_t nr_buckets, nr_qps;
	struct rxe_xfer_list free_ops;
	struct rxe_rwqe_list free_rwqes;
	uint32_t nr_free_ops, nr_free_rwqes;
	struct rxe_stats *stats[RXE_MAX_HCAS]; /* entries are read by any thread */
	struct rxe_stats overflow;	       /* counts of devices that got no entry */
	uint32_t gsi_psn;
};

/*
 * The engine's counters of hca, made at first use. Never NULL: with more devices
 * than RXE_MAX_HCAS, or no memory, it is one that such devices share and that
 * nobody reads. The engine's thread.
 */
struct rxe_stats *rxe_engine_stats(struct rxe_engine *e, const struct rxe_hca *hca);
static inline void rxe_stat_add(struct rxe_stats *s, enum rxe_hw_counter c, uint64_t n)
{
	__atomic_store_n(&s->count[c], s->count[c] + n, __ATOMIC_RELAXED);
}

/* gsi.c: a packet to QP1, parsed; takes pkt. */
struct rxe_pktinfo;
void rxe_gsi_rx(struct rxe_engine *e, struct rxe_stats *s, struct rxe_hca *hca, struct rxe_pkt *pkt,
		const struct rxe_pktinfo *info);
/* Same partition, and not two limited members. */
bool rxe_pkey_ok(uint16_t a, uint16_t b);

int rxe_engine_add_qp(struct rxe_engine *e, struct rxe_qp *qp);
void rxe_engine_del_qp(struct rxe_engine *e, struct rxe_qp *qp);
/* Puts the QP in the run queue. */
void rxe_qp_kick(struct rxe_qp *qp);

struct rxe_rwqe *rxe_rwqe_new(struct rxe_engine *e);
void rxe_rwqe_free(struct rxe_engine *e, struct rxe_rwqe *w);

/* A packet for the QP's engine; NULL marks the engine as short of room. */
struct rxe_pkt *rxe_engine_alloc(struct rxe_qp *qp, struct rxe_address *addr, uint32_t hdr_len,
				 uint32_t payload_len);
/* Drops a received packet and counts why. */
void rxe_engine_drop(struct rxe_engine *e, struct rxe_stats *s, struct rxe_pkt *pkt,
		     enum rxe_hw_counter why);

#endif
