/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes scattered over iovecs, into one stretch and back. */
#ifndef RXE_COMMON_IOV_H
#define RXE_COMMON_IOV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

static inline size_t rxe_iov_len(const struct iovec *v, unsigned int n)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += v[i].iov_len;
	return sum;
}

/* `to` has room for rxe_iov_len() bytes. */
static inline void rxe_iov_gather(const struct iovec *v, unsigned int n, uint8_t *to)
{
	for (unsigned int i = 0; i < n; i++) {
		memcpy(to, v[i].iov_base, v[i].iov_len);
		to += v[i].iov_len;
	}
}

/* `from` has rxe_iov_len() bytes. */
static inline void rxe_iov_scatter(const struct iovec *v, unsigned int n, const uint8_t *from)
{
	for (unsigned int i = 0; i < n; i++) {
		memcpy(v[i].iov_base, from, v[i].iov_len);
		from += v[i].iov_len;
	}
}

#endif
