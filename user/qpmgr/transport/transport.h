/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport's public interface: RC, UC and UD semantics as a pure library
 * (no sockets, clock, threads, logging or allocation policy; DESIGN D3).
 *
 * An engine is one worker's. Every call on an engine and on its QPs is made
 * by that worker's thread, except where a comment says otherwise. Time is
 * nanoseconds of the caller's clock, injected. Errors are negative errno.
 */
#ifndef RXE_TRANSPORT_H
#define RXE_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <netinet/in.h> /* before the uapi headers, which then yield to it */
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include "rxe/params.h"
#include "rxe/wire.h"

struct rxe_engine;
struct rxe_hca;
struct rxe_qp;
struct rxe_cq;
struct rxe_srq;
struct rxe_mr;
struct rxe_mem; /* a client's memory; only the owner knows what it is */

union rxe_ip {
	uint8_t raw[16];
	uint32_t w[4];
}; /* IPv4 is v4-mapped */

/* ---- addresses -------------------------------------------------------- */

/*
 * An address vector, resolved. `route` is the owner's (MAC, netdev): opaque,
 * kept alive by the owner for as long as a QP or AH holds the AV.
 */
struct rxe_address {
	union rxe_ip sip, dip;
	uint8_t sgid_index;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t sl;
	uint32_t flow_label;
	void *route;
};

/* ---- packets ---------------------------------------------------------- */

#define RXE_PKT_SEGS 3
/*
 * A packet. Received: the datapath owns the memory until ops->pkt_free; hdr
 * is the BTH, contiguous with its extension headers (RXE_MAX_IB_HDR bytes or
 * the whole packet are in seg-free memory); seg[] holds what follows hdr_len
 * bytes, WITHOUT the ICRC. Before the engine has parsed the opcode hdr_len is
 * RXE_BTH_LEN..RXE_MAX_IB_HDR as available; rxe_pkt_parse() fixes it.
 * To send: hdr points at room for hdr_len bytes, seg[] at room for the payload
 * and pad; the datapath puts network headers in front and the ICRC behind.
 */
struct rxe_pkt {
	uint8_t *hdr;
	uint32_t ib_len;  /* received: BTH to end of pad, ICRC excluded */
	uint16_t hdr_len; /* BTH + extension headers */
	uint8_t pad;
	uint8_t nsegs;
	struct iovec seg[RXE_PKT_SEGS];
	uint32_t payload_len; /* pad excluded */

	/* received only */
	const uint8_t *ip; /* the IP header as received: 20 or 40 bytes */
	uint8_t ip_version;
	uint8_t ecn;
	bool loopback; /* sent by this device: never crossed a wire */
	bool detached; /* off the datapath's buffers (ops->pkt_detach) */
	bool relayed;  /* multicast that another engine has counted and served */
	union rxe_ip sip, dip;

	/* to send only */
	struct rxe_address *addr;
	uint32_t src_qpn; /* picks the UDP source port */
	bool loops;	  /* to a group that QPs of this device are in: they get it too */

	struct rxe_hca *hca;  /* set by the owner, for its pkt_free */
	void *dp;	      /* the datapath's own */
	struct rxe_pkt *next; /* whoever holds it */
};

/* ---- client memory ---------------------------------------------------- */

enum rxe_copy_kind {
	RXE_COPY_READ,	   /* client -> local */
	RXE_COPY_WRITE,	   /* local -> client */
	RXE_COPY_CMP_SWAP, /* 8 bytes at range[0].addr; result: old value */
	RXE_COPY_FETCH_ADD,
	RXE_COPY_STORE, /* swap_add's 8 bytes at range[0].addr, as one */
};

struct rxe_range {
	struct rxe_mr *mr; /* holds a reference until done */
	uint64_t addr;	   /* client virtual address */
	uint32_t len;
};

#define RXE_MAX_SGE 32
/*
 * One asynchronous copy. The transport fills it in and keeps it, and what it
 * points at, alive until it is done. Bytes run through ranges and local in
 * order; both sides have the same total.
 */
struct rxe_copy {
	enum rxe_copy_kind kind;
	uint16_t nranges, nlocal;
	struct rxe_range *range;
	const struct iovec *local;
	uint64_t compare, swap_add, result; /* atomics, host order */
	int status;			    /* set by the owner before done */
	void (*done)(struct rxe_copy *c);
	void *dp;	       /* the owner's */
	struct rxe_copy *next; /* the owner's */
};

