/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* datagram.c and the UD side of requester.c: GRH, keys, lengths, AHs. */
#include <string.h>
#include "sim/bed.h"

#define LOCAL 4096

static void receive_with_grh(void **state)
{
	static const uint8_t zero[20];
	struct ib_uverbs_wc wc;
	struct rxe_pktinfo i;
	struct bed *b = *state;

	bed_post_recv(b, 1, LOCAL, 240);
	i = bed_pkt(b, RXE_OP_SEND_ONLY_IMM, 0);
	i.imm = 0x99;
	bed_inject(b, &i, NULL, 199);
	wc = bed_wc(&b->rcq, 1, 0);
	assert_int_equal(wc.byte_len, 239);
	assert_int_equal(wc.src_qp, BED_PEER_QPN);
	assert_int_equal(wc.wc_flags, RXE_WC_GRH | RXE_WC_WITH_IMM);
	assert_int_equal(wc.ex.imm_data, 0x99);
	assert_int_equal(wc.pkey_index, 0);
	assert_memory_equal(b->mem + LOCAL, zero, 20); /* IPv4: zeroes, then its header */
	assert_int_equal(b->mem[LOCAL + 20], 0x45);
	assert_memory_equal(b->mem + LOCAL + 32, b->peer.raw + 12, 4);
	assert_int_equal(b->mem[LOCAL + 40], 0x5a);
	assert_int_equal(b->mem[LOCAL + 238], 0x5a);
	assert_int_not_equal(b->mem[LOCAL + 239], 0x5a);
}

static void drops(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	b->h.hca.mtu = b->h.hca.ud_mtu = 1024;
	i = bed_pkt(b, RXE_OP_SEND_ONLY, 0);
	bed_inject(b, &i, NULL, 8);
	assert_int_equal(bed_count(b, RXE_HW_DROP_NO_RECV), 1);
	bed_post_recv(b, 1, LOCAL, 48);
	bed_inject(b, &i, NULL, 9); /* 40 + 9 > 48: the WQE stays */
	assert_int_equal(bed_count(b, RXE_HW_DROP_LENGTH), 1);
	bed_inject(b, &i, NULL, 1028); /* above the port's MTU */
	assert_int_equal(bed_count(b, RXE_HW_DROP_LENGTH), 2);
	i.qkey++;
	bed_inject(b, &i, NULL, 8);
	assert_int_equal(bed_count(b, RXE_HW_DROP_QKEY), 1);
	i.qkey--;
	i.pkey = 0x1234;
	bed_inject(b, &i, NULL, 8);
	assert_int_equal(bed_count(b, RXE_HW_DROP_PKEY), 1);
	i.pkey = 0x7fff; /* a limited member may talk to a full one */
	bed_inject(b, &i, NULL, 8);
	bed_wc(&b->rcq, 1, 0);
	bed_nothing_sent(b);
}

static void send_datagram(void **state)
{
	struct bed_sent *s;
	struct sim_wr wr;
	struct bed *b = *state;

	wr = bed_wr(b, IB_UVERBS_WR_SEND_WITH_IMM, 1, 1000);
	wr.imm = 0x5566;
	bed_post(b, &wr);
	s = bed_sent(b, RXE_OP_SEND_ONLY_IMM);
	assert_int_equal(s->info.qpn, BED_PEER_QPN);
	assert_int_equal(s->info.src_qpn, BED_QPN);
	assert_int_equal(s->info.qkey, BED_QKEY);
	assert_int_equal(s->len, 1000);
	assert_false(s->info.ack_req);
	assert_memory_equal(s->payload, b->mem + 1, 1000);
	bed_wc(&b->scq, 1, 0);
	wr.remote_qkey = 0x80000000; /* the QP's own is meant */
	bed_post(b, &wr);
	assert_int_equal(bed_sent(b, RXE_OP_SEND_ONLY_IMM)->info.qkey, BED_QKEY);
}

/* C10-93.1.1: too long is completed and never sent. */
static void oversize(void **state)
{
	struct sim_wr wr;
	struct bed *b = *state;

	b->h.hca.ud_mtu = 512;
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 1, 513);
	bed_post(b, &wr);
	bed_nothing_sent(b);
	bed_wc(&b->scq, 1, 0);
	wr = bed_wr(b, IB_UVERBS_WR_SEND, 2, 512);
	bed_post(b, &wr);
	bed_sent(b, RXE_OP_SEND_ONLY);
	bed_wc(&b->scq, 2, 0);
}

