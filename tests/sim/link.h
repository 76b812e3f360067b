/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Virtual time and a bad link: packets between two hosts are lost, delayed,
 * repeated and damaged, all from one seed.
 */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "host.h"

struct sim_rng {
	uint64_t s;
};
uint64_t sim_rand(struct sim_rng *r);
uint32_t sim_below(struct sim_rng *r, uint32_t n); /* 0..n-1 */
bool sim_chance(struct sim_rng *r, double p);

struct sim_event {
	uint64_t at, seq;
	int host; /* whom it concerns */
	union rxe_ip dip;
	bool loopback;	/* of the host's own: never on the link */
	uint8_t *bytes; /* a packet, its CRC at the end; NULL: just look around */
	uint32_t len;
};

struct sim_link {
	struct sim_rng rng;
	struct sim_event *heap;
	uint32_t count, room;
	uint64_t seq, now;
	double loss, dup, corrupt, reorder;
	uint32_t every;		      /* every so many packets one is lost; 0: none */
	uint64_t delay_ns, jitter_ns; /* of every packet; of a reordered one, in addition */
	uint64_t packet_ns,
		free_at[2]; /* one packet after the other, to each host; 0: all at once */
	struct sim_host *host[2];
	uint64_t sent, lost, duplicated, corrupted, bad_crc;
	bool trace;
};

void sim_link_init(struct sim_link *l, uint64_t seed, struct sim_host *a, struct sim_host *b);
void sim_link_fini(struct sim_link *l);
void sim_link_wake(struct sim_link *l, int host, uint64_t at);
uint64_t sim_link_next(const struct sim_link *l);
/* Takes the next event that is due at `now` and delivers it, if it is a packet. */
bool sim_link_deliver(struct sim_link *l, uint64_t now);

#endif