/* ---- what the owner provides ------------------------------------------ */

enum rxe_event_kind { /* values of enum ib_event_type / ib_uverbs */
		      RXE_EV_CQ_ERR = 0,
		      RXE_EV_QP_FATAL = 1,
		      RXE_EV_QP_REQ_ERR = 2,
		      RXE_EV_QP_ACCESS_ERR = 3,
		      RXE_EV_COMM_EST = 4,
		      RXE_EV_SQ_DRAINED = 5,
		      RXE_EV_PATH_MIG = 6,
		      RXE_EV_PATH_MIG_ERR = 7,
		      RXE_EV_DEVICE_FATAL = 8,
		      RXE_EV_PORT_ACTIVE = 9,
		      RXE_EV_PORT_ERR = 10,
		      RXE_EV_LID_CHANGE = 11,
		      RXE_EV_PKEY_CHANGE = 12,
		      RXE_EV_SM_CHANGE = 13,
		      RXE_EV_SRQ_ERR = 14,
		      RXE_EV_SRQ_LIMIT_REACHED = 15,
		      RXE_EV_QP_LAST_WQE_REACHED = 16,
		      RXE_EV_CLIENT_REREGISTER = 17,
		      RXE_EV_GID_CHANGE = 18,
};

/*
 * Called on the engine's thread, in the middle of its work: none of these may
 * call back into the engine (a looped-back packet waits for the next turn).
 */
struct rxe_engine_ops {
	/*
	 * A packet to send: hdr_len bytes of header and payload_len + pad bytes
	 * of payload room, addr and src_qpn set. NULL: no room now; the engine
	 * tries again on its next run.
	 */
	struct rxe_pkt *(*pkt_alloc)(void *ctx, struct rxe_hca *hca, struct rxe_address *addr,
				     uint32_t hdr_len, uint32_t payload_len, uint32_t pad);
	/* Sends and takes ownership. Never fails: what cannot go is lost. */
	void (*pkt_send)(void *ctx, struct rxe_hca *hca, struct rxe_pkt *pkt);
	/*
	 * What hca's QPs have sent goes on to the wire now, for fast_arb.
	 * Optional: without it all of it waits for the end of the burst.
	 */
	void (*pkt_flush)(void *ctx, struct rxe_hca *hca);
	/* Gives back a received packet, or one allocated and not sent. */
	void (*pkt_free)(void *ctx, struct rxe_pkt *pkt);
	/*
	 * A received packet must wait for long: moves it into memory of its own,
	 * so that the datapath has its buffer back, and returns it; pkt is gone
	 * then. NULL: no memory, pkt stays. Optional: without it packets wait
	 * where they are.
	 */
	struct rxe_pkt *(*pkt_detach)(void *ctx, struct rxe_pkt *pkt);
	/* A detached copy of a received packet; pkt stays. NULL: no memory. */
	struct rxe_pkt *(*pkt_copy)(void *ctx, const struct rxe_pkt *pkt);
	/*
	 * Starts a copy. 0: done, c->status set, c->done NOT called.
	 * -EINPROGRESS: c->done(c) follows, on this engine's thread. Copies of
	 * one struct rxe_mem that were submitted in order finish in order.
	 */
	int (*copy)(void *ctx, struct rxe_copy *c);
	/* The CQ has a completion its owner asked to hear of. Any engine. */
	void (*cq_event)(void *ctx, struct rxe_cq *cq);
	/* An affiliated asynchronous event; obj is the rxe_qp, rxe_cq or rxe_srq. */
	void (*async_event)(void *ctx, enum rxe_event_kind kind, void *obj);
	/* A destroyed QP has no copy or packet left: its memory is free. */
	void (*qp_released)(void *ctx, struct rxe_qp *qp);
	/* A datagram to QP1 (gsi.c), payload_len <= RXE_GSI_MAX; pkt stays the engine's. Optional. */
	void (*gsi_rx)(void *ctx, struct rxe_hca *hca, const struct rxe_pkt *pkt);
};

#define RXE_GSI_MAX  256 /* bytes of a MAD */
#define RXE_GSI_QKEY 0x80010000u

/* ---- counters --------------------------------------------------------- */

