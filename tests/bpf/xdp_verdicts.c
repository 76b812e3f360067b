// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every verdict of the XDP program has its counter: one table of frames and
 * what must become of them, then the cases that need another set-up. Passed
 * frames must come out as they went in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/bpf.h>
#include <cmocka.h>
#include <bpf/bpf.h>

#include "frames.h"
#include "harness.h"

#define SEND_ONLY(class) RXE_OPCODE(class, RXE_OP_SEND_ONLY)
#define PAYLOAD		 64

struct verdict_case {
	const char *name;
	struct frame_spec spec;
	void (*change)(struct frame *f); /* after the ICRC was set; NULL: none */
	bool new_icrc;			 /* set it again after the change */
	enum rxe_bpf_counter want;
};

static void bytes16(struct frame *f, uint32_t off, uint32_t value)
{
	put16(f->bytes + off, value);
}

/* Insert @n zero bytes at @off, everything behind moves. */
static void insert(struct frame *f, uint32_t off, uint32_t n)
{
	memmove(f->bytes + off + n, f->bytes + off, f->len - off);
	memset(f->bytes + off, 0, n);
	f->len += n;
}

static void arp(struct frame *f)
{
	bytes16(f, 12, 0x0806);
}
static void tcp(struct frame *f)
{
	f->bytes[f->l3 + 9] = 6;
}
static void other_port(struct frame *f)
{
	bytes16(f, f->udp + 2, 4790);
}
static void second_vlan_tag(struct frame *f)
{
	insert(f, 16, 4);
	bytes16(f, 16, 0x8100);
	bytes16(f, 18, 7);
}
static void vlan_5(struct frame *f)
{
	bytes16(f, 14, 0x2005);
}
static void bad_version(struct frame *f)
{
	f->bytes[f->l3] = 0x55;
}
static void ethernet_only(struct frame *f)
{
	f->len = 14;
}
static void first_fragment(struct frame *f)
{
	bytes16(f, f->l3 + 6, 0x2000);
}
static void later_fragment(struct frame *f)
{
	bytes16(f, f->l3 + 6, 100);
}
static void v6_fragment(struct frame *f)
{
	f->bytes[f->l3 + 6] = 44;
}
static void v4_options(struct frame *f)
{
	insert(f, f->l3 + 20, 4);
	f->bytes[f->l3] = 0x46;
	f->bytes[f->l3 + 20] = 1;
}
static void v6_hop_by_hop(struct frame *f)
{
	f->bytes[f->l3 + 6] = 0;
}
static void v6_destination_options(struct frame *f)
{
	f->bytes[f->l3 + 6] = 60;
}
static void other_mac(struct frame *f)
{
	f->bytes[5] ^= 1;
}
static void broadcast_mac(struct frame *f)
{
	memset(f->bytes, 0xff, 6);
}
static void other_ip(struct frame *f)
{
	f->bytes[f->bth - 9] ^= 1;
}
static void group_mac(struct frame *f)
{
	memcpy(f->bytes, test_group4_mac, 6);
}
static void other_mac_malformed(struct frame *f)
{
	other_mac(f);
	f->bytes[f->bth] = 0xff;
}
static void transport_version(struct frame *f)
{
	f->bytes[f->bth + 1] |= 1;
}
static void unknown_opcode(struct frame *f)
{
	f->bytes[f->bth] = 0x15;
}
static void pad_beyond_payload(struct frame *f)
{
	f->bytes[f->bth + 1] |= 0x30;
}
static void udp_len_odd(struct frame *f)
{
	bytes16(f, f->udp + 4, get16(f->bytes + f->udp + 4) - 2);
	bytes16(f, f->l3 + 2, get16(f->bytes + f->l3 + 2) - 2);
}
static void udp_shorter_than_ip(struct frame *f)
{
	bytes16(f, f->udp + 4, get16(f->bytes + f->udp + 4) - 4);
}
static void udp_longer_than_ip(struct frame *f)
{
	bytes16(f, f->l3 + 2, get16(f->bytes + f->l3 + 2) - 4);
}
static void v6_length_disagrees(struct frame *f)
{
	bytes16(f, f->l3 + 4, get16(f->bytes + f->l3 + 4) + 4);
}
static void truncated(struct frame *f)
{
	f->len -= 4;
}
static void no_bth(struct frame *f)
{
	bytes16(f, f->udp + 4, 8);
	bytes16(f, f->l3 + 2, 28);
	f->len = f->bth;
}
static void udp_len_zero(struct frame *f)
{
	bytes16(f, f->udp + 4, 0);
}
static void flip_payload(struct frame *f)
{
	f->bytes[f->bth + 20] ^= 0x10;
}
static void flip_icrc(struct frame *f)
{
	f->bytes[f->icrc] ^= 1;
}
/* Another host: byte 15 behind the IPv4 header's start, or the last of IPv6's source. */
static void other_source(struct frame *f)
{
	f->bytes[f->l3 + (f->v6 ? 23 : 15)] ^= 4;
}
static void own_source(struct frame *f)
{
	if (f->v6)
		memcpy(f->bytes + f->l3 + 8, test_ip6, 16);
	else
		memcpy(f->bytes + f->l3 + 12, test_ip4 + 12, 4);
}
static void own_source_other_mac(struct frame *f)
{
	own_source(f);
	other_mac(f);
}
static void limited_pkey(struct frame *f)
{
	bytes16(f, f->bth + 2, 0x7fff);
}
static void other_pkey(struct frame *f)
{
	bytes16(f, f->bth + 2, 0x8001);
}
static void unicast_source_group(struct frame *f)
{
	memcpy(f->bytes + f->l3 + 12, test_group4 + 12, 4);
}
static void flip_source_ip(struct frame *f)
{
	f->bytes[f->l3 + 15] ^= 4;
}

