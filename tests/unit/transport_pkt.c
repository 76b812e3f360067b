/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* pkt.c: what is accepted, what is malformed (PROTOCOL 3), round trips. */
#include <string.h>
#include "sim/bed.h"

static struct rxe_pkt flat(uint8_t *bytes, uint32_t len)
{
	struct rxe_pkt p = {
		.hdr = bytes,
		.hdr_len = len < RXE_MAX_IB_HDR ? len : RXE_MAX_IB_HDR,
		.ib_len = len,
	};

	if (len > p.hdr_len) {
		p.nsegs = 1;
		p.seg[0] = (struct iovec){bytes + p.hdr_len, len - p.hdr_len};
	}
	return p;
}

static void headers_round_trip(void **state)
{
	(void)state;
	for (int op = 0; op < 256; op++) {
		const struct rxe_opcode_info *oi = rxe_opcode_info(op);
		uint32_t len = oi && oi->flags & RXE_F_PAYLOAD ? 61 : 0;
		uint8_t bytes[256] = {0};
		struct rxe_pktinfo in =
					   {
						   .op = oi,
						   .opcode = op,
						   .solicited = true,
						   .ack_req = true,
						   .pkey = 0x8001,
						   .qpn = 0xabcdef,
						   .psn = 0x123456,
						   .va = 0x1122334455667788,
						   .rkey = 0x99aabbcc,
						   .len = 0x7fffffff,
						   .swap_add = 1ull << 63 | 5,
						   .compare = 77,
						   .orig = ~0ull - 3,
						   .qkey = 0x80010000,
						   .src_qpn = 0xfedcba,
						   .syndrome = 0x1f,
						   .msn = 0x654321,
						   .imm = 0x01020304,
						   .inv_rkey = 0x55667788,
						   .flush_type = 0x3,
						   .flush_level = 1,
					   },
				   out;
		struct rxe_pkt p;

		if (!oi)
			continue;
		rxe_pkt_build(bytes, &in, rxe_pad(len));
		p = flat(bytes, oi->hdr_len + len + rxe_pad(len));
		assert_int_equal(rxe_pkt_parse(&p, &out), 0);
		assert_int_equal(p.payload_len, len);
		assert_int_equal(p.pad, rxe_pad(len));
		assert_int_equal(out.qpn, in.qpn);
		assert_int_equal(out.psn, in.psn);
		assert_true(out.solicited && out.ack_req);
		if (oi->flags & (RXE_F_RETH | RXE_F_ATOMICETH)) {
			assert_true(out.va == in.va);
			assert_int_equal(out.rkey, in.rkey);
		}
		if (oi->flags & RXE_F_ATOMICETH)
			assert_true(out.swap_add == in.swap_add && out.compare == in.compare);
		if (oi->flags & RXE_F_ATOMICACK)
			assert_true(out.orig == in.orig);
		if (oi->flags & RXE_F_AETH)
			assert_true(out.syndrome == in.syndrome && out.msn == in.msn);
		if (oi->flags & RXE_F_DETH)
			assert_true(out.qkey == in.qkey && out.src_qpn == in.src_qpn);
		if (oi->flags & RXE_F_IMM)
			assert_int_equal(out.imm, in.imm);
		if (oi->flags & RXE_F_IETH)
			assert_int_equal(out.inv_rkey, in.inv_rkey);
		if (oi->flags & RXE_F_FETH)
			assert_true(out.flush_type == 3 && out.flush_level == 1);
	}
}

