/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared receive queues: receive WQEs that QPs of any worker take, under the
 * SRQ's own lock (DESIGN D5); the limit event; growing and shrinking.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine.h"
#include "ring.h"
#include "srq.h"

struct rxe_srq {
	pthread_mutex_t lock; /* ring, limit */
	struct rxe_ring ring;
	uint32_t limit; /* 0: no event is due */
	uint32_t pdn, max_sge;
	void *owner;
};

/* As the driver's rxe_srq_chk_init(): at least one WQE; no SGEs mean one. */
int rxe_srq_ring_geometry(const struct rxe_limits *lim, uint32_t max_wr, uint32_t max_sge,
			  struct rxe_srq_geometry *g)
{
	if (!max_wr || max_wr > lim->max_srq_wr || max_sge > lim->max_srq_sge ||
	    max_sge > RXE_MAX_SGE)
		return -EINVAL;
	g->max_sge = max_sge ? max_sge : 1;
	g->bytes = rxe_ring_size(max_wr,
				 sizeof(struct rxe_recv_wqe) + g->max_sge * sizeof(struct rxe_sge),
				 &g->slots, &g->log2_elem);
	g->max_wr = g->slots - 1 < lim->max_srq_wr ? g->slots - 1 : lim->max_srq_wr;
	return 0;
}

int rxe_srq_create(struct rxe_hca *hca, const struct rxe_srq_init *init, struct rxe_srq **out)
{
	struct rxe_srq *srq;

	if (hca->nr_srqs >= hca->limits.max_srq)
		return -ENOMEM;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return -ENOMEM;
	pthread_mutex_init(&srq->lock, NULL);
	srq->ring = init->ring;
	srq->limit = init->limit;
	srq->pdn = init->pdn;
	srq->max_sge = init->max_sge;
	srq->owner = init->owner;
	hca->nr_srqs++;
	*out = srq;
	return 0;
}

void rxe_srq_destroy(struct rxe_hca *hca, struct rxe_srq *srq)
{
	pthread_mutex_destroy(&srq->lock);
	free(srq);
	hca->nr_srqs--;
}

void *rxe_srq_owner(const struct rxe_srq *srq)
{
	return srq->owner;
}

uint32_t rxe_srq_pdn(const struct rxe_srq *srq)
{
	return srq->pdn;
}

/* With the lock held: what the client has posted and nobody has taken. */
static uint32_t count(const struct rxe_srq *srq)
{
	return (rxe_ring_producer(&srq->ring) - srq->ring.index) & srq->ring.mask;
}

uint32_t rxe_srq_get_limit(struct rxe_srq *srq)
{
	uint32_t limit;

	pthread_mutex_lock(&srq->lock);
	limit = srq->limit;
	pthread_mutex_unlock(&srq->lock);
	return limit;
}

void rxe_srq_set_limit(struct rxe_srq *srq, uint32_t limit)
{
	pthread_mutex_lock(&srq->lock);
	srq->limit = limit;
	pthread_mutex_unlock(&srq->lock);
}

/* With the lock held: the waiting WQEs, in order, to the start of `to`. */
static void move(struct rxe_srq *srq, struct rxe_ring *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		memcpy(rxe_ring_elem(to, i), rxe_ring_elem(&srq->ring, srq->ring.index + i),
		       (size_t)1 << to->log2_elem);
	__atomic_store_n(&to->buf->producer_index, n, __ATOMIC_RELEASE);
}

int rxe_srq_resize(struct rxe_srq *srq, const struct rxe_ring *ring)
{
	struct rxe_ring to = *ring;
	uint32_t n;
	int err = 0;

	pthread_mutex_lock(&srq->lock);
	n = count(srq);
	if (n > to.mask || to.log2_elem != srq->ring.log2_elem) {
		err = -EINVAL;
	} else {
		move(srq, &to, n);
		srq->ring = to;
	}
	pthread_mutex_unlock(&srq->lock);
	return err;
}

/* With the lock held; true: the limit event is due. */
static bool give_back(struct rxe_srq *srq)
{
	bool low;

	rxe_ring_consume(&srq->ring);
	low = count(srq) < srq->limit;
	if (low)
		srq->limit = 0;
	return low;
}

int rxe_srq_take(struct rxe_engine *e, struct rxe_srq *srq, uint32_t at_least, struct rxe_rwqe *w)
{
	const struct rxe_wqe_limits lim = {
		.max_sge = srq->max_sge,
		.elem_size = 1u << srq->ring.log2_elem, /* no resize changes it */
	};
	bool low = false;
	int err = 0;

	pthread_mutex_lock(&srq->lock);
	if (!count(srq)) {
		err = -ENOENT;
	} else {
		rxe_rwqe_take(w, rxe_ring_elem(&srq->ring, srq->ring.index), &lim);
		if (!w->status && w->length < at_least)
			err = -EMSGSIZE;
		else
			low = give_back(srq);
	}
	pthread_mutex_unlock(&srq->lock);

	if (low)
		e->ops->async_event(e->ctx, RXE_EV_SRQ_LIMIT_REACHED, srq);
	return err;
}
