/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* engine.c: dispatch, source checks, turns, counters; and junk from the wire. */
#include <stdlib.h>
#include <string.h>
#include "sim/bed.h"
#include "transport/engine.h"

static void who_may_talk(void **state)
{
	struct rxe_pktinfo i;
	struct bed *b = *state;

	i = bed_pkt(b, RXE_OP_WRITE_ONLY, BED_RQ_PSN);
	i.ack_req = true;
	b->peer = sim_ip(0x0a000003);
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_count(b, RXE_HW_DROP_PEER), 1);
	b->peer = sim_ip(0x0a000002);
	i.pkey = 0x0fff;
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_count(b, RXE_HW_DROP_PKEY), 1);
	i.pkey = RXE_DEFAULT_PKEY;
	i.qpn = 0x12;
	bed_inject(b, &i, NULL, 0);
	i.qpn = RXE_MULTICAST_QPN;
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_count(b, RXE_HW_DROP_NO_QP), 2);
	i.qpn = BED_QPN;
	i.opcode |= RXE_CLASS_UC; /* another service */
	bed_inject(b, &i, NULL, 0);
	assert_int_equal(bed_count(b, RXE_HW_DROP_STATE), 1);
	bed_nothing_sent(b);
	i.opcode &= ~RXE_CLASS_UC;
	bed_inject(b, &i, NULL, 0);
	bed_sent(b, RXE_OP_ACK);
	assert_int_equal(bed_count(b, RXE_HW_RCVD_PKTS), 6);
	assert_int_equal(bed_count(b, RXE_HW_SENT_PKTS), 1);
}

/* Only the peer's address, and only by the address that the QP is connected by. */
static void addresses_of_a_connection(void **state)
{
	union rxe_ip stranger = sim_ip(0x0a000003), other = sim_ip(0x0a000063);
	uint8_t bytes[RXE_MAX_IB_HDR];
	struct rxe_pktinfo i;
	struct sim_wr wr;
	struct bed b;

	(void)state;
	bed_init(&b, &bed_rc);
	wr = bed_wr(&b, IB_UVERBS_WR_SEND, 1, 8);
	bed_post(&b, &wr);
	bed_sent(&b, RXE_OP_SEND_ONLY);
	i = bed_pkt(&b, RXE_OP_ACK, BED_SQ_PSN);
	rxe_pkt_build(bytes, &i, 0);
	sim_host_rx(&b.h, &stranger, bytes, i.op->hdr_len);
	sim_host_rx_to(&b.h, &b.peer, &other, false, bytes, i.op->hdr_len);
	sim_host_rx_to(&b.h, &b.h.ip, &b.peer, false, bytes,
		       i.op->hdr_len); /* the wrong way round */
	bed_run(&b);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_PEER), 3);
	bed_no_wc(&b.scq);
	sim_host_rx(&b.h, &b.peer, bytes, i.op->hdr_len);
	bed_run(&b);
	bed_wc(&b.scq, 1, 0);
	bed_fini(&b);
}

static void states_that_do_not_receive(void **state)
{
	struct bed_options o = bed_rc;
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	o.state = RXE_QPS_INIT;
	bed_init(&b, &o);
	i = bed_pkt(&b, RXE_OP_WRITE_ONLY, BED_RQ_PSN);
	bed_inject(&b, &i, NULL, 0);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_STATE), 1);
	bed_fini(&b);
}

/* Many QPs with work: each has its turn before any has its second. */
static void round_robin(void **state)
{
	enum { N = 8 };
	struct sim_qp_caps caps = {.type = RXE_QPT_RC,
				   .pdn = 1,
				   .send_wr = 31,
				   .recv_wr = 1,
				   .send_sge = 1,
				   .recv_sge = 1};
	struct sim_path path = {.dip = sim_ip(0x0a000002), .path_mtu = 1, .timeout = 14};
	struct sim_qp qp[N];
	int seen[N] = {0};
	struct sim_wr wr;
	struct bed *b = *state;

	rxe_engine_params(b->h.engine)->fast_req = 0;
	for (int i = 0; i < N; i++) {
		caps.qpn = 0x100 + i;
		path.dest_qpn = 0x200 + i;
		sim_qp_init(&qp[i], &b->h, &caps, &b->scq, &b->rcq);
		assert_int_equal(sim_qp_to(&qp[i], &path, RXE_QPS_RTS), 0);
		wr = bed_wr(b, IB_UVERBS_WR_SEND, 0, 256 * 64);
		assert_true(sim_post_send(&qp[i], &wr));
		rxe_qp_doorbell(qp[i].qp);
	}
	while (b->nr_sent < 16 * N)
		assert_true(rxe_engine_run(b->h.engine, 8));
	for (unsigned int k = 0; k < 16 * N; k++)
		seen[b->sent[k].info.qpn - 0x200]++;
	for (int i = 0; i < N; i++)
		assert_in_range(seen[i], 8, 24);
	for (int i = 0; i < N; i++) {
		sim_qp_destroy(&qp[i]);
		sim_qp_fini(&qp[i]);
	}
}

