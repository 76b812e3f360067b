/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arithmetic of bpf/icrc.h: a CRC-32 without a multiply, by folding with a
 * sparse multiple of the polynomial, and the slicing-by-8 steps for the ends.
 *
 * Q(x) = x^300 + x^155 + x^117 + x^89 + 1 is a multiple of the CRC-32
 * polynomial (found by Chorba's authors), so a stream's bit may be removed by
 * XORing it into the bits 145, 183, 211 and 300 behind it; and because
 * Q(x)^8 = Q(x^8), a byte into the bytes at those distances. The bytes need no
 * shifts: that is the memory stage for long packets. The bits take the rest
 * down to 40 bytes, which the tables finish.
 *
 * A word is 64 bits, little-endian as the stream is.
 */
#ifndef RXE_BPF_CRC_FOLD_H
#define RXE_BPF_CRC_FOLD_H

#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include "icrc_table.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the folding is written for little-endian loads"
#endif

#define FOLD_D1	      145
#define FOLD_D2	      183
#define FOLD_D3	      211
#define FOLD_D4	      300
#define FOLD_WORDS    5		       /* words that 300 bits reach back over */
#define FOLD_TAIL     (FOLD_WORDS * 8) /* bytes left to the tables */
#define FOLD_RESIDUAL 320	       /* bytes the memory stage leaves: > FOLD_D4, 8 * 40 */

/* The verifier and clang 14 must not know how a value came about. */
#define opaque(x) asm volatile("" : "+r"(x))

static __always_inline __u64 word_at(const __u8 *p)
{
	return *(const __u64 *)p;
}

/*
 * Memory stage: @n words of input at @p become words of @w, each with what
 * falls on it from the words before. All of w's 300 bytes before are this
 * packet's words or zero.
 */
static __always_inline void fold_bytes(__u8 *w, const __u8 *p, const int n)
{
	int k;

#pragma clang loop unroll(full)
	for (k = 0; k < n; k++, w += 8, p += 8)
		*(__u64 *)w = word_at(p) ^ word_at(w - FOLD_D1) ^ word_at(w - FOLD_D2) ^
			      word_at(w - FOLD_D3) ^ word_at(w - FOLD_D4);
}

/* What step @k of the residual (in words) still gets from the memory stage at @w. */
static __always_inline __u64 gather(const __u8 *w, const int k)
{
	__u64 x = 0;

	if (8 * k < FOLD_D1)
		x ^= word_at(w + 8 * k - FOLD_D1);
	if (8 * k < FOLD_D2)
		x ^= word_at(w + 8 * k - FOLD_D2);
	if (8 * k < FOLD_D3)
		x ^= word_at(w + 8 * k - FOLD_D3);
	if (8 * k < FOLD_D4)
		x ^= word_at(w + 8 * k - FOLD_D4);
	return x;
}

/*
 * What the words 5, 4, 3 and 2 before fall on a word with: distances of
 * 2 * 64 + 17, 2 * 64 + 55, 3 * 64 + 19 and 4 * 64 + 44 bits.
 */
static __always_inline __u64 from5(__u64 a)
{
	return a >> 20;
}

static __always_inline __u64 from4(__u64 b)
{
	return b >> 45 ^ b << 44;
}

static __always_inline __u64 from3(__u64 c)
{
	__u64 both = c ^ c >> 38; /* >> 9 and >> 47 */

	opaque(both);
	return both >> 9 ^ c << 19;
}

static __always_inline __u64 from2(__u64 d)
{
	__u64 both = d ^ d << 38; /* << 17 and << 55 */

	opaque(both);
	return both << 17;
}

/*
 * y[0..4] are the last five words, oldest first. One more word in the place of
 * the oldest, which is y[i] after i steps. The asm keeps clang from starting
 * all the loads of an unrolled block at once, far beyond the registers.
 */
#define FOLD_STEP(y, i, in)                                                             \
	do {                                                                            \
		(y)[(i) % 5] = (in) ^ from5((y)[(i) % 5]) ^ from4((y)[((i) + 1) % 5]) ^ \
			       from3((y)[((i) + 2) % 5]) ^ from2((y)[((i) + 3) % 5]);   \
		asm volatile("" : "+r"((y)[(i) % 5]) : : "memory");                     \
	} while (0)

/* Five words at @p; y is in order again afterwards. */
static __always_inline void fold_five(__u64 *y, const __u8 *p)
{
	FOLD_STEP(y, 0, word_at(p));
	FOLD_STEP(y, 1, word_at(p + 8));
	FOLD_STEP(y, 2, word_at(p + 16));
	FOLD_STEP(y, 3, word_at(p + 24));
	FOLD_STEP(y, 4, word_at(p + 32));
}

/* One word at @p, then y is rotated. */
static __always_inline void fold_one(__u64 *y, const __u8 *p)
{
	__u64 new;

	FOLD_STEP(y, 0, word_at(p));
	new = y[0];
	y[0] = y[1];
	y[1] = y[2];
	y[2] = y[3];
	y[3] = y[4];
	y[4] = new;
}

/* The FOLD_RESIDUAL bytes at @p behind the memory stage, which ended at @w. */
static __always_inline void fold_residual(__u64 *y, const __u8 *p, const __u8 *w)
{
	int k;

	y[0] = y[1] = y[2] = y[3] = y[4] = 0;
#pragma clang loop unroll(full)
	for (k = 0; k < FOLD_RESIDUAL / 8; k += 5) {
		FOLD_STEP(y, 0, word_at(p + 8 * k) ^ gather(w, k));
		FOLD_STEP(y, 1, word_at(p + 8 * k + 8) ^ gather(w, k + 1));
		FOLD_STEP(y, 2, word_at(p + 8 * k + 16) ^ gather(w, k + 2));
		FOLD_STEP(y, 3, word_at(p + 8 * k + 24) ^ gather(w, k + 3));
		FOLD_STEP(y, 4, word_at(p + 8 * k + 32) ^ gather(w, k + 4));
	}
}

/* The stream's first five words, already in y: what they owe each other. */
static __always_inline void fold_first(__u64 *y)
{
	y[2] ^= from2(y[0]);
	y[3] ^= from2(y[1]) ^ from3(y[0]);
	y[4] ^= from2(y[2]) ^ from3(y[1]) ^ from4(y[0]);
}

/* The last FOLD_TAIL bytes at @p take what falls on them; y becomes the rest. */
static __always_inline void fold_last(__u64 *y, const __u8 *p)
{
	y[0] = word_at(p) ^ from5(y[0]) ^ from4(y[1]) ^ from3(y[2]) ^ from2(y[3]);
	y[1] = word_at(p + 8) ^ from5(y[1]) ^ from4(y[2]) ^ from3(y[3]) ^ from2(y[4]);
	y[2] = word_at(p + 16) ^ from5(y[2]) ^ from4(y[3]) ^ from3(y[4]);
	y[3] = word_at(p + 24) ^ from5(y[3]) ^ from4(y[4]);
	y[4] = word_at(p + 32) ^ from5(y[4]);
}

/*
 * All tables behind one opaque base, and the index added before the table's
 * offset: else clang keeps eight addresses, more than there are registers.
 */
static __always_inline const __u8 *crc32_tables(void)
{
	const __u8 *base = (const __u8 *)crc32_table;

	opaque(base);
	return base;
}

/* The entry of table @t for byte @i of @x. */
static __always_inline __u32 lookup(const __u8 *base, const int t, __u64 x, const int i)
{
	const __u8 *entry = base + ((x >> (8 * i) & 0xff) << 2);

	opaque(entry);
	return *(const __u32 *)(entry + t * sizeof(crc32_table[0]));
}

/* Slicing by 8. The four lookups that do not wait for crc come first. */
static __always_inline __u32 crc32_word(const __u8 *base, __u32 crc, __u64 x)
{
	__u32 high = lookup(base, 3, x, 4) ^ lookup(base, 2, x, 5) ^ lookup(base, 1, x, 6) ^
		     lookup(base, 0, x, 7);

	crc ^= (__u32)x;
	return high ^ lookup(base, 7, crc, 0) ^ lookup(base, 6, crc, 1) ^ lookup(base, 5, crc, 2) ^
	       lookup(base, 4, crc, 3);
}

static __always_inline __u32 crc32_half(const __u8 *base, __u32 crc, __u32 x)
{
	crc ^= x;
	return lookup(base, 3, crc, 0) ^ lookup(base, 2, crc, 1) ^ lookup(base, 1, crc, 2) ^
	       lookup(base, 0, crc, 3);
}

static __always_inline __u32 crc32_five(const __u8 *base, const __u64 *y)
{
	__u32 crc = crc32_word(base, 0, y[0]);

	crc = crc32_word(base, crc, y[1]);
	crc = crc32_word(base, crc, y[2]);
	crc = crc32_word(base, crc, y[3]);
	return crc32_word(base, crc, y[4]);
}

#endif