/* H(SYMBOL, name): the driver's hw_counters, in its order, then our own. */
/* clang-format off */
#define RXE_HW_COUNTERS(H) \
	H(SENT_PKTS, sent_pkts) \
	H(RCVD_PKTS, rcvd_pkts) \
	H(DUP_REQUEST, duplicate_request) \
	H(OUT_OF_SEQ, out_of_seq_request) \
	H(RCVD_RNR, rcvd_rnr_err) \
	H(SEND_RNR, send_rnr_err) \
	H(RCVD_SEQ_ERR, rcvd_seq_err) \
	H(ACK_DEFERRED, ack_deferred) \
	H(RETRY_EXCEEDED, retry_exceeded_err) \
	H(RNR_RETRY_EXCEEDED, retry_rnr_exceeded_err) \
	H(COMP_RETRY, completer_retry_err) \
	H(SEND_ERR, send_err) \
	H(LINK_DOWNED, link_downed) \
	H(RDMA_SENDS, rdma_sends) \
	H(RDMA_RECVS, rdma_recvs) \
	H(SENT_BYTES, sent_bytes) \
	H(RCVD_BYTES, rcvd_bytes)
/* clang-format on */
/* Packets that reached the engine and were dropped there, by reason. */
/* clang-format off */
#define RXE_DROP_COUNTERS(H) \
	H(DROP_MALFORMED, drop_malformed) \
	H(DROP_NO_QP, drop_no_qp) \
	H(DROP_STATE, drop_qp_state) \
	H(DROP_PEER, drop_wrong_peer) \
	H(DROP_PKEY, drop_pkey) \
	H(DROP_QKEY, drop_qkey) \
	H(DROP_LENGTH, drop_length) \
	H(DROP_NO_RECV, drop_no_receive_wqe) \
	H(DROP_SEQ, drop_sequence) \
	H(DROP_BUSY, drop_busy)
/* clang-format on */
/* Runs of each stage: at once (fast_*), and those put off until after the burst. */
/* clang-format off */
#define RXE_STAGE_COUNTERS(H) \
	H(REQ_DIRECT, req_runs_direct) \
	H(REQ_DEFERRED, req_runs_deferred) \
	H(COMP_DIRECT, comp_runs_direct) \
	H(COMP_DEFERRED, comp_runs_deferred) \
	H(RESP_DIRECT, resp_runs_direct) \
	H(RESP_DEFERRED, resp_runs_deferred) \
	H(ARB_DIRECT, arb_runs_direct) \
	H(ARB_DEFERRED, arb_runs_deferred)
/* clang-format on */
/* What other RoCE drivers count, by their names (docs/rdma-tool.md). */
#define RXE_ROCE_COUNTERS(H)   H(SLOW_RESTART, roce_slow_restart)
#define RXE_HW_ENUM(SYM, name) RXE_HW_##SYM,
enum rxe_hw_counter {
	RXE_HW_COUNTERS(RXE_HW_ENUM) RXE_HW_DRIVER_COUNT,
	RXE_HW_BEFORE_DROPS = RXE_HW_DRIVER_COUNT - 1,
	RXE_DROP_COUNTERS(RXE_HW_ENUM) RXE_STAGE_COUNTERS(RXE_HW_ENUM)
		RXE_ROCE_COUNTERS(RXE_HW_ENUM) RXE_HW_COUNT
};
#undef RXE_HW_ENUM

/* ---- device ----------------------------------------------------------- */

/* Attributes reported and enforced, fixed when the device is created. */
struct rxe_limits {
	uint32_t max_ucontext, max_pd, max_qp, max_qp_wr, max_sge, max_inline;
	uint32_t max_cq, max_cqe, max_mr, max_mw, max_fmr, max_ah;
	uint32_t max_srq, max_srq_wr, max_srq_sge;
	uint32_t max_rd_atomic; /* per QP, either direction */
	/* multicast: groups, QPs in one of them, QPs in all together */
	uint32_t max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach;
};

/*
 * The transport's view of one device, shared by all engines. The owner keeps
 * it; the control thread writes port fields (atomic words, no order).
 */
