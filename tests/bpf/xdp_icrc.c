// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ICRC validation of the XDP program against zlib with hand masking: random
 * frames of every size, linear and in fragments, every single-bit error, and
 * the fields that may change under way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/bpf.h>
#include <cmocka.h>

#include "frames.h"
#include "harness.h"

static struct frame f;

static struct frame_spec random_spec(uint32_t payload)
{
	struct frame_spec s = {
		.v6 = random() & 1,
		.vlan = random() & 1,
		.opcode = RXE_OPCODE(RXE_CLASS_RC, RXE_OP_SEND_ONLY),
		.qpn = TEST_RC_QPN,
		.payload = payload,
	};

	return s;
}

static void expect(struct harness *h, enum rxe_bpf_counter want, uint32_t linear)
{
	struct run r = harness_run(h, f.bytes, f.len, linear);

	if (r.counter != want)
		fail_msg("%s frame of %u bytes (BTH at %u), %u linear: %s, not %s",
			 f.v6 ? "IPv6" : "IPv4", f.len, f.bth, linear,
			 harness_counter_name(r.counter), harness_counter_name(want));
	if (want == RXE_CNT_STEERED && r.meta.flags != RXE_META_ICRC_CHECKED)
		fail_msg("steered without RXE_META_ICRC_CHECKED");
}

/* Good, then with one random bit of the covered part changed. */
static void good_then_bad(struct harness *h, uint32_t linear)
{
	uint32_t span = f.len - (f.bth + 12);
	uint32_t off = f.bth + 12 + random() % span;

	expect(h, RXE_CNT_STEERED, linear);
	f.bytes[off] ^= 1 << (random() & 7);
	expect(h, RXE_CNT_DROP_ICRC, linear);
}

static void every_size(void **state)
{
	uint32_t size;

	for (size = 0; size <= RXE_MAX_IB_MTU; size++) {
		struct frame_spec s = random_spec(size);

		frame_build(&f, &s);
		good_then_bad(*state, 0);
	}
}

static void random_sizes_both_families(void **state)
{
	int i;

	for (i = 0; i < 4000; i++) {
		struct frame_spec s = random_spec(random() % (RXE_MAX_IB_MTU + 1));

		s.v6 = i & 1;
		s.vlan = i & 2;
		frame_build(&f, &s);
		good_then_bad(*state, 0);
	}
}

/* The linear part ends anywhere behind the BTH. */
static void split_anywhere(void **state)
{
	int i;

	if (!harness_can_split(*state))
		skip();
	for (i = 0; i < 4000; i++) {
		struct frame_spec s = random_spec(random() % (RXE_MAX_IB_MTU + 1));
		uint32_t min, max;

		frame_build(&f, &s);
		min = f.bth + 12;
		max = f.len < 3000 ? f.len : 3000;
		good_then_bad(*state, min + random() % (max - min + 1));
	}
}

/* Short frames come padded to 60 bytes, long ones perhaps with a trailer. */
static void link_padding(void **state)
{
	uint32_t size, extra;

	for (size = 0; size < 64; size++) {
		struct frame_spec s = random_spec(size);

		frame_build(&f, &s);
		for (extra = 1; extra < 20; extra++)
			f.bytes[f.len + extra - 1] = random();
		f.len += 1 + random() % 19;
		expect(*state, RXE_CNT_STEERED, 0);
	}
}

static void flip_every_bit(struct harness *h, uint32_t step)
{
	uint32_t off, bit;

	for (off = f.l3; off < f.len; off += step)
		for (bit = 0; bit < 8; bit++) {
			struct run r;

			f.bytes[off] ^= 1 << bit;
			r = harness_run(h, f.bytes, f.len, 0);
			f.bytes[off] ^= 1 << bit;
			if (r.counter == RXE_CNT_COUNT)
				fail_msg("bit %u of byte %u: not counted once", bit, off);
			if ((r.counter == RXE_CNT_STEERED) != frame_masked(&f, off, bit))
				fail_msg("bit %u of byte %u (BTH at %u): %s", bit, off, f.bth,
					 harness_counter_name(r.counter));
		}
}

static void every_bit(void **state)
{
	static const uint32_t sizes[] = {0, 1, 28, 40, 64, 300, 480, 500, 524, 1024, 1500};
	unsigned int i;

	for (i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct frame_spec s = random_spec(sizes[i / 2]);

		s.v6 = i & 1;
		frame_build(&f, &s);
		flip_every_bit(*state, 1);
	}
}

static void every_bit_of_large_frames(void **state)
{
	static const uint32_t sizes[] = {2048, 3001, 4096};
	unsigned int i;

	for (i = 0; i < 6; i++) {
		struct frame_spec s = random_spec(sizes[i / 2]);

		s.v6 = i & 1;
		frame_build(&f, &s);
		flip_every_bit(*state, 7);
	}
}

/* All masked fields at once, random values. */
static void masked_fields_change_freely(void **state)
{
	int i;

	for (i = 0; i < 500; i++) {
		struct frame_spec s = random_spec(random() % 200);
		uint32_t off, bit;

		frame_build(&f, &s);
		for (off = f.l3; off < f.len; off++)
			for (bit = 0; bit < 8; bit++)
				if (frame_masked(&f, off, bit) && random() & 1)
					f.bytes[off] ^= 1 << bit;
		expect(*state, RXE_CNT_STEERED, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(random_sizes_both_families),
		cmocka_unit_test(split_anywhere),
		cmocka_unit_test(link_padding),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(every_bit_of_large_frames),
		cmocka_unit_test(masked_fields_change_freely),
	};

	return cmocka_run_group_tests_name("xdp_icrc", tests, harness_setup, harness_teardown);
}
