/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF objects and rxed agree on: map names, keys, values, the
 * metadata in front of a steered frame, and the counters. Change anything
 * here and RXE_BPF_ABI_VERSION goes up: rxed refuses to adopt a program of
 * another version.
 *
 * Maps of rxe_xdp.bpf.o (no map is pinned by name, DESIGN D8):
 *   config   ARRAY[1] of struct rxe_bpf_config, mmapable: rxed writes
 *   params   ARRAY_OF_MAPS[RXE_PARAM_COUNT]: inner ARRAY[1] of __u32, mmapable
 *   qpns     HASH  __u32 qpn -> struct rxe_bpf_qp: rxed writes
 *   addrs    HASH  struct rxe_bpf_addr -> __u32 flags: rxed writes
 *   xsks     XSKMAP worker * RXE_MAX_QUEUES + rx_queue_index -> socket
 *   counters PERCPU_ARRAY[RXE_CNT_COUNT] of __u64: the program writes
 *   .rodata.abi ARRAY[1] of struct rxe_bpf_abi: constant, set by the object
 */
#ifndef RXE_BPF_ABI_H
#define RXE_BPF_ABI_H

#include <linux/types.h>

#define RXE_BPF_ABI_VERSION 2u
#define RXE_BPF_ABI_MAGIC   0x52584531u	  /* "RXE1" */
#define RXE_BPF_ABI_MAP	    ".rodata.abi" /* the kernel's name of that map */
#define RXE_MAX_WORKERS	    16
#define RXE_MAX_QUEUES	    64 /* receive queues of one netdev */
#define RXE_MAX_BPF_QPS	    (1u << 20)
#define RXE_MAX_BPF_ADDRS   16384 /* own addresses and joined groups */
#define RXE_CONTROL_WORKER  0	  /* takes QP1 and multicast */

struct rxe_bpf_abi {
	__u32 magic;
	__u32 version;
};

/*
 * heartbeat_ns is CLOCK_MONOTONIC; a program with RXE_CFG_HEARTBEAT set
 * passes every frame once it is older than RXE_HEARTBEAT_STALE_NS. rxed sets
 * the flag on an adopted program only: its own dies with its link.
 * generation 0: no daemon has taken the program yet; everything is passed.
 */
#define RXE_CFG_HEARTBEAT      1u
#define RXE_CFG_LINKED	       2u /* attached by an rxed's link: nobody else adopts it */
#define RXE_HEARTBEAT_STALE_NS 3000000000ull
struct rxe_bpf_config {
	__u32 generation;
	__u32 flags;
	__u64 heartbeat_ns;
	__u8 mac[6]; /* the netdev's own address */
	__u8 pad[2];
};

/* state bit: the QP is in RTR, RTS, SQD or SQE, i.e. it takes packets. */
#define RXE_BPF_QP_RECEIVES 1u
/* state bit: a connected QP; only frames from peer are its. */
#define RXE_BPF_QP_PEER 2u
struct rxe_bpf_qp {
	__u32 worker;
	__u8 op_class; /* RXE_CLASS_*: only opcodes of this class match */
	__u8 state;
	__u16 pad;
	__u8 peer[16]; /* as struct rxe_bpf_addr */
};

/*
 * The destinations that are ours. IPv4 is stored v4-mapped (::ffff:a.b.c.d).
 * A multicast IP carries the same flag value; its MAC is checked by formula.
 */
struct rxe_bpf_addr {
	__u8 ip[16];
};
#define RXE_ADDR_UNICAST   1u
#define RXE_ADDR_MULTICAST 2u

/* In front of a steered frame (bpf_xdp_adjust_meta), first fragment only. */
#define RXE_META_MAGIC	      0x5258u
#define RXE_META_ICRC_CHECKED 1u /* clear when crc_disable let it by */
struct rxe_rx_meta {
	__u16 magic;
	__u8 flags;
	__u8 ecn;     /* IP ECN bits */
	__u16 l3_off; /* from the start of the frame */
	__u16 bth_off;
};

/*
 * Counters: C(symbol, name, verdict, meaning). One table for the program, for
 * `rxe stat`, for the docs and the tests.
 */
/* clang-format off */
#define RXE_BPF_COUNTERS(C) \
	C(STEERED,	"steered",		"redirect", "handed to a worker's socket") \
	C(PASS_OTHER,	"pass_other",		"pass", "not RoCEv2") \
	C(PASS_FRAG,	"pass_fragment",	"pass", "IP fragment") \
	C(PASS_OPTIONS,	"pass_ip_options",	"pass", "IPv4 options or IPv6 extension header") \
	C(PASS_FOREIGN,	"pass_foreign",		"pass", "RoCEv2, but in a VLAN, or not to a MAC and IP of this device") \
	C(PASS_ORPHAN,	"pass_no_daemon",	"pass", "no live rxed behind this program") \
	C(DROP_MALFORMED, "drop_malformed",	"drop", "bad lengths, version or opcode") \
	C(DROP_OWN_SOURCE, "drop_own_source",	"drop", "from an address of this device: forged or reflected") \
	C(DROP_ICRC,	"drop_icrc",		"drop", "ICRC mismatch") \
	C(DROP_NO_QP,	"drop_no_qp",		"drop", "destination QPN unknown") \
	C(DROP_STATE,	"drop_qp_state",	"drop", "QP not receiving, or of another service type") \
	C(DROP_PKEY,	"drop_pkey",		"drop", "P_Key of another partition") \
	C(DROP_PEER,	"drop_wrong_peer",	"drop", "not from the address that the QP is connected to") \
	C(DROP_NO_SOCK,	"drop_no_socket",	"drop", "no socket of the worker on this receive queue") \
	C(DROP_META,	"drop_no_metadata",	"drop", "no room for metadata in front of the frame")
/* clang-format on */

#define RXE_CNT_ENUM(sym, name, verdict, help) RXE_CNT_##sym,
enum rxe_bpf_counter { RXE_BPF_COUNTERS(RXE_CNT_ENUM) RXE_CNT_COUNT };
#undef RXE_CNT_ENUM

/*
 * rxe_tc.bpf.o: map `counters` PERCPU_ARRAY[RXE_TC_CNT_COUNT] of __u64, and
 * `config` as above, of which it reads mac: with rxed's there, the egress
 * guard leaves frames of other source MACs alone (macvlans above the netdev).
 */
#define RXE_TC_MARK 0x52584530u /* skb->mark of frames that rxed itself sends */
/* clang-format off */
#define RXE_TC_COUNTERS(C) \
	C(IN_ROCE,	"tc_ingress_roce",	"pass", "RoCEv2 frames the stack received") \
	C(IN_OTHER,	"tc_ingress_other",	"pass", "other frames received") \
	C(OUT_OWN,	"tc_egress_own",	"pass", "RoCEv2 frames that rxed sent") \
	C(OUT_DROP,	"tc_egress_guard_drop",	"drop", "RoCEv2 frames of the local stack, dropped") \
	C(OUT_OTHER,	"tc_egress_other",	"pass", "other frames sent, RoCEv2 forwarded for others included")
/* clang-format on */
#define RXE_TC_CNT_ENUM(sym, name, verdict, help) RXE_TC_CNT_##sym,
enum rxe_tc_counter { RXE_TC_COUNTERS(RXE_TC_CNT_ENUM) RXE_TC_CNT_COUNT };
#undef RXE_TC_CNT_ENUM

#endif