static void bad_handles(void **state)
{
	uint32_t foreign;
	struct rxe_address av = {.hop_limit = 1};
	struct sim_wr wr;
	struct bed b;
	void *route;

	(void)state;
	for (int i = 0; i < 3; i++) {
		bed_init(&b, &bed_ud);
		assert_int_equal(rxe_ah_create(&b.h.hca, 2, &av, &foreign), 0);
		wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
		wr.ah_num = i == 0 ? 0 : i == 1 ? 0x7fffffff : foreign;
		bed_post(&b, &wr);
		bed_nothing_sent(&b);
		bed_wc(&b.scq, 1, RXE_WC_LOC_QP_OP_ERR);
		assert_int_equal(rxe_ah_destroy(&b.h.hca, foreign, &route), 0);
		bed_fini(&b);
	}
}

static struct rxe_address sent_along;

static void note_address(struct sim_host *h, const uint8_t *bytes, uint32_t len,
			 const struct rxe_pkt *pkt)
{
	(void)h;
	(void)bytes;
	(void)len;
	sent_along = *pkt->addr;
}

/* The path is the AH's: a client that writes another into its WQE changes nothing. */
static void path_in_the_wqe(void **state)
{
	struct rxe_send_wqe *wqe;
	struct sim_wr wr;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_ud);
	b.h.tx = note_address;
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
	wqe = (void *)b.qp.sq.buf->data; /* the first element */
	assert_true(sim_post_send(&b.qp, &wr));
	assert_int_equal(wqe->wr.wr_id, wr.wr_id);
	memset(&wqe->wr.wr.ud.av, 0x99, sizeof(wqe->wr.wr.ud.av));
	rxe_qp_doorbell(b.qp.qp);
	bed_run(&b);
	bed_wc(&b.scq, 1, 0);
	assert_memory_equal(&sent_along.sip, &b.h.ip, sizeof(b.h.ip));
	assert_memory_equal(&sent_along.dip, &b.peer, sizeof(b.peer));
	assert_int_equal(sent_along.sgid_index, 0);
	bed_fini(&b);
}

/* The AH goes while the payload is fetched: nothing is sent along a dead route. */
static void handle_destroyed_meanwhile(void **state)
{
	struct bed_options o = bed_ud;
	struct rxe_address av = {.hop_limit = 1};
	struct sim_wr wr;
	struct bed b;
	uint32_t ah;
	void *route;

	(void)state;
	o.deferred = true;
	bed_init(&b, &o);
	assert_int_equal(rxe_ah_create(&b.h.hca, 1, &av, &ah), 0);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
	wr.ah_num = ah;
	bed_post(&b, &wr);
	assert_int_equal(rxe_ah_destroy(&b.h.hca, ah, &route), 0);
	bed_copies(&b);
	bed_nothing_sent(&b);
	bed_wc(&b.scq, 1, 0);
	bed_fini(&b);
}

static void qp1(void **state)
{
	struct bed_options o = {.type = RXE_QPT_GSI};
	struct rxe_pktinfo i;
	struct sim_wr wr;
	struct bed b;

	(void)state;
	bed_init(&b, &o);
	bed_post_recv(&b, 1, LOCAL, 296);
	i = bed_pkt(&b, RXE_OP_SEND_ONLY, 0);
	bed_inject(&b, &i, NULL, 256);
	assert_int_equal(bed_wc(&b.rcq, 1, 0).byte_len, 296);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 256);
	bed_post(&b, &wr);
	assert_int_equal(bed_sent(&b, RXE_OP_SEND_ONLY)->info.src_qpn, RXE_GSI_QPN);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST_WITH(receive_with_grh, &bed_ud),
		BED_TEST_WITH(drops, &bed_ud),
		BED_TEST_WITH(send_datagram, &bed_ud),
		BED_TEST_WITH(oversize, &bed_ud),
		cmocka_unit_test(bad_handles),
		cmocka_unit_test(path_in_the_wqe),
		cmocka_unit_test(handle_destroyed_meanwhile),
		cmocka_unit_test(qp1),
	};

	return cmocka_run_group_tests_name("transport_datagram", tests, NULL, NULL);
}
