/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The queue pair: what its requester, completer and responder keep, and the
 * calls between them. Everything here runs on the engine's thread.
 */
#ifndef RXE_QP_H
#define RXE_QP_H

#include "cq.h"
#include "kernel_compat.h"
#include "engine.h"
#include "mw.h"
#include "xfer.h"
#include "psn.h"
#include "srq.h"
#include "wqe.h"

#define RXE_SQ_WINDOW	   256u	      /* private WQE copies of one SQ, at most */
#define RXE_MAX_SLOTS	   8192u      /* received requests in flight per QP */
#define RXE_DETACH_AFTER   256u	      /* of them in the datapath's own buffers */
#define RXE_MAX_READ_TX	   32u	      /* READ responses being filled per QP */
#define RXE_QP_QUANTUM	   16u	      /* packets of one QP before the next has its turn */
#define RXE_MIN_TIMEOUT_NS 1000000ull /* shorter ACK timeouts mean this: no spurious ones */
#define RXE_QP_DEADLINES   5u

/* A READ or atomic that has arrived: what a duplicate of it is answered from. */
struct rxe_rd_res {
	uint32_t kind; /* RXE_F_READ and the other RXE_F_ANSWERED; 0: free */
	uint32_t first_psn, last_psn;
	uint32_t msn;
	uint64_t va; /* READ: of first_psn */
	uint32_t rkey, length;
	struct rxe_xfer *slot; /* its slot, or that of its replay; NULL: retired */
	uint64_t result;       /* atomic: what it returned */
};

/* Why a request is not executed. */
enum rxe_fault {
	FAULT_NONE,
	FAULT_DROP, /* as if it had been lost */
	FAULT_RNR,
	FAULT_INV_REQ,
	FAULT_ACCESS,
	FAULT_LENGTH, /* longer than the receive WQE */
	FAULT_WQE,    /* malformed receive WQE */
	FAULT_PROT,   /* the receive WQE's memory */
	FAULT_MEM,    /* a WRITE's memory went away under it */
	FAULT_INV,    /* SEND_WITH_INV names what it may not invalidate */
};

/* Send side: WQEs [head, tail) are ours, head <= ack <= cur <= tail. */
struct rxe_requester {
	struct rxe_swqe **win; /* by index & win_mask; made when needed */
	uint32_t win_mask;
	uint32_t head;	   /* oldest not completed */
	uint32_t ack;	   /* oldest not acknowledged (RC) */
	uint32_t cur;	   /* being sent */
	uint32_t tail;	   /* next to be taken from the ring */
	uint32_t fetch;	   /* its index in the ring */
	uint32_t next_psn; /* of the next packet to build */
	uint32_t una;	   /* oldest PSN not acknowledged */
	uint32_t sent_psn; /* beyond the highest PSN handed to the datapath */
	uint32_t ssn;
	uint32_t credit_limit; /* highest SSN the peer has room for */
	bool credit_limited;
	uint32_t rd_out;  /* READs and atomics not answered */
	uint32_t rd_open; /* ... or not completed (fences) */
	uint32_t since_ack_req;
	struct rxe_xfer_list tx; /* built, in order */
	uint32_t nr_tx;
	bool rnr_wait;
	struct rxe_mr *held; /* what a local operation waits for: copies through it */
	struct rxe_deadline held_poll;
	struct rxe_deadline rnr;
	struct rxe_deadline pace;
	uint64_t pace_until;
};

struct rxe_completer {
	uint8_t retry_left, rnr_left;
	bool retried;	     /* since the last progress */
	bool probing;	     /* ... by the timer: one packet at a time until an answer comes */
	uint32_t probe_psn;  /* of the last READ of one packet, whose response is an ONLY */
	uint32_t resume_psn; /* of the last READ request from the middle of a message */
	struct rxe_deadline timeout;
	uint64_t timeout_at; /* UINT64_MAX: nothing is waited for */
	struct rxe_xfer_list ops;
};

enum rxe_msg { RXE_MSG_NONE, RXE_MSG_SEND, RXE_MSG_WRITE };

