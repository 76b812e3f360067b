// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every RoCEv2 packet that the kernel's driver sent in tests/pcaps is steered
 * with a good ICRC once its destination is set up, and dropped with a bad one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "frames.h"
#include "harness.h"
#include "pcap.h"

struct totals {
	struct harness *h;
	unsigned int roce, other;
};

/* The source (0) or destination (1) address. */
static void address_of(const struct frame *f, int which, uint8_t ip[16])
{
	memset(ip, 0, 16);
	if (f->v6) {
		memcpy(ip, f->bytes + f->l3 + 8 + which * 16, 16);
		return;
	}
	ip[10] = ip[11] = 0xff;
	memcpy(ip + 12, f->bytes + f->l3 + 12 + which * 4, 4);
}

static void set_up_destination(struct harness *h, const struct frame *f)
{
	struct rxe_bpf_config cfg = harness_default_config;
	const uint8_t *bth = f->bytes + f->bth;
	uint32_t qpn = bth[5] << 16 | get16(bth + 6);
	bool multicast = f->bytes[0] & 1;
	uint8_t ip[16];

	memcpy(cfg.mac, f->bytes, 6);
	harness_set_config(h, &cfg);
	address_of(f, 0, ip);
	harness_set_addr(h, ip, 0); /* it was ours when packets went the other way */
	address_of(f, 1, ip);
	harness_set_addr(h, ip, multicast ? RXE_ADDR_MULTICAST : RXE_ADDR_UNICAST);
	if (qpn != RXE_GSI_QPN && qpn != RXE_MULTICAST_QPN)
		harness_set_qp(h, qpn, RXE_OP_CLASS(bth[0]), RXE_BPF_QP_RECEIVES);
}

static void replay(void *arg, const char *file, struct frame *f, bool roce)
{
	struct totals *t = arg;
	struct run r;

	if (!roce) {
		r = harness_run(t->h, f->bytes, f->len, 0);
		if (r.counter != RXE_CNT_PASS_OTHER && r.counter != RXE_CNT_PASS_OPTIONS)
			fail_msg("%s: no RoCEv2, but %s", file, harness_counter_name(r.counter));
		t->other++;
		return;
	}
	set_up_destination(t->h, f);
	r = harness_run(t->h, f->bytes, f->len, 0);
	if (r.counter != RXE_CNT_STEERED || r.meta.flags != RXE_META_ICRC_CHECKED)
		fail_msg("%s: packet %u: %s", file, t->roce, harness_counter_name(r.counter));
	f->bytes[f->bth + 12 + random() % (f->icrc - f->bth - 8)] ^= 1 << random() % 8;
	r = harness_run(t->h, f->bytes, f->len, 0);
	if (r.counter != RXE_CNT_DROP_ICRC)
		fail_msg("%s: packet %u damaged: %s", file, t->roce,
			 harness_counter_name(r.counter));
	t->roce++;
}

static void every_packet(void **state)
{
	struct totals t = {.h = *state};

	pcap_for_each(replay, &t);
	print_message("%u RoCEv2 packets, %u others\n", t.roce, t.other);
	assert_true(t.roce > 3000);
	assert_true(t.other > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packet),
	};

	return cmocka_run_group_tests_name("xdp_pcaps", tests, harness_setup, harness_teardown);
}
