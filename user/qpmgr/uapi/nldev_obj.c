/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `rdma res show KIND`: the frame that all kinds share, as the kernel's
 * res_get_common_doit() and res_get_common_dumpit(). One object is answered
 * plainly; a dump has tables of entries, as many in a message as fit.
 */
#include "nldev_obj.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 64

void nldev_items_add(struct nldev_items *items, uint32_t id, const void *obj)
{
	size_t room = items->room ? 2 * items->room : FIRST_ROOM;
	struct nldev_item *item = items->item;

	if (items->n == items->room) {
		item = realloc(item, room * sizeof(*item));
		if (!item) {
			items->failed = true;
			return;
		}
		items->item = item;
		items->room = room;
	}
	item[items->n++] = (struct nldev_item){id, obj};
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct nldev_item *)a)->id, y = ((const struct nldev_item *)b)->id;

	return (x > y) - (x < y);
}

void nldev_items_sort(struct nldev_items *items)
{
	if (items->n)
		qsort(items->item, items->n, sizeof(*items->item), by_id);
}

/* ---- which objects ------------------------------------------------------------- */

/* The port that is asked for: 0 when none is; -EINVAL when there is no such. */
static int asked_port(const struct nldev_cmd *c, uint32_t *port)
{
	*port = 0;
	if (!nldev_has(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX))
		return 0;
	*port = nldev_u32(c->attrs, RDMA_NLDEV_ATTR_PORT_INDEX);
	return *port == 1 ? 0 : -EINVAL;
}

/* All of a device, or only number `id` of them. */
static int collect(struct nldev_cmd *c, const struct nldev_kind *kind, const uint32_t *id,
		   struct nldev_items *items)
{
	size_t n = 0;

	kind->collect(items, c->dev);
	if (items->failed)
		return -ENOMEM;
	for (size_t i = 0; id && i < items->n; i++)
		if (items->item[i].id == *id)
			items->item[n++] = items->item[i];
	if (id)
		items->n = n;
	nldev_items_sort(items);
	return 0;
}

uint64_t nldev_kind_count(unsigned int op, struct rxe_dev *dev)
{
	struct nldev_items items = {0};

	nldev_kind(op)->collect(&items, dev);
	free(items.item);
	return items.n;
}

bool nldev_kind_has(unsigned int op, struct rxe_dev *dev, uint32_t id)
{
	struct nldev_items items = {0};
	bool found = false;

	nldev_kind(op)->collect(&items, dev);
	for (size_t i = 0; i < items.n; i++)
		found = found || items.item[i].id == id;
	free(items.item);
	return found;
}

/* ---- one ------------------------------------------------------------------------ */

static int answer_one(struct nldev_cmd *c, const struct nldev_kind *kind,
		      const struct nldev_items *items, uint32_t port)
{
	void *asked = NULL;
	int err;

	if (!items->n)
		return -ENOENT;
	if (kind->ask) {
		asked = kind->ask(items);
		if (!asked)
			return -ENOMEM;
	}
	nldev_begin(c->out, c->type, 0);
	nldev_put_handle(c->out, c->dev);
	err = kind->fill(c, items, 0, asked, port);
	free(asked);
	return err ? err : nldev_end(c->out);
}

int nldev_obj_get(struct nldev_cmd *c)
{
	const struct nldev_kind *kind = nldev_kind(c->op);
	struct nldev_items items = {0};
	uint32_t port, id;
	int err = asked_port(c, &port);

	if (err || !nldev_has(c->attrs, kind->id_attr) || kind->per_port != (port != 0))
		return -EINVAL;
	id = nldev_u32(c->attrs, kind->id_attr);
	err = collect(c, kind, &id, &items);
	if (!err)
		err = answer_one(c, kind, &items, port);
	free(items.item);
	return err;
}

/* ---- all ------------------------------------------------------------------------- */

static size_t begin_table(struct nldev_cmd *c, const struct nldev_kind *kind)
{
	nldev_begin(c->out, c->type, NLM_F_MULTI);
	nldev_put_handle(c->out, c->dev);
	return nldev_nest_begin(c->out, kind->table);
}

static int end_table(struct nldev_cmd *c, size_t table)
{
	int err;

	nldev_nest_end(c->out, table);
	err = nldev_end(c->out);
	nldev_flush(c->out);
	return err;
}

/* One entry, whole or not at all: -EMSGSIZE when the message has no room for it. */
static int put_entry(struct nldev_cmd *c, const struct nldev_kind *kind,
		     const struct nldev_items *items, size_t i, void *asked, uint32_t port)
{
	size_t entry = nldev_nest_begin(c->out, kind->entry);
	int err = kind->fill(c, items, i, asked, port);

	nldev_nest_end(c->out, entry);
	if (nldev_take_back(c->out, entry, err != 0))
		err = -EMSGSIZE;
	return err;
}

static int put_entries(struct nldev_cmd *c, const struct nldev_kind *kind,
		       const struct nldev_items *items, void *asked, uint32_t port)
{
	size_t table = begin_table(c, kind), i = 0, first = 0;
	int err;

	while (i < items->n) {
		err = put_entry(c, kind, items, i, asked, port);
		if (err == -EMSGSIZE && i == first) {
			nldev_cancel(c->out); /* not even alone, as the kernel */
			return err;
		}
		if (err == -EMSGSIZE) {
			err = end_table(c, table);
			if (err)
				return err;
			table = begin_table(c, kind);
			first = i;
		} else {
			i++;
		}
	}
	return end_table(c, table);
}

int nldev_obj_dump(struct nldev_cmd *c)
{
	const struct nldev_kind *kind = nldev_kind(c->op);
	struct nldev_items items = {0};
	void *asked = NULL;
	uint32_t port;
	int err = asked_port(c, &port);

	if (!err)
		err = collect(c, kind, NULL, &items);
	if (!err && items.n && kind->ask) {
		asked = kind->ask(&items);
		if (!asked)
			err = -ENOMEM;
	}
	if (!err && items.n)
		err = put_entries(c, kind, &items, asked, port);
	free(asked);
	free(items.item);
	return err;
}
