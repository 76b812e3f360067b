#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# RC SEND by the distribution's ibv_rc_pingpong, contents checked (-c): message
# sizes, path MTUs, polling and events, at netdev MTU 9000 and 1500.
. "$(dirname "$0")/lib.sh"

# size:iterations
SIZES="1:10000 33:10000 4096:10000 1048576:100"
MTUS_9000="256 512 1024 2048 4096"
MTUS_1500="256 512 1024"

run_all() {
	local s m
	for m in $2; do
		for s in $SIZES; do
			check "mtu $1 size ${s%:*} path mtu $m" \
				pingpong ibv_rc_pingpong -c -m "$m" -s "${s%:*}" -n "${s#*:}"
		done
	done
	for s in $SIZES; do
		check "mtu $1 size ${s%:*} events" \
			pingpong ibv_rc_pingpong -c -e -s "${s%:*}" -n "${s#*:}"
	done
}

two_hosts
ktap_plan 44
check "one SEND" pingpong ibv_rc_pingpong -c -n 1 -s 1
run_all 9000 "$MTUS_9000"
check "it went through XDP on both sides" \
	test "$(counter 1 steered)" -gt 0 -a "$(counter 2 steered)" -gt 0
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
run_all 1500 "$MTUS_1500"
check "no bad ICRC" test "$(counter 1 drop_icrc)$(counter 2 drop_icrc)" = 00
ktap_done
