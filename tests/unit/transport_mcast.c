/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mcast.c: who takes what is sent to a group, limits, blocked self loopback. */
#include <errno.h>
#include <string.h>
#include "sim/bed.h"

#define LOCAL	4096
#define SLOT	512
#define NR_MORE 3

/* The bed's QP and more UD QPs beside it, each with a receive posted. */
struct party {
	struct bed b;
	struct sim_qp more[NR_MORE];
	union rxe_ip group;
};

static void party_start(struct party *p, bool deferred)
{
	struct bed_options o = {.type = RXE_QPT_UD, .deferred = deferred};
	struct sim_path path = {.qkey = BED_QKEY, .path_mtu = 1};
	struct sim_qp_caps caps = {.type = RXE_QPT_UD,
				   .pdn = 1,
				   .send_wr = 3,
				   .recv_wr = 3,
				   .send_sge = 1,
				   .recv_sge = 1};

	bed_init(&p->b, &o);
	p->group = sim_ip(0xe0010203); /* 224.1.2.3 */
	bed_post_recv(&p->b, 1, LOCAL, SLOT);
	for (int i = 0; i < NR_MORE; i++) {
		struct rxe_sge sge = {(uintptr_t)p->b.mem + LOCAL + (i + 1) * SLOT, SLOT, p->b.key};

		caps.qpn = 0x100 + i;
		caps.block_self_lb = i == 2;
		sim_qp_init(&p->more[i], &p->b.h, &caps, &p->b.scq, &p->b.rcq);
		assert_int_equal(sim_qp_to(&p->more[i], &path, RXE_QPS_RTS), 0);
		assert_true(sim_post_recv(&p->more[i], 10 + i, &sge, 1));
	}
}

static void party_end(struct party *p)
{
	uint32_t groups, attached;

	rxe_mcast_count(&p->b.h.hca, &groups, &attached);
	assert_int_equal(groups, 0);
	assert_int_equal(attached, 0);
	for (int i = 0; i < NR_MORE; i++) {
		sim_qp_destroy(&p->more[i]);
		sim_qp_fini(&p->more[i]);
	}
	bed_fini(&p->b);
}

static int attach(struct party *p, struct rxe_qp *qp)
{
	bool first;

	return rxe_mcast_attach(&p->b.h.hca, &p->group, qp, &first);
}

static int detach(struct party *p, struct rxe_qp *qp)
{
	bool last;

	return rxe_mcast_detach(&p->b.h.hca, &p->group, qp, &last);
}

/* A datagram of src_qpn to the group, 100 bytes of 0x5a. */
static void arrive(struct party *p, uint32_t qpn, uint32_t src_qpn, uint32_t qkey, bool loopback)
{
	struct rxe_pktinfo i = bed_pkt(&p->b, RXE_OP_SEND_ONLY, 0);
	uint8_t bytes[RXE_MAX_IB_HDR + 100];

	i.qpn = qpn;
	i.src_qpn = src_qpn;
	i.qkey = qkey;
	rxe_pkt_build(bytes, &i, 0);
	memset(bytes + i.op->hdr_len, 0x5a, 100);
	sim_host_rx_to(&p->b.h, &p->b.peer, &p->group, loopback, bytes, i.op->hdr_len + 100);
	bed_run(&p->b);
}

/* The completions there are: bit 0 for the bed's QP, bit 1 + i for more[i]. */
static unsigned int received(struct party *p)
{
	struct ib_uverbs_wc wc;
	unsigned int who = 0;

	while (sim_cq_poll(&p->b.rcq, &wc)) {
		unsigned int bit = wc.wr_id == 1 ? 0 : (unsigned int)wc.wr_id - 9;
		const uint8_t *at = p->b.mem + LOCAL + bit * SLOT;

		assert_int_equal(wc.status, 0);
		assert_int_equal(wc.byte_len, 140);
		assert_int_equal(wc.wc_flags, RXE_WC_GRH);
		assert_memory_equal(at + 36, p->group.raw + 12, 4); /* GRH: the group */
		assert_int_equal(at[40], 0x5a);
		assert_int_equal(at[139], 0x5a);
		assert_false(who & 1u << bit);
		who |= 1u << bit;
	}
	return who;
}

/* The bed's QP, more[0] and more[1]. */
static void attach_three(struct party *p)
{
	assert_int_equal(attach(p, p->b.qp.qp), 0);
	assert_int_equal(attach(p, p->more[0].qp), 0);
	assert_int_equal(attach(p, p->more[1].qp), 0);
}

static void detach_three(struct party *p)
{
	assert_int_equal(detach(p, p->b.qp.qp), 0);
	assert_int_equal(detach(p, p->more[0].qp), 0);
	assert_int_equal(detach(p, p->more[1].qp), 0);
}