/* The payload is where it was, however hdr and seg[] divide the packet. */
static void boundary_moves(void **state)
{
	uint8_t bytes[128], apart[128];
	struct rxe_pktinfo in = {.op = rxe_opcode_info(RXE_OP_SEND_MIDDLE),
				 .opcode = RXE_OP_SEND_MIDDLE},
			   out;
	struct rxe_pkt p;

	(void)state;
	for (int i = 0; i < 128; i++)
		bytes[i] = i;
	rxe_pkt_build(bytes, &in, 0);
	p = flat(bytes, 128);
	assert_int_equal(rxe_pkt_parse(&p, &out), 0);
	assert_int_equal(p.nsegs, 1);
	assert_ptr_equal(p.seg[0].iov_base, bytes + 12);
	assert_int_equal(p.seg[0].iov_len, 116);

	memcpy(apart, bytes + RXE_MAX_IB_HDR, 128 - RXE_MAX_IB_HDR);
	p = flat(bytes, 128);
	p.seg[0].iov_base = apart;
	assert_int_equal(rxe_pkt_parse(&p, &out), 0);
	assert_int_equal(p.nsegs, 2);
	assert_ptr_equal(p.seg[0].iov_base, bytes + 12);
	assert_int_equal(p.seg[0].iov_len, RXE_MAX_IB_HDR - 12);
	assert_ptr_equal(p.seg[1].iov_base, apart);
}

static int parse_bytes(const uint8_t *from, uint32_t len)
{
	uint8_t bytes[512] = {0};
	struct rxe_pktinfo out;
	struct rxe_pkt p;

	memcpy(bytes, from, len < sizeof(bytes) ? len : sizeof(bytes));
	p = flat(bytes, len);
	return rxe_pkt_parse(&p, &out);
}

static void malformed(void **state)
{
	uint8_t b[64] = {RXE_OP_SEND_ONLY};

	(void)state;
	assert_int_equal(parse_bytes(b, 64), 0);
	assert_int_equal(parse_bytes(b, 12), 0);
	for (uint32_t len = 0; len < 12; len++)
		assert_int_not_equal(parse_bytes(b, len), 0);
	assert_int_not_equal(parse_bytes(b, 63), 0); /* no multiple of 4 */
	b[1] = 1;				     /* header version */
	assert_int_not_equal(parse_bytes(b, 64), 0);
	b[1] = 3 << RXE_BTH_PAD_SHIFT; /* pad without payload */
	assert_int_not_equal(parse_bytes(b, 12), 0);
	assert_int_equal(parse_bytes(b, 16), 0);
	b[1] = RXE_BTH_MIG; /* MigReq either way */
	assert_int_equal(parse_bytes(b, 64), 0);
	b[1] = 0;
	b[0] = 0x1f; /* unknown opcode */
	assert_int_not_equal(parse_bytes(b, 64), 0);
	b[0] = RXE_OP_WRITE_ONLY; /* RETH cut short */
	assert_int_not_equal(parse_bytes(b, 24), 0);
	b[0] = RXE_OP_ACK; /* payload where none may be */
	assert_int_equal(parse_bytes(b, 16), 0);
	assert_int_not_equal(parse_bytes(b, 20), 0);
}

static void segments_too_short(void **state)
{
	uint8_t b[128] = {RXE_OP_SEND_ONLY};
	struct rxe_pktinfo out;
	struct rxe_pkt p = flat(b, 128);

	(void)state;
	p.seg[0].iov_len -= 4;
	assert_int_not_equal(rxe_pkt_parse(&p, &out), 0);
}

/* As behind an Ethernet and an IPv4 header; for UBSan. */
static void qpn_of_a_header_at_an_odd_half_word(void **state)
{
	_Alignas(8) uint8_t b[64] = {0};
	struct rxe_pkt p = flat(b + 2, 16);

	(void)state;
	memcpy(b + 2 + 4, (uint8_t[]){0xff, 0x12, 0x34, 0x56}, 4);
	assert_int_equal(rxe_pkt_dest_qpn(&p), 0x123456);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_round_trip),
		cmocka_unit_test(boundary_moves),
		cmocka_unit_test(malformed),
		cmocka_unit_test(segments_too_short),
		cmocka_unit_test(qpn_of_a_header_at_an_odd_half_word),
	};

	return cmocka_run_group_tests_name("transport_pkt", tests, NULL, NULL);
}
