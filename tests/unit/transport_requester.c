/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* requester.c: segmentation, windows, fences, credits, pacing, bad requests. */
#include <string.h>
#include "sim/bed.h"

#define PSN(n) rxe_psn_add(BED_SQ_PSN, n)

static void segmentation(void **state)
{
	struct bed *b = *state;
	struct sim_wr wr;
	struct bed_sent *s;

	wr = bed_wr(b, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 0, 256 * 2 + 33);
	wr.imm = 0x01020304;
	wr.flags |= RXE_SEND_SOLICITED;
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_WRITE_FIRST);
	assert_int_equal(s->info.psn, PSN(0));
	assert_int_equal(s->info.qpn, BED_PEER_QPN);
	assert_true(s->info.va == wr.remote_addr && s->info.rkey == wr.rkey);
	assert_int_equal(s->info.len, wr.sge[0].length);
	assert_false(s->info.ack_req || s->info.solicited);
	assert_memory_equal(s->payload, b->mem, 256);
	s = bed_sent(b, RXE_OP_WRITE_MIDDLE);
	assert_int_equal(s->info.psn, PSN(1));
	s = bed_sent(b, RXE_OP_WRITE_LAST_IMM);
	assert_int_equal(s->info.psn, 0); /* wrapped */
	assert_int_equal(s->len, 33);
	assert_int_equal(s->info.imm, wr.imm);
	assert_true(s->info.ack_req && s->info.solicited);
	assert_memory_equal(s->payload, b->mem + 512, 33);
	bed_nothing_sent(b);
}

static void gather_and_inline(void **state)
{
	struct bed *b = *state;
	struct sim_wr wr;
	struct bed_sent *s;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 10);
	wr.num_sge = 3;
	wr.sge[1] = (struct rxe_sge){(uintptr_t)b->mem + 100, 0, b->key};
	wr.sge[2] = (struct rxe_sge){(uintptr_t)b->mem + 200, 7, b->key};
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_SEND_ONLY);
	assert_int_equal(s->len, 17);
	assert_memory_equal(s->payload, b->mem, 10);
	assert_memory_equal(s->payload + 10, b->mem + 200, 7);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 0);
	wr.flags |= RXE_SEND_INLINE;
	wr.inline_data = "inline";
	wr.inline_len = 6;
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_SEND_ONLY);
	assert_memory_equal(s->payload, "inline", 6);
}

/* max_req_comp_gap: stops, asks for an ACK, goes on as far as it is acknowledged. */
static void window(void **state)
{
	struct bed *b = *state;
	struct sim_wr wr;

	rxe_engine_params(b->h.engine)->max_req_comp_gap = 4;
	rxe_engine_params(b->h.engine)->max_packet_per_ack = 0;
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 256 * 10);
	bed_post(b, &wr);
	assert_int_equal(b->nr_sent, 4);
	bed_sent(b, RXE_OP_SEND_FIRST);
	assert_false(bed_sent(b, RXE_OP_SEND_MIDDLE)->info.ack_req);
	bed_sent(b, RXE_OP_SEND_MIDDLE);
	assert_true(bed_sent(b, RXE_OP_SEND_MIDDLE)->info.ack_req);
	bed_ack(b, PSN(1), 0x1f);
	assert_int_equal(b->nr_sent, 6);
	bed_ack(b, PSN(5), 0x1f);
	assert_int_equal(b->nr_sent, 10);
	bed_no_wc(&b->scq);
	bed_ack(b, PSN(9), 0x1f);
	bed_wc(&b->scq, 0, 0);
}

/* max_skb_per_qp: no more packets are filled at a time. */
static void filling_is_bounded(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->max_skb_per_qp = 3;
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 256 * 7);
	bed_post(b, &wr);
	bed_nothing_sent(b);
	assert_int_equal(b->h.live_copies, 3);
	bed_copies(b);
	assert_int_equal(b->nr_sent, 3);
	bed_copies(b);
	bed_copies(b);
	assert_int_equal(b->nr_sent, 7);
}

