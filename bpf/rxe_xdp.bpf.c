// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The receive path's first program: takes the RoCEv2 frames that are for this
 * device out of the netdev's stream, validates them, and hands each to the
 * AF_XDP socket of the worker that owns its QP. Everything else goes on to
 * the stack untouched.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <rxe/bpf_abi.h>
#include <rxe/wire.h>
#include "icrc.h"
#include "maps.h"
#include "parse.h"

/* What XDP does for each counter: the verdict column of their table. */
static __always_inline int action(enum rxe_bpf_counter which)
{
#define ACTION(sym, name, verdict, help) \
	case RXE_CNT_##sym:              \
		return verdict[0] == 'd' ? XDP_DROP : XDP_PASS;
	switch (which) {
		RXE_BPF_COUNTERS(ACTION)
	default:
		return XDP_PASS;
	}
#undef ACTION
}

/* No daemon has taken this program, or the one that did has gone. */
static __always_inline bool orphaned(const struct rxe_bpf_config *cfg)
{
	__s64 age;

	if (!cfg->generation)
		return true;
	if (!(cfg->flags & RXE_CFG_HEARTBEAT))
		return false;
	/* Signed: the beat of another CPU may be younger than our reading. */
	age = bpf_ktime_get_ns() - *(volatile const __u64 *)&cfg->heartbeat_ns;
	return age > (__s64)RXE_HEARTBEAT_STALE_NS;
}

/* The MAC that a multicast IP maps to (RFC 1112, RFC 2464). */
static __always_inline void multicast_mac(const struct rxe_frame *f, __u8 *mac)
{
	const __u8 *ip = f->dip.ip;

	mac[0] = f->v6 ? 0x33 : 0x01;
	mac[1] = f->v6 ? 0x33 : 0x00;
	mac[2] = f->v6 ? ip[12] : 0x5e;
	mac[3] = f->v6 ? ip[13] : ip[13] & 0x7f;
	mac[4] = ip[14];
	mac[5] = ip[15];
}

/* RXE_ADDR_* as which the destination is ours, or 0: a foreign frame. */
static __always_inline __u32 destination(const struct rxe_frame *f,
					 const struct rxe_bpf_config *cfg)
{
	__u32 *flags = bpf_map_lookup_elem(&addrs, &f->dip);
	__u8 group_mac[ETH_ALEN];

	if (!flags)
		return 0;
	if (*flags & RXE_ADDR_UNICAST && mac_equal(f->dmac, cfg->mac))
		return RXE_ADDR_UNICAST;
	if (*flags & RXE_ADDR_MULTICAST) {
		multicast_mac(f, group_mac);
		if (mac_equal(f->dmac, group_mac))
			return RXE_ADDR_MULTICAST;
	}
	return 0;
}

/* From one of our own addresses: such frames never cross a wire. */
static __always_inline bool own_source(const struct rxe_frame *f)
{
	__u32 *flags = bpf_map_lookup_elem(&addrs, &f->sip);

	return flags && *flags & RXE_ADDR_UNICAST;
}

/* Our one P_Key is a full member's, so limited ones of its partition are let in. */
static __always_inline bool pkey_ok(const struct rxe_frame *f)
{
	return (bpf_ntohs(f->bth.pkey) & RXE_PKEY_MASK) == (RXE_DEFAULT_PKEY & RXE_PKEY_MASK);
}

