#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# RC SEND by the distribution's ibv_rc_pingpong, contents checked (-c): message
# sizes, path MTUs, polling and events, at netdev MTU 9000 and 1500.
. "$(dirname "$0")/lib.sh"

two_hosts
ktap_plan 44
check "one SEND" pingpong ibv_rc_pingpong -c -n 1 -s 1
pingpong_sizes ibv_rc_pingpong 9000 256 512 1024 2048 4096
check "it went through XDP on both sides" \
	test "$(counter 1 steered)" -gt 0 -a "$(counter 2 steered)" -gt 0
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
pingpong_sizes ibv_rc_pingpong 1500 256 512 1024
check "no bad ICRC" test "$(counter 1 drop_icrc)$(counter 2 drop_icrc)" = 00
ktap_done
