// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Queues of packets between the workers of one device. */
#include "datapath/loopback.h"

#include <string.h>

#include "datapath/frame.h"

#define MAX_UNDER_WAY 1024u /* per source worker: what bounds its memory */

struct loop_pkt {
	struct rxe_chunk_pkt base; /* umem NULL */
	uint32_t src;
	uint8_t buf[];
};

static struct loop_pkt *loop_pkt(struct rxe_pkt *pkt)
{
	return (struct loop_pkt *)pkt->dp; /* base is its first member */
}

static struct rxe_spsc *queue_of(const struct rxe_loopback *lb, uint32_t src, uint32_t dst)
{
	return &lb->queue[src * lb->nr_workers + dst];
}

int rxe_loopback_init(struct rxe_loopback *lb, uint32_t nr_workers)
{
	uint32_t nr = nr_workers * nr_workers;
	int err = 0;

	memset(lb, 0, sizeof(*lb));
	lb->queue = rxe_zalloc_lines(nr * sizeof(*lb->queue));
	if (!lb->queue)
		return -ENOMEM;
	lb->nr_workers = nr_workers;
	for (uint32_t i = 0; i < nr && !err; i++)
		err = rxe_spsc_init(&lb->queue[i], MAX_UNDER_WAY);
	if (err)
		rxe_loopback_fini(lb);
	return err;
}

void rxe_loopback_fini(struct rxe_loopback *lb)
{
	uint64_t v;

	for (uint32_t i = 0; lb->queue && i < lb->nr_workers * lb->nr_workers; i++) {
		while (lb->queue[i].slot && rxe_spsc_pop(&lb->queue[i], &v))
			free(loop_pkt((struct rxe_pkt *)(uintptr_t)v));
		rxe_spsc_fini(&lb->queue[i]);
	}
	free(lb->queue);
	lb->queue = NULL;
}

static bool has_room(struct rxe_loopback *lb, uint32_t src)
{
	return __atomic_load_n(&lb->source[src].under_way, __ATOMIC_SEQ_CST) < MAX_UNDER_WAY;
}

struct rxe_pkt *rxe_loopback_alloc(struct rxe_loopback *lb, uint32_t src, uint32_t hdr_len,
				   uint32_t payload_len, uint32_t pad)
{
	uint32_t body = payload_len + pad;
	struct loop_pkt *lp;
	struct rxe_pkt *pkt;

	if (!has_room(lb, src)) {
		__atomic_store_n(&lb->source[src].starved, 1, __ATOMIC_SEQ_CST);
		return NULL;
	}
	lp = malloc(sizeof(*lp) + RXE_FRAME_HEADROOM + hdr_len + body);
	if (!lp)
		return NULL;
	__atomic_fetch_add(&lb->source[src].under_way, 1, __ATOMIC_SEQ_CST);
	memset(&lp->base, 0, sizeof(lp->base));
	lp->src = src;
	pkt = &lp->base.pkt;
	pkt->dp = lp;
	pkt->loopback = true;
	pkt->hdr = lp->buf + RXE_FRAME_HEADROOM;
	pkt->hdr_len = (uint16_t)hdr_len;
	pkt->payload_len = payload_len;
	pkt->pad = (uint8_t)pad;
	if (body)
		pkt->seg[pkt->nsegs++] = (struct iovec){pkt->hdr + hdr_len, body};
	return pkt;
}

void rxe_loopback_send(struct rxe_loopback *lb, uint32_t src, uint32_t dst, struct rxe_pkt *pkt)
{
	uint32_t ib_len = pkt->hdr_len + pkt->payload_len + pkt->pad;

	rxe_frame_push(pkt, 0, 0); /* a UD receiver gets the IP header */
	pkt->sip = pkt->addr->sip;
	pkt->dip = pkt->addr->dip;
	pkt->ecn = pkt->addr->traffic_class & 3;
	pkt->addr = NULL; /* the sender's, which may go before the receiver looks */
	pkt->pad = 0;
	pkt->payload_len = 0;
	rxe_frame_shape(pkt, pkt->hdr, ib_len, ib_len);
	rxe_spsc_push(queue_of(lb, src, dst), (uintptr_t)pkt); /* holds all: never full */
}

struct rxe_pkt *rxe_loopback_recv(struct rxe_loopback *lb, uint32_t dst)
{
	uint64_t v;

	for (uint32_t src = 0; src < lb->nr_workers; src++)
		if (rxe_spsc_pop(queue_of(lb, src, dst), &v))
			return (struct rxe_pkt *)(uintptr_t)v;
	return NULL;
}

bool rxe_loopback_ready(const struct rxe_loopback *lb, uint32_t dst)
{
	for (uint32_t src = 0; src < lb->nr_workers; src++)
		if (!rxe_spsc_empty(queue_of(lb, src, dst)))
			return true;
	return false;
}

int rxe_loopback_free(struct rxe_loopback *lb, struct rxe_pkt *pkt)
{
	struct loop_pkt *lp = loop_pkt(pkt);
	uint32_t src = lp->src;

	free(lp);
	__atomic_fetch_sub(&lb->source[src].under_way, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&lb->source[src].starved, __ATOMIC_SEQ_CST) ||
	    !__atomic_exchange_n(&lb->source[src].starved, 0, __ATOMIC_SEQ_CST))
		return -1;
	return (int)src;
}

bool rxe_loopback_room(struct rxe_loopback *lb, uint32_t src)
{
	return __atomic_load_n(&lb->source[src].starved, __ATOMIC_SEQ_CST) && has_room(lb, src);
}