static void all(void **state)
{
	struct party p;

	(void)state;
	party_start(&p, false);
	attach_three(&p);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false);
	assert_int_equal(received(&p), 0x7);
	assert_int_equal(p.b.h.copied, 2); /* the third had the packet itself */
	assert_int_equal(bed_count(&p.b, RXE_HW_RCVD_PKTS), 1);
	detach_three(&p);
	party_end(&p);
}

/* Each QP's payload lives until its own copy is done. */
static void payload_lifetime(void **state)
{
	struct party p;

	(void)state;
	party_start(&p, true);
	attach_three(&p);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false);
	assert_int_equal(p.b.h.live_pkts, 3);
	assert_int_equal(received(&p), 0);
	detach_three(&p);
	bed_copies(&p.b);
	assert_int_equal(received(&p), 0x7);
	assert_int_equal(p.b.h.live_pkts, 0);
	party_end(&p);
}

/* Each QP has its own say: Q_Key, state, room. */
static void each_decides(void **state)
{
	struct rxe_qp_attr a = {.qkey = 0x1234};
	struct party p;

	(void)state;
	party_start(&p, false);
	attach_three(&p);
	assert_int_equal(rxe_qp_modify(p.more[0].qp, &a, RXE_QP_QKEY), 0);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false);
	assert_int_equal(received(&p), 0x5);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_QKEY), 1);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, 0x1234, false);
	assert_int_equal(received(&p), 0x2);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_QKEY), 3);
	assert_int_equal(sim_qp_set_state(&p.more[0], RXE_QPS_RESET), 0);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_STATE), 1);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_NO_RECV), 2);
	detach_three(&p);
	party_end(&p);
}

/* PROTOCOL 28: the sender hears itself unless it asked not to; others do not care. */
static void self_loopback(void **state)
{
	struct party p;

	(void)state;
	party_start(&p, false);
	assert_int_equal(attach(&p, p.more[0].qp), 0);
	assert_int_equal(attach(&p, p.more[2].qp), 0); /* which blocks its own */
	arrive(&p, RXE_MULTICAST_QPN, 0x102, BED_QKEY, true);
	assert_int_equal(received(&p), 0x2);
	/* A remote QP of that number is not itself. */
	arrive(&p, RXE_MULTICAST_QPN, 0x102, BED_QKEY, false);
	assert_int_equal(received(&p), 0x8);
	assert_int_equal(detach(&p, p.more[0].qp), 0);
	/* Nobody else is there: no drop, the packet had its receiver. */
	arrive(&p, RXE_MULTICAST_QPN, 0x102, BED_QKEY, true);
	assert_int_equal(received(&p), 0);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_NO_QP), 0);
	assert_int_equal(detach(&p, p.more[2].qp), 0);
	party_end(&p);
}

static void not_for_the_group(void **state)
{
	struct party p;

	(void)state;
	party_start(&p, false);
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false); /* nobody is in it */
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_NO_QP), 1);
	attach_three(&p);
	p.group.raw[15]++; /* another one */
	arrive(&p, RXE_MULTICAST_QPN, 0x77, BED_QKEY, false);
	assert_int_equal(bed_count(&p.b, RXE_HW_DROP_NO_QP), 2);
	p.group.raw[15]--;
	assert_int_equal(received(&p), 0);
	detach_three(&p);
	party_end(&p);
}

/* What is sent to a group that QPs of this device are in comes back to them. */
static bool sent_loops;

static void note_loops(struct sim_host *h, const uint8_t *bytes, uint32_t len,
		       const struct rxe_pkt *pkt)
{
	(void)h;
	(void)bytes;
	(void)len;
	sent_loops = pkt->loops;
}

static void sending(void **state)
{
	struct rxe_address av = {.hop_limit = 1};
	struct sim_wr wr;
	struct party p;
	uint32_t ah;
	void *route;

	(void)state;
	party_start(&p, false);
	p.b.h.tx = note_loops;
	av.dip = p.group;
	assert_int_equal(rxe_ah_create(&p.b.h.hca, 1, &av, &ah), 0);
	wr = bed_wr(&p.b, IB_UVERBS_WR_SEND, 1, 8);
	wr.remote_qpn = RXE_MULTICAST_QPN;
	wr.ah_num = ah;
	bed_post(&p.b, &wr);
	assert_false(sent_loops); /* nobody here is in it */
	assert_int_equal(attach(&p, p.more[0].qp), 0);
	bed_post(&p.b, &wr);
	assert_true(sent_loops);
	wr.remote_qpn = 0x100; /* a QP by its number, though along a group's address */
	bed_post(&p.b, &wr);
	assert_false(sent_loops);
	assert_int_equal(detach(&p, p.more[0].qp), 0);
	assert_int_equal(rxe_ah_destroy(&p.b.h.hca, ah, &route), 0);
	party_end(&p);
}