static void rd_atomic_limit_and_fence(void **state)
{
	struct rxe_pktinfo r;
	struct sim_wr wr;
	struct bed *b = *state;

	for (int i = 0; i < 3; i++) {
		wr = bed_wr(b, IB_UVERBS_WR_RDMA_READ, i * 8, 8);
		bed_post(b, &wr);
	}
	bed_sent(b, RXE_OP_READ_REQ);
	bed_sent(b, RXE_OP_READ_REQ);
	bed_nothing_sent(b); /* the third waits: max_rd_atomic is 2 */
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 64, 8);
	wr.flags |= RXE_SEND_FENCE;
	bed_post(b, &wr);
	for (int i = 0; i < 3; i++) {
		r = bed_pkt(b, RXE_OP_READ_RESP_ONLY, PSN(i));
		bed_inject(b, &r, "ABCDEFGH", 8);
		bed_wc(&b->scq, i * 8, 0);
		if (!i)
			bed_sent(b, RXE_OP_READ_REQ);
		if (i < 2)
			bed_nothing_sent(b);
	}
	bed_sent(b, RXE_OP_SEND_ONLY); /* all READs are complete: the fence opens */
	assert_memory_equal(b->mem, "ABCDEFGHABCDEFGHABCDEFGH", 24);
}

static void no_rd_atomic_at_all(void **state)
{
	struct bed_options o = bed_rc;
	struct sim_wr wr;
	struct bed b;

	(void)state;
	o.rd_atomic = 0;
	bed_init(&b, &o);
	wr = bed_wr(&b, IB_UVERBS_WR_RDMA_READ, 0, 8);
	bed_post(&b, &wr);
	bed_nothing_sent(&b);
	bed_wc(&b.scq, 0, RXE_WC_LOC_QP_OP_ERR);
	bed_fini(&b);
}

/* PROTOCOL 7: a finite credit count holds SENDs back, not WRITEs. */
static void peer_credits(void **state)
{
	struct rxe_pktinfo a;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 8);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_SEND_ONLY);
	a = bed_pkt(b, RXE_OP_ACK, PSN(0));
	a.syndrome = 1; /* one receive WQE beyond MSN 1 */
	a.msn = 1;
	bed_inject(b, &a, NULL, 0);
	bed_post(b, &wr);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_SEND_ONLY); /* SSN 2 <= limit 2 */
	bed_nothing_sent(b);	       /* SSN 3 waits */
	a.psn = PSN(1);
	a.syndrome = 0; /* no credit at all ... */
	a.msn = 2;
	bed_inject(b, &a, NULL, 0);
	bed_sent(b, RXE_OP_SEND_ONLY); /* ... one request may probe */
	bed_nothing_sent(b);
}

/* What an ACK that was overtaken says of credits is of the past. */
static void old_acks_bring_no_credits(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 8);
	for (int i = 0; i < 3; i++)
		bed_post(b, &wr);
	for (int i = 0; i < 3; i++)
		bed_sent(b, RXE_OP_SEND_ONLY);
	bed_ack(b, PSN(1), 3); /* three, of which all are used */
	bed_post(b, &wr);
	bed_nothing_sent(b);
	bed_ack(b, PSN(0), 0x1f); /* no limit, then */
	bed_nothing_sent(b);
	bed_ack(b, PSN(1), 4); /* again, with more */
	bed_sent(b, RXE_OP_SEND_ONLY);
}

static void pacing(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->nsec_per_packet = 1000;
	rxe_engine_params(b->h.engine)->nsec_per_kbyte = 8192; /* 8 ns a byte: the greater */
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 256 * 3);
	bed_post(b, &wr);
	assert_int_equal(b->nr_sent, 1);
	bed_advance(b, (256 + 12) * 8 - 1);
	assert_int_equal(b->nr_sent, 1);
	bed_advance(b, 1);
	assert_int_equal(b->nr_sent, 2);
	rxe_engine_params(b->h.engine)->nsec_per_packet = 0;
	rxe_engine_params(b->h.engine)->nsec_per_kbyte = 0;
	bed_advance(b, (256 + 12) * 8);
	assert_int_equal(b->nr_sent, 3);
}

/* As the kernel numbers them (ib_verbs.h): not in the uapi headers. */
enum { IB_WR_REG_MR = 0x20, IB_WR_DRIVER1 = 0xf0 };

