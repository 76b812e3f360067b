#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# UC SEND by the distribution's ibv_uc_pingpong, contents checked: sizes, path
# MTUs, polling and events, at netdev MTU 9000 and 1500.
. "$(dirname "$0")/lib.sh"

two_hosts
ktap_plan 41
pingpong_sizes ibv_uc_pingpong 9000 256 512 1024 2048 4096
check "MTU 1500 is followed" set_netdev_mtu 1500 1024
pingpong_sizes ibv_uc_pingpong 1500 256 512 1024
ktap_done
