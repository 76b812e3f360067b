/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The test bed of the units.
 */
#include <stdlib.h>
#include <string.h>
#include "bed.h"

static void capture(struct sim_host *h, const uint8_t *bytes, uint32_t len,
		    const struct rxe_pkt *sent)
{
	struct bed *b = h->arg;
	struct bed_sent *s = &b->sent[b->nr_sent++ % BED_MAX_SENT];
	struct rxe_pkt pkt = {
		.hdr = (uint8_t *)bytes,
		.hdr_len = len < RXE_MAX_IB_HDR ? len : RXE_MAX_IB_HDR,
		.ib_len = len,
	};
	uint32_t at = 0;

	(void)sent;
	pkt.nsegs = len > pkt.hdr_len;
	pkt.seg[0] = (struct iovec){(uint8_t *)bytes + pkt.hdr_len, len - pkt.hdr_len};
	assert_int_equal(rxe_pkt_parse(&pkt, &s->info), 0);
	s->len = pkt.payload_len;
	for (int i = 0; i < pkt.nsegs && at < s->len; i++) {
		uint32_t n = pkt.seg[i].iov_len < s->len - at ? pkt.seg[i].iov_len : s->len - at;

		memcpy(s->payload + at, pkt.seg[i].iov_base, n);
		at += n;
	}
	/* The pad is inside the ICRC and tells nothing of our memory. */
	for (uint32_t i = 0; i < pkt.pad; i++)
		assert_int_equal(bytes[len - 1 - i], 0);
}

static uint64_t never(struct sim_host *h)
{
	(void)h;
	return UINT64_MAX;
}

static void make_ah(struct bed *b)
{
	struct rxe_address av = {.sip = b->h.ip, .dip = b->peer};

	assert_int_equal(rxe_ah_create(&b->h.hca, 1, &av, &b->ah), 0);
}

void bed_init(struct bed *b, const struct bed_options *o)
{
	struct sim_qp_caps caps = {
		.type = o->type,
		.qpn = o->type == RXE_QPT_GSI ? RXE_GSI_QPN : BED_QPN,
		.pdn = 1,
		.send_wr = o->send_wr ? o->send_wr : 31,
		.recv_wr = o->recv_wr ? o->recv_wr : 31,
		.send_sge = 4,
		.recv_sge = 4,
		.inline_data = 64,
	};
	struct sim_path path = {
		.dip = sim_ip(0x0a000002),
		.dest_qpn = BED_PEER_QPN,
		.sq_psn = BED_SQ_PSN,
		.rq_psn = BED_RQ_PSN,
		.path_mtu = o->path_mtu ? o->path_mtu : 1,
		.qkey = BED_QKEY,
		.timeout = o->timeout,
		.retry_cnt = o->retry_cnt,
		.rnr_retry = o->rnr_retry,
		.min_rnr_timer = 12,
		.rd_atomic = o->rd_atomic,
		.access = (0x0e | RXE_ACCESS_FLUSH_GLOBAL) & ~o->no_access,
	};

	memset(b, 0, sizeof(*b));
	sim_host_init(&b->h, 0x0a000001, 4096);
	b->h.arg = b;
	b->h.tx = capture;
	b->peer = path.dip;
	if (o->deferred)
		b->h.copy_due = never;
	b->sent = calloc(BED_MAX_SENT, sizeof(*b->sent));
	b->mem = aligned_alloc(64, BED_MEM);
	assert_non_null(b->sent);
	assert_non_null(b->mem);
	for (uint32_t i = 0; i < BED_MEM; i++)
		b->mem[i] = i ^ i >> 8;
	b->mr = sim_mr(&b->h, 1, b->mem, BED_MEM, 0);
	b->key = rxe_mr_lkey(b->mr);
	sim_cq_init(&b->scq, &b->h, 255);
	sim_cq_init(&b->rcq, &b->h, 255);
	make_ah(b);
	if (o->srq_wr) {
		sim_srq_init(&b->srq, &b->h, o->srq_pdn ? o->srq_pdn : 1, o->srq_wr, 4);
		caps.srq = &b->srq;
	}
	sim_qp_init(&b->qp, &b->h, &caps, &b->scq, &b->rcq);
	assert_int_equal(sim_qp_to(&b->qp, &path, o->state ? o->state : RXE_QPS_RTS), 0);
}

void bed_fini(struct bed *b)
{
	void *route;

	if (b->qp.qp)
		sim_qp_destroy(&b->qp);
	sim_host_finish_copies(&b->h, UINT64_MAX);
	assert_null(b->qp.qp);
	assert_int_equal(b->h.live_pkts, 0);
	assert_int_equal(b->h.live_copies, 0);
	assert_true(rxe_engine_next_timer(b->h.engine) == UINT64_MAX);
	sim_mr_free(&b->h, b->mr);
	assert_int_equal(rxe_ah_destroy(&b->h.hca, b->ah, &route), 0);
	sim_qp_fini(&b->qp);
	if (b->srq.srq)
		sim_srq_fini(&b->srq, &b->h);
	assert_int_equal(b->h.hca.nr_srqs, 0);
	sim_cq_fini(&b->scq);
	sim_cq_fini(&b->rcq);
	sim_host_fini(&b->h);
	free(b->mem);
	free(b->sent);
}