struct rxe_hca {
	struct rxe_limits limits;
	uint32_t mtu;	 /* port's active IB MTU, bytes */
	uint32_t ud_mtu; /* largest UD payload, bytes (default_mtu) */
	bool port_up;
	uint16_t pkey;		       /* the one P_Key table entry */
	struct rxe_mr_table *mrs;      /* rxe_mr_table_new() */
	struct rxe_ah_table *ahs;      /* rxe_ah_table_new() */
	struct rxe_mcast_table *mcast; /* rxe_mcast_table_new() */
	uint32_t nr_srqs;	       /* control thread */
	uint64_t qp_serial;	       /* tells QPs of one number apart; atomic */
	void *owner;
};

int rxe_hca_init(struct rxe_hca *hca, const struct rxe_limits *limits);
void rxe_hca_fini(struct rxe_hca *hca); /* all MRs, AHs, QPs are gone */

/* ---- memory regions (control thread; engines look up under RCU) -------- */

/*
 * Registers [va, va+len) of `mem` as iova. access: IB_ACCESS_* bits. The keys
 * are equal, as the driver's are. -ENOMEM at limits.max_mr.
 */
int rxe_mr_create(struct rxe_hca *hca, uint32_t pdn, struct rxe_mem *mem, uint64_t va, uint64_t len,
		  uint64_t iova, uint32_t access, struct rxe_mr **out);
uint32_t rxe_mr_lkey(const struct rxe_mr *mr);
uint32_t rxe_mr_rkey(const struct rxe_mr *mr);
struct rxe_mem *rxe_mr_mem(const struct rxe_mr *mr);
/* Any thread. */
void rxe_mr_get(struct rxe_mr *mr);
void rxe_mr_put(struct rxe_mr *mr);
/*
 * After this no new copy starts on the MR; drops the reference that
 * rxe_mr_create() gave. The last reference frees it, and the struct rxe_mem
 * must live until then. A dereg answers its client only once no copy runs: it
 * takes a reference of its own before, waits until rxe_mr_busy() is false, and
 * puts it.
 */
void rxe_mr_destroy(struct rxe_hca *hca, struct rxe_mr *mr);
/*
 * Re-registers mr: its key leads to *out at once, also under traffic, and mr is
 * left with the reference that it was made with, for the caller to put when
 * rxe_mr_busy() is false (copies that began before still use what it was).
 * -EBUSY: a window is bound to it.
 */
int rxe_mr_replace(struct rxe_hca *hca, struct rxe_mr *mr, uint32_t pdn, uint64_t va, uint64_t len,
		   uint64_t iova, uint32_t access, struct rxe_mr **out);
/* Before rxe_mr_destroy(): no window is and none will be bound to mr. -EBUSY. */
int rxe_mr_close(struct rxe_mr *mr);
bool rxe_mr_busy(const struct rxe_mr *mr); /* others than the caller hold references; any thread */
/* Protection: finds key, checks pd, access and range; takes a reference. */
int rxe_mr_lookup(struct rxe_hca *hca, uint32_t pdn, uint32_t key, uint64_t iova, uint64_t len,
		  uint32_t access, struct rxe_mr **mr, uint64_t *va);

/* ---- memory windows (control thread; bound and used by engines) --------- */

struct rxe_mw;
enum rxe_mw_type { RXE_MW_TYPE_1 = 1, RXE_MW_TYPE_2 = 2 }; /* enum ib_mw_type */
/* -ENOMEM at limits.max_mw. */
int rxe_mw_create(struct rxe_hca *hca, uint32_t pdn, enum rxe_mw_type type, struct rxe_mw **out);
uint32_t rxe_mw_rkey(const struct rxe_mw *mw); /* before any QP can bind it */
/*
 * Unbinds and frees it. Returns what it was bound to or NULL; the caller puts
 * that, when rxe_mr_busy() is false if it must know that no copy runs.
 */
struct rxe_mr *rxe_mw_destroy(struct rxe_hca *hca, struct rxe_mw *mw);

/* ---- address handles (control thread; engines look up under RCU) ------- */

int rxe_ah_create(struct rxe_hca *hca, uint32_t pdn, const struct rxe_address *addr,
		  uint32_t *ah_num);
/* Returns the route of the AV through *route, so that the owner drops it. */
int rxe_ah_destroy(struct rxe_hca *hca, uint32_t ah_num, void **route);

/* ---- rings ------------------------------------------------------------ */

/*
 * The rxe provider's shared queue (struct rxe_queue_buf) as the daemon sees
 * it: geometry and our own index are private copies, the other side's index
 * is masked when read (DESIGN D7).
 */
