/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two connected QPs with a flow each way, and what may befall them: put to
 * death, drained, or both reset in the middle of their traffic and connected
 * again, while packets of before are still on their way.
 */
#ifndef SIM_PAIR_H
#define SIM_PAIR_H

#include "link.h"
#include "traffic.h"

#define SIM_MAX_LIVES 3 /* of a pair: it is reset once less at most */

/* What pairs need to know of the world. */
struct sim_setting {
	struct sim_rng *rng;
	struct sim_link *link;
	struct sim_host *host;	/* [2] */
	struct sim_pool **pool; /* [2]: the host's SRQ, or NULL */
	const uint32_t *ah;	/* [2]: to the other host */
	bool errors_ok;		/* the world will kill QPs */
	bool alone;		/* there is one pair, and nothing beside it */
	bool calm;		/* nothing is to go wrong: receives are posted first */
};

struct sim_pair {
	const struct sim_setting *set;
	struct sim_cq cq[2][2]; /* [host][0 send, 1 recv] */
	struct sim_qp qp[2];
	struct sim_path path[2];
	uint32_t id, mtu, max_len, life;
	struct sim_flow flow[SIM_MAX_LIVES][2]; /* [life][i]: from host i */
	bool half_reset;
	uint32_t resets[2]; /* of each QP */
};

void sim_pair_make(struct sim_pair *p, const struct sim_setting *set, uint32_t id);
/* The flows of the present life. */
static inline struct sim_flow *sim_pair_flow(struct sim_pair *p, int host)
{
	return &p->flow[p->life][host];
}
void sim_pair_poll(struct sim_pair *p);
bool sim_pair_finished(const struct sim_pair *p);
/*
 * Resets one QP, at the next call the other one: then their next life begins.
 * False: it has had its lives, or a QP is gone.
 */
bool sim_pair_reset(struct sim_pair *p);
void sim_pair_kill(struct sim_pair *p);		  /* a QP is destroyed, or put into ERR */
void sim_pair_describe(const struct sim_pair *p); /* to stderr */
/* After the QPs are gone. */
void sim_pair_check(const struct sim_pair *p);
void sim_pair_free(struct sim_pair *p);

#endif
