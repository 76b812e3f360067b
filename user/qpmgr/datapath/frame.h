/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The network headers around an IB packet: Ethernet, IPv4 or IPv6 and UDP in
 * front, the ICRC behind, for every datapath that sends whole frames; and the
 * shape of a received packet. Pure functions on memory; any thread.
 */
#ifndef RXE_FRAME_H
#define RXE_FRAME_H

#include "transport/transport.h"

/* Room that a buffer needs in front of pkt->hdr: 14 + 40 + 8, rounded up. */
#define RXE_FRAME_HEADROOM 64u

/* Is this a v4-mapped address? */
bool rxe_ip_is_v4(const union rxe_ip *ip);

/* 0xc000 | 14 bits: of the flow label if there is one, else of the QPN (PROTOCOL 5). */
uint16_t rxe_frame_sport(uint32_t flow_label, uint32_t src_qpn);

/*
 * Writes the headers in front of pkt->hdr for pkt->addr (whose route is not
 * NULL) and returns the first byte of the frame. `ip_id` is the IPv4
 * identification. Also sets pkt->ip and pkt->ip_version, which
 * rxe_frame_icrc() reads.
 */
uint8_t *rxe_frame_push(struct rxe_pkt *pkt, uint64_t smac_word, uint16_t ip_id);

/*
 * The ICRC of a packet whose headers are final, to be stored little-endian
 * behind the pad (ICRC.md, PROTOCOL 1). seg[] covers payload and pad.
 */
uint32_t rxe_frame_icrc(const struct rxe_pkt *pkt);

/*
 * Makes pkt the received packet that starts at hdr: `len` bytes are contiguous
 * there, `ib_len` bytes are the whole. Fills hdr, ib_len, hdr_len, seg[0] and
 * nsegs; the caller appends the other fragments.
 */
void rxe_frame_shape(struct rxe_pkt *pkt, uint8_t *hdr, uint32_t len, uint32_t ib_len);

/* Reads addresses and version of the IP header at pkt->ip (20 or 40 bytes). */
void rxe_frame_addresses(struct rxe_pkt *pkt);

#endif