struct rxe_ring {
	struct rxe_queue_buf *buf;
	uint32_t mask; /* elements - 1 */
	uint32_t log2_elem;
	uint32_t index; /* ours: CQ producer, SQ/RQ consumer; masked */
};
/* Bytes for a ring that holds nr elements of elem bytes (power-of-two rules). */
size_t rxe_ring_size(uint32_t nr, uint32_t elem, uint32_t *slots, uint32_t *log2_elem);
/* Writes the header at buf (zeroed memory, 64-byte aligned) and sets up r. */
void rxe_ring_init(struct rxe_ring *r, void *buf, uint32_t slots, uint32_t log2_elem);

/* ---- completion queues ------------------------------------------------- */

/* Control thread creates; engines of several workers may post (own lock). */
int rxe_cq_create(struct rxe_hca *hca, const struct rxe_ring *ring, uint32_t cqe, void *owner,
		  struct rxe_cq **out);
void rxe_cq_destroy(struct rxe_cq *cq); /* no QP uses it any more */
/*
 * Moves the completions that the client has not polled to an empty ring and
 * goes on with it, also under traffic; the old one, which reads as empty then,
 * is the caller's again. The client must not poll meanwhile (its provider holds
 * its lock). -EINVAL: cqe is 0, above limits.max_cqe or less than what waits
 * (PROTOCOL 26). Control thread.
 */
int rxe_cq_resize(struct rxe_hca *hca, struct rxe_cq *cq, const struct rxe_ring *ring,
		  uint32_t cqe);
/* Completions that the client has not polled. Any thread. */
uint32_t rxe_cq_waiting(struct rxe_cq *cq);
void *rxe_cq_owner(const struct rxe_cq *cq);
/* Arms for the next (solicited_only: solicited or error) completion. Any thread. */
void rxe_cq_arm(struct rxe_cq *cq, bool solicited_only, bool *missed);

/* ---- shared receive queues ---------------------------------------------- */

/* Element size and granted caps; -EINVAL beyond limits (struct ib_uverbs_create_srq). */
struct rxe_srq_geometry {
	uint32_t slots, log2_elem, max_wr, max_sge;
	size_t bytes;
};
int rxe_srq_ring_geometry(const struct rxe_limits *lim, uint32_t max_wr, uint32_t max_sge,
			  struct rxe_srq_geometry *g);

struct rxe_srq_init {
	struct rxe_ring ring; /* as rxe_srq_ring_geometry() says */
	uint32_t pdn;	      /* of the MRs that its WQEs name */
	uint32_t max_sge;     /* granted */
	uint32_t limit;	      /* 0: no limit event */
	void *owner;
};
/*
 * Control thread; engines of several workers take from it (own lock). The
 * client's posts have no doorbell. -ENOMEM at limits.max_srq.
 */
int rxe_srq_create(struct rxe_hca *hca, const struct rxe_srq_init *init, struct rxe_srq **out);
void rxe_srq_destroy(struct rxe_hca *hca, struct rxe_srq *srq); /* no QP uses it any more */
void *rxe_srq_owner(const struct rxe_srq *srq);
/* What is still armed: 0 once the event was raised. Any thread. */
uint32_t rxe_srq_get_limit(struct rxe_srq *srq);
void rxe_srq_set_limit(struct rxe_srq *srq, uint32_t limit);
/*
 * Moves the waiting WQEs to an empty ring with elements of the same size and
 * goes on with it; the old one is the caller's again. The client must not post
 * meanwhile (its provider holds its lock). -EINVAL: it holds fewer. Control thread.
 */
int rxe_srq_resize(struct rxe_srq *srq, const struct rxe_ring *ring);

/* ---- QPs ---------------------------------------------------------------- */

enum rxe_qp_type { RXE_QPT_GSI = 1, RXE_QPT_RC = 2, RXE_QPT_UC = 3, RXE_QPT_UD = 4 };

/* ib_qp_state values: RESET 0, INIT, RTR, RTS, SQD, SQE, ERR 6. */
enum rxe_qp_state {
	RXE_QPS_RESET,
	RXE_QPS_INIT,
	RXE_QPS_RTR,
	RXE_QPS_RTS,
	RXE_QPS_SQD,
	RXE_QPS_SQE,
	RXE_QPS_ERR
};

