/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two connection managers, a link between them that loses and doubles MADs as
 * a test says, and a clock that only the test moves.
 */
#ifndef TESTS_CM_BED_H
#define TESTS_CM_BED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "cm/cm.h"

#define BED_QUEUE  64
#define BED_EVENTS 32

struct bed;

struct bed_event {
	enum cm_event_kind kind;
	int status;
	struct cm_params p;
	uint8_t priv[CM_MAD_LEN];
	size_t priv_len;
};

struct bed_side {
	struct bed *bed;
	struct cm *cm;
	int port;	     /* its address is the path's port */
	struct cm_path path; /* to the other side */
	uint64_t guid;
	struct cm_id *id; /* the test's: made by it, or taken from a request */
	int answer;	  /* what ops->request returns */
	struct bed_event event[BED_EVENTS];
	unsigned int nr_events, seen;
	unsigned int sent[CM_MSG_LAST + 1];
	unsigned int again[2][CM_MSG_LAST + 1]; /* received again, sent again */
	uint8_t last[CM_MAD_LEN];		/* last MAD it sent */
};

struct bed {
	struct bed_side side[2];
	uint64_t now;
	/* Called for each MAD; false: it is lost. NULL: none is. */
	bool (*pass)(struct bed *b, unsigned int from, const uint8_t *mad);
	bool twice; /* everything arrives twice */
	uint32_t seed;
	unsigned int loss_percent;
	struct {
		unsigned int to;
		uint8_t mad[CM_MAD_LEN];
	} queue[BED_QUEUE];
	unsigned int head, tail;
};

void bed_start(struct bed *b);
void bed_stop(struct bed *b);
/* Delivers until nothing is under way. */
void bed_settle(struct bed *b);
/* Moves the clock to the next deadline of either side, delivers; false: there is none. */
bool bed_step(struct bed *b);
/* Steps until the clock has gone that far. */
void bed_run_ms(struct bed *b, uint64_t ms);
/* The next event of a side, which must be of this kind. */
struct bed_event *bed_expect(struct bed *b, unsigned int side, enum cm_event_kind kind);
/* No event is left unseen. */
void bed_expect_none(struct bed *b, unsigned int side);
/* Parameters that a program would give. */
struct cm_params bed_params(unsigned int side);
/* Side 0 connects, side 1 has the request. */
void bed_connect(struct bed *b);
/* And accepts; both are established. */
void bed_establish(struct bed *b);
uint32_t bed_random(struct bed *b);

#endif
