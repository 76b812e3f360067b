// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RoCEv2 frames made by hand; see frames.h.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "frames.h"

const uint8_t test_mac[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
const uint8_t test_group4_mac[6] = {0x01, 0x00, 0x5e, 0x01, 0x02, 0x03};
const uint8_t test_group6_mac[6] = {0x33, 0x33, 0xaa, 0xbb, 0xcc, 0xdd};
const uint8_t test_ip4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 2};
const uint8_t test_ip6[16] = {0xfd, 0x00, [13] = 0x12, [14] = 0x34, [15] = 0x56};
/* The top bit of the IPv4 group's second byte is not in its MAC. */
const uint8_t test_group4[16] = {
	[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 0x81, [14] = 2, [15] = 3};
const uint8_t test_group6[16] = {0xff, 0x0e, [12] = 0xaa, [13] = 0xbb, [14] = 0xcc, [15] = 0xdd};

static const uint8_t peer_mac[6] = {0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0xee};
const uint8_t test_peer4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [13] = 9, [15] = 3};
const uint8_t test_peer6[16] = {0xfd, 0x00, [15] = 0x99};

void put16(uint8_t *p, uint32_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

void put24(uint8_t *p, uint32_t v)
{
	p[0] = v >> 16;
	put16(p + 1, v);
}

uint32_t get16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static uint32_t build_ethernet(uint8_t *p, const struct frame_spec *s)
{
	const uint8_t *group = s->v6 ? test_group6_mac : test_group4_mac;
	uint32_t type_off = 12;

	memcpy(p, s->multicast ? group : test_mac, 6);
	memcpy(p + 6, peer_mac, 6);
	if (s->vlan) {
		put16(p + 12, 0x8100);
		put16(p + 14, 0x2000); /* a priority, no VLAN */
		type_off = 16;
	}
	put16(p + type_off, s->v6 ? 0x86dd : 0x0800);
	return type_off + 2;
}

static uint32_t build_ip(uint8_t *p, const struct frame_spec *s, uint32_t udp_len)
{
	if (s->v6) {
		memset(p, 0, 40);
		p[0] = 0x60 | (random() & 0xf);
		put24(p + 1, random());
		put16(p + 4, udp_len);
		p[6] = 17;
		p[7] = 64;
		memcpy(p + 8, test_peer6, 16);
		memcpy(p + 24, s->multicast ? test_group6 : test_ip6, 16);
		return 40;
	}
	p[0] = 0x45;
	p[1] = random();
	put16(p + 2, udp_len + 20);
	put16(p + 4, random());
	put16(p + 6, 0x4000);
	p[8] = 64;
	p[9] = 17;
	put16(p + 10, random());
	memcpy(p + 12, test_peer4 + 12, 4);
	memcpy(p + 16, (s->multicast ? test_group4 : test_ip4) + 12, 4);
	return 20;
}

void frame_build(struct frame *f, const struct frame_spec *s)
{
	uint32_t pad = -s->payload & 3, i;
	uint32_t ib_len = 12 + s->ext_len + s->payload + pad;
	uint8_t *p;

	memset(f, 0, offsetof(struct frame, bytes) + 128);
	f->v6 = s->v6;
	f->l3 = build_ethernet(f->bytes, s);
	f->udp = f->l3 + build_ip(f->bytes + f->l3, s, 8 + ib_len + 4);
	f->bth = f->udp + 8;
	f->icrc = f->bth + ib_len;
	f->len = f->icrc + 4;

	p = f->bytes + f->udp;
	put16(p, 0xc000 | (random() & 0x3fff));
	put16(p + 2, 4791);
	put16(p + 4, 8 + ib_len + 4);
	put16(p + 6, 0);

	p = f->bytes + f->bth;
	p[0] = s->opcode;
	p[1] = pad << 4 | (random() & 0x40);
	put16(p + 2, 0xffff);
	p[4] = random();
	put24(p + 5, s->qpn);
	p[8] = random() & 0x80;
	put24(p + 9, random());
	for (i = 12; i < ib_len; i++)
		p[i] = i < ib_len - pad ? random() : 0;
	frame_set_icrc(f);
}

bool frame_parse(struct frame *f)
{
	uint8_t *b = f->bytes;

	f->l3 = 14;
	f->v6 = get16(b + 12) == 0x86dd;
	if (!f->v6 && get16(b + 12) != 0x0800)
		return false;
	f->udp = f->l3 + (f->v6 ? 40 : 20);
	f->bth = f->udp + 8;
	if (b[f->l3 + (f->v6 ? 6 : 9)] != 17 || get16(b + f->udp + 2) != 4791)
		return false;
	f->icrc = f->udp + get16(b + f->udp + 4) - 4;
	return true;
}

bool frame_masked(const struct frame *f, uint32_t off, unsigned int bit)
{
	uint32_t o = off - f->l3;

	if (off == f->bth + 4 || off == f->udp + 6 || off == f->udp + 7)
		return true;
	if (f->v6)
		return (o == 0 && bit < 4) || (o >= 1 && o <= 3) || o == 7;
	return o == 1 || o == 8 || o == 10 || o == 11;
}

uint32_t frame_icrc(const struct frame *f)
{
	static const uint8_t lrh[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	uLong crc = crc32(0, lrh, sizeof(lrh));
	uint32_t off;

	for (off = f->l3; off < f->bth + 12; off++) {
		uint8_t byte = f->bytes[off];
		unsigned int bit;

		for (bit = 0; bit < 8; bit++)
			if (frame_masked(f, off, bit))
				byte |= 1 << bit;
		crc = crc32(crc, &byte, 1);
	}
	return crc32(crc, f->bytes + off, f->icrc - off);
}

void frame_set_icrc(struct frame *f)
{
	uint32_t crc = frame_icrc(f), i;

	for (i = 0; i < 4; i++)
		f->bytes[f->icrc + i] = crc >> (8 * i);
}
