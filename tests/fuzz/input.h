/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fuzzer's bytes, read from the front. Behind their end everything is
 * zero, so that each prefix of an input is an input.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t fuzz_bytes(struct fuzz_input *in, unsigned int n)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < n && in->left; i++, in->left--)
		v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	return (uint8_t)fuzz_bytes(in, 1);
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	return (uint16_t)fuzz_bytes(in, 2);
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	return (uint32_t)fuzz_bytes(in, 4);
}

/* A u16 length, then as many of the bytes that follow; never more than are left. */
static inline const uint8_t *fuzz_block(struct fuzz_input *in, size_t max, size_t *len)
{
	const uint8_t *p;

	*len = fuzz_u16(in);
	if (*len > max)
		*len = max;
	if (*len > in->left)
		*len = in->left;
	p = in->at;
	in->at += *len;
	in->left -= *len;
	return p;
}

/* What must hold whatever the input was: the fuzzer reports the abort. */
#define fuzz_assert(cond)        \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