#define RC .type = RXE_QPT_RC, .rd_atomic = 2, .timeout = 14, .retry_cnt = 2, .rnr_retry = 2
const struct bed_options bed_rc = {RC}, bed_rc_deferred = {RC, .deferred = true};
const struct bed_options bed_uc = {.type = RXE_QPT_UC}, bed_ud = {.type = RXE_QPT_UD};

int bed_setup(void **state)
{
	const struct bed_options *o = *state;
	struct bed *b = malloc(sizeof(*b));

	assert_non_null(b);
	bed_init(b, o);
	*state = b;
	return 0;
}

int bed_teardown(void **state)
{
	bed_fini(*state);
	free(*state);
	return 0;
}

void bed_run(struct bed *b)
{
	for (int i = 0; rxe_engine_run(b->h.engine, 64); i++)
		assert_true(i < 10000);
}

void bed_advance(struct bed *b, uint64_t ns)
{
	sim_host_set_now(&b->h, b->h.now + ns);
	bed_run(b);
}

void bed_copies(struct bed *b)
{
	sim_host_finish_copies(&b->h, UINT64_MAX);
	bed_run(b);
}

/* ---- packets ------------------------------------------------------------------- */

static uint8_t class_of(const struct bed *b)
{
	return b->qp.type == RXE_QPT_RC	  ? RXE_CLASS_RC
	       : b->qp.type == RXE_QPT_UC ? RXE_CLASS_UC
					  : RXE_CLASS_UD;
}

struct rxe_pktinfo bed_pkt(struct bed *b, enum rxe_op op, uint32_t psn)
{
	uint8_t opcode = RXE_OPCODE(class_of(b), op);

	return (struct rxe_pktinfo){
		.op = rxe_opcode_info(opcode),
		.opcode = opcode,
		.pkey = RXE_DEFAULT_PKEY,
		.qpn = b->qp.qpn,
		.psn = psn & RXE_PSN_MASK,
		.va = (uintptr_t)b->mem,
		.rkey = b->key,
		.qkey = BED_QKEY,
		.src_qpn = BED_PEER_QPN,
		.syndrome = RXE_AETH_ACK | RXE_AETH_CREDIT_INVALID,
	};
}

void bed_inject(struct bed *b, const struct rxe_pktinfo *info, const void *payload, uint32_t len)
{
	uint8_t bytes[RXE_MAX_IB_HDR + RXE_MAX_IB_MTU + 1024];
	uint32_t at = info->op->hdr_len;

	assert_true(len <= RXE_MAX_IB_MTU + 1020);
	rxe_pkt_build(bytes, info, rxe_pad(len));
	if (payload)
		memcpy(bytes + at, payload, len);
	else
		memset(bytes + at, 0x5a, len);
	at += len;
	memset(bytes + at, 0, rxe_pad(len));
	sim_host_rx(&b->h, &b->peer, bytes, at + rxe_pad(len));
	bed_run(b);
}

void bed_ack(struct bed *b, uint32_t psn, uint8_t syndrome)
{
	struct rxe_pktinfo info = bed_pkt(b, RXE_OP_ACK, psn);

	info.syndrome = syndrome;
	bed_inject(b, &info, NULL, 0);
}

struct bed_sent *bed_sent(struct bed *b, enum rxe_op op)
{
	struct bed_sent *s;

	assert_true(b->next_sent < b->nr_sent);
	s = &b->sent[b->next_sent++ % BED_MAX_SENT];
	assert_string_equal(s->info.op->name, rxe_opcode_info(RXE_OPCODE(class_of(b), op))->name);
	return s;
}

void bed_nothing_sent(struct bed *b)
{
	assert_int_equal(b->next_sent, b->nr_sent);
}

/* ---- work requests and completions --------------------------------------------------- */

struct sim_wr bed_wr(struct bed *b, uint32_t opcode, uint32_t off, uint32_t len)
{
	struct sim_wr wr = {
		.wr_id = off,
		.opcode = opcode,
		.flags = RXE_SEND_SIGNALED,
		.remote_addr = 0x7000,
		.rkey = 0x77,
		.num_sge = 1,
		.remote_qpn = BED_PEER_QPN,
		.remote_qkey = BED_QKEY,
		.ah_num = b->ah,
	};

	wr.sge[0] = (struct rxe_sge){(uintptr_t)b->mem + off, len, b->key};
	return wr;
}

void bed_post(struct bed *b, const struct sim_wr *wr)
{
	assert_true(sim_post_send(&b->qp, wr));
	rxe_qp_doorbell(b->qp.qp);
	bed_run(b);
}

void bed_post_recv(struct bed *b, uint64_t wr_id, uint32_t off, uint32_t len)
{
	struct rxe_sge sge = {(uintptr_t)b->mem + off, len, b->key};

	assert_true(sim_post_recv(&b->qp, wr_id, &sge, 1));
}

struct ib_uverbs_wc bed_wc(struct sim_cq *cq, uint64_t wr_id, uint32_t status)
{
	struct ib_uverbs_wc wc;

	assert_true(sim_cq_poll(cq, &wc));
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.status, status);
	return wc;
}

void bed_no_wc(struct sim_cq *cq)
{
	struct ib_uverbs_wc wc;

	assert_false(sim_cq_poll(cq, &wc));
}

uint64_t bed_count(struct bed *b, enum rxe_hw_counter c)
{
	return rxe_engine_counters(b->h.engine, &b->h.hca)[c];
}
