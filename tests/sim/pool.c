/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffers of a shared receive queue. */
#include "pool.h"
#include <stdlib.h>
#include <string.h>
#include "traffic.h"

#define UNTOUCHED 0xa5
#define MAX_WR	  40

void sim_pool_init(struct sim_pool *p, struct sim_host *h, struct sim_rng *rng)
{
	p->host = h;
	p->rng = rng;
	sim_srq_init(&p->srq, h, 1, 1 + sim_below(rng, MAX_WR), 1 + sim_below(rng, 6));
}

void sim_pool_plan(struct sim_pool *p, uint32_t nr_recvs, uint32_t recv_len)
{
	p->nr_bufs += nr_recvs;
	if (recv_len > p->buf_len)
		p->buf_len = recv_len;
}

static size_t step(const struct sim_pool *p)
{
	return (p->buf_len + SIM_GUARD + 7) / 8 * 8;
}

static void *must(void *mem)
{
	if (!mem)
		abort();
	return mem;
}

/* Those that a destroyed QP has taken are lost, hence some more than are needed. */
void sim_pool_make(struct sim_pool *p)
{
	size_t size;

	p->nr_bufs += 64;
	size = p->nr_bufs * step(p);
	p->posted = must(calloc(p->nr_bufs, sizeof(*p->posted)));
	p->mem = must(malloc(size));
	memset(p->mem, UNTOUCHED, size);
	p->mr = sim_mr(p->host, 1, p->mem, size, 0);
}

static bool post(struct sim_pool *p, uint32_t i)
{
	uint32_t n = 0, parts = 1 + sim_below(p->rng, p->srq.geo.max_sge), left = p->buf_len;
	uint8_t *at = p->mem + i * step(p);
	struct rxe_sge sge[RXE_MAX_SGE];

	while (n < parts) {
		uint32_t part = n == parts - 1 ? left : sim_below(p->rng, left + 1);

		sge[n++] = (struct rxe_sge){(uintptr_t)at, part, rxe_mr_lkey(p->mr)};
		at += part;
		left -= part;
	}
	p->posted[i] = sim_post_srq_recv(&p->srq, i, sge, n);
	return p->posted[i];
}

void sim_pool_post(struct sim_pool *p)
{
	uint32_t some = sim_below(p->rng, 12), from = sim_below(p->rng, p->nr_bufs);

	for (uint32_t n = 0; n < p->nr_bufs && some; n++) {
		uint32_t i = (from + n) % p->nr_bufs;

		if (p->posted[i])
			continue;
		if (!post(p, i))
			break;
		some--;
	}
	if (sim_chance(p->rng, .05)) /* perhaps to fewer than are posted: then nothing changes */
		(void)sim_srq_resize(&p->srq, 1 + sim_below(p->rng, MAX_WR));
	if (sim_chance(p->rng, .05) && !rxe_srq_get_limit(p->srq.srq)) {
		rxe_srq_set_limit(p->srq.srq, 1 + sim_below(p->rng, MAX_WR));
		p->armings++;
	}
}

const uint8_t *sim_pool_done(struct sim_pool *p, uint64_t wr_id)
{
	if (wr_id >= p->nr_bufs || !p->posted[wr_id])
		sim_fail("receive %llu completed and is not in the SRQ", (unsigned long long)wr_id);
	p->posted[wr_id] = false;
	return p->mem + wr_id * step(p);
}

void sim_pool_check(const struct sim_pool *p)
{
	unsigned int events = sim_host_count_events(p->host, RXE_EV_SRQ_LIMIT_REACHED);
	unsigned int due = p->armings - !!rxe_srq_get_limit(p->srq.srq);

	if (events != due)
		sim_fail("%u limit events, %u were due", events, due);
	for (uint32_t i = 0; i < p->nr_bufs; i++)
		for (size_t k = p->buf_len; k < step(p); k++)
			if (p->mem[i * step(p) + k] != UNTOUCHED)
				sim_fail("a byte beyond buffer %u of the SRQ was written", i);
}

void sim_pool_fini(struct sim_pool *p)
{
	sim_mr_free(p->host, p->mr);
	sim_srq_fini(&p->srq, p->host);
	free(p->mem);
	free(p->posted);
}
