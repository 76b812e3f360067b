#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# kill -9 of a client frees its context, QPs, MRs, CQs and rings at once, and
# disturbs neither rxed nor another client.
. "$(dirname "$0")/lib.sh"

# Shared-memory files that rxed of host N holds open or mapped.
rings() {
	local pid=${RXED_PID[$1]}
	{ ls -l "/proc/$pid/fd"; cat "/proc/$pid/maps"; } 2>/dev/null | grep -c memfd:
}
rings_are() { [ "$(rings "$1")" = "$2" ]; }

# res N NAME COUNT: rdma res show says so.
res() { rdma "$1" res show $DEV | grep -qE "\\b$2 $3\\b"; }

two_hosts
ktap_plan 11
need rdma
rings1=$(rings 1) rings2=$(rings 2)
check "a run before" pingpong ibv_rc_pingpong -c -n 100
wait_for 3 rings_are 2 "$rings2"
qps=$(rdma 2 res show $DEV | sed -E 's/.*\bqp ([0-9]+).*/\1/')

serve 1 $PINGPONG_PORT ibv_rc_pingpong -d $DEV -g "$(gid_index 1)" -n 100000000 -s 4096
start_verbs 2 ibv_rc_pingpong -d $DEV -g "$(gid_index 2)" -n 100000000 -s 4096 "$(ip4 1)" \
	>"$WORK/client.out" 2>&1
client=$STARTED
sent_before=$(counter 2 rdma_sends)
running() { [ "$(counter 2 rdma_sends)" -gt $((sent_before + 100)) ]; }
check "client and server exchange data" wait_for 10 running
check "rdma res counts the QP" res 2 qp $((qps + 1))
kill -9 "$client"
wait "$client" 2>/dev/null
check "its QP is freed" wait_for 3 res 2 qp "$qps"
check "its MR is freed" wait_for 3 res 2 mr 0
check "its context is freed" wait_for 3 res 2 ctx 0
check "its rings are freed" wait_for 3 rings_are 2 "$rings2"
check "rxed lives" listening 2
end_process "$SERVER_PID"
check "the server's rings are freed" wait_for 3 rings_are 1 "$rings1"
check "another client works" pingpong ibv_rc_pingpong -c -n 1000

# Killed again and again, at any moment of their set-up.
killed_early() {
	local i
	for i in $(seq 20); do
		start_verbs 1 ibv_rc_pingpong -d $DEV -g "$(gid_index 1)" -p $((20000 + i)) -n 10
		sleep "0.0$((i * 4 % 10))"
		kill -9 "$STARTED"
		wait "$STARTED" 2>/dev/null
	done
	wait_for 3 rings_are 1 "$rings1" && wait_for 3 res 1 ctx 0
}
check "killed while starting" killed_early
ktap_done