struct rxe_responder {
	uint32_t psn;		     /* expected */
	uint32_t msn;		     /* of what has arrived */
	uint32_t done_psn, done_msn; /* of what is retired: acknowledged */
	bool answered;		     /* done_psn is set */
	uint32_t unacked;	     /* packets retired since the last ACK */
	bool ack_pending;
	bool nak_sent;	       /* for the gap (or RNR) at psn */
	bool fault;	       /* a FAULT slot is queued: nothing more is taken */
	enum rxe_msg msg;      /* message in progress */
	struct rxe_rwqe *rwqe; /* its receive WQE; stands in rwqes */
	uint32_t rwqe_used;
	uint64_t va; /* WRITE: where the next packet goes */
	uint32_t rkey, resid, length;
	struct rxe_xfer_list slots;
	uint32_t nr_slots;
	struct rxe_xfer_list tx; /* READ responses of the first slot */
	uint32_t nr_tx;
	struct rxe_rwqe_list rwqes; /* taken, not completed */
	uint32_t fetch;		    /* ring index of the next RQ element */
	struct rxe_rd_res *res;
	uint32_t nr_res, next_res;
};

struct rxe_qp {
	struct rxe_engine *engine;
	struct rxe_hca *hca;
	struct rxe_stats *stats;
	struct rxe_qp *hash_next;
	TAILQ_ENTRY(rxe_qp) run_link;
	bool queued, destroyed;
	uint32_t deferred; /* bit of each stage put off until after the burst (stage.h) */
	uint64_t id;	   /* never used twice on its device; not 0 */
	struct rxe_qp_init init;
	struct rxe_qp_attr attr; /* qp_state is the state */
	uint32_t mtu;		 /* path MTU, bytes */
	bool comm_est;		 /* COMM_EST was raised */
	bool last_wqe;		 /* LAST_WQE_REACHED was raised */
	uint32_t busy_ops[RXE_XFER_COUNT];
	struct rxe_requester req;
	struct rxe_completer comp;
	struct rxe_responder resp;
	struct rxe_deadline flush_poll;
	uint64_t flush_wait;
};

static inline bool rxe_qp_is_dgram(const struct rxe_qp *qp)
{
	return qp->init.type == RXE_QPT_UD || qp->init.type == RXE_QPT_GSI;
}

static inline bool rxe_qp_is_rc(const struct rxe_qp *qp)
{
	return qp->init.type == RXE_QPT_RC;
}

/* What the peer names by rkey for [va, va+len), referenced; see mw.h. */
static inline int rxe_qp_rkey(const struct rxe_qp *qp, uint32_t rkey, uint64_t va, uint64_t len,
			      uint32_t access, struct rxe_range *r)
{
	r->len = len;
	return rxe_rkey_lookup(qp->hca, qp->init.pdn, qp->id, rkey, va, len, access, &r->mr,
			       &r->addr);
}

/* Service class of the QP's opcodes. */
static inline uint8_t rxe_qp_class(const struct rxe_qp *qp)
{
	return rxe_qp_is_rc(qp) ? RXE_CLASS_RC : rxe_qp_is_dgram(qp) ? RXE_CLASS_UD : RXE_CLASS_UC;
}

/* PSNs that len bytes of a connected QP take. */
static inline uint32_t rxe_qp_psns(const struct rxe_qp *qp, uint32_t len)
{
	return len ? (len - 1) / qp->mtu + 1 : 1;
}

static inline void rxe_qp_drop(struct rxe_qp *qp, struct rxe_pkt *pkt, enum rxe_hw_counter why)
{
	rxe_engine_drop(qp->engine, qp->stats, pkt, why);
}

/* The QP whose member a deadline is. */
#define rxe_qp_of(d, member) ((struct rxe_qp *)((char *)(d)-offsetof(struct rxe_qp, member)))

static inline struct rxe_swqe *rxe_swqe(const struct rxe_qp *qp, uint32_t index)
{
	return qp->req.win[index & qp->req.win_mask];
}

