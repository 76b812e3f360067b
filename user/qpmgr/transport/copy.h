/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From SGE lists and packet segments to the two sides of a struct rxe_copy.
 */
#ifndef RXE_COPY_H
#define RXE_COPY_H

#include "transport.h"

/*
 * The ranges of client memory that bytes [off, off+len) of an SGE list are:
 * looks every key up and takes its reference. Returns how many (at most
 * RXE_MAX_SGE); -ERANGE when the list is too short, else the lookup's error,
 * with no reference kept.
 */
int rxe_ranges_from_sge(struct rxe_hca *hca, uint32_t pdn, const struct rxe_sge *sge,
			uint32_t num_sge, uint64_t off, uint32_t len, uint32_t access,
			struct rxe_range *range);
void rxe_ranges_put(struct rxe_range *range, uint32_t n);

/* The first len bytes of seg[] in dst[]; returns how many entries. */
uint32_t rxe_iov_clip(struct iovec *dst, const struct iovec *seg, uint32_t nsegs, size_t len);
/* Writes len bytes of data (NULL: zeroes) at byte `off` of seg[]. */
void rxe_iov_put(const struct iovec *seg, uint32_t nsegs, size_t off, const void *data, size_t len);

#endif
