/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Datagrams to a multicast group: UD QPs on both hosts, in the group or not,
 * some deaf to themselves, some leaving on the way. Who is in it gets each
 * datagram, once, intact, and nobody else does (PROTOCOL 28).
 */
#ifndef SIM_GROUP_H
#define SIM_GROUP_H

#include "link.h"

#define SIM_GROUP_QPS  5
#define SIM_GROUP_MSGS 24

struct sim_group_qp {
	struct sim_qp qp;
	struct sim_cq cq[2]; /* send, recv */
	int host;
	bool in, deaf;
	uint64_t left_at; /* UINT64_MAX: it did not leave */
	uint8_t *recv_mem, *send_mem;
	struct rxe_mr *recv_mr, *send_mr;
	uint32_t sent, send_done, received;
	uint32_t len[SIM_GROUP_MSGS];
	uint64_t sent_at[SIM_GROUP_MSGS];
	uint32_t got[SIM_GROUP_QPS][SIM_GROUP_MSGS]; /* of each sender's */
};

struct sim_group {
	struct sim_rng *rng;
	struct sim_link *link;
	struct sim_host *host; /* [2] */
	union rxe_ip gid;
	uint32_t ah[2], nr;
	bool all_arrive; /* nothing is lost: not on the link, not for want of time */
	struct sim_group_qp member[SIM_GROUP_QPS];
};

/* late: copies may finish late. */
void sim_group_make(struct sim_group *g, struct sim_rng *rng, struct sim_link *l,
		    struct sim_host host[2], bool late);
void sim_group_post(struct sim_group *g, uint64_t now); /* sends some; somebody may leave */
void sim_group_poll(struct sim_group *g);
bool sim_group_finished(const struct sim_group *g);
/* After the stragglers: looks who got what, leaves the group, destroys the QPs. */
void sim_group_end(struct sim_group *g);
void sim_group_free(struct sim_group *g);

#endif
