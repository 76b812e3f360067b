/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receive buffers of a host whose QPs share an SRQ: posted a few at a time,
 * used again once they have completed; the SRQ is resized and its limit armed
 * in between.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include "host.h"
#include "link.h"

struct sim_pool {
	struct sim_host *host;
	struct sim_rng *rng;
	struct sim_srq srq;
	uint32_t buf_len, nr_bufs; /* nr_bufs 0: planned, not made yet */
	bool *posted;
	uint8_t *mem;
	struct rxe_mr *mr;
	uint32_t armings; /* of the limit */
};

/* The SRQ, for QPs to be made on. */
void sim_pool_init(struct sim_pool *p, struct sim_host *h, struct sim_rng *rng);
/* Room for what another flow receives. */
void sim_pool_plan(struct sim_pool *p, uint32_t nr_recvs, uint32_t recv_len);
void sim_pool_make(struct sim_pool *p);
/* Posts some buffers that are free; resizes; arms. */
void sim_pool_post(struct sim_pool *p);
/* A receive has completed: its buffer, which is free from now on. Fails if it was not posted. */
const uint8_t *sim_pool_done(struct sim_pool *p, uint64_t wr_id);
/* At the end: limit events, bytes between the buffers. */
void sim_pool_check(const struct sim_pool *p);
void sim_pool_fini(struct sim_pool *p);

#endif
