/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One allocation a packet: the struct, the IP header, the IB headers, the rest. */
#include "detached.h"

#include <stdlib.h>
#include <string.h>

#include "common/iov.h"

struct block {
	struct rxe_pkt pkt; /* pkt.dp points here */
	size_t size;
	uint8_t ip[RXE_GRH_LEN];
	uint8_t bytes[]; /* hdr_len, then one segment */
};

static size_t ip_len(const struct rxe_pkt *pkt)
{
	return !pkt->ip ? 0 : pkt->ip_version == 4 ? 20 : RXE_GRH_LEN;
}

struct rxe_pkt *rxe_detached_copy(struct rxe_detached *d, const struct rxe_pkt *pkt)
{
	size_t body = rxe_iov_len(pkt->seg, pkt->nsegs);
	size_t size = sizeof(struct block) + pkt->hdr_len + body;
	struct block *b;

	if (d->bytes + size > RXE_DETACHED_MAX)
		return NULL;
	b = malloc(size);
	if (!b)
		return NULL;
	b->pkt = *pkt;
	b->size = size;
	b->pkt.dp = b;
	b->pkt.detached = true;
	memcpy(b->ip, pkt->ip, ip_len(pkt));
	b->pkt.ip = b->ip;
	memcpy(b->bytes, pkt->hdr, pkt->hdr_len);
	b->pkt.hdr = b->bytes;
	rxe_iov_gather(pkt->seg, pkt->nsegs, b->bytes + pkt->hdr_len);
	b->pkt.nsegs = body ? 1 : 0;
	b->pkt.seg[0] = (struct iovec){b->bytes + pkt->hdr_len, body};
	d->bytes += size;
	return &b->pkt;
}

void rxe_detached_hand_over(struct rxe_detached *d, struct rxe_pkt *pkt)
{
	struct block *b = pkt->dp;

	d->bytes -= b->size;
}

void rxe_detached_take(struct rxe_detached *d, struct rxe_pkt *pkt)
{
	struct block *b = pkt->dp;

	d->bytes += b->size;
}

void rxe_detached_free(struct rxe_detached *d, struct rxe_pkt *pkt)
{
	struct block *b = pkt->dp;

	d->bytes -= b->size;
	free(b);
}
