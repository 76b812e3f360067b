/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maps of rxe_xdp.bpf.o, as include/rxe/bpf_abi.h promises them, and the
 * few reads of them that programs need. None is pinned by name (iproute2
 * would pin it host-wide, one for all devices).
 */
#ifndef RXE_BPF_MAPS_H
#define RXE_BPF_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <rxe/bpf_abi.h>
#include <rxe/params.h>

enum { RXE_MAX_XSKS = RXE_MAX_WORKERS * RXE_MAX_QUEUES };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct rxe_bpf_config);
} config SEC(".maps");

/* One tunable; the maps that rxed pins and inserts have this very shape. */
struct param_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u32);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RXE_PARAM_COUNT);
	__type(key, __u32);
	__array(values, struct param_map);
} params SEC(".maps");

/* A million QPs preallocated would be 70 MB for every device. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RXE_MAX_BPF_QPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct rxe_bpf_qp);
} qpns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RXE_MAX_BPF_ADDRS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct rxe_bpf_addr);
	__type(value, __u32);
} addrs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, RXE_MAX_XSKS);
	__type(key, __u32);
	__type(value, __u32);
} xsks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RXE_CNT_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* Which contract this object follows, for whoever adopts it. */
const volatile struct rxe_bpf_abi abi SEC(RXE_BPF_ABI_MAP) = {
	.magic = RXE_BPF_ABI_MAGIC,
	.version = RXE_BPF_ABI_VERSION,
};

static __always_inline void count(enum rxe_bpf_counter which)
{
	__u32 key = which;
	__u64 *n = bpf_map_lookup_elem(&counters, &key);

	if (n)
		*n += 1;
}

/* A tunable's value; def when rxed has put no map into its slot yet. */
static __always_inline __u32 param(enum rxe_param_id id, __u32 def)
{
	__u32 key = id, zero = 0;
	void *slot = bpf_map_lookup_elem(&params, &key);
	__u32 *value = slot ? bpf_map_lookup_elem(slot, &zero) : NULL;

	return value ? *value : def;
}

#endif
