/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A host as the transport sees it, for units and simulation: packets in plain
 * memory, client memory that is our own, copies that finish when the test
 * says, and a client that fills rings as the rxe provider does.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <sys/queue.h>
#include "transport/transport.h"

#define SIM_MAX_EVENTS 64
#define SIM_NET_HDR    42

struct sim_host;

struct sim_pkt { /* pkt.dp points here */
	struct rxe_pkt pkt;
	struct sim_host *host;
	uint8_t ip[40];
	uint8_t *frame;
	uint8_t *bytes; /* in the frame */
	uint32_t len;
};

struct sim_copy {
	TAILQ_ENTRY(sim_copy) link;
	struct rxe_copy *c;
	uint64_t due;
};

struct sim_host {
	struct rxe_engine *engine;
	struct rxe_hca hca;
	union rxe_ip ip;
	void *arg;
	/* A packet leaves: BTH to pad. The bytes are the callee's to copy. */
	void (*tx)(struct sim_host *h, const uint8_t *bytes, uint32_t len,
		   const struct rxe_pkt *pkt);
	/* When a copy is to finish: now or earlier means at once. NULL: at once. */
	uint64_t (*copy_due)(struct sim_host *h);
	/* Cuts payloads into segments, or says that there is no room. NULL: no. */
	uint32_t (*segments)(struct sim_host *h, uint32_t len);
	bool (*no_room)(struct sim_host *h);
	/* A datagram to QP1, which no QP of the engine is. */
	void (*gsi)(struct sim_host *h, const struct rxe_pkt *pkt);
	uint64_t now;
	TAILQ_HEAD(, sim_copy) copies;
	/* what must be 0 at the end */
	unsigned int live_pkts, live_copies, live_qps;
	/* what happened */
	unsigned int nr_events, nr_cq_events, detached, flushes, copied;
	unsigned int events_of[RXE_EV_GID_CHANGE + 1]; /* all; events[] has the first */
	struct {
		enum rxe_event_kind kind;
		void *obj;
	} events[SIM_MAX_EVENTS];
};

extern const struct rxe_limits sim_limits;

void sim_host_init(struct sim_host *h, uint32_t ip, uint32_t mtu);
void sim_host_fini(struct sim_host *h);
void sim_host_set_now(struct sim_host *h, uint64_t now);
/* Finishes the copies that are due at h->now (all of them: UINT64_MAX). */
void sim_host_finish_copies(struct sim_host *h, uint64_t until);
uint64_t sim_host_next_copy(const struct sim_host *h);
/* A packet of `len` bytes (BTH to pad) arrives from `sip`. */
void sim_host_rx(struct sim_host *h, const union rxe_ip *sip, const uint8_t *bytes, uint32_t len);
/* The same to `dip`, perhaps sent by this very device. */
void sim_host_rx_to(struct sim_host *h, const union rxe_ip *sip, const union rxe_ip *dip,
		    bool loopback, const uint8_t *bytes, uint32_t len);
unsigned int sim_host_count_events(const struct sim_host *h, enum rxe_event_kind kind);
union rxe_ip sim_ip(uint32_t v4);

/* ---- a client's objects ---------------------------------------------------------- */

/*
 * Where rings come from, 64-byte aligned, and then are never freed. NULL (as it
 * is): from malloc. For a test that watches who looks at them.
 */
extern void *(*sim_ring_alloc)(size_t bytes);

struct sim_cq {
	struct rxe_ring ring;
	struct rxe_cq *cq;
	void *mem;
};

struct sim_srq {
	struct rxe_ring ring;
	struct rxe_srq *srq;
	struct rxe_srq_geometry geo;
	void *mem;
};

struct sim_qp {
	struct sim_host *host;
	struct rxe_qp *qp;
	struct rxe_qp_geometry geo;
	struct rxe_ring sq, rq;
	void *sq_mem, *rq_mem;
	struct sim_srq *srq; /* or NULL */
	struct sim_cq *send_cq, *recv_cq;
	enum rxe_qp_type type;
	uint32_t qpn;
};

struct sim_qp_caps {
	enum rxe_qp_type type;
	uint32_t qpn, pdn, send_wr, recv_wr, send_sge, recv_sge, inline_data;
	bool sq_sig_all, block_self_lb;
	struct sim_srq *srq; /* or NULL: a receive queue of its own */
};

void sim_cq_init(struct sim_cq *cq, struct sim_host *h, uint32_t cqe);
void sim_cq_fini(struct sim_cq *cq);
bool sim_cq_poll(struct sim_cq *cq, struct ib_uverbs_wc *wc);
/* As the provider on ibv_resize_cq(). */
int sim_cq_resize(struct sim_cq *cq, struct sim_host *h, uint32_t cqe);

void sim_srq_init(struct sim_srq *srq, struct sim_host *h, uint32_t pdn, uint32_t max_wr,
		  uint32_t max_sge);
void sim_srq_fini(struct sim_srq *srq, struct sim_host *h);
bool sim_post_srq_recv(struct sim_srq *srq, uint64_t wr_id, const struct rxe_sge *sge,
		       uint32_t num); /* false: full */
/* As the provider on ibv_modify_srq(IBV_SRQ_MAX_WR). */
int sim_srq_resize(struct sim_srq *srq, uint32_t max_wr);

void sim_qp_init(struct sim_qp *qp, struct sim_host *h, const struct sim_qp_caps *caps,
		 struct sim_cq *send_cq, struct sim_cq *recv_cq);
void sim_qp_destroy(struct sim_qp *qp); /* the object; rings stay */
void sim_qp_fini(struct sim_qp *qp);	/* the rings; it has been released */

struct sim_path {
	union rxe_ip dip;
	uint32_t dest_qpn, sq_psn, rq_psn, path_mtu;
	uint32_t qkey;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, rd_atomic;
	uint32_t access;
};
/* RESET to the given state, step by step; the first errno on the way. */
int sim_qp_to(struct sim_qp *qp, const struct sim_path *path, enum rxe_qp_state state);
int sim_qp_set_state(struct sim_qp *qp, enum rxe_qp_state state);

struct sim_wr {
	uint64_t wr_id;
	uint32_t opcode, flags;
	__be32 imm;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	uint64_t mw_len; /* BIND_MW; its address is remote_addr, its new key rkey */
	uint32_t mr_lkey, mw_rkey, access;
	uint32_t flush_len;
	uint8_t flush_type, flush_level;
	uint32_t remote_qpn, remote_qkey, ah_num;
	const void *inline_data;
	uint32_t inline_len;
	uint32_t num_sge;
	struct rxe_sge sge[RXE_MAX_SGE];
};
bool sim_post_send(struct sim_qp *qp, const struct sim_wr *wr); /* false: full */
/* To the QP's own queue, or to its SRQ. */
bool sim_post_recv(struct sim_qp *qp, uint64_t wr_id, const struct rxe_sge *sge, uint32_t num);

/* Memory of this process as an MR of the host. */
struct rxe_mr *sim_mr(struct sim_host *h, uint32_t pdn, void *addr, size_t len, uint32_t access);
/* What rxe_mr_create() takes for memory on which every copy fails. */
struct rxe_mem *sim_lost_mem(void);
void sim_mr_free(struct sim_host *h, struct rxe_mr *mr);

#endif
