/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One nldev command under way, as its handler sees it, and the handlers that
 * the command table (nldev.c) names.
 */
#ifndef RXE_NLDEV_CMD_H
#define RXE_NLDEV_CMD_H

#include "authority.h"
#include "nldev_msg.h"
#include "rxed.h"

struct nldev_cmd {
	struct rxe_peer *peer;
	const struct nldev_attrs *attrs;
	struct nldev_out *out;
	struct rxe_dev *dev;	 /* of DEV_INDEX, visible to peer; NULL without one */
	struct rxe_netns *netns; /* that came with the request, or NULL */
	unsigned int op;	 /* RDMA_NLDEV_CMD_* */
	uint16_t type;		 /* of the answers */
};

/* Sets the line that goes with an error; returns err. */
int nldev_fail(struct nldev_cmd *c, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* 0, or -EPERM: administering dev needs authority over its namespace. */
int nldev_may_administer(struct nldev_cmd *c, const struct rxe_dev *dev);
/* May the caller see the keys of memory regions? */
bool nldev_sees_keys(const struct nldev_cmd *c);
void nldev_put_handle(struct nldev_out *out, const struct rxe_dev *dev);

/*
 * doit: answers one request; returns what the acknowledgement says.
 * one: one message of a dump, about dev. dump: all messages, about c->dev.
 */
int nldev_get(struct nldev_cmd *c);
int nldev_get_one(struct nldev_cmd *c, struct rxe_dev *dev);
int nldev_set(struct nldev_cmd *c);
int nldev_newlink(struct nldev_cmd *c);
int nldev_dellink(struct nldev_cmd *c);
int nldev_port_get(struct nldev_cmd *c);
int nldev_port_get_one(struct nldev_cmd *c, struct rxe_dev *dev);
int nldev_sys_get(struct nldev_cmd *c);
int nldev_sys_set(struct nldev_cmd *c);
int nldev_get_chardev(struct nldev_cmd *c);
int nldev_stat_get(struct nldev_cmd *c);
int nldev_stat_dump(struct nldev_cmd *c);
int nldev_stat_set(struct nldev_cmd *c);
int nldev_stat_del(struct nldev_cmd *c);
int nldev_stat_get_status(struct nldev_cmd *c);
int nldev_no_raw(struct nldev_cmd *c);
int nldev_res_get(struct nldev_cmd *c);
int nldev_res_get_one(struct nldev_cmd *c, struct rxe_dev *dev);

#endif
