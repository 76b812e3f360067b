/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Netlink messages of the nldev server: attributes of a request, read under a
 * policy; answers, written into one bounded batch. No sockets.
 */
#ifndef RXE_NLDEV_MSG_H
#define RXE_NLDEV_MSG_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include "nldev.h"

/* ---- requests ---------------------------------------------------------- */

/* The attributes that a request may carry and that have a policy; else NULL. */
struct nldev_attrs {
	const struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
};

/* -EINVAL: an attribute breaks its bounds or its policy. */
int nldev_parse(const struct nlmsghdr *nlh, struct nldev_attrs *attrs);
bool nldev_has(const struct nldev_attrs *attrs, int type);
/* Only of attributes that nldev_has(). */
uint8_t nldev_u8(const struct nldev_attrs *attrs, int type);
uint32_t nldev_u32(const struct nldev_attrs *attrs, int type);
const char *nldev_str(const struct nldev_attrs *attrs, int type);

/* ---- answers ----------------------------------------------------------- */

struct nldev_out {
	void (*reply)(void *arg, const void *msg, size_t len);
	void *arg;
	const struct nlmsghdr *req; /* seq, pid and the echo of errors */
	size_t len;		    /* of buf that is filled */
	size_t msg;		    /* where the message under way starts */
	bool overflow;		    /* it did not fit */
	char err[256];		    /* why, for the extended acknowledgement */
	char buf[RXE_NLDEV_BATCH] __attribute__((aligned(8)));
};

void nldev_begin(struct nldev_out *out, uint16_t type, uint16_t flags);
/* Completes the message; -EMSGSIZE (and it is taken back) when it did not fit. */
int nldev_end(struct nldev_out *out);
/* Takes the message under way back. */
void nldev_cancel(struct nldev_out *out);
void nldev_flush(struct nldev_out *out);
void nldev_put(struct nldev_out *out, int type, const void *data, size_t len);
void nldev_put_u8(struct nldev_out *out, int type, uint8_t v);
void nldev_put_u32(struct nldev_out *out, int type, uint32_t v);
void nldev_put_u64(struct nldev_out *out, int type, uint64_t v);
void nldev_put_str(struct nldev_out *out, int type, const char *s);
size_t nldev_nest_begin(struct nldev_out *out, int type);
/*
 * When the message did not fit, or `unwanted`: takes back what was put since
 * `mark` (of nldev_nest_begin), so that the message can end there. True when
 * it did not fit.
 */
bool nldev_take_back(struct nldev_out *out, size_t mark, bool unwanted);
void nldev_nest_end(struct nldev_out *out, size_t nest);
/* NLMSG_ERROR: the acknowledgement (0) or -errno, with out->err when set. */
void nldev_ack(struct nldev_out *out, int err);
void nldev_done(struct nldev_out *out, int err);

#endif