static void each_bad_request_completes(void **state)
{
	static const struct {
		uint32_t opcode, lkey_xor, off, len, status;
	} cases[] = {
		{IB_UVERBS_WR_TSO, 0, 0, 8, RXE_WC_LOC_QP_OP_ERR},
		{IB_WR_REG_MR, 0, 0, 8, RXE_WC_LOC_QP_OP_ERR},
		{IB_WR_DRIVER1, 0, 0, 8, RXE_WC_LOC_QP_OP_ERR},
		{77, 0, 0, 8, RXE_WC_LOC_QP_OP_ERR},
		{IB_UVERBS_WR_SEND, 0x100, 0, 8, RXE_WC_LOC_PROT_ERR},
		{IB_UVERBS_WR_RDMA_READ, 0x100, 0, 8, RXE_WC_LOC_PROT_ERR},
		{IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, 0x100, 0, 8, RXE_WC_LOC_PROT_ERR},
		{IB_UVERBS_WR_SEND, 0, BED_MEM - 4, 8, RXE_WC_LOC_PROT_ERR},
		{IB_UVERBS_WR_SEND, 0, 0, 0x80000001, RXE_WC_LOC_LEN_ERR},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ib_uverbs_wc wc;
		struct sim_wr wr;
		struct bed b;

		bed_init(&b, &bed_rc);
		wr = bed_wr(&b, cases[i].opcode, cases[i].off, cases[i].len);
		wr.wr_id = 5;
		wr.flags = 0; /* errors complete though unsignaled */
		wr.sge[0].lkey ^= cases[i].lkey_xor;
		assert_true(sim_post_send(&b.qp, &wr));
		wr = bed_wr(&b, IB_UVERBS_WR_SEND, 6, 8);
		bed_post(&b, &wr);
		wc = bed_wc(&b.scq, 5, cases[i].status);
		/* only wr_id, status, qp_num and vendor_err are valid (PROTOCOL 15) */
		assert_int_equal(wc.byte_len | wc.opcode | wc.wc_flags | wc.src_qp, 0);
		assert_int_equal(wc.qp_num, BED_QPN);
		bed_wc(&b.scq, 6, RXE_WC_WR_FLUSH_ERR);
		assert_int_equal(rxe_qp_get_state(b.qp.qp), RXE_QPS_ERR);
		bed_fini(&b);
	}
}

/* A request that fails late waits for those before it. */
static void failures_keep_their_place(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 8);
	bed_post(b, &wr);
	wr = bed_wr(b, 77, 2, 8);
	bed_post(b, &wr);
	bed_no_wc(&b->scq);
	bed_ack(b, PSN(0), 0x1f);
	bed_wc(&b->scq, 1, 0);
	bed_wc(&b->scq, 2, RXE_WC_LOC_QP_OP_ERR);
}

/* The memory went away between registration and copy. */
static void copy_fails(void **state)
{
	struct rxe_mr *mr;
	struct sim_wr wr;
	struct bed *b = *state;

	assert_int_equal(
		rxe_mr_create(&b->h.hca, 1, sim_lost_mem(), 0x1000, 0x1000, 0x1000, 1, &mr), 0);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 600);
	wr.num_sge = 2;
	wr.sge[1] = (struct rxe_sge){0x1000, 600, rxe_mr_lkey(mr)};
	bed_post(b, &wr);
	bed_wc(&b->scq, 1, RXE_WC_LOC_PROT_ERR);
	assert_int_equal(b->nr_sent, 2); /* what could be read was sent */
	rxe_mr_destroy(&b->h.hca, mr);
}

static bool full;
static bool no_room(struct sim_host *h)
{
	(void)h;
	return full;
}

static void no_room_is_tried_again(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	b->h.no_room = no_room;
	full = true;
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 8);
	assert_true(sim_post_send(&b->qp, &wr));
	rxe_qp_doorbell(b->qp.qp);
	for (int i = 0; i < 5; i++)
		assert_true(rxe_engine_run(b->h.engine, 64));
	bed_nothing_sent(b);
	full = false;
	bed_run(b);
	bed_sent(b, RXE_OP_SEND_ONLY);
}

static int spared = -1; /* allocations before all fail; negative: none does */
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
	if (spared > 0)
		return !spared--;
	return !spared;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

