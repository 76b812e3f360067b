#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# UD SEND by the distribution's ibv_ud_pingpong, contents checked, up to the
# port's MTU, over IPv4 and IPv6 GIDs.
. "$(dirname "$0")/lib.sh"

run_all() {
	local s
	for s in $2; do
		check "mtu $1 size $s" pingpong ibv_ud_pingpong -c -s "$s" -n 10000
		check "mtu $1 size $s events" pingpong ibv_ud_pingpong -c -e -s "$s" -n 1000
	done
}

over_ipv6() { (gid_index() { gid_index_of "$1" fd77; }; pingpong ibv_ud_pingpong -c -s 1024); }

two_hosts
ktap_plan 20
run_all 9000 "1 33 1024 2048 4096"
check "IPv6 GIDs" over_ipv6
check "a payload above the port's MTU is refused" \
	refuses "failed|mtu|MTU|size" pingpong ibv_ud_pingpong -s 4097 -n 1
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
run_all 1500 "1 33 1024"
check "steered by XDP" test "$(counter 1 steered)" -gt 0 -a "$(counter 2 steered)" -gt 0
ktap_done