/* clang-format off */
#define V4(op, q)    { .opcode = (op), .qpn = (q), .payload = PAYLOAD }
#define V6(op, q)    { .v6 = true, .opcode = (op), .qpn = (q), .payload = PAYLOAD }
#define GROUP4(op, q) { .multicast = true, .opcode = (op), .qpn = (q), .payload = PAYLOAD }
#define GROUP6(op, q)                                                                              \
	{ .v6 = true, .multicast = true, .opcode = (op), .qpn = (q), .payload = PAYLOAD }
#define RC	     SEND_ONLY(RXE_CLASS_RC)
#define UC	     SEND_ONLY(RXE_CLASS_UC)
#define UD	     SEND_ONLY(RXE_CLASS_UD)

static const struct verdict_case cases[] = {
	{ "RC, IPv4", V4(RC, TEST_RC_QPN), NULL, false, RXE_CNT_STEERED },
	{ "UC, IPv6", V6(UC, TEST_UC_QPN), NULL, false, RXE_CNT_STEERED },
	{ "UD", V4(UD, TEST_UD_QPN), NULL, false, RXE_CNT_STEERED },
	{ "QP1", V4(UD, 1), NULL, false, RXE_CNT_STEERED },
	{ "IPv4 group", GROUP4(UD, 0xffffff), NULL, false, RXE_CNT_STEERED },
	{ "IPv6 group", GROUP6(UD, 0xffffff), NULL, false, RXE_CNT_STEERED },
	{ "ARP", V4(RC, TEST_RC_QPN), arp, true, RXE_CNT_PASS_OTHER },
	{ "TCP", V4(RC, TEST_RC_QPN), tcp, true, RXE_CNT_PASS_OTHER },
	{ "UDP port 4790", V4(RC, TEST_RC_QPN), other_port, true, RXE_CNT_PASS_OTHER },
	{ "IP version 5", V4(RC, TEST_RC_QPN), bad_version, true, RXE_CNT_PASS_OTHER },
	{ "Ethernet header only", V4(RC, TEST_RC_QPN), ethernet_only, false, RXE_CNT_PASS_OTHER },
	{ "two VLAN tags", { .vlan = true, .qpn = TEST_RC_QPN, .payload = PAYLOAD }, second_vlan_tag,
	  false, RXE_CNT_PASS_OTHER },
	{ "a VLAN", { .vlan = true, .qpn = TEST_RC_QPN, .payload = PAYLOAD }, vlan_5, false,
	  RXE_CNT_PASS_FOREIGN },
	{ "a priority tag", { .vlan = true, .qpn = TEST_RC_QPN, .payload = PAYLOAD }, NULL, false,
	  RXE_CNT_STEERED },
	{ "first fragment", V4(RC, TEST_RC_QPN), first_fragment, true, RXE_CNT_PASS_FRAG },
	{ "later fragment", V4(RC, TEST_RC_QPN), later_fragment, true, RXE_CNT_PASS_FRAG },
	{ "IPv6 fragment", V6(RC, TEST_RC_QPN), v6_fragment, true, RXE_CNT_PASS_FRAG },
	{ "IPv4 options", V4(RC, TEST_RC_QPN), v4_options, false, RXE_CNT_PASS_OPTIONS },
	{ "hop-by-hop options", V6(RC, TEST_RC_QPN), v6_hop_by_hop, true, RXE_CNT_PASS_OPTIONS },
	{ "destination options", V6(RC, TEST_RC_QPN), v6_destination_options, true,
	  RXE_CNT_PASS_OPTIONS },
	{ "another MAC", V4(RC, TEST_RC_QPN), other_mac, true, RXE_CNT_PASS_FOREIGN },
	{ "broadcast MAC", V4(RC, TEST_RC_QPN), broadcast_mac, true, RXE_CNT_PASS_FOREIGN },
	{ "another IPv4", V4(RC, TEST_RC_QPN), other_ip, true, RXE_CNT_PASS_FOREIGN },
	{ "another IPv6", V6(RC, TEST_RC_QPN), other_ip, true, RXE_CNT_PASS_FOREIGN },
	{ "own IP, group MAC", V4(UD, TEST_UD_QPN), group_mac, true, RXE_CNT_PASS_FOREIGN },
	{ "group, another MAC", GROUP4(UD, 0xffffff), other_mac, true, RXE_CNT_PASS_FOREIGN },
	{ "group not joined", GROUP6(UD, 0xffffff), other_ip, true, RXE_CNT_PASS_FOREIGN },
	{ "another MAC, bad ICRC", V4(RC, TEST_RC_QPN), other_mac_malformed, false,
	  RXE_CNT_PASS_FOREIGN },
	{ "another MAC, unknown QPN", V4(RC, 0x555555), other_mac, true, RXE_CNT_PASS_FOREIGN },
	{ "TVer 1", V4(RC, TEST_RC_QPN), transport_version, true, RXE_CNT_DROP_MALFORMED },
	{ "opcode 0x15", V4(RC, TEST_RC_QPN), unknown_opcode, true, RXE_CNT_DROP_MALFORMED },
	{ "pad beyond payload", { .qpn = TEST_RC_QPN }, pad_beyond_payload, true,
	  RXE_CNT_DROP_MALFORMED },
	{ "header beyond UDP", { .opcode = RXE_OP_CMP_SWAP, .ext_len = 24, .qpn = TEST_RC_QPN }, NULL,
	  false, RXE_CNT_DROP_MALFORMED },
	{ "UDP length odd", V4(RC, TEST_RC_QPN), udp_len_odd, true, RXE_CNT_DROP_MALFORMED },
	{ "UDP below IP length", V4(RC, TEST_RC_QPN), udp_shorter_than_ip, true,
	  RXE_CNT_DROP_MALFORMED },
	{ "UDP above IP length", V4(RC, TEST_RC_QPN), udp_longer_than_ip, true,
	  RXE_CNT_DROP_MALFORMED },
	{ "IPv6 length disagrees", V6(RC, TEST_RC_QPN), v6_length_disagrees, true,
	  RXE_CNT_DROP_MALFORMED },
	{ "truncated", V4(RC, TEST_RC_QPN), truncated, true, RXE_CNT_DROP_MALFORMED },
	{ "no BTH", V4(RC, TEST_RC_QPN), no_bth, false, RXE_CNT_DROP_MALFORMED },
	{ "UDP length 0", V4(RC, TEST_RC_QPN), udp_len_zero, false, RXE_CNT_DROP_MALFORMED },
	{ "payload above 4096", { .qpn = TEST_RC_QPN, .payload = 4100 }, NULL, false,
	  RXE_CNT_DROP_MALFORMED },
	{ "payload bit", V4(RC, TEST_RC_QPN), flip_payload, false, RXE_CNT_DROP_ICRC },
	{ "ICRC bit", V6(RC, TEST_RC_QPN), flip_icrc, false, RXE_CNT_DROP_ICRC },
	{ "source IP bit", V4(RC, TEST_RC_QPN), flip_source_ip, false, RXE_CNT_DROP_ICRC },
	{ "unknown QPN", V4(RC, 0x555555), NULL, false, RXE_CNT_DROP_NO_QP },
	{ "QP0", V4(UD, 0), NULL, false, RXE_CNT_DROP_NO_QP },
	{ "multicast QPN to own IP", V4(UD, 0xffffff), NULL, false, RXE_CNT_DROP_NO_QP },
	{ "group, QPN of a QP", GROUP4(UD, TEST_UD_QPN), NULL, false, RXE_CNT_DROP_NO_QP },
	{ "connected QP, another source", V6(UC, TEST_UC_QPN), other_source, true, RXE_CNT_DROP_PEER },
	{ "connected QP, the other IP version", V4(UC, TEST_UC_QPN), NULL, false, RXE_CNT_DROP_PEER },
	{ "UD, another source", V4(UD, TEST_UD_QPN), other_source, true, RXE_CNT_STEERED },
	{ "own address as source", V4(RC, TEST_RC_QPN), own_source, true, RXE_CNT_DROP_OWN_SOURCE },
	{ "own IPv6 address as source", V6(UD, TEST_UD_QPN), own_source, true,
	  RXE_CNT_DROP_OWN_SOURCE },
	{ "own address as source, to a group", GROUP4(UD, 0xffffff), own_source, true,
	  RXE_CNT_DROP_OWN_SOURCE },
	{ "own group as source", V4(UD, TEST_UD_QPN), unicast_source_group, true, RXE_CNT_STEERED },
	{ "own address as source, another MAC", V4(RC, TEST_RC_QPN), own_source_other_mac, true,
	  RXE_CNT_PASS_FOREIGN },
	{ "limited member", V4(RC, TEST_RC_QPN), limited_pkey, true, RXE_CNT_STEERED },
	{ "limited member, group", GROUP6(UD, 0xffffff), limited_pkey, true, RXE_CNT_STEERED },
	{ "another partition", V4(RC, TEST_RC_QPN), other_pkey, true, RXE_CNT_DROP_PKEY },
	{ "another partition, UD", V6(UD, TEST_UD_QPN), other_pkey, true, RXE_CNT_DROP_PKEY },
	{ "another partition, QP1", V4(UD, 1), other_pkey, true, RXE_CNT_DROP_PKEY },
	{ "another partition, group", GROUP4(UD, 0xffffff), other_pkey, true, RXE_CNT_DROP_PKEY },
	{ "another partition, unknown QPN", V4(RC, 0x555555), other_pkey, true, RXE_CNT_DROP_NO_QP },
	{ "QP not receiving", V4(RC, TEST_IDLE_QPN), NULL, false, RXE_CNT_DROP_STATE },
	{ "UC to an RC QP", V4(UC, TEST_RC_QPN), NULL, false, RXE_CNT_DROP_STATE },
	{ "RC to QP1", V4(RC, 1), NULL, false, RXE_CNT_DROP_STATE },
	{ "RC to a group", GROUP4(RC, 0xffffff), NULL, false, RXE_CNT_DROP_STATE },
};
/* clang-format on */

