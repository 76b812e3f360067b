#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A client is killed at every stage of its life: nothing of it is left, rxed
# rests, and another client works.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

STAGES="open pd mr cq ah qp init rtr rts posted traffic destroying channel waiting async
	srq mw mcast cm"

killed_at() {
	client victim fault_client "$1"
	if ! says_within 20 victim "^at $1\$"; then
		kill_client victim
		return 1
	fi
	kill_client victim
	nothing_held 10 && idle
}

# At twenty moments of a stage that never rests.
killed_during() {
	local i
	for i in $(seq 20); do
		client victim fault_client "$1"
		says_within 20 victim "^at $1\$" || { kill_client victim; return 1; }
		sleep "0.0$((i * 7 % 10))"
		kill_client victim
	done
	nothing_held 10 && idle
}

another() { [ "$(counter 1 port_up)" = 1 ] && local_pair; }
local_pair() {
	client other fault_client traffic
	says_within 20 other '^at traffic$' || return 1
	kill_client other
	nothing_held 10
}

one_host
set -- $STAGES
ktap_plan $(($# + 4))
check "a client before" killed_at traffic
for stage; do
	check "killed at: $stage" killed_at "$stage"
done
check "killed under traffic, twenty times" killed_during traffic
check "killed while it destroys, twenty times" killed_during destroying
check "rxed lives and serves" another
ktap_done
