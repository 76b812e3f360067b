/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* responder.c: what arrives, in order or not; checks, faults, RC and UC. */
#include <string.h>
#include "sim/bed.h"
#include "transport/mw.h"
#include "transport/qp.h"

#define PSN(n) rxe_psn_add(BED_RQ_PSN, n)
#define LOCAL  4096 /* where receives go, in the bed's memory */

static void data(struct bed *b, enum rxe_op op, int n, uint32_t len, bool ack_req)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.ack_req = ack_req;
	i.len = len;
	i.imm = 0x44332211;
	bed_inject(b, &i, NULL, len);
}

static void expect_ack(struct bed *b, int n, uint32_t msn, uint8_t syndrome)
{
	struct bed_sent *s = bed_sent(b, RXE_OP_ACK);

	assert_int_equal(s->info.psn, PSN(n));
	assert_int_equal(s->info.msn, msn);
	assert_int_equal(s->info.syndrome, syndrome);
}

static void send_message(void **state)
{
	struct ib_uverbs_wc wc;
	struct bed *b = *state;

	bed_post_recv(b, 9, LOCAL, 1000);
	data(b, RXE_OP_SEND_FIRST, 0, 256, false);
	data(b, RXE_OP_SEND_MIDDLE, 1, 256, false);
	bed_nothing_sent(b);
	data(b, RXE_OP_SEND_LAST_IMM, 2, 3, true);
	expect_ack(b, 2, 1, 0x1f);
	wc = bed_wc(&b->rcq, 9, 0);
	assert_int_equal(wc.byte_len, 515);
	assert_int_equal(wc.opcode, RXE_WC_RECV);
	assert_int_equal(wc.wc_flags, RXE_WC_GRH | RXE_WC_WITH_IMM);
	assert_int_equal(wc.ex.imm_data, 0x44332211);
	assert_int_equal(wc.qp_num, BED_QPN);
	assert_int_equal(wc.port_num, 1);
	for (int i = 0; i < 515; i++)
		assert_int_equal(b->mem[LOCAL + i], 0x5a);
	assert_int_not_equal(b->mem[LOCAL + 515], 0x5a);
}

/* PROTOCOL 23: byte_len of RECV_RDMA_WITH_IMM is the RETH's length. */
static void write_with_imm(void **state)
{
	struct ib_uverbs_wc wc;
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 9, LOCAL, 0);
	i = bed_pkt(b, RXE_OP_WRITE_FIRST, PSN(0));
	i.len = 300;
	bed_inject(b, &i, NULL, 256);
	i = bed_pkt(b, RXE_OP_WRITE_LAST_IMM, PSN(1));
	i.solicited = true;
	bed_inject(b, &i, NULL, 44);
	wc = bed_wc(&b->rcq, 9, 0);
	assert_int_equal(wc.byte_len, 300);
	assert_int_equal(wc.opcode, RXE_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(b->mem[299], 0x5a);
}

/* PROTOCOL 18: one NAK per gap, until the gap closes. */
static void one_nak_per_gap(void **state)
{
	struct bed *b = *state;

	for (int i = 0; i < 8; i++)
		bed_post_recv(b, i, LOCAL, 1000);
	data(b, RXE_OP_SEND_ONLY, 1, 8, true);
	expect_ack(b, 0, 0, RXE_AETH_NAK | RXE_NAK_PSN_SEQ);
	data(b, RXE_OP_SEND_ONLY, 2, 8, true);
	data(b, RXE_OP_SEND_ONLY, 5, 8, true);
	bed_nothing_sent(b);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 1, 0x1f);
	data(b, RXE_OP_SEND_ONLY, 2, 8, true); /* a new gap */
	expect_ack(b, 1, 1, RXE_AETH_NAK | RXE_NAK_PSN_SEQ);
	bed_wc(&b->rcq, 0, 0);
	bed_no_wc(&b->rcq);
	assert_int_equal(bed_count(b, RXE_HW_OUT_OF_SEQ), 4);
}

/* PROTOCOL 19: answered with the last PSN, not executed. */
static void duplicates(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 1000);
	bed_post_recv(b, 2, LOCAL, 1000);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	data(b, RXE_OP_WRITE_ONLY, 1, 8, true);
	expect_ack(b, 0, 1, 0x1f);
	expect_ack(b, 1, 2, 0x1f);
	memset(b->mem, 0, 8);
	i = bed_pkt(b, RXE_OP_SEND_ONLY, PSN(0));
	bed_inject(b, &i, NULL, 8);
	expect_ack(b, 1, 2, 0x1f);
	i = bed_pkt(b, RXE_OP_WRITE_ONLY, PSN(1));
	i.len = 8;
	bed_inject(b, &i, NULL, 8);
	expect_ack(b, 1, 2, 0x1f);
	assert_int_equal(b->mem[0], 0);
	bed_wc(&b->rcq, 1, 0);
	bed_no_wc(&b->rcq);
	assert_int_equal(bed_count(b, RXE_HW_DUP_REQUEST), 2);
}

