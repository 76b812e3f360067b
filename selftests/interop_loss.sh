#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rxed and the kernel's rdma_rxe when one of 20 frames that rxed sends is lost: what
# the peer repeats, NAKs and times out on is answered as it expects.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/interop_lib.sh"

host_and_peer
set_loss 20 one_in
ktap_plan 11
for way in to_peer from_peer; do
	check "$way: ibv_rc_pingpong" $way 4 -g ibv_rc_pingpong -c -s 4096 -n 200
	check "$way: ibv_rc_pingpong, 64 KiB" $way 4 -g ibv_rc_pingpong -c -m 1024 -s 65536 -n 20
	for p in ib_write_bw ib_read_bw; do
		check "$way: $p" $way 4 -x $p -F -m 1024 -s 65536 -n 30
	done
	check "$way: ib_atomic_bw" $way 4 -x ib_atomic_bw -F -n 100
done
check "frames were lost" test "$(frames_lost)" -gt 20
ktap_done
