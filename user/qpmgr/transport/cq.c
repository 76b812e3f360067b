/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queues: posting under the CQ's own lock, arming, overflow, growing
 * and shrinking.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "cq.h"
#include "engine.h"
#include "ring.h"

enum notify { NOTIFY_NONE, NOTIFY_SOLICITED, NOTIFY_NEXT };

struct rxe_cq {
	pthread_mutex_t lock; /* ring, notify, overflown */
	struct rxe_ring ring;
	enum notify notify;
	bool overflown;
	void *owner;
};

int rxe_cq_create(struct rxe_hca *hca, const struct rxe_ring *ring, uint32_t cqe, void *owner,
		  struct rxe_cq **out)
{
	struct rxe_cq *cq;

	if (cqe > hca->limits.max_cqe || (1u << ring->log2_elem) < sizeof(struct ib_uverbs_wc))
		return -EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -ENOMEM;
	pthread_mutex_init(&cq->lock, NULL);
	cq->ring = *ring;
	cq->owner = owner;
	*out = cq;
	return 0;
}

void rxe_cq_destroy(struct rxe_cq *cq)
{
	pthread_mutex_destroy(&cq->lock);
	free(cq);
}

void *rxe_cq_owner(const struct rxe_cq *cq)
{
	return cq->owner;
}

void rxe_cq_arm(struct rxe_cq *cq, bool solicited_only, bool *missed)
{
	enum notify want = solicited_only ? NOTIFY_SOLICITED : NOTIFY_NEXT;

	pthread_mutex_lock(&cq->lock);
	if (want > cq->notify)
		cq->notify = want;
	if (missed)
		*missed = rxe_ring_consumer(&cq->ring) != cq->ring.index;
	pthread_mutex_unlock(&cq->lock);
}

/* With the lock held. *from: the oldest; read once, since the client can change it. */
static uint32_t waiting(const struct rxe_cq *cq, uint32_t *from)
{
	*from = rxe_ring_consumer(&cq->ring);
	return (cq->ring.index - *from) & cq->ring.mask;
}

uint32_t rxe_cq_waiting(struct rxe_cq *cq)
{
	uint32_t from, n;

	pthread_mutex_lock(&cq->lock);
	n = waiting(cq, &from);
	pthread_mutex_unlock(&cq->lock);
	return n;
}

/*
 * With the lock held: what is not polled yet, in order, to the start of `to`.
 * A client that still looks at the old ring finds nothing there.
 */
static void move(struct rxe_cq *cq, struct rxe_ring *to, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		memcpy(rxe_ring_elem(to, to->index), rxe_ring_elem(&cq->ring, from + i),
		       sizeof(struct ib_uverbs_wc));
		rxe_ring_produce(to);
	}
	__atomic_store_n(&cq->ring.buf->consumer_index, cq->ring.index, __ATOMIC_RELEASE);
}

int rxe_cq_resize(struct rxe_hca *hca, struct rxe_cq *cq, const struct rxe_ring *ring, uint32_t cqe)
{
	struct rxe_ring to = *ring;
	uint32_t from, n;
	int err = 0;

	if (!cqe || cqe > hca->limits.max_cqe || cqe > to.mask ||
	    (1u << to.log2_elem) < sizeof(struct ib_uverbs_wc))
		return -EINVAL;
	pthread_mutex_lock(&cq->lock);
	n = waiting(cq, &from);
	if (n > cqe) {
		err = -EINVAL;
	} else {
		move(cq, &to, from, n);
		cq->ring = to;
	}
	pthread_mutex_unlock(&cq->lock);
	return err;
}

static bool wakes(const struct rxe_cq *cq, const struct ib_uverbs_wc *wc, bool solicited)
{
	if (cq->notify == NOTIFY_SOLICITED)
		return solicited || wc->status != RXE_WC_SUCCESS;
	return cq->notify == NOTIFY_NEXT;
}

int rxe_cq_post(struct rxe_engine *e, struct rxe_cq *cq, const struct ib_uverbs_wc *wc,
		bool solicited)
{
	struct rxe_ring *r = &cq->ring;
	bool full, first = false, wake = false;

	pthread_mutex_lock(&cq->lock);
	full = cq->overflown || rxe_ring_next(r, r->index) == rxe_ring_consumer(r);
	if (full) {
		first = !cq->overflown;
		cq->overflown = true;
	} else {
		memcpy(rxe_ring_elem(r, r->index), wc, sizeof(*wc));
		rxe_ring_produce(r);
		wake = wakes(cq, wc, solicited);
		if (wake)
			cq->notify = NOTIFY_NONE;
	}
	pthread_mutex_unlock(&cq->lock);

	if (first)
		e->ops->async_event(e->ctx, RXE_EV_CQ_ERR, cq);
	if (wake)
		e->ops->cq_event(e->ctx, cq);
	return full ? -ENOSPC : 0;
}
