/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QP1: which datagrams reach its owner, and what it sends. */
#include <stdlib.h>
#include <string.h>
#include "sim/bed.h"

static uint8_t got[RXE_GSI_MAX];
static unsigned int got_nr;
static uint32_t got_len;

static void gsi(struct sim_host *h, const struct rxe_pkt *pkt)
{
	uint32_t at = 0;

	(void)h;
	got_nr++;
	got_len = pkt->payload_len;
	for (uint32_t i = 0; i < pkt->nsegs; at += (uint32_t)pkt->seg[i++].iov_len)
		memcpy(got + at, pkt->seg[i].iov_base, pkt->seg[i].iov_len);
}

static struct rxe_pktinfo to_qp1(struct bed *b)
{
	struct rxe_pktinfo i = bed_pkt(b, RXE_OP_SEND_ONLY, 0);

	i.qpn = i.src_qpn = RXE_GSI_QPN;
	i.qkey = RXE_GSI_QKEY;
	return i;
}

static void start(struct bed *b)
{
	static const struct bed_options ud = {.type = RXE_QPT_UD};

	bed_init(b, &ud);
	b->h.gsi = gsi;
	got_nr = 0;
}

static void receives(void **state)
{
	uint8_t mad[RXE_GSI_MAX];
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	start(&b);
	for (int n = 0; n < RXE_GSI_MAX; n++)
		mad[n] = (uint8_t)n;
	i = to_qp1(&b);
	bed_inject(&b, &i, mad, sizeof(mad));
	assert_int_equal(got_nr, 1);
	assert_int_equal(got_len, sizeof(mad));
	assert_memory_equal(got, mad, sizeof(mad));
	bed_fini(&b);
}

static void drops(void **state)
{
	struct rxe_pktinfo i;
	struct bed b;

	(void)state;
	start(&b);
	i = to_qp1(&b);
	i.qkey = 0x11111111;
	bed_inject(&b, &i, NULL, 256);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_QKEY), 1);
	i = to_qp1(&b);
	i.pkey = 0x1234;
	bed_inject(&b, &i, NULL, 256);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_PKEY), 1);
	i = to_qp1(&b);
	bed_inject(&b, &i, NULL, 260);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_LENGTH), 1);
	i = bed_pkt(&b, RXE_OP_SEND_ONLY_IMM, 0);
	i.qpn = RXE_GSI_QPN;
	bed_inject(&b, &i, NULL, 256);
	assert_int_equal(bed_count(&b, RXE_HW_DROP_STATE), 1);
	assert_int_equal(got_nr, 0);
	bed_fini(&b);
}

static void sends(void **state)
{
	struct rxe_address addr = {0};
	uint8_t mad[RXE_GSI_MAX];
	struct bed_sent *s;
	struct bed b;

	(void)state;
	start(&b);
	memset(mad, 0xa5, sizeof(mad));
	addr.sip = b.h.ip;
	addr.dip = b.peer;
	for (uint32_t psn = 0; psn < 2; psn++) {
		assert_int_equal(rxe_gsi_send(b.h.engine, &b.h.hca, &addr, mad, sizeof(mad)), 0);
		s = bed_sent(&b, RXE_OP_SEND_ONLY);
		assert_int_equal(s->info.qpn, RXE_GSI_QPN);
		assert_int_equal(s->info.src_qpn, RXE_GSI_QPN);
		assert_int_equal(s->info.qkey, RXE_GSI_QKEY);
		assert_int_equal(s->info.pkey, b.h.hca.pkey);
		assert_int_equal(s->info.psn, psn);
		assert_int_equal(s->len, sizeof(mad));
		assert_memory_equal(s->payload, mad, sizeof(mad));
	}
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives),
		cmocka_unit_test(drops),
		cmocka_unit_test(sends),
	};

	return cmocka_run_group_tests_name("transport_gsi", tests, NULL, NULL);
}
