/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RoCEv2 frames made by hand for the BPF tests, with an ICRC that shares no
 * code with what is tested: bytes masked one by one, CRC by zlib.
 */
#ifndef TESTS_BPF_FRAMES_H
#define TESTS_BPF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX 65536

/* What to build. Zero values give a plain IPv4 RC SEND_ONLY without payload. */
struct frame_spec {
	bool v6;
	bool vlan;
	bool multicast; /* to the group of TEST_GROUP_* */
	uint8_t opcode;
	uint32_t ext_len; /* extension headers, random bytes */
	uint32_t qpn;
	uint32_t payload; /* padded to a multiple of 4 */
};

struct frame {
	uint8_t bytes[FRAME_MAX];
	uint32_t len;
	uint32_t l3, udp, bth, icrc; /* offsets */
	bool v6;
};

extern const uint8_t test_mac[6], test_group4_mac[6], test_group6_mac[6];
extern const uint8_t test_ip4[16], test_ip6[16]; /* IPv4 as ::ffff:a.b.c.d */
extern const uint8_t test_group4[16], test_group6[16];
extern const uint8_t test_peer4[16], test_peer6[16]; /* where frames come from */

/* Payload and extension bytes come from random(); the ICRC is set. */
void frame_build(struct frame *f, const struct frame_spec *spec);

/* Find the offsets of a captured frame; false: not RoCEv2. */
bool frame_parse(struct frame *f);

/* The ICRC the frame should carry, and storing it. */
uint32_t frame_icrc(const struct frame *f);
void frame_set_icrc(struct frame *f);

/* Does the ICRC ignore bit @bit of byte @off (offset in the frame)? */
bool frame_masked(const struct frame *f, uint32_t off, unsigned int bit);

/* Big-endian stores and loads at any alignment. */
void put16(uint8_t *p, uint32_t v);
void put24(uint8_t *p, uint32_t v);
uint32_t get16(const uint8_t *p);

#endif
