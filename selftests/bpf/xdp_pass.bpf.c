// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Somebody else's XDP program, for the selftests that want a netdev which is
 * taken: passes everything and has no map.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int foreign_pass(struct xdp_md *ctx)
{
	(void)ctx;
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
