/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gather and scatter lists.
 */
#include <errno.h>
#include <string.h>
#include "copy.h"

void rxe_ranges_put(struct rxe_range *range, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rxe_mr_put(range[i].mr);
}

int rxe_ranges_from_sge(struct rxe_hca *hca, uint32_t pdn, const struct rxe_sge *sge,
			uint32_t num_sge, uint64_t off, uint32_t len, uint32_t access,
			struct rxe_range *range)
{
	int n = 0, err = -ERANGE;

	for (uint32_t i = 0; i < num_sge && len; i++) {
		uint32_t part;

		if (off >= sge[i].length) {
			off -= sge[i].length;
			continue;
		}
		part = sge[i].length - off < len ? sge[i].length - off : len;
		if (n == RXE_MAX_SGE)
			goto put;
		err = rxe_mr_lookup(hca, pdn, sge[i].lkey, sge[i].addr + off, part, access,
				    &range[n].mr, &range[n].addr);
		if (err)
			goto put;
		range[n++].len = part;
		len -= part;
		off = 0;
	}
	if (!len)
		return n;
	err = -ERANGE;
put:
	rxe_ranges_put(range, n);
	return err;
}

uint32_t rxe_iov_clip(struct iovec *dst, const struct iovec *seg, uint32_t nsegs, size_t len)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nsegs && len; i++) {
		dst[n] = seg[i];
		if (dst[n].iov_len > len)
			dst[n].iov_len = len;
		len -= dst[n++].iov_len;
	}
	return n;
}

void rxe_iov_put(const struct iovec *seg, uint32_t nsegs, size_t off, const void *data, size_t len)
{
	const uint8_t *from = data;

	for (uint32_t i = 0; i < nsegs && len; i++) {
		size_t part;

		if (off >= seg[i].iov_len) {
			off -= seg[i].iov_len;
			continue;
		}
		part = seg[i].iov_len - off < len ? seg[i].iov_len - off : len;
		if (from) {
			memcpy((uint8_t *)seg[i].iov_base + off, from, part);
			from += part;
		} else {
			memset((uint8_t *)seg[i].iov_base + off, 0, part);
		}
		len -= part;
		off = 0;
	}
}