static void rnr_nak(void **state)
{
	struct bed *b = *state;

	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 0, RXE_AETH_RNR_NAK | 12);
	data(b, RXE_OP_SEND_ONLY, 1, 8, true); /* after an RNR NAK: silence */
	bed_nothing_sent(b);
	bed_post_recv(b, 1, LOCAL, 1000);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 1, 0x1f);
	bed_wc(&b->rcq, 1, 0);
	data(b, RXE_OP_WRITE_ONLY_IMM, 1, 8, true); /* WRITE with immediate needs one too */
	expect_ack(b, 1, 1, RXE_AETH_RNR_NAK | 12);
	assert_int_equal(bed_count(b, RXE_HW_SEND_RNR), 2);
}

struct fault {
	enum rxe_op first; /* 0xff: none */
	enum rxe_op op;
	uint32_t reth_len, payload;
	uint32_t rkey_xor, no_access;
	uint8_t nak;
	int event;
};

#define NONE   ((enum rxe_op)0xff)
#define INV    RXE_NAK_INV_REQ
#define ACCESS RXE_NAK_REM_ACCESS

static const struct fault rc_faults[] = {
	/* sequence of opcodes */
	{NONE, RXE_OP_SEND_MIDDLE, 0, 256, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_WRITE_LAST, 0, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_SEND_ONLY, 0, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_WRITE_MIDDLE, 0, 256, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_READ_REQ, 8, 0, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	/* lengths (PROTOCOL 4) */
	{NONE, RXE_OP_SEND_ONLY, 0, 260, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_SEND_FIRST, 0, 252, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_SEND_LAST, 0, 0, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_SEND_MIDDLE, 0, 100, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_WRITE_ONLY, 9, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_WRITE_ONLY, 0x80000001, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_WRITE_FIRST, 256, 256, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_WRITE_FIRST, RXE_OP_WRITE_LAST, 0, 45, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_READ_REQ, 0x80000001, 0, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	/* keys and permissions (PROTOCOL 20) */
	{NONE, RXE_OP_WRITE_ONLY, 8, 8, 0x100, 0, ACCESS, RXE_EV_QP_ACCESS_ERR},
	{NONE, RXE_OP_READ_REQ, 8, 0, 0x100, 0, ACCESS, RXE_EV_QP_ACCESS_ERR},
	{NONE, RXE_OP_READ_REQ, BED_MEM + 1, 0, 0, 0, ACCESS, RXE_EV_QP_ACCESS_ERR},
	{NONE, RXE_OP_CMP_SWAP, 0, 0, 0x100, 0, ACCESS, RXE_EV_QP_ACCESS_ERR},
	{NONE, RXE_OP_WRITE_ONLY, 8, 8, 0, 2, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_READ_REQ, 8, 0, 0, 4, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_FETCH_ADD, 0, 0, 0, 8, INV, RXE_EV_QP_REQ_ERR},
	/* ATOMIC_WRITE: 8 bytes, an rkey, a permission */
	{NONE, RXE_OP_ATOMIC_WRITE, 8, 4, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_ATOMIC_WRITE, 4, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_ATOMIC_WRITE, 16, 16, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_ATOMIC_WRITE, 8, 7, 0, 0, INV, RXE_EV_QP_REQ_ERR},
	{NONE, RXE_OP_ATOMIC_WRITE, 8, 8, 0x100, 0, ACCESS, RXE_EV_QP_ACCESS_ERR},
	{NONE, RXE_OP_ATOMIC_WRITE, 8, 8, 0, 2, INV, RXE_EV_QP_REQ_ERR},
	{RXE_OP_SEND_FIRST, RXE_OP_ATOMIC_WRITE, 8, 8, 0, 0, INV, RXE_EV_QP_REQ_ERR},
};

static void rc_fault(const struct fault *f, size_t index)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct bed_sent *s;
	struct bed b;
	int n = 0;

	o.no_access = f->no_access;
	bed_init(&b, &o);
	bed_post_recv(&b, 1, LOCAL, 2000);
	if (f->first != NONE) {
		i = bed_pkt(&b, f->first, PSN(n++));
		i.len = 300;
		bed_inject(&b, &i, NULL, 256);
	}
	i = bed_pkt(&b, f->op, PSN(n));
	i.len = f->reth_len;
	i.rkey ^= f->rkey_xor;
	bed_inject(&b, &i, NULL, f->payload);
	s = bed_sent(&b, RXE_OP_ACK);
	if (s->info.syndrome != (RXE_AETH_NAK | f->nak) || s->info.psn != PSN(n))
		fail_msg("case %zu: syndrome 0x%x", index, s->info.syndrome);
	bed_assert_events(&b, f->event, 1);
	assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
	/* A SEND in progress ends with an error; otherwise the WQE is flushed. */
	if (f->first == RXE_OP_SEND_FIRST)
		bed_wc(&b.rcq, 1, RXE_WC_REM_INV_REQ_ERR);
	else if (f->op == RXE_OP_SEND_ONLY || f->first == NONE || f->first == RXE_OP_WRITE_FIRST)
		bed_wc(&b.rcq, 1, RXE_WC_WR_FLUSH_ERR);
	bed_no_wc(&b.rcq);
	data(&b, RXE_OP_SEND_ONLY, n, 8, true); /* the QP is deaf now */
	bed_nothing_sent(&b);
	bed_fini(&b);
}

static void rc_every_fault(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rc_faults) / sizeof(rc_faults[0]); i++)
		rc_fault(&rc_faults[i], i);
}

