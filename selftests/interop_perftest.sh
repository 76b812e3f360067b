#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# perftest between rxed and the kernel's rdma_rxe: SEND, WRITE, READ and atomics of
# several sizes and path MTUs, both ways, over IPv4 and IPv6.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/interop_lib.sh"

ITERATIONS=30

sizes() { # WAY FAMILY MTU PROGRAM
	local s
	for s in 1 33 4096 65536; do
		"$1" "$2" -x "$4" -F -m "$3" -s $s -n $ITERATIONS || { echo "size $s"; return 1; }
	done
}

host_and_peer
ktap_plan 32
for f in 4 6; do
	for way in to_peer from_peer; do
		for mtu in 1024 4096; do
			for p in ib_send_bw ib_write_bw ib_read_bw; do
				check "IPv$f, $way: $p, MTU $mtu" sizes $way $f $mtu $p
			done
			check "IPv$f, $way: ib_atomic_bw, MTU $mtu" \
				$way $f -x ib_atomic_bw -F -m $mtu -n $ITERATIONS
		done
	done
done
ktap_done
