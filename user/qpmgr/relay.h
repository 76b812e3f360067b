/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of received multicast packets on their way from the control worker,
 * which gets all of them, to another worker whose QPs are in the group.
 */
#ifndef RXE_RELAY_H
#define RXE_RELAY_H

#include "datapath/spsc.h"
#include "detached.h"

#define RXE_RELAY_MAX 1024u /* packets on the way to one worker */

struct rxe_relay {
	struct rxe_spsc queue;
};

int rxe_relay_init(struct rxe_relay *r);  /* -ENOMEM */
void rxe_relay_fini(struct rxe_relay *r); /* it is empty */
/*
 * Control worker: a copy of pkt to the worker of r. -ENOMEM: none was made,
 * that worker is too far behind or memory is out. from: the caller's own.
 */
int rxe_relay_put(struct rxe_relay *r, struct rxe_detached *from, const struct rxe_pkt *pkt);
/* That worker: the next packet, now one of its own (to), or NULL. */
struct rxe_pkt *rxe_relay_get(struct rxe_relay *r, struct rxe_detached *to);
bool rxe_relay_pending(const struct rxe_relay *r);

#endif