static inline void rxe_qp_count(struct rxe_qp *qp, enum rxe_hw_counter c)
{
	rxe_stat_add(qp->stats, c, 1);
}

/* qp.c */
/* To ERR: everything in flight is given up, both queues flush. */
void rxe_qp_error(struct rxe_qp *qp);
/*
 * UC and UD, after a send WQE that failed: to SQE (IBA 10.3.1.7). The send queue
 * flushes, what is received goes on; a modify to RTS ends it.
 */
void rxe_qp_sq_error(struct rxe_qp *qp);
/* The copy of a transfer that had been given up is done; may free the QP. */
void rxe_qp_orphan_done(struct rxe_qp *qp);
void rxe_qp_send_pkt(struct rxe_qp *qp, struct rxe_pkt *pkt);
void rxe_qp_event(struct rxe_qp *qp, enum rxe_event_kind kind);
/* Headers common to what this connected QP sends. */
struct rxe_pktinfo rxe_qp_pktinfo(const struct rxe_qp *qp, enum rxe_op op, uint32_t psn);

/* flush.c: completes what the queues hold with WR_FLUSH_ERR. */
void rxe_flush_run(struct rxe_qp *qp);
/* Only the send queue; returns how many it completed. Nothing while a copy of its runs. */
uint32_t rxe_flush_sq(struct rxe_qp *qp);
void rxe_flush_poll(struct rxe_deadline *d);
void rxe_flush_stop(struct rxe_qp *qp);

/* requester.c */
uint32_t rxe_req_run(struct rxe_qp *qp, uint32_t budget);
void rxe_req_copied(struct rxe_xfer *x);
void rxe_req_reset(struct rxe_qp *qp);
/* Sends again from req.una on; drops what is built and not sent. */
void rxe_req_go_back(struct rxe_qp *qp);
/* After req.una moved: skips what need not be sent any more. */
void rxe_req_advance(struct rxe_qp *qp);
bool rxe_req_waits(const struct rxe_qp *qp);
void rxe_req_rnr_expired(struct rxe_deadline *d);
void rxe_req_pace_expired(struct rxe_deadline *d);
/* Delays the QP's next data packet by the pacing tunables. */
void rxe_req_paced(struct rxe_qp *qp, uint32_t bytes);
bool rxe_req_is_paced(struct rxe_qp *qp); /* and arms the timer */
void rxe_req_drop_tx(struct rxe_qp *qp);
/* UC, UD: what is built and not sent counts as lost. */
void rxe_req_lose_tx(struct rxe_qp *qp);
struct rxe_swqe *rxe_req_fetch(struct rxe_qp *qp);

/* local.c: BIND_MW and LOCAL_INV */
enum rxe_local { RXE_LOCAL_WAIT, RXE_LOCAL_DONE, RXE_LOCAL_FAILED };
/* Executes w, whose turn it is; again, until it is done or (w->status) failed. */
enum rxe_local rxe_local_run(struct rxe_qp *qp, struct rxe_swqe *w);
void rxe_local_stop(struct rxe_qp *qp);
void rxe_local_poll(struct rxe_deadline *d);

/* completer.c */
/* Moves past local operations that need no acknowledgement. */
void rxe_comp_skip_local(struct rxe_qp *qp);
void rxe_comp_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info);
void rxe_comp_copied(struct rxe_xfer *x);
void rxe_comp_reset(struct rxe_qp *qp);
void rxe_comp_timeout(struct rxe_deadline *d);
void rxe_comp_sent(struct rxe_qp *qp); /* a request went out */
/* Completes send WQEs in order, as far as they are done. */
void rxe_comp_retire(struct rxe_qp *qp);
/* The same, or once the burst is over, as fast_comp says. */
void rxe_comp_update(struct rxe_qp *qp);
/* Posts the completion of the oldest send WQE and gives its element back. */
int rxe_comp_post(struct rxe_qp *qp, struct rxe_swqe *w);

/* responder.c: requests as they arrive */
void rxe_resp_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info);

