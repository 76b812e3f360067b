/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opcode.c: the rows agree with the wire format and with each other. */
#include <string.h>
#include "sim/bed.h"

static void every_row_is_consistent(void **state)
{
	(void)state;
	for (int op = 0; op < 256; op++) {
		const struct rxe_opcode_info *i = rxe_opcode_info(op);

		if (!i)
			continue;
		assert_true(!(i->flags & RXE_F_REQ) != !(i->flags & RXE_F_RESP));
		assert_in_range(i->hdr_len, RXE_BTH_LEN, RXE_MAX_IB_HDR);
		if (i->flags & RXE_F_IMM)
			assert_true(i->flags & RXE_F_END);
		if (i->flags & RXE_F_RESP)
			assert_int_equal(RXE_OP_CLASS(op), RXE_CLASS_RC);
	}
}

/* Sizes and flags of the captures in tests/pcaps, by hand. */
static void known_headers(void **state)
{
	static const struct {
		uint8_t opcode, len;
	} want[] = {
		{0x00, 12}, {0x04, 12}, {0x05, 16}, {0x06, 28}, {0x0a, 28}, {0x0b, 32},
		{0x0c, 28}, {0x0d, 16}, {0x0e, 12}, {0x0f, 16}, {0x10, 16}, {0x11, 16},
		{0x12, 24}, {0x13, 40}, {0x14, 40}, {0x24, 12}, {0x2b, 32}, {0x64, 20},
		{0x65, 24}, {0x16, 16}, {0x17, 16}, {0x1c, 32}, {0x1d, 28},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_non_null(rxe_opcode_info(want[i].opcode));
		assert_int_equal(rxe_opcode_info(want[i].opcode)->hdr_len, want[i].len);
	}
}

static void unknown_opcodes(void **state)
{
	static const uint8_t none[] = {0x15, 0x18, 0x1f, 0x2c, 0x40, 0x60, 0x66, 0x81, 0xa0, 0xff};

	(void)state;
	for (size_t i = 0; i < sizeof(none); i++)
		assert_null(rxe_opcode_info(none[i]));
}

static void work_requests(void **state)
{
	const struct rxe_wr_info *w;

	(void)state;
	w = rxe_wr_info(IB_UVERBS_WR_RDMA_READ);
	assert_int_equal(w->qp_types, 1 << RXE_QPT_RC);
	w = rxe_wr_info(IB_UVERBS_WR_SEND_WITH_IMM);
	assert_int_equal(w->qp_types, 0x1e);
	assert_int_equal(w->last, RXE_OP_SEND_LAST_IMM);
	assert_int_equal(rxe_wr_info(IB_UVERBS_WR_LOCAL_INV)->qp_types, 1 << RXE_QPT_RC);
	assert_int_equal(rxe_wr_info(IB_UVERBS_WR_BIND_MW)->qp_types,
			 1 << RXE_QPT_RC | 1 << RXE_QPT_UC);
	assert_int_equal(rxe_wr_info(IB_UVERBS_WR_SEND_WITH_INV)->last, RXE_OP_SEND_LAST_INV);
	assert_int_equal(rxe_wr_info(RXE_WR_FLUSH)->only, RXE_OP_FLUSH);
	assert_int_equal(rxe_wr_info(RXE_WR_ATOMIC_WRITE)->only, RXE_OP_ATOMIC_WRITE);
	assert_int_equal(rxe_wr_info(IB_UVERBS_WR_TSO)->qp_types, 0);
	assert_null(rxe_wr_info(16));
	assert_null(rxe_wr_info(0x20)); /* the kernel's REG_MR, which is no user's */
	assert_null(rxe_wr_info(0xffffffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_consistent),
		cmocka_unit_test(known_headers),
		cmocka_unit_test(unknown_opcodes),
		cmocka_unit_test(work_requests),
	};

	return cmocka_run_group_tests_name("transport_opcode", tests, NULL, NULL);
}
