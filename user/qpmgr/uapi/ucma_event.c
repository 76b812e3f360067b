/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of an rdma_cm file: queued until GET_EVENT, with a byte in the
 * file's pipe for each, taken back when their object goes.
 */
#include "uapi/ucma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- tokens ---------------------------------------------------------------------- */

static void pay(struct ucma_file *f)
{
	while (f->owed && write(f->wfd, "", 1) == 1)
		f->owed--;
}

/* An event went without GET_EVENT having read its token. */
static void take_token(struct ucma_file *f)
{
	char c;

	if (f->owed)
		f->owed--;
	else if (read(f->rfd, &c, 1) < 0)
		return; /* the program has it: GET_EVENT will find nothing and wait on */
}

/* ---- queueing ----------------------------------------------------------------------- */

struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->id = id;
	e->resp.uid = id->uid;
	e->resp.id = id->handle;
	e->resp.event = type;
	e->resp.status = (uint32_t)status;
	return e;
}

void ucma_event_queue(struct ucma_file *f, struct ucma_event *e)
{
	TAILQ_INSERT_TAIL(&f->events, e, link);
	f->owed++;
	pay(f);
}

void ucma_post(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *e = id->uid ? ucma_event_new(id, type, status) : NULL;

	if (e)
		ucma_event_queue(id->file, e);
}

int ucma_get_event(struct ucma_cmd *c)
{
	struct ucma_file *f = c->file;
	struct ucma_event *e = TAILQ_FIRST(&f->events);
	int err;

	if (!e)
		return -EAGAIN;
	/* Libraries from before the ECE have less room. */
	err = ucma_respond(c, &e->resp, sizeof(e->resp),
			   offsetof(struct rdma_ucm_event_resp, reserved));
	if (err)
		return err;
	TAILQ_REMOVE(&f->events, e, link);
	if (e->mc)
		e->mc->events_reported++;
	else
		e->id->events_reported++;
	if (e->fresh)
		e->id->backlog++;
	free(e);
	pay(f);
	return 0;
}

/* ---- taking back --------------------------------------------------------------------- */

void ucma_event_drop(struct ucma_id *id, struct ucma_mc *mc)
{
	struct ucma_file *f = id->file;
	struct ucma_event *e, *next;
	struct ucma_id *fresh;

	for (e = TAILQ_FIRST(&f->events); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (mc ? e->mc != mc : e->id != id && e->fresh != id)
			continue;
		fresh = e->fresh == id ? NULL : e->fresh;
		TAILQ_REMOVE(&f->events, e, link);
		take_token(f);
		free(e);
		if (fresh) {
			ucma_id_free(fresh); /* may drop more */
			next = TAILQ_FIRST(&f->events);
		}
	}
}

void ucma_event_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_file *from = id->file;
	struct ucma_event *e, *next;

	for (e = TAILQ_FIRST(&from->events); e; e = next) {
		next = TAILQ_NEXT(e, link);
		if (e->id != id)
			continue;
		TAILQ_REMOVE(&from->events, e, link);
		take_token(from);
		ucma_event_queue(to, e);
		if (e->fresh) {
			LIST_REMOVE(e->fresh, link);
			e->fresh->file = to;
			LIST_INSERT_HEAD(&to->ids, e->fresh, link);
		}
	}
}
