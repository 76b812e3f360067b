#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# UC SEND by the distribution's ibv_uc_pingpong, contents checked: sizes, path
# MTUs, polling and events, at netdev MTU 9000 and 1500.
. "$(dirname "$0")/lib.sh"

SIZES="1:10000 33:10000 4096:10000 1048576:100"

run_all() {
	local s m
	for m in $2; do
		for s in $SIZES; do
			check "mtu $1 size ${s%:*} path mtu $m" \
				pingpong ibv_uc_pingpong -c -m "$m" -s "${s%:*}" -n "${s#*:}"
		done
	done
	for s in $SIZES; do
		check "mtu $1 size ${s%:*} events" \
			pingpong ibv_uc_pingpong -c -e -s "${s%:*}" -n "${s#*:}"
	done
}

two_hosts
ktap_plan 41
run_all 9000 "256 512 1024 2048 4096"
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
run_all 1500 "256 512 1024"
ktap_done
