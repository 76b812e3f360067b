#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tunables whose effect is seen on the wire only, from a bridge between the
# hosts: max_req_comp_gap as the distance of PSNs sent and acknowledged.
. "$(dirname "$0")/lib.sh"

# gap: the largest number of unacknowledged PSNs while host 2 WRITEs to host 1.
gap() {
	capture "$WORK/wire.pcap" perftest ib_write_bw -s 65536 -m 1024 -n 50 >"$WORK/gap.out" 2>&1 ||
		{ cat "$WORK/gap.out" >&2; return 1; }
	set -- $("$PYTHON" "$SELFTESTS/psn_gap.py" "$WORK/wire.pcap")
	[ "$2" -ge 3200 ] || { echo "only $2 requests were captured" >&2; return 1; }
	echo "$1"
}
gap_is() { # LEAST MOST
	local g
	g=$(gap) || return 1
	echo "gap $g"
	[ "$g" -ge "$1" ] && [ "$g" -le "$2" ]
}

two_hosts_lossy 0
need tcpdump ib_write_bw
need_python struct
ktap_plan 4
check "max_req_comp_gap 128: never more" gap_is 1 128
set_param max_req_comp_gap 8
check "max_req_comp_gap 8: never more" gap_is 1 8
set_param max_req_comp_gap 1
check "max_req_comp_gap 1: one at a time" gap_is 1 1
reset_param max_req_comp_gap
check "the default again" gap_is 2 128
ktap_done
