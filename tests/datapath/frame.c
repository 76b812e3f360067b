// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The network headers of a frame, field by field, and its ICRC. No root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <string.h>

#include "common/icrc.h"
#include "datapath/datapath.h"
#include "datapath/frame.h"

#define LEN 101u
#define PAD 3u

struct made {
	uint8_t buf[RXE_FRAME_HEADROOM + 256] __attribute__((aligned(64)));
	uint8_t *frame;
	struct rxe_pkt pkt;
	struct rxe_route route;
	struct rxe_address addr;
};

static void parse_ip(const char *text, union rxe_ip *ip)
{
	assert_int_equal(inet_pton(AF_INET6, text, ip->raw), 1);
}

/* A packet whose payload is cut into two segments. */
static void make(struct made *m, const char *sip, const char *dip)
{
	static const uint8_t dmac[6] = {2, 1, 2, 3, 4, 5}, smac[6] = {2, 9, 8, 7, 6, 5};
	uint64_t smac_word = 0;
	uint8_t *payload;

	memcpy(&smac_word, smac, 6);
	memcpy(&m->route.dmac_word, dmac, 6);
	parse_ip(sip, &m->addr.sip);
	parse_ip(dip, &m->addr.dip);
	m->addr.route = &m->route;
	for (uint32_t i = 0; i < sizeof(m->buf); i++)
		m->buf[i] = (uint8_t)(i * 13);
	payload = m->buf + RXE_FRAME_HEADROOM + RXE_BTH_LEN;
	m->pkt = (struct rxe_pkt){
		.hdr = m->buf + RXE_FRAME_HEADROOM,
		.hdr_len = RXE_BTH_LEN,
		.payload_len = LEN,
		.pad = PAD,
		.nsegs = 2,
		.seg = {{payload, 40}, {payload + 40, LEN + PAD - 40}},
		.addr = &m->addr,
		.src_qpn = 17,
	};
	m->frame = rxe_frame_push(&m->pkt, smac_word, 0x1234);
	assert_memory_equal(m->frame, dmac, 6);
	assert_memory_equal(m->frame + 6, smac, 6);
}

static void check_udp(const struct made *m, uint16_t sport)
{
	struct udphdr udp;

	memcpy(&udp, m->pkt.hdr - sizeof(udp), sizeof(udp));
	assert_int_equal(ntohs(udp.source), sport);
	assert_int_equal(ntohs(udp.dest), 4791);
	assert_int_equal(ntohs(udp.len), 8 + 12 + LEN + PAD + 4);
	assert_int_equal(udp.check, 0);
}

static void check_icrc(const struct made *m)
{
	assert_int_equal(rxe_frame_icrc(&m->pkt),
			 rxe_icrc_packet(m->pkt.ip, RXE_BTH_LEN + LEN + PAD));
}

static void ipv4_fields(void **state)
{
	struct made m = {.addr = {.traffic_class = 0x6a, .hop_limit = 7}};
	struct iphdr ip;
	uint32_t sum = 0;
	uint16_t word;

	(void)state;
	make(&m, "::ffff:10.1.2.3", "::ffff:10.1.2.4");
	assert_int_equal(m.pkt.hdr - m.frame, 14 + 20 + 8);
	assert_int_equal(m.frame[12] << 8 | m.frame[13], ETH_P_IP);
	memcpy(&ip, m.frame + 14, sizeof(ip));
	assert_int_equal(ip.version, 4);
	assert_int_equal(ip.ihl, 5);
	assert_int_equal(ip.tos, 0x6a);
	assert_int_equal(ntohs(ip.tot_len), 20 + 8 + 12 + LEN + PAD + 4);
	assert_int_equal(ntohs(ip.id), 0x1234);
	assert_int_equal(ntohs(ip.frag_off), 0x4000);
	assert_int_equal(ip.ttl, 7);
	assert_int_equal(ip.protocol, IPPROTO_UDP);
	assert_int_equal(ntohl(ip.saddr), 0x0a010203);
	assert_int_equal(ntohl(ip.daddr), 0x0a010204);
	for (int i = 0; i < 20; i += 2) {
		memcpy(&word, m.frame + 14 + i, 2);
		sum += ntohs(word);
	}
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	check_udp(&m, rxe_frame_sport(0, 17));
	check_icrc(&m);
}

static void ipv6_fields(void **state)
{
	struct made m = {.addr = {.traffic_class = 0x6a, .flow_label = 0xabcde}};
	const uint8_t *ip;

	(void)state;
	make(&m, "fd00::1", "fd00::2");
	ip = m.frame + 14;
	assert_int_equal(m.pkt.hdr - m.frame, 14 + 40 + 8);
	assert_int_equal(m.frame[12] << 8 | m.frame[13], ETH_P_IPV6);
	assert_int_equal(ip[0], 0x66);
	assert_int_equal(ip[1], 0xaa);
	assert_int_equal(ip[2], 0xbc);
	assert_int_equal(ip[3], 0xde);
	assert_int_equal(ip[4] << 8 | ip[5], 8 + 12 + LEN + PAD + 4);
	assert_int_equal(ip[6], IPPROTO_UDP);
	assert_int_equal(ip[7], 64); /* the default */
	assert_memory_equal(ip + 8, m.addr.sip.raw, 16);
	assert_memory_equal(ip + 24, m.addr.dip.raw, 16);
	check_udp(&m, rxe_frame_sport(0xabcde, 17));
	check_icrc(&m);
}

/* rdma_flow_label_to_udp_sport() and hash_32() of the kernel, worked by hand. */
static void source_ports(void **state)
{
	(void)state;
	assert_int_equal(rxe_frame_sport(1, 99), 0xc001);
	assert_int_equal(rxe_frame_sport(0x4000, 99), 0xc001);
	assert_int_equal(rxe_frame_sport(0xfffff, 99), 0xc000 | (0x3fff ^ 0x3f));
	assert_int_equal(rxe_frame_sport(0, 0), 0xc000);
	assert_int_equal(rxe_frame_sport(0, 1), 0xc000 | 0x61c88647u >> 18);
	for (uint32_t qpn = 0; qpn < 5000; qpn++)
		assert_int_equal(rxe_frame_sport(0, qpn) & 0xc000, 0xc000);
}

static void shapes(void **state)
{
	uint8_t buf[100];
	struct rxe_pkt p = {0};

	(void)state;
	rxe_frame_shape(&p, buf, sizeof(buf), 12); /* shorter than the longest headers */
	assert_int_equal(p.hdr_len, 12);
	assert_int_equal(p.nsegs, 0);
	rxe_frame_shape(&p, buf, sizeof(buf), 90); /* padded frame: 10 bytes are not ours */
	assert_int_equal(p.hdr_len, RXE_MAX_IB_HDR);
	assert_int_equal(p.nsegs, 1);
	assert_int_equal(p.seg[0].iov_len, 90 - RXE_MAX_IB_HDR);
	assert_ptr_equal(p.seg[0].iov_base, buf + RXE_MAX_IB_HDR);
	rxe_frame_shape(&p, buf, sizeof(buf), 200); /* the rest is in other fragments */
	assert_int_equal(p.seg[0].iov_len, sizeof(buf) - RXE_MAX_IB_HDR);
	assert_int_equal(p.ib_len, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_fields),
		cmocka_unit_test(ipv6_fields),
		cmocka_unit_test(source_ports),
		cmocka_unit_test(shapes),
	};

	return cmocka_run_group_tests_name("datapath/frame", tests, NULL, NULL);
}
