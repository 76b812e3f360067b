/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts: one per command descriptor, with its handle tables, doorbells and
 * orderly end. A context that is closed lives on until its QPs have let go of
 * the copies and packets they were busy with.
 */
#include "uapi/uverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "disposal.h"
#include "log.h"
#include "uapi/server.h"
#include "uapi/ucma.h"

#define FLUSH_PATIENCE_MS 200

static TAILQ_HEAD(, uctx) contexts = TAILQ_HEAD_INITIALIZER(contexts);

/* ---- handles ------------------------------------------------------------------ */

void *uobj_find(struct uctx *ctx, enum uobj_kind kind, uint32_t handle)
{
	struct uhandles *h = &ctx->handles[kind];

	return handle < h->room ? h->slot[handle] : NULL;
}

static int grow(struct uhandles *h)
{
	uint32_t room = h->room ? 2 * h->room : 16;
	void **slot = realloc(h->slot, room * sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	memset(slot + h->room, 0, (room - h->room) * sizeof(*slot));
	h->slot = slot;
	h->room = room;
	return 0;
}

/* Which numbers the kinds draw; RXE_RES_KINDS: none, or (QPs) another. */
static const enum rxe_res res_of[UOBJ_KINDS] = {
	[UOBJ_PD] = RXE_RES_PD,		[UOBJ_MR] = RXE_RES_MR,	  [UOBJ_MW] = RXE_RES_KINDS,
	[UOBJ_CHANNEL] = RXE_RES_KINDS, [UOBJ_CQ] = RXE_RES_CQ,	  [UOBJ_QP] = RXE_RES_KINDS,
	[UOBJ_AH] = RXE_RES_KINDS,	[UOBJ_SRQ] = RXE_RES_SRQ,
};

int uobj_add(struct uctx *ctx, enum uobj_kind kind, struct uobj *o)
{
	struct uhandles *h = &ctx->handles[kind];

	if (h->count == h->room && grow(h))
		return -ENOMEM;
	while (h->slot[h->next % h->room])
		h->next = (h->next + 1) % h->room;
	o->handle = h->next % h->room;
	o->kind = kind;
	o->ctx = ctx;
	if (res_of[kind] != RXE_RES_KINDS)
		o->res = ctx->dev->next_res[res_of[kind]]++;
	h->slot[o->handle] = o;
	h->next = o->handle + 1;
	h->count++;
	return 0;
}

void uobj_remove(struct uobj *o)
{
	struct uhandles *h = &o->ctx->handles[o->kind];

	h->slot[o->handle] = NULL;
	h->count--;
}

void *uobj_first(struct uctx *ctx, enum uobj_kind kind)
{
	struct uhandles *h = &ctx->handles[kind];

	for (uint32_t i = 0; h->count && i < h->room; i++)
		if (h->slot[i])
			return h->slot[i];
	return NULL;
}

/* ---- doorbells ----------------------------------------------------------------- */

struct db_add {
	struct uctx *ctx;
	int err;
};

static void db_add(struct rxe_worker *w, void *arg)
{
	struct db_add *add = arg;

	add->err = rxe_worker_db_add(w, &add->ctx->doorbells[rxe_worker_index(w)]);
}

static void db_del(struct rxe_worker *w, void *arg)
{
	struct uctx *ctx = arg;

	rxe_worker_db_del(w, &ctx->doorbells[rxe_worker_index(w)]);
}

/* All workers watch theirs, or none: one that does not hears no ring. */
static int watch_doorbells(struct uctx *ctx)
{
	struct db_add add = {.ctx = ctx};
	uint32_t n = 0;

	while (n < rxed.nr_workers && !add.err)
		rxe_worker_call(rxed.workers[n++], db_add, &add);
	if (!add.err)
		return 0;
	log_err("watching a doorbell of process %d on worker %u: %s; its device is not opened",
		ctx->peer->pid, n - 1, strerror(-add.err));
	for (n--; n > 0; n--)
		rxe_worker_call(rxed.workers[n - 1], db_del, ctx);
	return add.err;
}

static int doorbells_open(struct uctx *ctx)
{
	ctx->db_mem = ushm_new(ctx, (size_t)rxed.nr_workers * RXE_DOORBELL_STRIDE);
	ctx->doorbells = calloc(rxed.nr_workers, sizeof(*ctx->doorbells));
	for (uint32_t i = 0; ctx->doorbells && i < rxed.nr_workers; i++)
		ctx->doorbells[i].efd = -1; /* doorbells_close() closes what is here */
	if (!ctx->db_mem || !ctx->doorbells)
		return -ENOMEM;
	for (uint32_t i = 0; i < rxed.nr_workers; i++) {
		struct rxe_doorbell *db = &ctx->doorbells[i];

		db->page = (void *)((char *)ctx->db_mem->map + i * RXE_DOORBELL_STRIDE);
		db->slots = calloc(RXE_DOORBELL_SLOTS, sizeof(*db->slots));
		db->efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (!db->slots || db->efd < 0)
			return -ENOMEM;
	}
	memset(ctx->doorbells[0].page->worker, RXE_DOORBELL_CLOSED, RXE_DOORBELL_SLOTS);
	return watch_doorbells(ctx);
}

static void doorbells_close(struct uctx *ctx, bool added)
{
	for (uint32_t i = 0; ctx->doorbells && i < rxed.nr_workers; i++) {
		struct rxe_doorbell *db = &ctx->doorbells[i];

		if (added)
			rxe_worker_call(rxed.workers[i], db_del, ctx);
		if (db->efd >= 0)
			close(db->efd);
		free(db->slots);
	}
	free(ctx->doorbells);
	ushm_free(ctx, ctx->db_mem);
}

uint32_t uctx_doorbell_fds(struct uctx *ctx, int *fds)
{
	fds[0] = ctx->db_mem->fd;
	for (uint32_t i = 0; i < rxed.nr_workers; i++)
		fds[1 + i] = ctx->doorbells[i].efd;
	return 1 + rxed.nr_workers;
}

/* ---- life ----------------------------------------------------------------------- */

int uctx_open(struct rxe_dev *dev, struct rxe_peer *peer, int memfd, int mapsfd, struct uctx **out)
{
	struct uctx *ctx = calloc(1, sizeof(*ctx));
	int err;

	if (!ctx) {
		rxe_dispose_fd(memfd);
		rxe_dispose_fd(mapsfd);
		return -ENOMEM;
	}
	TAILQ_INIT(&ctx->shms);
	ctx->dev = dev;
	ctx->peer = peer;
	err = rxe_mem_new(memfd, mapsfd, &ctx->mem);
	if (err)
		goto out_free;
	err = doorbells_open(ctx);
	if (err)
		goto out_mem;
	rxe_dev_get(dev);
	TAILQ_INSERT_TAIL(&contexts, ctx, link);
	*out = ctx;
	return 0;
out_mem:
	doorbells_close(ctx, false);
	rxe_mem_put(ctx->mem);
out_free:
	free(ctx);
	return err;
}

static void each_of(struct uctx *ctx, enum uobj_kind kind, void (*fn)(void *arg, struct uobj *o),
		    void *arg)
{
	struct uhandles *h = &ctx->handles[kind];

	for (uint32_t i = 0; h->count && i < h->room; i++)
		if (h->slot[i])
			fn(arg, h->slot[i]);
}

void uverbs_each(const struct rxe_dev *dev, enum uobj_kind kind,
		 void (*fn)(void *arg, struct uobj *o), void *arg)
{
	struct uctx *ctx;

	TAILQ_FOREACH (ctx, &contexts, link)
		if (ctx->dev == dev && !ctx->dead && !ctx->closing)
			each_of(ctx, kind, fn, arg);
}

void uctx_each(const struct rxe_dev *dev, void (*fn)(void *arg, struct uctx *ctx), void *arg)
{
	struct uctx *ctx;

	TAILQ_FOREACH (ctx, &contexts, link)
		if (ctx->dev == dev && ctx->opened && !ctx->dead && !ctx->closing)
			fn(arg, ctx);
}

#define DESTROY_ALL(ctx, kind, type, destroy)        \
	do {                                         \
		type *o_;                            \
		while ((o_ = uobj_first(ctx, kind))) \
			destroy(o_);                 \
	} while (0)

static void uctx_free(struct uctx *ctx)
{
	DESTROY_ALL(ctx, UOBJ_AH, struct uah, uah_destroy);
	DESTROY_ALL(ctx, UOBJ_SRQ, struct usrq, usrq_destroy);
	DESTROY_ALL(ctx, UOBJ_CQ, struct ucq, ucq_destroy);
	DESTROY_ALL(ctx, UOBJ_MW, struct umw, umw_destroy);
	DESTROY_ALL(ctx, UOBJ_MR, struct umr, umr_destroy);
	DESTROY_ALL(ctx, UOBJ_PD, struct upd, upd_destroy);
	DESTROY_ALL(ctx, UOBJ_CHANNEL, struct uobj, uverbs_channel_drop);
	doorbells_close(ctx, true);
	if (ctx->async)
		uchannel_free(ctx->async);
	if (ctx->opened)
		ctx->dev->nr_contexts--;
	for (int i = 0; i < UOBJ_KINDS; i++)
		free(ctx->handles[i].slot);
	TAILQ_REMOVE(&contexts, ctx, link);
	rxe_mem_kill(ctx->mem);
	rxe_mem_put(ctx->mem);
	rxe_peer_release(ctx->peer);
	free(ctx->peer);
	rxe_dev_put(ctx->dev);
	free(ctx);
}

/* Every QP on its way out; the last one that is released goes on from here. */
static void destroy_qps(struct uctx *ctx)
{
	struct uhandles *h = &ctx->handles[UOBJ_QP];

	for (uint32_t i = 0; i < h->room; i++) {
		struct uqp *qp = h->slot[i];

		if (qp && !qp->dying)
			uqp_destroy(qp, NULL);
	}
}

void uctx_close(struct uctx *ctx)
{
	/* Held, so that the last QP's release finds it and does not free it. */
	ctx->holds++;
	uroute_cancel(ctx);
	rxe_mem_kill(ctx->mem);
	destroy_qps(ctx);
	ctx->closing = true;
	uctx_unhold(ctx);
}

void uctx_unhold(struct uctx *ctx)
{
	ctx->holds--;
	if (ctx->closing && !ctx->holds)
		uctx_free(ctx);
}

/* ---- the device's events ---------------------------------------------------------- */

void rxe_uverbs_dev_event(struct rxe_dev *dev, enum rxe_event_kind kind)
{
	struct uctx *ctx;

	TAILQ_FOREACH (ctx, &contexts, link)
		if (ctx->dev == dev)
			uctx_port_event(ctx, kind);
}

static void abort_qp(void *all, struct uobj *o)
{
	struct uqp *qp = (struct uqp *)o;

	if (!qp->dying)
		*(bool *)all &= uqp_abort(qp);
}

/* Every QP of those that lose the device; copies under way get some time to end. */
static void flush_all(void)
{
	const struct timespec ms = {0, 1000000};
	struct uctx *ctx;
	bool all = false;

	for (int i = 0; !all && i < FLUSH_PATIENCE_MS; i++) {
		if (i)
			nanosleep(&ms, NULL);
		all = true;
		TAILQ_FOREACH (ctx, &contexts, link)
			if (ctx->losing)
				each_of(ctx, UOBJ_QP, abort_qp, &all);
	}
}

/*
 * The device goes under the contexts that are losing it: what their QPs hold is
 * flushed, and they end, now, since the datapath may be about to be closed. The
 * programs see that, DEVICE_FATAL, and then the end of every channel and EIO.
 */
static void lose_device(void)
{
	struct uctx *ctx;

	TAILQ_FOREACH (ctx, &contexts, link) {
		if (!ctx->losing)
			continue;
		ctx->dead = true;
		rxe_mem_kill(ctx->mem);
	}
	flush_all();
	TAILQ_FOREACH (ctx, &contexts, link) {
		if (!ctx->losing)
			continue;
		ctx->losing = false;
		uctx_port_event(ctx, RXE_EV_DEVICE_FATAL);
		destroy_qps(ctx);
		rxe_server_hang_up(ctx);
	}
}

void rxe_uverbs_dev_gone(struct rxe_dev *dev)
{
	struct uctx *ctx;

	ucma_dev_gone(dev);
	TAILQ_FOREACH (ctx, &contexts, link)
		if (ctx->dev == dev && !ctx->dead)
			ctx->losing = true;
	lose_device();
	uqp_wait_released(dev);
}

void rxe_uverbs_dev_isolate(struct rxe_dev *dev)
{
	struct uctx *ctx;

	TAILQ_FOREACH (ctx, &contexts, link)
		if (ctx->dev == dev && !ctx->dead && !rxe_dev_visible(dev, ctx->peer->ns))
			ctx->losing = true;
	lose_device();
}
