#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Many QPs on one shared receive queue, by the distribution's ibv_srq_pingpong,
# contents checked (-c): numbers of QPs, message sizes, path MTUs, polling and
# events, at netdev MTU 9000 and 1500; two workers at both ends.
. "$(dirname "$0")/lib.sh"

RXED_ARGS="--workers 2"

need ibv_srq_pingpong
two_hosts
ktap_plan 26
for q in 1 2 16 64; do
	for s in 1 33 4096; do
		check "$q QPs, $s bytes" pingpong ibv_srq_pingpong -c -q $q -s $s -n 200
	done
	check "$q QPs, events" pingpong ibv_srq_pingpong -c -e -q $q -n 100
done
check "16 QPs, 1 MiB" pingpong ibv_srq_pingpong -c -s 1048576 -r 32 -n 10
for m in 256 512 2048 4096; do
	check "16 QPs, path MTU $m" pingpong ibv_srq_pingpong -c -m $m -n 100
done
check "fewer receives than QPs: RNR, and on" pingpong ibv_srq_pingpong -c -q 16 -r 17 -n 50
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
check "16 QPs, netdev MTU 1500" pingpong ibv_srq_pingpong -c -n 200
check "16 QPs, netdev MTU 1500, events" pingpong ibv_srq_pingpong -c -e -n 200
check "nothing is left" test "$(counter 1 srqs)$(counter 2 srqs)$(counter 1 qps)" = 000
ktap_done