static struct rxe_mw *window(struct bed *b)
{
	struct rxe_mw_bind w = {
		.mr_lkey = b->key,
		.rkey = 0x42,
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ,
		.addr = (uintptr_t)b->mem,
		.len = 8192,
	};
	struct rxe_mw *mw;
	struct rxe_mr *old;

	assert_int_equal(rxe_mw_create(&b->h.hca, 1, RXE_MW_TYPE_2, &mw), 0);
	w.mw_rkey = rxe_mw_rkey(mw);
	assert_int_equal(rxe_mw_bind(&b->h.hca, 1, b->qp.qp->id, &w, &old), 0);
	return mw;
}

static void write_through(struct bed *b, int n, uint32_t rkey, uint32_t off, uint32_t len)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_WRITE_ONLY, PSN(n));

	i.rkey = rkey;
	i.va += off;
	i.len = len;
	i.ack_req = true;
	bed_inject(b, &i, NULL, len);
}

static void send_inv(struct bed *b, enum rxe_op op, int n, uint32_t rkey)
{
	struct rxe_pktinfo i = bed_pkt(b, op, PSN(n));

	i.inv_rkey = rkey;
	i.ack_req = true;
	bed_inject(b, &i, NULL, 8);
}

/* The window serves, is taken, and the completion names it. */
static void send_with_invalidate(void **state)
{
	struct ib_uverbs_wc wc;
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	mw = window(&b);
	bed_post_recv(&b, 1, LOCAL, 1000);
	write_through(&b, 0, rxe_mw_rkey(mw), 0, 100);
	expect_ack(&b, 0, 1, 0x1f);
	data(&b, RXE_OP_SEND_FIRST, 1, 256, false);
	send_inv(&b, RXE_OP_SEND_LAST_INV, 2, rxe_mw_rkey(mw));
	expect_ack(&b, 2, 2, 0x1f);
	wc = bed_wc(&b.rcq, 1, 0);
	assert_int_equal(wc.opcode, RXE_WC_RECV);
	assert_int_equal(wc.byte_len, 264);
	assert_int_equal(wc.wc_flags, RXE_WC_GRH | RXE_WC_WITH_INV);
	assert_int_equal(wc.ex.invalidate_rkey, rxe_mw_rkey(mw));
	send_inv(&b, RXE_OP_SEND_LAST_INV, 2, rxe_mw_rkey(mw)); /* a duplicate does nothing */
	expect_ack(&b, 2, 2, 0x1f);
	write_through(&b, 3, rxe_mw_rkey(mw), 0, 8);
	expect_ack(&b, 3, 2, RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	assert_null(rxe_mw_destroy(&b.h.hca, mw));
	bed_fini(&b);
}

/* A READ and a WRITE before it are finished through the window; then it is reported. */
static void invalidated_in_order(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct rxe_mw *mw;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	mw = window(&b);
	bed_post_recv(&b, 1, LOCAL, 1000);
	i = bed_pkt(&b, RXE_OP_READ_REQ, PSN(0));
	i.rkey = rxe_mw_rkey(mw);
	i.len = 256 * 30;
	bed_inject(&b, &i, NULL, 0);
	write_through(&b, 30, rxe_mw_rkey(mw), 0, 8);
	send_inv(&b, RXE_OP_SEND_ONLY_INV, 31, rxe_mw_rkey(mw));
	bed_no_wc(&b.rcq);
	assert_null(rxe_mw_destroy(&b.h.hca, mw)); /* nothing new comes through it */
	while (b.h.live_copies)
		bed_copies(&b);
	bed_sent(&b, RXE_OP_READ_RESP_FIRST);
	for (int n = 1; n < 29; n++)
		bed_sent(&b, RXE_OP_READ_RESP_MIDDLE);
	bed_sent(&b, RXE_OP_READ_RESP_LAST);
	expect_ack(&b, 30, 2, 0x1f);
	expect_ack(&b, 31, 3, 0x1f);
	bed_wc(&b.rcq, 1, 0);
	assert_int_equal(b.mem[7], 0x5a);
	bed_fini(&b);
}

/*
 * A window that is gone is not replaced by one that a SEND_WITH_INV is just ending,
 * though both led to the same memory.
 */
static void one_window_is_not_another(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_mw *gone, *ending;
	struct rxe_pktinfo i;
	struct rxe_mr *old;
	struct bed b;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	gone = window(&b);
	ending = window(&b);
	bed_post_recv(&b, 1, LOCAL, 1000);
	write_through(&b, 0, b.key, 0, 8); /* the READ waits for its copy */
	i = bed_pkt(&b, RXE_OP_READ_REQ, PSN(1));
	i.rkey = rxe_mw_rkey(gone);
	i.len = 8;
	bed_inject(&b, &i, NULL, 0);
	send_inv(&b, RXE_OP_SEND_ONLY_INV, 2, rxe_mw_rkey(ending));
	old = rxe_mw_destroy(&b.h.hca, gone);
	assert_non_null(old);
	rxe_mr_put(old);
	bed_copies(&b);
	expect_ack(&b, 1, 1, RXE_AETH_NAK | RXE_NAK_REM_ACCESS);
	bed_copies(&b);
	bed_wc(&b.rcq, 1, RXE_WC_WR_FLUSH_ERR);
	assert_null(rxe_mw_destroy(&b.h.hca, ending));
	bed_fini(&b);
}

/* What may not be invalidated: an MR, another QP's window, nothing (rule 27). */
static void bad_invalidation(void **state)
{
	for (int c = 0; c < 3; c++) {
		struct rxe_mw *mw;
		struct rxe_mr *old;
		struct bed b;
		uint32_t rkey;

		(void)state;
		bed_init(&b, &bed_rc);
		b.qp.qp->id++; /* the window is another QP's */
		mw = window(&b);
		b.qp.qp->id--;
		rkey = c == 0 ? b.key : c == 1 ? rxe_mw_rkey(mw) : 0xdeadbeef;
		bed_post_recv(&b, 1, LOCAL, 1000);
		bed_post_recv(&b, 2, LOCAL, 1000);
		send_inv(&b, RXE_OP_SEND_ONLY_INV, 0, rkey);
		/* As kernel rxe: the message is acknowledged, the receiver's QP ends. */
		assert_int_equal(bed_sent(&b, RXE_OP_ACK)->info.syndrome, 0x1f);
		bed_wc(&b.rcq, 1, RXE_WC_REM_INV_REQ_ERR);
		bed_wc(&b.rcq, 2, RXE_WC_WR_FLUSH_ERR);
		assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
		old = rxe_mw_destroy(&b.h.hca, mw);
		assert_non_null(old); /* still bound */
		rxe_mr_put(old);
		bed_fini(&b);
	}
}

/* PROTOCOL 21. */
static void zero_length_ignores_the_rkey(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	i = bed_pkt(b, RXE_OP_WRITE_ONLY, PSN(0));
	i.rkey = 0xbad00bad;
	i.ack_req = true;
	bed_inject(b, &i, NULL, 0);
	expect_ack(b, 0, 1, 0x1f);
	i = bed_pkt(b, RXE_OP_READ_REQ, PSN(1));
	i.rkey = 0xbad00bad;
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_sent(b, RXE_OP_READ_RESP_ONLY)->len, 0);
}

