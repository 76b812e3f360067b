#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The pingpong programs between rxed and the kernel's rdma_rxe, both ways, over
# IPv4 and IPv6, the contents checked.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/interop_lib.sh"

host_and_peer
ktap_plan 20
for f in 4 6; do
	for way in to_peer from_peer; do
		for p in rc uc srq; do
			check "IPv$f, $way: ibv_${p}_pingpong" $way $f -g ibv_${p}_pingpong -c -n 100
		done
		check "IPv$f, $way: ibv_ud_pingpong" $way $f -g ibv_ud_pingpong -c -s 2048 -n 100
		check "IPv$f, $way: ibv_rc_pingpong, 1 MiB, events" \
			$way $f -g ibv_rc_pingpong -c -e -s 1048576 -n 10
	done
done
ktap_done