/* retire.c: requests in flight, in order */
void rxe_resp_copied(struct rxe_xfer *x);
void rxe_resp_reset(struct rxe_qp *qp);
/* Retires slots, sends READ responses and ACKs; returns packets sent. */
uint32_t rxe_resp_run(struct rxe_qp *qp, uint32_t budget);
/* The QP is about to be destroyed: the last word to its peer. */
void rxe_resp_farewell(struct rxe_qp *qp);
/* The same, or once the burst is over, as fast_resp says. */
void rxe_resp_update(struct rxe_qp *qp);
/* NULL: too many in flight. It stands nowhere until it is pushed. */
struct rxe_xfer *rxe_resp_new_slot(struct rxe_qp *qp, enum rxe_slot_kind kind, uint32_t psn);
void rxe_resp_push_slot(struct rxe_qp *qp, struct rxe_xfer *x);
void rxe_resp_drop_slots(struct rxe_qp *qp);
/* Sequence or RNR NAK for the expected PSN. */
void rxe_resp_queue_nak(struct rxe_qp *qp, uint8_t syndrome);
void rxe_resp_queue_fault(struct rxe_qp *qp, enum rxe_fault f, uint32_t psn);
/*
 * Takes the next receive WQE, of the QP's own queue or of its SRQ; it stands in
 * resp.rwqes until it completes. -ENOENT: there is none; -EMSGSIZE: it holds
 * less than at_least bytes and stays where it is; -ENOMEM.
 */
int rxe_resp_take_rwqe(struct rxe_qp *qp, uint32_t at_least, struct rxe_rwqe **out);
/* Completes the oldest receive WQE taken; wr_id and qp_num are filled in. */
int rxe_resp_post_recv(struct rxe_qp *qp, const struct ib_uverbs_wc *wc, bool solicited);
/* Receives len bytes of x->local into rwqe at off. -errno: not started. */
int rxe_resp_scatter(struct rxe_xfer *x, const struct rxe_rwqe *rwqe, uint64_t off, uint32_t len,
		     uint32_t nlocal);

/* read.c: READ, atomic, FLUSH and ATOMIC_WRITE requests at the responder */
enum rxe_fault rxe_read_rx(struct rxe_qp *qp, const struct rxe_pkt *pkt,
			   const struct rxe_pktinfo *info);
void rxe_read_duplicate(struct rxe_qp *qp, const struct rxe_pktinfo *info);
/* The IB_ACCESS_FLUSH_* that a FLUSH of this FETH type needs. */
static inline uint32_t rxe_flush_access(uint8_t type)
{
	return (type & RXE_FLUSH_GLOBAL ? RXE_ACCESS_FLUSH_GLOBAL : 0) |
	       (type & RXE_FLUSH_PERSISTENT ? RXE_ACCESS_FLUSH_PERSISTENT : 0);
}
enum rxe_read_state { RXE_READ_BLOCKED, RXE_READ_MORE, RXE_READ_DONE, RXE_READ_FAULT };
/* Sends responses of the first slot; takes what it sends from *budget. */
enum rxe_read_state rxe_read_run(struct rxe_xfer *slot, uint32_t *budget);
void rxe_read_drop_tx(struct rxe_qp *qp);
/* What a packet cannot be sent with any more (the AV changed) is filled again. */
void rxe_read_rewind(struct rxe_qp *qp);

/* engine.c: a received packet and the QP that it is for */
/* Why the QP must not see the packet; RXE_HW_COUNT: it may. */
enum rxe_hw_counter rxe_engine_check_qp(const struct rxe_qp *qp, const struct rxe_pkt *pkt,
					const struct rxe_pktinfo *info);
/* Hands it over; pkt is the QP's. */
void rxe_engine_deliver(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info);

/* mcast.c */
void rxe_mcast_rx(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_pkt *pkt,
		  const struct rxe_pktinfo *info);
/* Is what the QP sends to be received on this device too? */
bool rxe_mcast_loops(const struct rxe_qp *qp, const struct rxe_pkt *pkt);

/* datagram.c */
void rxe_dgram_rx(struct rxe_qp *qp, struct rxe_pkt *pkt, const struct rxe_pktinfo *info);

#endif
