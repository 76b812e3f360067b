/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadlines of an engine: a binary heap of intrusive nodes. Time is whatever
 * the owner injects.
 */
#ifndef RXE_TRANSPORT_TIMER_H
#define RXE_TRANSPORT_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct rxe_deadline {
	uint64_t at;  /* ns */
	uint32_t pos; /* 1-based place in the heap; 0: not armed */
	void (*expired)(struct rxe_deadline *d);
};

struct rxe_timers {
	struct rxe_deadline **heap; /* heap[1..count] */
	uint32_t count, room, reserved;
};

/* Makes room for n more deadlines, so that arming never fails. -ENOMEM. */
int rxe_timers_reserve(struct rxe_timers *t, uint32_t n);
void rxe_timers_release(struct rxe_timers *t, uint32_t n);
void rxe_timers_fini(struct rxe_timers *t);

/* Arms or moves d. */
void rxe_deadline_arm(struct rxe_timers *t, struct rxe_deadline *d, uint64_t at);
void rxe_deadline_cancel(struct rxe_timers *t, struct rxe_deadline *d);
static inline bool rxe_deadline_armed(const struct rxe_deadline *d)
{
	return d->pos != 0;
}

/* Takes one deadline that is due at `now` out of the heap, or NULL. */
struct rxe_deadline *rxe_timers_due(struct rxe_timers *t, uint64_t now);
uint64_t rxe_timers_next(const struct rxe_timers *t); /* UINT64_MAX: none */

#endif
