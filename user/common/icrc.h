/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The invariant CRC of a RoCEv2 packet in user space, for transmit and for
 * receivers that verify during their copy: start over the headers, add the
 * payload piece by piece, finish. The BPF side has its own (bpf/icrc.h).
 */
#ifndef RXE_COMMON_ICRC_H
#define RXE_COMMON_ICRC_H

#include <stddef.h>
#include <stdint.h>

/*
 * Begin an ICRC (PROTOCOL.md, rule 1): the CRC state after the eight 0xff
 * bytes that stand for the LRH, the IP header, the UDP header and the first
 * ib_hdr_len bytes from the BTH on (at least RXE_BTH_LEN; BTH and extension
 * headers, or the whole of the rest if it is contiguous), with the fields
 * that change under way read as ones.
 *
 * @ip is an IPv4 header without options or an IPv6 header; its version nibble
 * tells which, and its length fields must be final. @udp and @ib need not be
 * adjacent to it. Nothing is written. Any thread; no state, no errors.
 */
uint32_t rxe_icrc_start(const uint8_t *ip, const uint8_t *udp, const uint8_t *ib,
			uint32_t ib_hdr_len);

/*
 * Continue over @n bytes of payload, then of padding (pad bytes are covered).
 * Any length and alignment, also 0. Returns the new state.
 */
uint32_t rxe_icrc_add(uint32_t state, const void *p, size_t n);

/* Finish: the value to store LITTLE-ENDIAN behind the payload (htole32). */
static inline uint32_t rxe_icrc_finish(uint32_t state)
{
	return ~state;
}

/*
 * All of it for a contiguous packet: IP header at @ip, UDP right behind, then
 * @ib_len bytes from the BTH to the end of the padding (without the ICRC).
 * Returns the value to store little-endian.
 */
uint32_t rxe_icrc_packet(const uint8_t *ip, uint32_t ib_len);

#endif
