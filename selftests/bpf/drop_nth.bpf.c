// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A lossy wire for the selftests: on TC ingress of a bridge port, drops every
 * every_nth[0]-th RoCEv2 frame (0: none), or one of one_in[0] by chance, and
 * counts what it dropped. The count runs over all ports, so both directions lose
 * frames. Chance is for peers whose repeats may be a multiple of N frames long,
 * so that the same one would be lost each time.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "rxe/wire.h"

#define IPV4_PROTO 9
#define IPV4_DPORT 22 /* without options */
#define IPV6_PROTO 6
#define IPV6_DPORT 42

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} every_nth SEC(".maps"), one_in SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps"), lost SEC(".maps");

static int is_roce(struct __sk_buff *skb)
{
	int v4 = skb->protocol == bpf_htons(ETH_P_IP);
	__u8 proto = 0;
	__be16 dport = 0;

	if (!v4 && skb->protocol != bpf_htons(ETH_P_IPV6))
		return 0;
	if (bpf_skb_load_bytes(skb, ETH_HLEN + (v4 ? IPV4_PROTO : IPV6_PROTO), &proto, 1) ||
	    bpf_skb_load_bytes(skb, ETH_HLEN + (v4 ? IPV4_DPORT : IPV6_DPORT), &dport, 2))
		return 0;
	return proto == IPPROTO_UDP && dport == bpf_htons(RXE_ROCE_UDP_PORT);
}

static int is_due(void)
{
	__u32 zero = 0;
	__u32 *nth = bpf_map_lookup_elem(&every_nth, &zero);
	__u32 *in = bpf_map_lookup_elem(&one_in, &zero);
	__u64 *s = bpf_map_lookup_elem(&seen, &zero);

	if (in && *in && bpf_get_prandom_u32() % *in == 0)
		return 1;
	return nth && *nth && s && (__sync_fetch_and_add(s, 1) + 1) % *nth == 0;
}

SEC("classifier")
int drop_nth(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *l = bpf_map_lookup_elem(&lost, &zero);

	if (!l || !is_roce(skb) || !is_due())
		return TC_ACT_OK;
	__sync_fetch_and_add(l, 1);
	return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