static uint32_t action_of(enum rxe_bpf_counter which)
{
#define VERDICT(sym, name, verdict, help) verdict,
	static const char *const verdicts[] = {RXE_BPF_COUNTERS(VERDICT)};
#undef VERDICT
	const char *v = which < RXE_CNT_COUNT ? verdicts[which] : "";

	return !strcmp(v, "pass") ? XDP_PASS : !strcmp(v, "drop") ? XDP_DROP : XDP_REDIRECT;
}

static struct frame f;

static void expect(struct harness *h, const char *name, enum rxe_bpf_counter want)
{
	struct run r = harness_run(h, f.bytes, f.len, 0);

	if (r.counter != want)
		fail_msg("%s: %s, not %s", name, harness_counter_name(r.counter),
			 harness_counter_name(want));
	if (r.action != action_of(want))
		fail_msg("%s: action %u, not %u", name, r.action, action_of(want));
	if (r.len != f.len || memcmp(harness_output(), f.bytes, f.len))
		fail_msg("%s: the frame was changed", name);
	if ((want == RXE_CNT_STEERED) != (r.meta.magic == RXE_META_MAGIC))
		fail_msg("%s: metadata magic %#x", name, r.meta.magic);
}

static void table(void **state)
{
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct frame_spec spec = cases[i].spec;

		frame_build(&f, &spec);
		if (cases[i].change)
			cases[i].change(&f);
		if (cases[i].new_icrc)
			frame_set_icrc(&f);
		expect(*state, cases[i].name, cases[i].want);
	}
}

