/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random traffic in one direction of a QP pair, planned beforehand (plan.c) so
 * that every byte and every completion that must come of it is known.
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
	struct rxe_mw *mw;	 /* SEND_WITH_INV: the receiver's window that it ends */
	struct sim_msg *through; /* the SEND_WITH_INV whose window it goes through */
	uint64_t counter_after;	 /* the receiver's counter when it is done */
	uint32_t rkey;		 /* what it names: an MR's or window's; BIND_MW: the new key */
	uint32_t old_rkey;	 /* BIND_MW: the key before */
	uint32_t flush_len, flush_level;
};

/*
 * What an RC flow may end in: one request that breaks a rule, for which the
 * status of its completion and the memory that it must not touch are known.
 */
enum sim_bad {
	SIM_GOOD,
	SIM_PAST_WINDOW,   /* the last byte is one beyond the window */
	SIM_BEFORE_WINDOW, /* the first byte is one before it */
	SIM_PAST_REGION,
	SIM_READ_PAST_WINDOW,
	SIM_NO_RIGHT,	/* a window for reading, written to */
	SIM_ENDED_KEY,	/* a window that a SEND_WITH_INV has ended */
	SIM_KEY_TAG,	/* a key that differs in the low byte */
	SIM_MISALIGNED, /* an atomic off its eight bytes */
	SIM_LONG_SEND,	/* beyond the receive buffer */
	SIM_BAD_LKEY,	/* of its own memory */
	SIM_NR_BAD,
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
	enum sim_bad bad; /* how the last message breaks a rule */
	struct rxe_mw *bad_mw;
	uint32_t bad_rkey, bad_status;
	const struct sim_flow *before;	 /* on the same QPs, until they were reset */
	bool ordered;			 /* UC, UD: the link neither repeats nor reorders */
	bool eager;			 /* all receives are posted before the first send */
	bool over;			 /* one of the QPs was reset: nothing more is posted */
	bool lossy_ok;			 /* RC: errors are allowed (it was killed, or heavy loss) */
	bool failed, from_dead, to_dead; /* failed: the sender saw an error */
	uint32_t flushed;
};

/* bad: how the last of the messages breaks a rule (RC). */
void sim_flow_plan(struct sim_flow *f, uint32_t nr_msgs, uint32_t max_len, enum sim_bad bad);
void sim_flow_free(struct sim_flow *f);
/* Posts some sends and receives; true when it posted anything. */
bool sim_flow_post(struct sim_flow *f);
/* Take completions; an error is described and ends the run. */
void sim_flow_send_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc);
void sim_flow_recv_cqe(struct sim_flow *f, const struct ib_uverbs_wc *wc);
bool sim_flow_finished(const struct sim_flow *f);
/* Memory at the end: delivered data, and nothing else, has changed. */
void sim_flow_check_memory(const struct sim_flow *f);

/* ---- plan.c, for traffic.c ------------------------------------------------------------- */

#define SIM_UNTOUCHED 0xa5

/* Byte `off` of message m: unlike its neighbours in every direction. */
uint8_t sim_pattern(const struct sim_flow *f, uint32_t m, uint32_t off);
bool sim_holds(const struct sim_flow *f, uint32_t m, const uint8_t *at, uint32_t len);
size_t sim_step_of(uint32_t len); /* from one message's memory to the next one's */
bool sim_is_atomic(const struct sim_msg *m);
bool sim_is_send(const struct sim_msg *m);
bool sim_is_write(const struct sim_msg *m);
bool sim_is_local(const struct sim_msg *m);
bool sim_stores(const struct sim_msg *m); /* leaves its bytes at the receiver */
bool sim_has_imm(const struct sim_msg *m);
bool sim_takes_recv(const struct sim_msg *m);
/* Is i the message that breaks a rule? */
static inline bool sim_is_bad(const struct sim_flow *f, uint32_t i)
{
	return f->bad && i == f->nr_msgs - 1;
}

_Noreturn void sim_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
extern uint64_t sim_seed;

#endif
