/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an Ethernet frame to its BTH: one optional VLAN tag, IPv4 without
 * options or IPv6 without extension headers, UDP port 4791. Shared by the
 * XDP and the TC program; works on their direct packet pointers.
 */
#ifndef RXE_BPF_PARSE_H
#define RXE_BPF_PARSE_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <rxe/bpf_abi.h>
#include <rxe/wire.h>
#include "opcodes.h"

#define VLAN_HLEN	 4
#define VLAN_VID_MASK	 0xfff	/* 0: a priority tag only, no VLAN */
#define IPV4_FRAG_FIELDS 0x3fff /* MF and the offset */
#define IPPROTO_HIP	 139
#define IPPROTO_SHIM6	 140

/* A RoCEv2 frame. Offsets from its start; lengths are the headers' claims. */
struct rxe_frame {
	struct rxe_bpf_addr dip __attribute__((aligned(8)));
	struct rxe_bpf_addr sip __attribute__((aligned(8)));
	struct rxe_bth bth;
	__u16 l3_off;
	__u16 bth_off;
	__u16 udp_len;	/* UDP header to the end of the ICRC */
	__u16 l4_claim; /* the same by the IP header */
	__u16 vid;	/* of the tag; 0: none, or only a priority */
	__u8 dmac[ETH_ALEN];
	__u8 smac[ETH_ALEN];
	__u8 v6;
	__u8 ecn;
};

static __always_inline bool mac_equal(const __u8 *a, const __u8 *b)
{
	return *(__u16 *)a == *(__u16 *)b && *(__u16 *)(a + 2) == *(__u16 *)(b + 2) &&
	       *(__u16 *)(a + 4) == *(__u16 *)(b + 4);
}

static __always_inline bool mac_is_zero(const __u8 *a)
{
	return !(*(__u16 *)a | *(__u16 *)(a + 2) | *(__u16 *)(a + 4));
}

/* IPv6 extension headers, and what else stands before an upper layer. */
static __always_inline enum rxe_bpf_counter next_header_verdict(__u8 nexthdr)
{
	switch (nexthdr) {
	case IPPROTO_UDP:
		return RXE_CNT_STEERED;
	case IPPROTO_FRAGMENT:
		return RXE_CNT_PASS_FRAG;
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
	case IPPROTO_AH:
	case IPPROTO_MH:
	case IPPROTO_HIP:
	case IPPROTO_SHIM6:
		return RXE_CNT_PASS_OPTIONS;
	default:
		return RXE_CNT_PASS_OTHER;
	}
}

static __always_inline enum rxe_bpf_counter parse_ipv4(void *l3, void *end, struct rxe_frame *f)
{
	struct iphdr *ip = l3;
	__u32 *dip = (__u32 *)f->dip.ip, *sip = (__u32 *)f->sip.ip;

	if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl < 5)
		return RXE_CNT_PASS_OTHER;
	if (ip->frag_off & bpf_htons(IPV4_FRAG_FIELDS))
		return RXE_CNT_PASS_FRAG;
	if (ip->ihl > 5)
		return RXE_CNT_PASS_OPTIONS;
	if (ip->protocol != IPPROTO_UDP)
		return RXE_CNT_PASS_OTHER;
	f->ecn = ip->tos & 3;
	f->l4_claim = bpf_ntohs(ip->tot_len) - sizeof(*ip);
	dip[2] = bpf_htonl(0xffff);
	dip[3] = ip->daddr;
	sip[2] = bpf_htonl(0xffff);
	sip[3] = ip->saddr;
	return RXE_CNT_STEERED;
}

static __always_inline enum rxe_bpf_counter parse_ipv6(void *l3, void *end, struct rxe_frame *f)
{
	struct ipv6hdr *ip = l3;

	f->v6 = 1;
	if ((void *)(ip + 1) > end || ip->version != 6)
		return RXE_CNT_PASS_OTHER;
	f->ecn = (ip->flow_lbl[0] >> 4) & 3;
	f->l4_claim = bpf_ntohs(ip->payload_len);
	__builtin_memcpy(f->dip.ip, &ip->daddr, sizeof(f->dip.ip));
	__builtin_memcpy(f->sip.ip, &ip->saddr, sizeof(f->sip.ip));
	return next_header_verdict(ip->nexthdr);
}

/*
 * Fill @f, zero at entry, from the frame [data, end). RXE_CNT_STEERED: it is
 * a RoCEv2 frame; else the PASS_* counter that says what it is; the MACs,
 * vid, l3_off and v6 are set in any IP frame.
 */
static __always_inline enum rxe_bpf_counter rxe_parse(void *data, void *end, struct rxe_frame *f)
{
	struct ethhdr *eth = data;
	enum rxe_bpf_counter verdict;
	void *l3 = eth + 1;
	struct udphdr *udp;
	struct rxe_bth *bth;
	__be16 proto;

	if (l3 + VLAN_HLEN > end)
		return RXE_CNT_PASS_OTHER;
	__builtin_memcpy(f->dmac, eth->h_dest, ETH_ALEN);
	__builtin_memcpy(f->smac, eth->h_source, ETH_ALEN);
	proto = eth->h_proto;
	if (proto == bpf_htons(ETH_P_8021Q) || proto == bpf_htons(ETH_P_8021AD)) {
		f->vid = bpf_ntohs(((__be16 *)l3)[0]) & VLAN_VID_MASK;
		proto = ((__be16 *)l3)[1];
		l3 += VLAN_HLEN;
	}
	f->l3_off = l3 - data;
	if (proto == bpf_htons(ETH_P_IP))
		verdict = parse_ipv4(l3, end, f);
	else if (proto == bpf_htons(ETH_P_IPV6))
		verdict = parse_ipv6(l3, end, f);
	else
		return RXE_CNT_PASS_OTHER;
	if (verdict != RXE_CNT_STEERED)
		return verdict;

	udp = l3 + (f->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	bth = (void *)(udp + 1);
	if ((void *)(udp + 1) > end || udp->dest != bpf_htons(RXE_ROCE_UDP_PORT))
		return RXE_CNT_PASS_OTHER;
	f->bth_off = (void *)bth - data;
	if ((void *)(bth + 1) > end)
		return RXE_CNT_STEERED; /* udp_len 0: malformed, if it is ours */
	f->udp_len = bpf_ntohs(udp->len);
	f->bth = *bth;
	return RXE_CNT_STEERED;
}

/* Length of the header, padding and ICRC that the opcode asks for; 0: none such. */
static __always_inline __u32 rxe_min_udp_len(const struct rxe_bth *bth)
{
	__u32 hdr = opcode_hdr_len[bth->opcode];
	__u32 pad = (bth->flags & RXE_BTH_PAD_MASK) >> RXE_BTH_PAD_SHIFT;

	return hdr ? sizeof(struct udphdr) + hdr + pad + RXE_ICRC_LEN : 0;
}

/*
 * PROTOCOL.md, rules 1 and 3: what the transport need not look at again.
 * @frame_len is the whole frame's, all fragments, link padding included.
 */
static __always_inline bool rxe_malformed(const struct rxe_frame *f, __u32 frame_len)
{
	__u32 udp_off = f->bth_off - sizeof(struct udphdr);
	__u32 min = rxe_min_udp_len(&f->bth);

	return (f->bth.flags & RXE_BTH_TVER_MASK) || !min || f->udp_len < min ||
	       f->udp_len > min + RXE_MAX_IB_MTU || f->udp_len % 4 || f->udp_len != f->l4_claim ||
	       udp_off + f->udp_len > frame_len;
}

#endif