static void good_frame(void)
{
	struct frame_spec spec = V4(RC, TEST_RC_QPN);

	frame_build(&f, &spec);
}

/* Every opcode that exists is let in with its headers and not with 4 bytes less. */
static void opcodes(void **state)
{
	/* clang-format off */
	static const struct {
		uint8_t first, last; /* operations of a class with this header */
		uint8_t class;
		uint8_t ext;
	} ops[] = {
		{ 0x00, 0x02, RXE_CLASS_RC, 0 },  { 0x03, 0x03, RXE_CLASS_RC, 4 },
		{ 0x04, 0x04, RXE_CLASS_RC, 0 },  { 0x05, 0x05, RXE_CLASS_RC, 4 },
		{ 0x06, 0x06, RXE_CLASS_RC, 16 }, { 0x07, 0x08, RXE_CLASS_RC, 0 },
		{ 0x09, 0x09, RXE_CLASS_RC, 4 },  { 0x0a, 0x0a, RXE_CLASS_RC, 16 },
		{ 0x0b, 0x0b, RXE_CLASS_RC, 20 }, { 0x0c, 0x0c, RXE_CLASS_RC, 16 },
		{ 0x0d, 0x0d, RXE_CLASS_RC, 4 },  { 0x0e, 0x0e, RXE_CLASS_RC, 0 },
		{ 0x0f, 0x11, RXE_CLASS_RC, 4 },  { 0x12, 0x12, RXE_CLASS_RC, 12 },
		{ 0x13, 0x14, RXE_CLASS_RC, 28 }, { 0x16, 0x17, RXE_CLASS_RC, 4 },
		{ 0x1c, 0x1c, RXE_CLASS_RC, 20 }, { 0x1d, 0x1d, RXE_CLASS_RC, 16 },
		{ 0x00, 0x02, RXE_CLASS_UC, 0 },  { 0x03, 0x03, RXE_CLASS_UC, 4 },
		{ 0x04, 0x04, RXE_CLASS_UC, 0 },  { 0x05, 0x05, RXE_CLASS_UC, 4 },
		{ 0x06, 0x06, RXE_CLASS_UC, 16 }, { 0x07, 0x08, RXE_CLASS_UC, 0 },
		{ 0x09, 0x09, RXE_CLASS_UC, 4 },  { 0x0a, 0x0a, RXE_CLASS_UC, 16 },
		{ 0x0b, 0x0b, RXE_CLASS_UC, 20 }, { 0x04, 0x04, RXE_CLASS_UD, 8 },
		{ 0x05, 0x05, RXE_CLASS_UD, 12 },
	};
	/* clang-format on */
	bool known[256] = {false};
	unsigned int i, op;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		for (op = ops[i].first; op <= ops[i].last; op++) {
			uint8_t class = ops[i].class;
			struct frame_spec s = {
				.opcode = RXE_OPCODE(class, op),
				.ext_len = ops[i].ext,
				.v6 = class == RXE_CLASS_UC, /* its peer's */
				.qpn = class == RXE_CLASS_RC   ? TEST_RC_QPN
				       : class == RXE_CLASS_UC ? TEST_UC_QPN
							       : TEST_UD_QPN,
			};

			known[s.opcode] = true;
			frame_build(&f, &s);
			expect(*state, "opcode with its headers", RXE_CNT_STEERED);
			if (!s.ext_len)
				continue;
			s.ext_len -= 4;
			frame_build(&f, &s);
			expect(*state, "opcode with 4 bytes less", RXE_CNT_DROP_MALFORMED);
		}
	for (op = 0; op < 256; op++) {
		struct frame_spec s = V4(op, TEST_RC_QPN);

		frame_build(&f, &s);
		if (!known[op])
			expect(*state, "no such opcode", RXE_CNT_DROP_MALFORMED);
	}
}

