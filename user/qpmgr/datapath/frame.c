// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Builds the network headers of RoCEv2 frames, computes their ICRC, and reads
 * back what a received packet needs of them.
 */
#include "datapath/frame.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <string.h>

#include "common/icrc.h"
#include "datapath/datapath.h"

#define DEFAULT_HOP_LIMIT 64
#define GOLDEN_RATIO_32	  0x61c88647u /* multiplicative hash, as the driver's hash_32() */

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool rxe_ip_is_v4(const union rxe_ip *ip)
{
	return !memcmp(ip->raw, v4_prefix, sizeof(v4_prefix));
}

uint16_t rxe_frame_sport(uint32_t flow_label, uint32_t src_qpn)
{
	uint32_t bits;

	if (flow_label)
		bits = (flow_label ^ (flow_label >> 14)) & 0x3fff;
	else
		bits = (src_qpn * GOLDEN_RATIO_32) >> (32 - 14);
	return (uint16_t)(RXE_UDP_SPORT_BASE | bits);
}

static uint16_t ip_checksum(const struct iphdr *ip)
{
	uint16_t word[sizeof(*ip) / 2];
	uint32_t sum = 0;

	memcpy(word, ip, sizeof(word));
	for (unsigned int i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		sum += word[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

static uint8_t hop_limit(const struct rxe_address *a)
{
	return a->hop_limit ? a->hop_limit : DEFAULT_HOP_LIMIT;
}

static uint8_t *push_ipv4(uint8_t *udp, const struct rxe_address *a, uint16_t udp_len,
			  uint16_t ip_id)
{
	struct iphdr *ip = (struct iphdr *)(udp - sizeof(*ip));

	*ip = (struct iphdr){
		.version = 4,
		.ihl = 5,
		.tos = a->traffic_class,
		.tot_len = htons(sizeof(*ip) + udp_len),
		.id = htons(ip_id),
		.frag_off = htons(0x4000), /* DF */
		.ttl = hop_limit(a),
		.protocol = IPPROTO_UDP,
		.saddr = a->sip.w[3],
		.daddr = a->dip.w[3],
	};
	ip->check = ip_checksum(ip);
	return (uint8_t *)ip;
}

static uint8_t *push_ipv6(uint8_t *udp, const struct rxe_address *a, uint16_t udp_len)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)(udp - sizeof(*ip));
	uint32_t first = 6u << 28 | (uint32_t)a->traffic_class << 20 | (a->flow_label & 0xfffff);

	first = htonl(first);
	memcpy(ip, &first, sizeof(first));
	ip->payload_len = htons(udp_len);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = hop_limit(a);
	memcpy(&ip->saddr, a->sip.raw, 16);
	memcpy(&ip->daddr, a->dip.raw, 16);
	return (uint8_t *)ip;
}

static uint8_t *push_ethernet(uint8_t *ip, const struct rxe_route *route, uint64_t smac_word,
			      uint16_t proto)
{
	struct ethhdr *eth = (struct ethhdr *)(ip - sizeof(*eth));

	rxe_route_mac(route, eth->h_dest);
	memcpy(eth->h_source, &smac_word, ETH_ALEN);
	eth->h_proto = htons(proto);
	return (uint8_t *)eth;
}

uint8_t *rxe_frame_push(struct rxe_pkt *pkt, uint64_t smac_word, uint16_t ip_id)
{
	const struct rxe_address *a = pkt->addr;
	struct udphdr *udp = (struct udphdr *)(pkt->hdr - sizeof(*udp));
	uint32_t ib_len = pkt->hdr_len + pkt->payload_len + pkt->pad;
	uint16_t udp_len = (uint16_t)(sizeof(*udp) + ib_len + RXE_ICRC_LEN);
	bool v4 = rxe_ip_is_v4(&a->dip);
	uint8_t *ip;

	udp->source = htons(rxe_frame_sport(a->flow_label, pkt->src_qpn));
	udp->dest = htons(RXE_ROCE_UDP_PORT);
	udp->len = htons(udp_len);
	udp->check = 0;
	ip = v4 ? push_ipv4((uint8_t *)udp, a, udp_len, ip_id)
		: push_ipv6((uint8_t *)udp, a, udp_len);
	pkt->ip = ip;
	pkt->ip_version = v4 ? 4 : 6;
	return push_ethernet(ip, a->route, smac_word, v4 ? ETH_P_IP : ETH_P_IPV6);
}

uint32_t rxe_frame_icrc(const struct rxe_pkt *pkt)
{
	const uint8_t *udp = pkt->hdr - sizeof(struct udphdr);
	uint32_t state = rxe_icrc_start(pkt->ip, udp, pkt->hdr, pkt->hdr_len);

	for (unsigned int i = 0; i < pkt->nsegs; i++)
		state = rxe_icrc_add(state, pkt->seg[i].iov_base, pkt->seg[i].iov_len);
	return rxe_icrc_finish(state);
}

void rxe_frame_shape(struct rxe_pkt *pkt, uint8_t *hdr, uint32_t len, uint32_t ib_len)
{
	uint32_t here = len < ib_len ? len : ib_len;

	pkt->hdr = hdr;
	pkt->ib_len = ib_len;
	pkt->hdr_len = (uint16_t)(here < RXE_MAX_IB_HDR ? here : RXE_MAX_IB_HDR);
	pkt->nsegs = 0;
	if (here > pkt->hdr_len)
		pkt->seg[pkt->nsegs++] =
			(struct iovec){hdr + pkt->hdr_len, (size_t)here - pkt->hdr_len};
}

static void map_v4(union rxe_ip *out, uint32_t addr)
{
	memcpy(out->raw, v4_prefix, sizeof(v4_prefix));
	out->w[3] = addr;
}

void rxe_frame_addresses(struct rxe_pkt *pkt)
{
	struct ipv6hdr six;
	struct iphdr four;

	pkt->ip_version = pkt->ip[0] >> 4;
	if (pkt->ip_version == 4) {
		memcpy(&four, pkt->ip, sizeof(four));
		map_v4(&pkt->sip, four.saddr);
		map_v4(&pkt->dip, four.daddr);
	} else {
		memcpy(&six, pkt->ip, sizeof(six));
		memcpy(pkt->sip.raw, &six.saddr, 16);
		memcpy(pkt->dip.raw, &six.daddr, 16);
	}
}