/* The window of WQEs, then a WQE: the client rings once only. */
static void no_memory_is_tried_again(void **state)
{
	struct sim_wr wr;
	struct bed b;

	(void)state;
	for (int nth = 0; nth < 2; nth++) {
		bed_init(&b, &bed_rc);
		wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
		assert_true(sim_post_send(&b.qp, &wr));
		spared = nth;
		rxe_qp_doorbell(b.qp.qp);
		for (int i = 0; i < 5; i++)
			assert_true(rxe_engine_run(b.h.engine, 64));
		bed_nothing_sent(&b);
		spared = -1;
		bed_run(&b);
		bed_sent(&b, RXE_OP_SEND_ONLY);
		bed_fini(&b);
	}
}

/* A ring that is full of WQEs, more than the private window holds. */
static void more_than_the_window(void **state)
{
	struct bed_options o = bed_rc;
	struct sim_wr wr;
	struct bed b;
	int n = 0;

	(void)state;
	o.send_wr = 600;
	bed_init(&b, &o);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 0);
	wr.flags = 0;
	while (sim_post_send(&b.qp, &wr))
		n++;
	assert_true(n >= 600);
	rxe_qp_doorbell(b.qp.qp);
	bed_run(&b);
	for (int acked = 0; acked < n;) {
		assert_true((int)b.nr_sent > acked);
		acked = b.nr_sent;
		bed_ack(&b, PSN(acked - 1), 0x1f);
	}
	assert_int_equal(b.nr_sent, n);
	assert_int_equal(b.qp.sq.buf->consumer_index, b.qp.sq.buf->producer_index);
	bed_fini(&b);
}

/* A client that writes noise into its rings, indices and all: it harms itself only. */
static void noise_in_the_rings(void **state)
{
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct bed_options o = bed_rc;
		struct rxe_pktinfo i;
		struct bed b;

		o.type = round % 3 ? round % 3 == 1 ? RXE_QPT_UC : RXE_QPT_UD : RXE_QPT_RC;
		bed_init(&b, &o);
		for (size_t k = 0; k < b.qp.geo.sq_bytes - 384; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			b.qp.sq.buf->data[k] = x >> 32 & (x & 1 ? 0xff : 0x0f);
		}
		for (size_t k = 0; k < b.qp.geo.rq_bytes - 384; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			b.qp.rq.buf->data[k] = x >> 32;
		}
		/* mostly opcodes that exist, with few SGEs */
		for (uint32_t k = 0; k < b.qp.geo.sq_slots; k++) {
			struct rxe_send_wqe *w =
				(void *)(b.qp.sq.buf->data + (k << b.qp.geo.sq_log2_elem));

			w->wr.opcode &= 0xf;
			w->dma.num_sge &= 7;
			w->dma.length &= 0x7f;
			w->dma.sge[0].lkey = b.key;
			w->dma.sge[0].addr = (uintptr_t)b.mem + k;
		}
		b.qp.sq.buf->producer_index = x;
		b.qp.rq.buf->producer_index = x >> 32;
		b.qp.sq.buf->index_mask = x >> 8;
		b.qp.sq.buf->log2_elem_size = x >> 16;
		rxe_qp_doorbell(b.qp.qp);
		bed_run(&b);
		i = bed_pkt(&b, RXE_OP_SEND_ONLY, BED_RQ_PSN);
		bed_inject(&b, &i, NULL, 64);
		bed_advance(&b, 1000000000);
		bed_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(segmentation),
		BED_TEST(gather_and_inline),
		BED_TEST(window),
		BED_TEST_WITH(filling_is_bounded, &bed_rc_deferred),
		BED_TEST(rd_atomic_limit_and_fence),
		cmocka_unit_test(no_rd_atomic_at_all),
		BED_TEST(peer_credits),
		BED_TEST(old_acks_bring_no_credits),
		BED_TEST(pacing),
		cmocka_unit_test(each_bad_request_completes),
		BED_TEST(failures_keep_their_place),
		BED_TEST(copy_fails),
		BED_TEST(no_room_is_tried_again),
		cmocka_unit_test(no_memory_is_tried_again),
		cmocka_unit_test(more_than_the_window),
		cmocka_unit_test(noise_in_the_rings),
	};

	return cmocka_run_group_tests_name("transport_requester", tests, NULL, NULL);
}