struct rxe_qp_init {
	enum rxe_qp_type type;
	uint32_t qpn;
	uint32_t pdn;
	struct rxe_cq *send_cq, *recv_cq;
	struct rxe_ring sq, rq; /* elements as rxe_qp_ring_geometry() says */
	struct rxe_srq *srq;	/* receives come from it, and rq is zero; or NULL */
	uint32_t max_send_sge, max_recv_sge, max_inline;
	bool sq_sig_all;
	bool block_self_lb; /* UD: what it sends to a group does not come back to it */
	void *owner;
};

/* Element sizes and granted caps for requested ones; -EINVAL beyond limits. */
struct rxe_qp_geometry {
	uint32_t sq_slots, sq_log2_elem, rq_slots, rq_log2_elem;
	size_t sq_bytes, rq_bytes;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};
int rxe_qp_ring_geometry(const struct rxe_limits *lim, uint32_t send_wr, uint32_t recv_wr,
			 uint32_t send_sge, uint32_t recv_sge, uint32_t inline_data,
			 struct rxe_qp_geometry *g);

/*
 * Attributes of modify and query: the fields of ib_uverbs_modify_qp, with the
 * address vector resolved. attr_mask: IB_QP_* bits (enum ib_qp_attr_mask).
 */
struct rxe_qp_attr {
	enum rxe_qp_state qp_state, cur_qp_state;
	uint32_t path_mtu; /* enum ib_mtu: 1 = 256 .. 5 = 4096 */
	uint32_t path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num;
	uint32_t access_flags;
	struct rxe_address addr;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t min_rnr_timer, timeout, retry_cnt, rnr_retry;
	uint16_t pkey_index;
	uint8_t port_num;
	bool sq_draining;
	uint8_t en_sqd_async_notify;
};
/* enum ib_qp_attr_mask of the kernel (not in its uapi headers). */
enum {
	RXE_QP_STATE = 1 << 0,
	RXE_QP_CUR_STATE = 1 << 1,
	RXE_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	RXE_QP_ACCESS_FLAGS = 1 << 3,
	RXE_QP_PKEY_INDEX = 1 << 4,
	RXE_QP_PORT = 1 << 5,
	RXE_QP_QKEY = 1 << 6,
	RXE_QP_AV = 1 << 7,
	RXE_QP_PATH_MTU = 1 << 8,
	RXE_QP_TIMEOUT = 1 << 9,
	RXE_QP_RETRY_CNT = 1 << 10,
	RXE_QP_RNR_RETRY = 1 << 11,
	RXE_QP_RQ_PSN = 1 << 12,
	RXE_QP_MAX_QP_RD_ATOMIC = 1 << 13,
	RXE_QP_ALT_PATH = 1 << 14,
	RXE_QP_MIN_RNR_TIMER = 1 << 15,
	RXE_QP_SQ_PSN = 1 << 16,
	RXE_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	RXE_QP_PATH_MIG_STATE = 1 << 18,
	RXE_QP_CAP = 1 << 19,
	RXE_QP_DEST_QPN = 1 << 20,
	RXE_QP_RATE_LIMIT = 1 << 25,
};

/* Pure check of a transition, from any thread: 0 or -EINVAL. */
int rxe_qp_modify_check(enum rxe_qp_type type, enum rxe_qp_state cur, enum rxe_qp_state next,
			uint32_t attr_mask);

int rxe_qp_create(struct rxe_engine *e, struct rxe_hca *hca, const struct rxe_qp_init *init,
		  struct rxe_qp **out);
int rxe_qp_modify(struct rxe_qp *qp, const struct rxe_qp_attr *attr, uint32_t mask);
void rxe_qp_query(struct rxe_qp *qp, struct rxe_qp_attr *attr);
/*
 * Its device is going: ERR from whatever state it is in, and everything in its
 * queues completes as flushed, at once. False while a copy is under way, which
 * holds up what comes behind it: to be called again.
 */
