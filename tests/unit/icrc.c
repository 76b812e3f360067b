// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The ICRC of user space against zlib with hand masking, in pieces of any
 * size, and against every packet of the kernel's driver in tests/pcaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <rxe/wire.h>
#include "bpf/frames.h"
#include "bpf/pcap.h"
#include "common/icrc.h"

static struct frame f;

static uint32_t whole(const struct frame *fr)
{
	return rxe_icrc_packet(fr->bytes + fr->l3, fr->icrc - fr->bth);
}

/* Headers first, then the rest cut into random pieces. */
static uint32_t in_pieces(const struct frame *fr, uint32_t hdr_len)
{
	const uint8_t *b = fr->bytes;
	uint32_t state = rxe_icrc_start(b + fr->l3, b + fr->udp, b + fr->bth, hdr_len);
	uint32_t off = fr->bth + hdr_len;

	while (off < fr->icrc) {
		uint32_t n = random() % (fr->icrc - off + 1);

		state = rxe_icrc_add(state, b + off, n);
		off += n;
	}
	return rxe_icrc_finish(state);
}

static void every_size(void **state)
{
	uint32_t size;

	(void)state;
	for (size = 0; size <= RXE_MAX_IB_MTU; size++) {
		struct frame_spec s = {.v6 = size & 1, .ext_len = 16, .payload = size};

		frame_build(&f, &s);
		assert_int_equal(whole(&f), frame_icrc(&f));
		assert_int_equal(in_pieces(&f, 28), frame_icrc(&f));
		assert_int_equal(in_pieces(&f, RXE_BTH_LEN), frame_icrc(&f));
	}
}

/* Every bit matters but the masked ones, and those not at all. */
static void every_bit(void **state)
{
	uint32_t off, bit, v6;

	(void)state;
	for (v6 = 0; v6 < 2; v6++) {
		struct frame_spec s = {.v6 = v6, .payload = 40};
		uint32_t want;

		frame_build(&f, &s);
		want = whole(&f);
		for (off = f.l3; off < f.icrc; off++)
			for (bit = 0; bit < 8; bit++) {
				if (off == f.l3 && bit > 3)
					continue; /* the version tells the families apart */
				f.bytes[off] ^= 1 << bit;
				assert_int_equal(whole(&f) == want, frame_masked(&f, off, bit));
				f.bytes[off] ^= 1 << bit;
			}
	}
}

static void captured(void *arg, const char *file, struct frame *fr, bool roce)
{
	const uint8_t *p = fr->bytes + fr->icrc;
	unsigned int *n = arg;

	if (!roce)
		return;
	if (whole(fr) != (p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24))
		fail_msg("%s: packet %u has another ICRC", file, *n);
	*n += 1;
}

static void captures(void **state)
{
	unsigned int n = 0;

	(void)state;
	pcap_for_each(captured, &n);
	assert_true(n > 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(captures),
	};

	return cmocka_run_group_tests_name("icrc", tests, NULL, NULL);
}
