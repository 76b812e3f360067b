/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The TC programs on a netdev: the egress guard drops RoCE frames that the
 * local stack sends (DESIGN D8b), ingress counts what the stack receives.
 * tcx links where the kernel has them (6.6), clsact filters elsewhere.
 * Control thread.
 */
#ifndef RXE_GUARD_H
#define RXE_GUARD_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>
#include "fail.h"
#include "rxe/bpf_abi.h"

enum rxe_guard_side { RXE_GUARD_INGRESS, RXE_GUARD_EGRESS, RXE_GUARD_SIDES };

struct rxe_guard {
	struct bpf_object *obj;
	int counters_fd, config_fd;
	int ifindex;
	int netns_fd;		      /* clsact filters are removed by netlink, in their netns */
	int link_fd[RXE_GUARD_SIDES]; /* -1: a clsact filter */
	bool filter[RXE_GUARD_SIDES];
};

/* In the netdev's netns. On failure nothing is left and err says what to do. */
int rxe_guard_open(struct rxe_guard *g, const char *object_dir, const char *netdev, int ifindex,
		   struct rxe_errline *err);
/* In any netns. */
void rxe_guard_close(struct rxe_guard *g);
/* The clsact way alone, which open() falls back to; in the netdev's netns. */
int rxe_guard_attach_clsact(struct rxe_guard *g);
/* Whose frames are guarded: those that carry the netdev's own MAC. */
void rxe_guard_mac(struct rxe_guard *g, const uint8_t mac[6]);
/* Any thread. */
int rxe_guard_counters(const struct rxe_guard *g, uint64_t sum[RXE_TC_CNT_COUNT]);

#endif