/* sim_limits: 4 groups, 3 QPs in one, 6 in all. */
static void limits(void **state)
{
	static const uint8_t want[] = {1, 1, 1, 1};
	struct party p;
	bool first, last;

	(void)state;
	party_start(&p, false);
	for (unsigned int i = 0; i < sizeof(want); i++, p.group.raw[15]++) {
		assert_int_equal(rxe_mcast_attach(&p.b.h.hca, &p.group, p.b.qp.qp, &first), 0);
		assert_true(first);
		assert_int_equal(rxe_mcast_attach(&p.b.h.hca, &p.group, p.b.qp.qp, &first), 0);
		assert_false(first); /* it was in it: no error, nothing counted */
	}
	assert_int_equal(attach(&p, p.b.qp.qp), -ENOMEM); /* a fifth group */
	assert_int_equal(detach(&p, p.b.qp.qp), -EINVAL);
	p.group.raw[15]--;
	assert_int_equal(attach(&p, p.more[0].qp), 0);
	assert_int_equal(attach(&p, p.more[1].qp), 0);
	p.group.raw[15]--;
	assert_int_equal(attach(&p, p.more[0].qp), -ENOMEM); /* a seventh attachment */
	p.group.raw[15]++;
	for (int i = 0; i < 2; i++)
		assert_int_equal(detach(&p, p.more[i].qp), 0);
	p.group.raw[15] = 3;
	for (unsigned int i = 0; i < sizeof(want); i++, p.group.raw[15]++) {
		assert_int_equal(rxe_mcast_detach(&p.b.h.hca, &p.group, p.b.qp.qp, &last), 0);
		assert_true(last);
	}
	attach_three(&p);
	assert_int_equal(attach(&p, p.more[2].qp), -ENOMEM); /* a fourth in one group */
	detach_three(&p);
	p.b.h.hca.limits.max_mcast_grp = 0;
	assert_int_equal(attach(&p, p.b.qp.qp), -EINVAL);
	party_end(&p);
}

/* Groups that share a bucket's list come and go without harm to each other. */
static void many_groups(void **state)
{
	enum { N = 2000 };
	struct party p;
	bool first, last;

	(void)state;
	party_start(&p, false);
	p.b.h.hca.limits.max_mcast_grp = N;
	p.b.h.hca.limits.max_total_mcast_qp_attach = 2 * N;
	for (uint32_t i = 0; i < N; i++) {
		union rxe_ip g = sim_ip(0xe1000000 + i * 7);

		assert_int_equal(rxe_mcast_attach(&p.b.h.hca, &g, p.b.qp.qp, &first), 0);
		assert_int_equal(rxe_mcast_attach(&p.b.h.hca, &g, p.more[0].qp, &first), 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		union rxe_ip g = sim_ip(0xe1000000 + i * 7);

		assert_true(rxe_mcast_has_member(&p.b.h.hca, &g, p.b.h.engine));
		assert_int_equal(rxe_mcast_detach(&p.b.h.hca, &g, p.b.qp.qp, &last), 0);
		assert_false(last);
		assert_int_equal(rxe_mcast_detach(&p.b.h.hca, &g, p.more[0].qp, &last), 0);
		assert_true(last);
		assert_false(rxe_mcast_has_member(&p.b.h.hca, &g, NULL));
	}
	party_end(&p);
}

static void gids(void **state)
{
	union rxe_ip v4 = sim_ip(0xefffffff), v6 = {.raw = {0xff, 0x02, [15] = 1}};

	(void)state;
	assert_true(rxe_mcast_gid(&v4));
	assert_true(rxe_mcast_gid(&v6));
	v4 = sim_ip(0xf0000001);
	assert_false(rxe_mcast_gid(&v4));
	v4 = sim_ip(0xdf000001);
	assert_false(rxe_mcast_gid(&v4));
	v4 = sim_ip(0xe0000001);
	v4.raw[0] = 1; /* not v4-mapped */
	assert_false(rxe_mcast_gid(&v4));
	v6.raw[0] = 0xfe;
	assert_false(rxe_mcast_gid(&v6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all),
		cmocka_unit_test(payload_lifetime),
		cmocka_unit_test(each_decides),
		cmocka_unit_test(self_loopback),
		cmocka_unit_test(not_for_the_group),
		cmocka_unit_test(sending),
		cmocka_unit_test(limits),
		cmocka_unit_test(many_groups),
		cmocka_unit_test(gids),
	};

	return cmocka_run_group_tests_name("transport_mcast", tests, NULL, NULL);
}