static void many_qps_are_found(void **state)
{
	enum { N = 1000 };
	static struct rxe_qp *qp[N];
	static struct sim_qp owner[N];
	struct bed *b = *state;

	for (int i = 0; i < N; i++) {
		struct rxe_qp_init init = {
			.type = RXE_QPT_UD, .qpn = 1000 + i * 3, .owner = &owner[i]};

		assert_int_equal(rxe_qp_create(b->h.engine, &b->h.hca, &init, &qp[i]), 0);
		b->h.live_qps++;
	}
	for (int i = 0; i < N; i++)
		assert_ptr_equal(rxe_engine_find_qp(b->h.engine, &b->h.hca, 1000 + i * 3), qp[i]);
	assert_null(rxe_engine_find_qp(b->h.engine, &b->h.hca, 1001));
	for (int i = 0; i < N; i++)
		rxe_qp_destroy(qp[i]);
	assert_null(rxe_engine_find_qp(b->h.engine, &b->h.hca, 1000));
}

static void counters_per_device(void **state)
{
	struct rxe_hca other = {0};
	struct bed *b = *state;

	assert_int_equal(rxe_engine_counters(b->h.engine, &other)[RXE_HW_RCVD_PKTS], 0);
	bed_ack(b, 0, 0);
	assert_int_equal(bed_count(b, RXE_HW_RCVD_PKTS), 1);
	rxe_engine_forget_hca(b->h.engine, &b->h.hca);
	assert_int_equal(bed_count(b, RXE_HW_RCVD_PKTS), 0);
}

/* Devices without counters of their own share some, but never two engines. */
static void counters_of_too_many_devices(void **state)
{
	static struct rxe_hca many[RXE_MAX_HCAS + 1];
	struct sim_host other;
	struct bed *b = *state;
	struct rxe_stats *mine = NULL, *others = NULL;

	sim_host_init(&other, 0x0a000009, 1500);
	for (int i = 0; i <= RXE_MAX_HCAS; i++) {
		mine = rxe_engine_stats(b->h.engine, &many[i]);
		others = rxe_engine_stats(other.engine, &many[i]);
		assert_non_null(mine);
		assert_ptr_not_equal(mine, others);
	}
	rxe_stat_add(mine, RXE_HW_RCVD_PKTS, 1);
	assert_int_equal(others->count[RXE_HW_RCVD_PKTS], 0);
	assert_int_equal(rxe_engine_counters(b->h.engine, &many[RXE_MAX_HCAS])[RXE_HW_RCVD_PKTS],
			 0);
	for (int i = 0; i <= RXE_MAX_HCAS; i++)
		rxe_engine_forget_hca(b->h.engine, &many[i]);
	sim_host_fini(&other);
}

/* Bytes that a peer could send, by the hundred thousand, to every kind of QP. */
static void junk(void **state)
{
	static const enum rxe_qp_type types[] = {RXE_QPT_RC, RXE_QPT_UC, RXE_QPT_UD};
	uint64_t x = 0x1234567;

	(void)state;
	for (int t = 0; t < 3; t++) {
		struct bed_options o = bed_rc;
		struct bed b;

		o.type = types[t];
		bed_init(&b, &o);
		for (int n = 0; n < 60000; n++) {
			uint8_t bytes[400];
			uint32_t len;

			for (size_t i = 0; i < sizeof(bytes); i++) {
				x ^= x << 13, x ^= x >> 7, x ^= x << 17;
				bytes[i] = x >> 32;
			}
			len = x % sizeof(bytes);
			if (x >> 20 & 7) { /* mostly near the truth */
				struct rxe_pktinfo i = bed_pkt(&b, 0, 0);

				i.op = rxe_opcode_info(0);
				rxe_pkt_build(bytes, &i, x >> 24 & 3);
				bytes[0] = (x >> 30 & 0x1f) | (t == 0	? 0
							       : t == 1 ? RXE_CLASS_UC
									: RXE_CLASS_UD);
				bytes[8] = x >> 36;
				bytes[9] = bytes[10] = 0xff;
				bytes[11] = 0xf8 + (x >> 44 & 7);
				memcpy(bytes + 12, &(uint64_t){0}, 8);
				len &= ~3u;
			}
			sim_host_rx(&b.h, &b.peer, bytes, len);
			if (!(n & 63)) {
				struct rxe_sge sge = {(uintptr_t)b.mem + 4096, 300, b.key};

				sim_post_recv(&b.qp, n, &sge, 1);
				bed_advance(&b, 1000000);
			}
			if (rxe_qp_get_state(b.qp.qp) == RXE_QPS_ERR || b.nr_sent > 400) {
				bed_fini(&b);
				bed_init(&b, &o);
			}
		}
		bed_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_a_connection),
		BED_TEST(who_may_talk),
		cmocka_unit_test(states_that_do_not_receive),
		BED_TEST(round_robin),
		BED_TEST(many_qps_are_found),
		BED_TEST(counters_per_device),
		BED_TEST(counters_of_too_many_devices),
		cmocka_unit_test(junk),
	};

	return cmocka_run_group_tests_name("transport_engine", tests, NULL, NULL);
}