static void longer_than_the_receive(void **state)
{
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 7);
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 0, RXE_AETH_NAK | RXE_NAK_INV_REQ);
	bed_wc(&b->rcq, 1, RXE_WC_LOC_LEN_ERR);
}

static void bad_receive_wqe(void **state)
{
	struct rxe_sge sge = {0x1000, 100, 0x4242};
	struct bed *b = *state;

	assert_true(sim_post_recv(&b->qp, 1, &sge, 1));
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 0, RXE_AETH_NAK | RXE_NAK_REM_OP);
	bed_wc(&b->rcq, 1, RXE_WC_LOC_PROT_ERR);
}

/* The memory behind the receive fails only while it is copied. */
static void receive_copy_fails(void **state)
{
	struct rxe_sge sge = {0x1000, 100, 0};
	struct rxe_mr *mr;
	struct bed *b = *state;

	assert_int_equal(rxe_mr_create(&b->h.hca, 1, sim_lost_mem(), 0x1000, 100, 0x1000, 1, &mr),
			 0);
	sge.lkey = rxe_mr_lkey(mr);
	assert_true(sim_post_recv(&b->qp, 1, &sge, 1));
	data(b, RXE_OP_SEND_ONLY, 0, 8, true);
	expect_ack(b, 0, 0, RXE_AETH_NAK | RXE_NAK_REM_OP);
	bed_wc(&b->rcq, 1, RXE_WC_LOC_PROT_ERR);
	rxe_mr_destroy(&b->h.hca, mr);
}

