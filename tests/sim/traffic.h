/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random traffic in one direction of a QP pair, planned beforehand so that
 * every byte and every completion that must come of it is known.
 */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include "host.h"
#include "link.h"
#include "pool.h"

#define SIM_MAX_MSGS 96
#define SIM_GUARD    32 /* bytes between regions that must never change */

struct sim_msg {
	uint32_t opcode, len, flags;
	__be32 imm;
	uint8_t *local;	 /* at the sender: source, or where a READ lands */
	uint8_t *remote; /* at the receiver: WRITE target, READ source, counter */
	uint64_t compare_add, swap, want_orig;
	bool is_inline;
	struct rxe_mw *mw; /* SEND_WITH_INV: the receiver's window that it ends */
	uint32_t rkey;	   /* what it names: an MR's or window's; BIND_MW: the new key */
	uint32_t old_rkey; /* BIND_MW: the key before */
	uint32_t flush_len, flush_level;
};

struct sim_flow {
	int id;
	struct sim_rng *rng;
	struct sim_pool *pool; /* the receiver's, or NULL: buffers of its own */
	struct sim_qp *from, *to;
	uint32_t ah_num, qkey;
	uint32_t mtu;
	struct sim_msg msg[SIM_MAX_MSGS];
	uint32_t nr_msgs;
	uint8_t *local_mem, *remote_mem, *recv_mem;
	size_t local_size, remote_size, recv_size;
	uint32_t recv_len; /* of one receive buffer */
	struct rxe_mr *local_mr, *remote_mr, *recv_mr;
	struct rxe_mw *mw; /* the sender's own, for BIND_MW and LOCAL_INV */
	uint32_t nr_recvs; /* receive WQEs to post in all */
	/* progress */
	uint32_t posted, send_done; /* messages; send_done: next wr_id expected */
	uint32_t recv_posted, recv_done;
	uint32_t next_recv_msg; /* RC: message that the next receive is of */
	uint32_t delivered;
	bool lossy_ok;			 /* RC: errors are allowed (it was killed, or heavy loss) */
	bool failed, from_dead, to_dead; /* failed: the sender saw an error */
	uint32_t flushed;
};

void sim_flow_plan(struct sim_flow *f, uint32_t nr_msgs, uint32_t max_len);
void sim_flow_free(struct sim_flow *f);
/* Posts some sends and receives; true when it posted anything. */
bool sim_flow_post(struct sim_flow *f);
/* Take completions; an error is described and ends the run. */
void sim_flow_send_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc);
void sim_flow_recv_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc);
bool sim_flow_finished(const struct sim_flow *f);
/* Memory at the end: delivered data, and nothing else, has changed. */
void sim_flow_check_memory(const struct sim_flow *f);

_Noreturn void sim_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern uint64_t sim_seed;

#endif