bool rxe_qp_abort(struct rxe_qp *qp);
/* Stops it now; ops->qp_released follows (also at once, from within). */
void rxe_qp_destroy(struct rxe_qp *qp);
/* New send work requests may be in the ring. */
void rxe_qp_doorbell(struct rxe_qp *qp);
/* As init.block_self_lb, before the QP leaves RESET. */
void rxe_qp_block_self_lb(struct rxe_qp *qp);
void *rxe_qp_owner(const struct rxe_qp *qp);
uint32_t rxe_qp_num(const struct rxe_qp *qp);
enum rxe_qp_state rxe_qp_get_state(const struct rxe_qp *qp); /* any thread */
enum rxe_qp_type rxe_qp_get_type(const struct rxe_qp *qp);
/* The QP with this number on this engine, or NULL. */
struct rxe_qp *rxe_engine_find_qp(struct rxe_engine *e, struct rxe_hca *hca, uint32_t qpn);

/* ---- multicast groups (control thread; engines look up under RCU) -------- */

/* IPv4 224/4 (v4-mapped) or IPv6 ff00::/8. */
bool rxe_mcast_gid(const union rxe_ip *gid);
/*
 * The QP takes what is sent to mgid and 0xffffff from now on; 0 also when it
 * did already. *first: the group is new. -ENOMEM at one of the limits, -EINVAL
 * when no groups are offered (as the driver).
 */
int rxe_mcast_attach(struct rxe_hca *hca, const union rxe_ip *mgid, struct rxe_qp *qp, bool *first);
/*
 * After this no engine uses the QP through mgid; every attachment must be gone
 * before rxe_qp_destroy(). *last: the group is gone. -EINVAL: it was not in it.
 */
int rxe_mcast_detach(struct rxe_hca *hca, const union rxe_ip *mgid, struct rxe_qp *qp, bool *last);
void rxe_mcast_count(const struct rxe_hca *hca, uint32_t *groups, uint32_t *attached);
/* Engine threads: has e (NULL: any engine) a QP in the group? */
bool rxe_mcast_has_member(const struct rxe_hca *hca, const union rxe_ip *mgid,
			  const struct rxe_engine *e);

/* ---- engine -------------------------------------------------------------- */

/* Run-time tunables, already clamped; the owner refreshes them between runs. */
struct rxe_engine_params {
	uint32_t crc_disable, fast_comp, fast_req, fast_resp, fast_arb;
	uint32_t nsec_per_packet, nsec_per_kbyte;
	uint32_t max_packet_per_ack, max_skb_per_qp, max_req_comp_gap;
};

struct rxe_engine *rxe_engine_new(const struct rxe_engine_ops *ops, void *ctx);
void rxe_engine_free(struct rxe_engine *e); /* no QP is left */
struct rxe_engine_params *rxe_engine_params(struct rxe_engine *e);
/* Monotonic; set before each of the calls below. */
void rxe_engine_set_now(struct rxe_engine *e, uint64_t now_ns);
/*
 * A received packet; the engine owns it until it calls ops->pkt_free. Of one to
 * a group it serves its own QPs; the owner gives each engine that has members
 * (rxe_mcast_has_member) a copy, all but one marked `relayed`.
 */
void rxe_engine_rx(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_pkt *pkt);
/*
 * Sends len bytes, at most RXE_GSI_MAX and a multiple of 4, from QP1 to the QP1
 * that addr leads to. -ENOBUFS: no room, it counts as lost.
 */
int rxe_gsi_send(struct rxe_engine *e, struct rxe_hca *hca, struct rxe_address *addr,
		 const void *bytes, uint32_t len);
/*
 * Timers that are due, then QPs with work, at most `budget` packets in all,
 * round robin. True: more work is ready now.
 */
bool rxe_engine_run(struct rxe_engine *e, uint32_t budget);
/*
 * After a burst, as the owner hands on what hca's QPs have sent: counts that,
 * if there was anything (see ops->pkt_flush).
 */
void rxe_engine_burst_end(struct rxe_engine *e, struct rxe_hca *hca);
/* When the next timer is due, UINT64_MAX when there is none. */
uint64_t rxe_engine_next_timer(const struct rxe_engine *e);
/* Counters of this engine on one device, summed by the reader. Any thread. */
const uint64_t *rxe_engine_counters(const struct rxe_engine *e, const struct rxe_hca *hca);
/* What the owner had to drop for the engine. Its thread. */
void rxe_engine_count(struct rxe_engine *e, struct rxe_hca *hca, enum rxe_hw_counter c);
/* The device is going, and no QP of it is left on this engine. */
void rxe_engine_forget_hca(struct rxe_engine *e, const struct rxe_hca *hca);

#endif
