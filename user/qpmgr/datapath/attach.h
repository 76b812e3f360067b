/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The XDP program on a netdev: loaded and attached by rxed with a link that
 * dies with it, or adopted when `ip link set dev X xdp obj ...` attached it
 * before (DESIGN D8a). Control thread, in the netdev's netns.
 */
#ifndef RXE_ATTACH_H
#define RXE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include "fail.h"

/* M(SYMBOL, kernel's name, map type, key bytes, value bytes; 0: not checked) */
#define RXE_XDP_MAPS(M)                                                           \
	M(CONFIG, "config", BPF_MAP_TYPE_ARRAY, 4, sizeof(struct rxe_bpf_config)) \
	M(PARAMS, "params", BPF_MAP_TYPE_ARRAY_OF_MAPS, 4, 4)                     \
	M(QPNS, "qpns", BPF_MAP_TYPE_HASH, 4, sizeof(struct rxe_bpf_qp))          \
	M(ADDRS, "addrs", BPF_MAP_TYPE_HASH, sizeof(struct rxe_bpf_addr), 4)      \
	M(XSKS, "xsks", BPF_MAP_TYPE_XSKMAP, 4, 4)                                \
	M(COUNTERS, "counters", BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8)                  \
	M(ABI, RXE_BPF_ABI_MAP, BPF_MAP_TYPE_ARRAY, 4, 0)

#define RXE_XDP_MAP_ENUM(SYM, name, type, key, value) RXE_XDP_MAP_##SYM,
enum rxe_xdp_map { RXE_XDP_MAPS(RXE_XDP_MAP_ENUM) RXE_XDP_MAP_COUNT };
#undef RXE_XDP_MAP_ENUM

struct rxe_xdp_prog {
	int prog_fd;
	int link_fd; /* -1 when adopted */
	bool adopted;
	uint32_t adopted_id; /* of the program, while it is adopted */
	bool generic;	     /* attached in SKB mode: AF_XDP must copy */
	int map[RXE_XDP_MAP_COUNT];
};

/*
 * Attaches or adopts. Touches no map: an adopted program may still turn out to
 * be another rxed's, which binding the sockets tells. -EEXIST: a foreign
 * program is attached; -EPROTO: a program of another ABI version.
 */
int rxe_xdp_prog_open(struct rxe_xdp_prog *p, const char *object_dir, const char *netdev,
		      int ifindex, struct rxe_errline *err);
/* Own program: detached. Adopted: stays attached. */
void rxe_xdp_prog_close(struct rxe_xdp_prog *p);

#endif
