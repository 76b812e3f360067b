/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects as `rdma res show` lists them: one kind collected, sorted and
 * written into answers. Control thread.
 */
#ifndef RXE_NLDEV_OBJ_H
#define RXE_NLDEV_OBJ_H

#include "nldev_cmd.h"

/* One object: its number, and what it is; NULL: the one that QP1 of the device needs. */
struct nldev_item {
	uint32_t id;
	const void *obj;
};

struct nldev_items {
	struct nldev_item *item;
	size_t n, room;
	bool failed; /* no memory */
};

void nldev_items_sort(struct nldev_items *items); /* by number */
void nldev_items_add(struct nldev_items *items, uint32_t id, const void *obj);

/*
 * What a kind of object is made of. ask: fetches what fill needs, for all
 * items at once; NULL: nothing. fill: the attributes of one; 0, or -EAGAIN
 * when it is not on `port` (0: any).
 */
struct nldev_kind {
	uint16_t table, entry, id_attr;
	bool per_port;
	void (*collect)(struct nldev_items *items, struct rxe_dev *dev);
	void *(*ask)(const struct nldev_items *items);
	int (*fill)(struct nldev_cmd *c, const struct nldev_items *items, size_t i, void *asked,
		    uint32_t port);
};
/* The kind that a RES_*_GET command (or STAT_GET: of MRs) is about; NULL: none. */
const struct nldev_kind *nldev_kind(unsigned int op);

uint64_t nldev_kind_count(unsigned int op, struct rxe_dev *dev);
/* Is there such an object of the kind of that command? */
bool nldev_kind_has(unsigned int op, struct rxe_dev *dev, uint32_t id);

/* A command's handlers: RES_QP_GET and its likes. */
int nldev_obj_get(struct nldev_cmd *c);
int nldev_obj_dump(struct nldev_cmd *c);

#endif
