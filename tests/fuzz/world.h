/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One host with a QP of every type, an SRQ, windows, groups and a QP1, which
 * an input drives: the fuzz targets of the transport share it.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "input.h"
#include "sim/host.h"

/* RC, RC that takes from the SRQ, RC in RTR, UC, and two UD QPs in the group. */
enum { W_RC, W_RC_SRQ, W_RTR, W_UC, W_UD, W_UD2, W_QPS };
#define W_QPN(i) (0x11u + (i))

#define W_MEM	 16384
#define W_SECRET 4096
#define W_KEYS	 6

struct world {
	struct sim_host h;
	struct sim_cq cq, small_cq;
	struct sim_srq srq;
	struct sim_qp qp[W_QPS];
	struct rxe_mr *mr, *read_only, *lost, *secret_mr;
	struct rxe_mw *mw1, *mw2;
	union rxe_ip peer, group;
	uint8_t *mem, *secret; /* secret: registered in another PD */
	uint32_t key[W_KEYS];
	uint32_t ah[2]; /* to the peer, to the group */
	struct fuzz_input *in;
	/* Copies finish later; packets come in segments; no room to send. */
	bool deferred, cut, full;
	/* Before and after the engine is at work; NULL: nothing happens then. */
	void (*engine_enter)(void), (*engine_leave)(void);
	unsigned int sent, mads, sum;
};

void world_init(struct world *w, struct fuzz_input *in);
/* Ends all, and asserts that nothing is left and that the secret is whole. */
void world_fini(struct world *w);
void world_run(struct world *w);
/* One step that the input describes. */
void world_step(struct world *w);

#endif
