/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the selftests of faults share: a device, and RC pairs within it (a
 * program can be its own peer), by plain libibverbs. A verb that fails where
 * it must not ends the program with 1 and says the line.
 */
#ifndef FAULT_VERBS_H
#define FAULT_VERBS_H

#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_prog.h"

#define PAGE  4096
#define DEPTH 64 /* work requests and, by default, half the CQEs */
#define ALL_ACCESS                                                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct bed {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	union ibv_gid gid;
	int gid_index;
};

static inline void open_device(struct bed *b, const char *name, int gid_index)
{
	b->ctx = open_by_name(name);
	b->gid_index = gid_index;
	CHECK(!ibv_query_gid(b->ctx, 1, gid_index, &b->gid));
}

static inline void open_bed(struct bed *b, const char *name, int gid_index)
{
	open_device(b, name, gid_index);
	b->pd = ibv_alloc_pd(b->ctx);
	b->cq = ibv_create_cq(b->ctx, 4 * DEPTH, NULL, NULL, 0);
	CHECK(b->pd && b->cq);
}

/*
 * A program whose arguments are DEVICE GID_INDEX TEST: that test, with all of mem
 * as *mr. Its exit status.
 */
static inline int run_in_bed(struct bed *b, struct ibv_mr **mr, void *mem, size_t len,
			     const struct named_test *tests, size_t nr, int argc, char **argv)
{
	CHECK(argc == 4);
	open_bed(b, argv[1], atoi(argv[2]));
	*mr = ibv_reg_mr(b->pd, mem, len, ALL_ACCESS);
	CHECK(*mr);
	if (!run_named(tests, nr, argv[3]))
		return 2;
	CHECK(!ibv_dereg_mr(*mr) && !ibv_destroy_cq(b->cq) && !ibv_dealloc_pd(b->pd));
	return ibv_close_device(b->ctx);
}

static inline struct ibv_qp *new_qp(struct bed *b, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr a = {
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.srq = srq,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 2},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(b->pd, &a);

	CHECK(qp);
	return qp;
}

static inline void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ALL_ACCESS};

	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

static inline void to_rtr(const struct bed *b, struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1,
			    .port_num = 1,
			    .grh = {.dgid = b->gid, .sgid_index = b->gid_index, .hop_limit = 1}},
	};

	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER));
}

/* rnr_retry and retry_cnt 7: the one for ever, the other seven times the timeout. */
static inline void to_rts(struct ibv_qp *qp, int timeout, int retry_cnt, int rnr_retry)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
				.timeout = timeout,
				.retry_cnt = retry_cnt,
				.rnr_retry = rnr_retry,
				.max_rd_atomic = 4};

	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static inline void connect_qp(const struct bed *b, struct ibv_qp *qp, uint32_t dest)
{
	to_init(qp);
	to_rtr(b, qp, dest);
	to_rts(qp, 14, 7, 7);
}

struct pair {
	struct ibv_qp *a, *b;
};

static inline struct pair new_pair(struct bed *b)
{
	struct pair p = {new_qp(b, NULL), new_qp(b, NULL)};

	connect_qp(b, p.a, p.b->qp_num);
	connect_qp(b, p.b, p.a->qp_num);
	return p;
}

static inline void free_pair(struct pair *p)
{
	CHECK(!ibv_destroy_qp(p->a));
	CHECK(!ibv_destroy_qp(p->b));
}

/* What two processes tell each other of a QP and a region of theirs. */
struct endpoint {
	uint64_t addr;
	uint32_t rkey, qpn;
};

/* Over a socket pair. */
static inline struct endpoint exchange(int sock, const struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct endpoint e = {(uintptr_t)mr->addr, mr->rkey, qp->qp_num};

	CHECK(write(sock, &e, sizeof(e)) == sizeof(e));
	CHECK(read(sock, &e, sizeof(e)) == sizeof(e));
	return e;
}

/* Both say that they got so far. */
static inline void meet(int sock)
{
	char c = 'x';

	CHECK(write(sock, &c, 1) == 1);
	CHECK(read(sock, &c, 1) == 1);
}

/* Bytes of a region; those of a peer: its rkey in place of the lkey. */
struct span {
	uint64_t addr;
	uint32_t len, key;
};

static inline struct span span_of(const struct ibv_mr *mr, size_t off, uint32_t len)
{
	return (struct span){(uintptr_t)mr->addr + off, len, mr->lkey};
}

static inline struct ibv_sge sge_of(struct span s)
{
	return (struct ibv_sge){s.addr, s.len, s.key};
}

/* Signalled; remote counts for one-sided operations. Atomics add 1. */
static inline int post(struct ibv_qp *qp, enum ibv_wr_opcode op, struct span local,
		       struct span remote, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(local);
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote.addr;
		wr.wr.atomic.rkey = remote.key;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = remote.addr;
		wr.wr.rdma.rkey = remote.key;
	}
	return ibv_post_send(qp, &wr, &bad);
}

static inline int post_recv(struct ibv_qp *qp, struct span local, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(local);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

#endif
