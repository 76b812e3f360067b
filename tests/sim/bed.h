/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A test bed for units: one host with one QP; the test plays its peer, packet
 * by packet, and moves the clock.
 */
#ifndef SIM_BED_H
#define SIM_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "host.h"
#include "kernel_compat.h"
#include "transport/cq.h"
#include "transport/pkt.h"
#include "transport/psn.h"
#include "transport/wqe.h"

#define BED_MEM	     (1u << 18)
#define BED_MAX_SENT 512
#define BED_QPN	     0x11
#define BED_PEER_QPN 0x22
#define BED_QKEY     0x4321
#define BED_SQ_PSN   0xfffffeu /* two packets before the wrap */
#define BED_RQ_PSN   0xfffffdu

struct bed_sent {
	struct rxe_pktinfo info;
	uint32_t len;
	uint8_t payload[RXE_MAX_IB_MTU];
};

struct bed {
	struct sim_host h;
	struct sim_cq scq, rcq;
	struct sim_srq srq;
	struct sim_qp qp;
	union rxe_ip peer;
	uint8_t *mem; /* BED_MEM bytes, registered with all access */
	struct rxe_mr *mr;
	uint32_t key;
	uint32_t ah; /* UD: to the peer */
	struct bed_sent *sent;
	unsigned int nr_sent, next_sent;
};

struct bed_options {
	enum rxe_qp_type type;
	uint32_t path_mtu; /* enum; 0: 1 (256 bytes) */
	uint8_t rd_atomic, timeout, retry_cnt, rnr_retry;
	uint32_t no_access;	   /* remote access flags that the QP lacks */
	enum rxe_qp_state state;   /* 0: RTS */
	uint32_t send_wr, recv_wr; /* 0: 31 */
	uint32_t srq_wr;	   /* 0: the QP has a receive queue of its own */
	uint32_t srq_pdn;	   /* 0: the QP's */
	bool deferred;		   /* copies wait for bed_copies() */
};

/* RC with a timer and two retries of each kind; the same with deferred copies. */
extern const struct bed_options bed_rc, bed_rc_deferred, bed_uc, bed_ud;

/*
 * A test whose *state is a bed, made before it and found empty after it. Tests
 * that need several, or options of their own, call init and fini themselves.
 */
#define BED_TEST(f) BED_TEST_WITH(f, &bed_rc)
#define BED_TEST_WITH(f, options) \
	cmocka_unit_test_prestate_setup_teardown(f, bed_setup, bed_teardown, (void *)(options))
int bed_setup(void **state);
int bed_teardown(void **state);

void bed_init(struct bed *b, const struct bed_options *o);
/* Destroys all and asserts that nothing is left. */
void bed_fini(struct bed *b);
void bed_run(struct bed *b);		      /* the engine, until it has nothing to do */
void bed_advance(struct bed *b, uint64_t ns); /* moves the clock, then runs */
void bed_copies(struct bed *b);		      /* finishes all copies, then runs */

/* The peer sends: class and opcode of the QP's service are filled in. */
struct rxe_pktinfo bed_pkt(struct bed *b, enum rxe_op op, uint32_t psn);
void bed_inject(struct bed *b, const struct rxe_pktinfo *info, const void *payload, uint32_t len);
void bed_ack(struct bed *b, uint32_t psn, uint8_t syndrome);
/* The next packet that the QP sent, which must be `op`; fails when there is none. */
struct bed_sent *bed_sent(struct bed *b, enum rxe_op op);
void bed_nothing_sent(struct bed *b);

/* A send of mem[off..off+len). */
struct sim_wr bed_wr(struct bed *b, uint32_t opcode, uint32_t off, uint32_t len);
void bed_post(struct bed *b, const struct sim_wr *wr); /* and rings the doorbell */
void bed_post_recv(struct bed *b, uint64_t wr_id, uint32_t off, uint32_t len);
/* The next completion, which must have this wr_id and status. */
struct ib_uverbs_wc bed_wc(struct sim_cq *cq, uint64_t wr_id, uint32_t status);
void bed_no_wc(struct sim_cq *cq);
uint64_t bed_count(struct bed *b, enum rxe_hw_counter c);

#define bed_assert_events(b, kind, n) assert_int_equal(sim_host_count_events(&(b)->h, kind), n)

#endif
