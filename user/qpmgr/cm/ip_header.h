/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The IP addressing annex (IBTA A11): the header that rdma_cm puts in front
 * of the private data of REQ and SIDR_REQ, and its service ids. Pure.
 */
#ifndef RXE_CM_IP_HEADER_H
#define RXE_CM_IP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_IP_HEADER_LEN 36

struct cm_ip_header {
	bool v6;
	uint16_t src_port;	  /* host order */
	uint8_t src[16], dst[16]; /* as GIDs: IPv4 is v4-mapped */
};

void cm_ip_header_put(uint8_t out[CM_IP_HEADER_LEN], const struct cm_ip_header *h);
/* -EINVAL: too short, or neither IPv4 nor IPv6. */
int cm_ip_header_get(const uint8_t *priv, size_t len, struct cm_ip_header *h);
/* Port space (RDMA_PS_*) and port, host order, as a service id; and back. */
uint64_t cm_service_id(uint16_t ps, uint16_t port);
/* False: no service id of an IP port. */
bool cm_service_port(uint64_t service_id, uint16_t *ps, uint16_t *port);

#endif
