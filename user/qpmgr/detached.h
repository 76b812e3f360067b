/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Received packets that wait in memory of their own, off the datapath's
 * buffers (rxe_engine_ops.pkt_detach). One worker's thread.
 */
#ifndef RXE_DETACHED_H
#define RXE_DETACHED_H

#include "transport/transport.h"

/* What one worker keeps at most, all QPs together. */
#define RXE_DETACHED_MAX (64u << 20) /* bytes */

struct rxe_detached {
	size_t bytes; /* held now */
};

/* A copy of pkt, marked detached, or NULL: out of memory, or RXE_DETACHED_MAX is reached. */
struct rxe_pkt *rxe_detached_copy(struct rxe_detached *d, const struct rxe_pkt *pkt);
/* It leaves d's account for another worker's. */
void rxe_detached_hand_over(struct rxe_detached *d, struct rxe_pkt *pkt);
void rxe_detached_take(struct rxe_detached *d, struct rxe_pkt *pkt);
void rxe_detached_free(struct rxe_detached *d, struct rxe_pkt *pkt);

#endif