static __always_inline bool peer_ok(const struct rxe_frame *f, const struct rxe_bpf_qp *qp)
{
	const __u32 *a = (const __u32 *)f->sip.ip, *b = (const __u32 *)qp->peer;

	if (!(qp->state & RXE_BPF_QP_PEER))
		return true;
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/* The QP that takes the frame: its worker, or the verdict why there is none. */
static __always_inline enum rxe_bpf_counter find_qp(const struct rxe_frame *f, __u32 dest,
						    __u32 *worker)
{
	__u32 qpn = bpf_ntohl(f->bth.qpn) & RXE_QPN_MASK;
	__u8 op_class = RXE_OP_CLASS(f->bth.opcode);
	struct rxe_bpf_qp *qp;

	if (dest == RXE_ADDR_MULTICAST && qpn != RXE_MULTICAST_QPN)
		return RXE_CNT_DROP_NO_QP;
	if (dest == RXE_ADDR_MULTICAST || qpn == RXE_GSI_QPN) {
		*worker = RXE_CONTROL_WORKER;
		if (op_class != RXE_CLASS_UD)
			return RXE_CNT_DROP_STATE;
		return pkey_ok(f) ? RXE_CNT_STEERED : RXE_CNT_DROP_PKEY;
	}
	qp = bpf_map_lookup_elem(&qpns, &qpn);
	if (!qp)
		return RXE_CNT_DROP_NO_QP;
	if (!(qp->state & RXE_BPF_QP_RECEIVES) || qp->op_class != op_class)
		return RXE_CNT_DROP_STATE;
	if (!pkey_ok(f))
		return RXE_CNT_DROP_PKEY;
	if (!peer_ok(f, qp))
		return RXE_CNT_DROP_PEER;
	*worker = qp->worker;
	return RXE_CNT_STEERED;
}

/*
 * Everything that decides about a frame, cheap checks first; a foreign frame
 * is passed before any verdict that could drop it. RXE_CNT_STEERED: to the
 * socket in @slot.
 */
static __always_inline enum rxe_bpf_counter judge(struct xdp_md *ctx, struct rxe_frame *f,
						  __u32 *slot, __u8 *meta_flags)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	enum rxe_bpf_counter verdict = rxe_parse(data, end, f);
	struct rxe_bpf_config *cfg;
	__u32 dest, worker = 0, zero = 0;

	if (verdict != RXE_CNT_STEERED)
		return verdict;
	cfg = bpf_map_lookup_elem(&config, &zero);
	if (!cfg || orphaned(cfg))
		return RXE_CNT_PASS_ORPHAN;
	/* Frames of a VLAN are for the netdev, and the device, that is on top of ours. */
	dest = f->vid ? 0 : destination(f, cfg);
	if (!dest)
		return RXE_CNT_PASS_FOREIGN;
	if (rxe_malformed(f, bpf_xdp_get_buff_len(ctx)))
		return RXE_CNT_DROP_MALFORMED;
	if (own_source(f))
		return RXE_CNT_DROP_OWN_SOURCE;
	verdict = find_qp(f, dest, &worker);
	if (verdict != RXE_CNT_STEERED)
		return verdict;

	if (!param(RXE_PARAM_CRC_DISABLE, 0)) {
		if (!rxe_icrc_ok(ctx, f))
			return RXE_CNT_DROP_ICRC;
		*meta_flags |= RXE_META_ICRC_CHECKED;
	}
	*slot = worker * RXE_MAX_QUEUES + ctx->rx_queue_index;
	if (ctx->rx_queue_index >= RXE_MAX_QUEUES || !bpf_map_lookup_elem(&xsks, slot))
		return RXE_CNT_DROP_NO_SOCK;
	return RXE_CNT_STEERED;
}

/* Leave the parse result in front of the frame; stale bytes would look like one. */
static __always_inline bool put_metadata(struct xdp_md *ctx, const struct rxe_frame *f, __u8 flags)
{
	struct rxe_rx_meta *meta;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*meta)))
		return false;
	meta = (void *)(long)ctx->data_meta;
	if ((void *)(meta + 1) > (void *)(long)ctx->data)
		return false;
	meta->magic = RXE_META_MAGIC;
	meta->flags = flags;
	meta->ecn = f->ecn;
	meta->l3_off = f->l3_off;
	meta->bth_off = f->bth_off;
	return true;
}

SEC("xdp.frags")
int rxe_xdp(struct xdp_md *ctx)
{
	struct rxe_frame f = {};
	__u8 meta_flags = 0;
	__u32 slot = 0;
	enum rxe_bpf_counter verdict = judge(ctx, &f, &slot, &meta_flags);

	if (verdict == RXE_CNT_STEERED && !put_metadata(ctx, &f, meta_flags))
		verdict = RXE_CNT_DROP_META;
	count(verdict);
	if (verdict == RXE_CNT_STEERED)
		return bpf_redirect_map(&xsks, slot, XDP_DROP);
	return action(verdict);
}

char _license[] SEC("license") = "Dual BSD/GPL";