static void metadata(void **state)
{
	int i;

	for (i = 0; i < 16; i++) {
		struct frame_spec s = V4(RC, TEST_RC_QPN);
		struct run r;
		uint8_t *tos;

		s.v6 = i & 1;
		s.vlan = i & 2;
		frame_build(&f, &s);
		tos = f.bytes + f.l3 + 1;
		*tos = s.v6 ? (*tos & 0xcf) | (i / 4) << 4 : (*tos & 0xfc) | i / 4;
		r = harness_run(*state, f.bytes, f.len, 0);
		assert_int_equal(r.counter, RXE_CNT_STEERED);
		assert_int_equal(r.meta.magic, RXE_META_MAGIC);
		assert_int_equal(r.meta.flags, RXE_META_ICRC_CHECKED);
		assert_int_equal(r.meta.ecn, i / 4);
		assert_int_equal(r.meta.l3_off, f.l3);
		assert_int_equal(r.meta.bth_off, f.bth);
	}
}

static void crc_disable(void **state)
{
	struct harness *h = *state;
	struct run r;

	good_frame();
	flip_payload(&f);
	harness_set_crc_disable(h, 1);
	r = harness_run(h, f.bytes, f.len, 0);
	assert_int_equal(r.counter, RXE_CNT_STEERED);
	assert_int_equal(r.meta.flags, 0);
	harness_set_crc_disable(h, 0);
	expect(h, "crc_disable off again", RXE_CNT_DROP_ICRC);
	harness_clear_param(h, RXE_PARAM_CRC_DISABLE);
	expect(h, "no map in the slot", RXE_CNT_DROP_ICRC);
	harness_fill_param(h, RXE_PARAM_CRC_DISABLE, h->crc_disable);
}

