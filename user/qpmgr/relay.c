/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ring for each worker; what is in it is on nobody's account. */
#include "relay.h"

#include <errno.h>

int rxe_relay_init(struct rxe_relay *r)
{
	return rxe_spsc_init(&r->queue, RXE_RELAY_MAX);
}

void rxe_relay_fini(struct rxe_relay *r)
{
	rxe_spsc_fini(&r->queue);
}

int rxe_relay_put(struct rxe_relay *r, struct rxe_detached *from, const struct rxe_pkt *pkt)
{
	struct rxe_pkt *copy;

	if (rxe_spsc_waiting(&r->queue) >= RXE_RELAY_MAX)
		return -ENOMEM;
	copy = rxe_detached_copy(from, pkt);
	if (!copy)
		return -ENOMEM;
	copy->relayed = true;
	rxe_detached_hand_over(from, copy);
	rxe_spsc_push(&r->queue, (uintptr_t)copy); /* there is room: we alone push */
	return 0;
}

struct rxe_pkt *rxe_relay_get(struct rxe_relay *r, struct rxe_detached *to)
{
	struct rxe_pkt *pkt;
	uint64_t v;

	if (!rxe_spsc_pop(&r->queue, &v))
		return NULL;
	pkt = (struct rxe_pkt *)(uintptr_t)v;
	rxe_detached_take(to, pkt);
	return pkt;
}

bool rxe_relay_pending(const struct rxe_relay *r)
{
	return !rxe_spsc_empty(&r->queue);
}
