// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The guard on the way out and the counters on the way in: an ordinary UDP
 * socket must not send RoCEv2 frames in this device's name. Frames of rxed
 * pass: its AF_XDP transmit does not come here, its others carry a mark.
 */
#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include <rxe/bpf_abi.h>
#include "parse.h"

/* Ethernet, VLAN, IPv6, UDP, BTH: what parsing may need in the linear part. */
#define HEADERS_LEN (ETH_HLEN + VLAN_HLEN + 40 + 8 + RXE_BTH_LEN)

#define FRAG4_OFFSET 0x1fff
#define FRAG6_OFFSET 0xfff8

struct frag_header {
	__u8 nexthdr;
	__u8 reserved;
	__be16 offset; /* in units of 8 in bits 15..3, MF in bit 0 */
	__be32 id;
};

/* rxed writes mac; while it is zero, frames of any source MAC are guarded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rxe_bpf_config);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RXE_TC_CNT_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

static __always_inline void count(enum rxe_tc_counter which)
{
	__u32 key = which;
	__u64 *n = bpf_map_lookup_elem(&counters, &key);

	if (n)
		*n += 1;
}

static __always_inline enum rxe_bpf_counter parse(struct __sk_buff *skb, struct rxe_frame *f)
{
	bpf_skb_pull_data(skb, skb->len < HEADERS_LEN ? skb->len : HEADERS_LEN);
	return rxe_parse((void *)(long)skb->data, (void *)(long)skb->data_end, f);
}

/* The offset of the UDP header of a first fragment or behind IPv4 options; 0: none. */
static __always_inline __u32 hidden_udp(struct __sk_buff *skb, const struct rxe_frame *f)
{
	struct frag_header frag;
	struct iphdr ip;

	if (f->v6) {
		__u32 off = f->l3_off + sizeof(struct ipv6hdr);

		if (bpf_skb_load_bytes(skb, off, &frag, sizeof(frag)) ||
		    frag.nexthdr != IPPROTO_UDP || frag.offset & bpf_htons(FRAG6_OFFSET))
			return 0;
		return off + sizeof(frag);
	}
	if (bpf_skb_load_bytes(skb, f->l3_off, &ip, sizeof(ip)) || ip.protocol != IPPROTO_UDP ||
	    ip.frag_off & bpf_htons(FRAG4_OFFSET))
		return 0;
	return f->l3_off + ip.ihl * 4;
}

/*
 * RoCEv2, or a fragment or a frame with options that becomes it at a receiver
 * that reassembles (kernel rxe does): no way round the guard. Sending IPv6
 * extension headers other than fragments takes a privilege.
 */
static __always_inline bool to_roce_port(struct __sk_buff *skb, struct rxe_frame *f)
{
	enum rxe_bpf_counter verdict = parse(skb, f);
	__be16 port;
	__u32 udp;

	if (verdict != RXE_CNT_PASS_FRAG && verdict != RXE_CNT_PASS_OPTIONS)
		return verdict == RXE_CNT_STEERED;
	udp = hidden_udp(skb, f);
	return udp &&
	       !bpf_skb_load_bytes(skb, udp + offsetof(struct udphdr, dest), &port, sizeof(port)) &&
	       port == bpf_htons(RXE_ROCE_UDP_PORT);
}

/* From this host's own stack; not forwarded, not of a macvlan above us. */
static __always_inline bool from_local_stack(struct __sk_buff *skb, const struct rxe_frame *f)
{
	struct rxe_bpf_config *cfg;
	__u32 zero = 0;

	if (skb->ingress_ifindex)
		return false;
	cfg = bpf_map_lookup_elem(&config, &zero);
	return !cfg || mac_is_zero(cfg->mac) || mac_equal(cfg->mac, f->smac);
}

/* Of a VLAN netdev above us, which has a guard of its own if it has a device. */
static __always_inline bool of_vlan(const struct __sk_buff *skb, const struct rxe_frame *f)
{
	return (skb->vlan_present ? skb->vlan_tci & VLAN_VID_MASK : f->vid) != 0;
}

SEC("tc")
int rxe_tc_ingress(struct __sk_buff *skb)
{
	struct rxe_frame f = {};

	count(parse(skb, &f) == RXE_CNT_STEERED ? RXE_TC_CNT_IN_ROCE : RXE_TC_CNT_IN_OTHER);
	return TC_ACT_UNSPEC; /* others behind us have their say */
}

SEC("tc")
int rxe_tc_egress(struct __sk_buff *skb)
{
	struct rxe_frame f = {};

	if (!to_roce_port(skb, &f) || of_vlan(skb, &f)) {
		count(RXE_TC_CNT_OUT_OTHER);
	} else if (skb->mark == RXE_TC_MARK) {
		count(RXE_TC_CNT_OUT_OWN);
	} else if (from_local_stack(skb, &f)) {
		count(RXE_TC_CNT_OUT_DROP);
		return TC_ACT_SHOT;
	} else {
		count(RXE_TC_CNT_OUT_OTHER);
	}
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "Dual BSD/GPL";