static void orphans(void **state)
{
	struct rxe_bpf_config cfg = harness_default_config;
	struct harness *h = *state;
	struct timespec now;

	good_frame();
	cfg.generation = 0;
	harness_set_config(h, &cfg);
	expect(h, "generation 0", RXE_CNT_PASS_ORPHAN);

	cfg.generation = 7;
	cfg.flags = RXE_CFG_HEARTBEAT;
	clock_gettime(CLOCK_MONOTONIC, &now);
	cfg.heartbeat_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	harness_set_config(h, &cfg);
	expect(h, "fresh heartbeat", RXE_CNT_STEERED);
	cfg.heartbeat_ns += 50000000;
	harness_set_config(h, &cfg);
	expect(h, "heartbeat of a CPU slightly ahead", RXE_CNT_STEERED);
	cfg.heartbeat_ns -= RXE_HEARTBEAT_STALE_NS + 60000000;
	harness_set_config(h, &cfg);
	expect(h, "stale heartbeat", RXE_CNT_PASS_ORPHAN);
	cfg.flags = 0;
	harness_set_config(h, &cfg);
	expect(h, "heartbeat not asked for", RXE_CNT_STEERED);
	harness_set_config(h, &harness_default_config);
}

static void no_socket(void **state)
{
	struct harness *h = *state;

	good_frame();
	harness_set_socket(h, TEST_WORKER, 0, 0);
	expect(h, "empty slot", RXE_CNT_DROP_NO_SOCK);
	harness_set_socket(h, TEST_WORKER, 1, 1);
	expect(h, "socket on another queue", RXE_CNT_DROP_NO_SOCK);
	harness_set_socket(h, TEST_WORKER, 1, 0);
	harness_set_socket(h, TEST_WORKER, 0, 1);
	expect(h, "socket back", RXE_CNT_STEERED);
	/* What goes to the control worker needs the control worker's socket. */
	harness_set_socket(h, RXE_CONTROL_WORKER, 0, 0);
	f.bytes[f.bth] = UD;
	put24(f.bytes + f.bth + 5, 1);
	frame_set_icrc(&f);
	expect(h, "QP1 without a control socket", RXE_CNT_DROP_NO_SOCK);
	harness_set_socket(h, RXE_CONTROL_WORKER, 0, 1);
}

