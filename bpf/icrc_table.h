/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slicing-by-8 tables of CRC-32 (reflected 0x04C11DB7), made by the
 * compiler from the polynomial: a CRC is linear, so an entry is the XOR of
 * those of its bits, and the entry of one bit is the state of the shift
 * register after as many steps.
 */
#ifndef RXE_BPF_ICRC_TABLE_H
#define RXE_BPF_ICRC_TABLE_H

#include <linux/types.h>

/* clang-format off */
#define CRC32_POLY	 0xedb88320u
#define CRC32_STEP(s)	 (((s) >> 1) ^ ((s) & 1 ? CRC32_POLY : 0))
/* Eight steps from state @prev: what bits 7..0 of table @t's index stand for. */
#define CRC32_BITS(t, prev)                                                                        \
	CRC_##t##_7 = CRC32_STEP(prev), CRC_##t##_6 = CRC32_STEP(CRC_##t##_7),                     \
	CRC_##t##_5 = CRC32_STEP(CRC_##t##_6), CRC_##t##_4 = CRC32_STEP(CRC_##t##_5),              \
	CRC_##t##_3 = CRC32_STEP(CRC_##t##_4), CRC_##t##_2 = CRC32_STEP(CRC_##t##_3),              \
	CRC_##t##_1 = CRC32_STEP(CRC_##t##_2), CRC_##t##_0 = CRC32_STEP(CRC_##t##_1)

enum crc32_bit {
	CRC32_BITS(0, 1u),
	CRC32_BITS(1, CRC_0_0),
	CRC32_BITS(2, CRC_1_0),
	CRC32_BITS(3, CRC_2_0),
	CRC32_BITS(4, CRC_3_0),
	CRC32_BITS(5, CRC_4_0),
	CRC32_BITS(6, CRC_5_0),
	CRC32_BITS(7, CRC_6_0),
};

#define CRC32_IF(t, bit, i) ((i) >> (bit) & 1 ? CRC_##t##_##bit : 0u)
#define CRC32_E1(t, i)                                                                             \
	CRC32_IF(t, 0, i) ^ CRC32_IF(t, 1, i) ^ CRC32_IF(t, 2, i) ^ CRC32_IF(t, 3, i) ^            \
		CRC32_IF(t, 4, i) ^ CRC32_IF(t, 5, i) ^ CRC32_IF(t, 6, i) ^ CRC32_IF(t, 7, i)
#define CRC32_E4(t, i)                                                                             \
	CRC32_E1(t, i), CRC32_E1(t, (i) + 1), CRC32_E1(t, (i) + 2), CRC32_E1(t, (i) + 3)
#define CRC32_E16(t, i)                                                                            \
	CRC32_E4(t, i), CRC32_E4(t, (i) + 4), CRC32_E4(t, (i) + 8), CRC32_E4(t, (i) + 12)
#define CRC32_E64(t, i)                                                                            \
	CRC32_E16(t, i), CRC32_E16(t, (i) + 16), CRC32_E16(t, (i) + 32), CRC32_E16(t, (i) + 48)
#define CRC32_E256(t)                                                                              \
	{                                                                                          \
		CRC32_E64(t, 0), CRC32_E64(t, 64), CRC32_E64(t, 128), CRC32_E64(t, 192)            \
	}
/* clang-format on */

/* crc32_table[t][b]: the CRC of byte b followed by t zero bytes. */
static const __u32 crc32_table[8][256] = {
	CRC32_E256(0), CRC32_E256(1), CRC32_E256(2), CRC32_E256(3),
	CRC32_E256(4), CRC32_E256(5), CRC32_E256(6), CRC32_E256(7),
};

#endif
