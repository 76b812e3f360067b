/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The traffic of the Linux driver (tests/pcaps) through the parser, and built
 * again: every header byte the same.
 */
#include <string.h>
#include "bpf/pcap.h"
#include "sim/bed.h"

struct tally {
	unsigned int packets, opcodes[256];
};

static struct rxe_pkt as_pkt(struct frame *f)
{
	uint32_t len = f->icrc - f->bth;
	struct rxe_pkt p = {
		.hdr = f->bytes + f->bth,
		.hdr_len = len < RXE_MAX_IB_HDR ? len : RXE_MAX_IB_HDR,
		.ib_len = len,
	};

	p.nsegs = len > p.hdr_len;
	p.seg[0] = (struct iovec){p.hdr + p.hdr_len, len - p.hdr_len};
	return p;
}

/* The fields that a sender need not set alike: FECN, BECN, reserved bits. */
static void clear_free_bits(uint8_t *hdr)
{
	hdr[4] = 0;
	hdr[8] &= 0x80;
}

static void one_frame(void *arg, const char *file, struct frame *f, bool roce)
{
	uint8_t want[RXE_MAX_IB_HDR], got[RXE_MAX_IB_HDR];
	struct tally *t = arg;
	struct rxe_pktinfo info;
	struct rxe_pkt p;

	if (!roce)
		return;
	p = as_pkt(f);
	if (rxe_pkt_parse(&p, &info))
		fail_msg("%s: opcode 0x%02x is refused", file, f->bytes[f->bth]);
	t->packets++;
	t->opcodes[info.opcode]++;
	memcpy(want, p.hdr, p.hdr_len);
	rxe_pkt_build(got, &info, p.pad);
	clear_free_bits(want);
	clear_free_bits(got);
	if (memcmp(want, got, p.hdr_len))
		fail_msg("%s: %s is not built alike", file, info.op->name);
}

static void kernel_traffic(void **state)
{
	/* what must have been among it, so that the test is not empty */
	static const uint8_t ops[] = {0x00, 0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0c, 0x0d,
				      0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x26, 0x64};
	static struct tally t;

	(void)state;
	pcap_for_each(one_frame, &t);
	assert_true(t.packets > 500);
	for (size_t i = 0; i < sizeof(ops); i++)
		if (!t.opcodes[ops[i]])
			fail_msg("no packet with opcode 0x%02x in tests/pcaps", ops[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_traffic)};

	return cmocka_run_group_tests_name("transport_pcaps", tests, NULL, NULL);
}