/* All the headroom that metadata may take is taken: ours finds none. */
static void no_metadata(void **state)
{
	struct run r;

	good_frame();
	r = harness_run_with_meta(*state, f.bytes, f.len, 216);
	assert_int_equal(r.counter, RXE_CNT_DROP_META);
	assert_int_equal(r.action, XDP_DROP);
}

static void qp_state_follows_the_map(void **state)
{
	struct harness *h = *state;
	struct frame_spec group = GROUP4(UD, 0xffffff);
	uint32_t qpn = TEST_RC_QPN;

	good_frame();
	harness_set_qp(h, TEST_RC_QPN, RXE_CLASS_RC, 0);
	expect(h, "QP left RTS", RXE_CNT_DROP_STATE);
	bpf_map_delete_elem(h->qpns, &qpn);
	expect(h, "QP destroyed", RXE_CNT_DROP_NO_QP);
	harness_set_qp(h, TEST_RC_QPN, RXE_CLASS_RC, RXE_BPF_QP_RECEIVES);
	expect(h, "QP back", RXE_CNT_STEERED);
	harness_set_peer(h, TEST_RC_QPN, RXE_CLASS_RC, test_peer6);
	expect(h, "QP connected to another", RXE_CNT_DROP_PEER);
	harness_set_peer(h, TEST_RC_QPN, RXE_CLASS_RC, test_peer4);
	expect(h, "QP connected to it", RXE_CNT_STEERED);
	harness_set_qp(h, TEST_RC_QPN, RXE_CLASS_RC, RXE_BPF_QP_RECEIVES);
	harness_set_addr(h, test_group4, 0);
	frame_build(&f, &group);
	expect(h, "group left", RXE_CNT_PASS_FOREIGN);
	harness_set_addr(h, test_group4, RXE_ADDR_MULTICAST);
	expect(h, "group joined again", RXE_CNT_STEERED);
}

/* rxed checks this before it adopts an object. */
static void abi_map(void **state)
{
	struct rxe_bpf_abi abi = {0};

	harness_read_abi(*state, &abi);
	assert_int_equal(abi.magic, RXE_BPF_ABI_MAGIC);
	assert_int_equal(abi.version, RXE_BPF_ABI_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),       cmocka_unit_test(opcodes),
		cmocka_unit_test(metadata),    cmocka_unit_test(crc_disable),
		cmocka_unit_test(orphans),     cmocka_unit_test(no_socket),
		cmocka_unit_test(no_metadata), cmocka_unit_test(qp_state_follows_the_map),
		cmocka_unit_test(abi_map),
	};

	return cmocka_run_group_tests_name("xdp_verdicts", tests, harness_setup, harness_teardown);
}
