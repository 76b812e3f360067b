/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A binary heap of deadlines, earliest first.
 */
#include <errno.h>
#include <stdlib.h>
#include "timer.h"

int rxe_timers_reserve(struct rxe_timers *t, uint32_t n)
{
	uint32_t need = t->reserved + n;

	if (need > t->room) {
		uint32_t room = need * 2;
		void *heap = realloc(t->heap, (room + 1) * sizeof(t->heap[0]));

		if (!heap)
			return -ENOMEM;
		t->heap = heap;
		t->room = room;
	}
	t->reserved = need;
	return 0;
}

void rxe_timers_release(struct rxe_timers *t, uint32_t n)
{
	t->reserved -= n;
}

void rxe_timers_fini(struct rxe_timers *t)
{
	free(t->heap);
	*t = (struct rxe_timers){0};
}

static void place(struct rxe_timers *t, uint32_t pos, struct rxe_deadline *d)
{
	t->heap[pos] = d;
	d->pos = pos;
}

static void sift_up(struct rxe_timers *t, uint32_t pos, struct rxe_deadline *d)
{
	while (pos > 1 && t->heap[pos / 2]->at > d->at) {
		place(t, pos, t->heap[pos / 2]);
		pos /= 2;
	}
	place(t, pos, d);
}

static void sift_down(struct rxe_timers *t, uint32_t pos, struct rxe_deadline *d)
{
	for (;;) {
		uint32_t child = pos * 2;

		if (child > t->count)
			break;
		if (child < t->count && t->heap[child + 1]->at < t->heap[child]->at)
			child++;
		if (t->heap[child]->at >= d->at)
			break;
		place(t, pos, t->heap[child]);
		pos = child;
	}
	place(t, pos, d);
}

void rxe_deadline_arm(struct rxe_timers *t, struct rxe_deadline *d, uint64_t at)
{
	uint64_t old = d->at;

	d->at = at;
	if (!d->pos)
		sift_up(t, ++t->count, d);
	else if (at < old)
		sift_up(t, d->pos, d);
	else
		sift_down(t, d->pos, d);
}

void rxe_deadline_cancel(struct rxe_timers *t, struct rxe_deadline *d)
{
	struct rxe_deadline *last;
	uint32_t pos = d->pos;

	if (!pos)
		return;
	d->pos = 0;
	last = t->heap[t->count--];
	if (last == d)
		return;
	if (pos > 1 && t->heap[pos / 2]->at > last->at)
		sift_up(t, pos, last);
	else
		sift_down(t, pos, last);
}

struct rxe_deadline *rxe_timers_due(struct rxe_timers *t, uint64_t now)
{
	struct rxe_deadline *d;

	if (!t->count || t->heap[1]->at > now)
		return NULL;
	d = t->heap[1];
	rxe_deadline_cancel(t, d);
	return d;
}

uint64_t rxe_timers_next(const struct rxe_timers *t)
{
	return t->count ? t->heap[1]->at : UINT64_MAX;
}