/* ---- UC ------------------------------------------------------------------------ */

static void uc_gap_inside_a_message(void **state)
{
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 1000);
	bed_post_recv(b, 2, LOCAL, 1000);
	data(b, RXE_OP_SEND_FIRST, 0, 256, false);
	data(b, RXE_OP_SEND_LAST, 2, 8, false); /* 1 is lost */
	data(b, RXE_OP_SEND_MIDDLE, 3, 256, false);
	bed_no_wc(&b->rcq);
	data(b, RXE_OP_SEND_FIRST, 4, 256, false);
	data(b, RXE_OP_SEND_LAST, 5, 8, false);
	assert_int_equal(bed_wc(&b->rcq, 1, 0).byte_len, 264);
	data(b, RXE_OP_SEND_FIRST, 6, 256, false);
	data(b, RXE_OP_SEND_ONLY, 7, 9, false); /* LAST never came */
	assert_int_equal(bed_wc(&b->rcq, 2, 0).byte_len, 9);
	bed_nothing_sent(b);
}

/* The receive WQE of a broken SEND is not completed by a WRITE. */
static void uc_write_after_broken_send(void **state)
{
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 1000);
	data(b, RXE_OP_SEND_FIRST, 0, 256, false);
	data(b, RXE_OP_WRITE_ONLY, 5, 8, false);
	assert_int_equal(b->mem[7], 0x5a);
	bed_no_wc(&b->rcq);
	data(b, RXE_OP_WRITE_ONLY_IMM, 6, 8, false);
	assert_int_equal(bed_wc(&b->rcq, 1, 0).byte_len, 8);
}

static void uc_faults_are_silent(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	data(b, RXE_OP_SEND_ONLY, 0, 8, false); /* no receive WQE */
	i = bed_pkt(b, RXE_OP_WRITE_ONLY, PSN(1));
	i.len = 8;
	i.rkey ^= 0x100;
	bed_inject(b, &i, NULL, 8);
	data(b, RXE_OP_SEND_ONLY, 2, 260, false);
	bed_nothing_sent(b);
	assert_int_equal(rxe_qp_get_state(b->qp.qp), RXE_QPS_RTS);
	assert_int_equal(bed_count(b, RXE_HW_DROP_NO_RECV), 1);
	bed_post_recv(b, 1, LOCAL, 1000);
	data(b, RXE_OP_SEND_ONLY, 3, 8, false);
	bed_wc(&b->rcq, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(send_message),
		BED_TEST(write_with_imm),
		BED_TEST(one_nak_per_gap),
		BED_TEST(duplicates),
		BED_TEST(rnr_nak),
		cmocka_unit_test(rc_every_fault),
		BED_TEST(zero_length_ignores_the_rkey),
		BED_TEST(longer_than_the_receive),
		BED_TEST(bad_receive_wqe),
		BED_TEST(receive_copy_fails),
		BED_TEST_WITH(uc_gap_inside_a_message, &bed_uc),
		BED_TEST_WITH(uc_write_after_broken_send, &bed_uc),
		BED_TEST_WITH(uc_faults_are_silent, &bed_uc),
		cmocka_unit_test(send_with_invalidate),
		cmocka_unit_test(invalidated_in_order),
		cmocka_unit_test(one_window_is_not_another),
		cmocka_unit_test(bad_invalidation),
	};

	return cmocka_run_group_tests_name("transport_responder", tests, NULL, NULL);
}
