/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The invariant CRC of RoCEv2 in user space, by ISA-L's carry-less multiply:
 * a masked copy of the headers first, then whatever follows as it is.
 */
#include <string.h>
#include <isa-l/crc.h>

#include <rxe/wire.h>
#include "common/icrc.h"

enum {
	IPV4_HDR_LEN = 20,
	IPV6_HDR_LEN = 40,
	UDP_HDR_LEN = 8,
	BTH_MASKED_BYTE = 4, /* FECN, BECN and reserved bits */
};

/* ISA-L takes and returns the complement of the state, as zlib does. */
uint32_t rxe_icrc_add(uint32_t state, const void *p, size_t n)
{
	return ~crc32_gzip_refl(~state, p, n);
}

/* Bytes of an IP header that routers change, read as ones. Returns its length. */
static uint32_t mask_ip(uint8_t *out, const uint8_t *ip)
{
	if (ip[0] >> 4 == 6) {
		memcpy(out, ip, IPV6_HDR_LEN);
		out[0] |= 0x0f; /* traffic class, flow label */
		memset(out + 1, 0xff, 3);
		out[7] = 0xff; /* hop limit */
		return IPV6_HDR_LEN;
	}
	memcpy(out, ip, IPV4_HDR_LEN);
	out[1] = 0xff;		   /* TOS */
	out[8] = 0xff;		   /* TTL */
	memset(out + 10, 0xff, 2); /* header checksum */
	return IPV4_HDR_LEN;
}

uint32_t rxe_icrc_start(const uint8_t *ip, const uint8_t *udp, const uint8_t *ib,
			uint32_t ib_hdr_len)
{
	uint8_t masked[IPV6_HDR_LEN + UDP_HDR_LEN + RXE_BTH_LEN];
	uint8_t *p = masked + mask_ip(masked, ip);
	uint32_t state;

	memcpy(p, udp, UDP_HDR_LEN);
	memset(p + 6, 0xff, 2); /* UDP checksum */
	p += UDP_HDR_LEN;
	memcpy(p, ib, RXE_BTH_LEN);
	p[BTH_MASKED_BYTE] = 0xff;
	p += RXE_BTH_LEN;

	state = rxe_icrc_add(RXE_ICRC_SEED, masked, (size_t)(p - masked));
	return rxe_icrc_add(state, ib + RXE_BTH_LEN, ib_hdr_len - RXE_BTH_LEN);
}

uint32_t rxe_icrc_packet(const uint8_t *ip, uint32_t ib_len)
{
	const uint8_t *udp = ip + (ip[0] >> 4 == 6 ? IPV6_HDR_LEN : IPV4_HDR_LEN);

	return rxe_icrc_finish(rxe_icrc_start(ip, udp, udp + UDP_HDR_LEN, ib_len));
}
