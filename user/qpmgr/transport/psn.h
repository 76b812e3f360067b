/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 24-bit circular packet sequence numbers (PROTOCOL 8). A stored PSN is
 * always masked; MSN and SSN count in the same ring.
 */
#ifndef RXE_PSN_H
#define RXE_PSN_H

#include <stdint.h>
#include "rxe/wire.h"

/* psn + n, n may be negative. */
static inline uint32_t rxe_psn_add(uint32_t psn, int32_t n)
{
	return (psn + (uint32_t)n) & RXE_PSN_MASK;
}

/* a - b in [-2^23, 2^23): negative when a is before b. */
static inline int32_t rxe_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif
