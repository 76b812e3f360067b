#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rxed is not scheduled for a while (SIGSTOP; a busy host does the same to it) in
# the middle of UC and UD traffic, which nothing repeats: a message that was sent
# meanwhile is received all the same, even of 4096 packets.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"

# endless_with PROGRAM ARGS...: between the hosts; PAIR.
endless_with() {
	local before prog=$1
	shift
	before=$(counter 2 rdma_sends)
	serve 1 $PINGPONG_PORT "$prog" -d $DEV -g "$(gid_index 1)" -n 10000000 "$@" || return 1
	PAIR=("$SERVER_PID")
	start_verbs 2 timeout "$TEST_TIMEOUT" "$prog" -d $DEV -g "$(gid_index 2)" -n 10000000 "$@" \
		"$(ip4 1)" >"$WORK/client.out" 2>&1
	PAIR+=("$STARTED")
	wait_for 20 sends_more_than 2 $((before + 5))
}
# stopped_often TIMES: rxed of host 1, each time until host 2 has sent all it can.
stopped_often() {
	local i before ok=0
	for i in $(seq "$1"); do
		before=$(counter 2 rdma_sends)
		kill -STOP "${RXED_PID[1]}"
		wait_for 5 quiet 2
		kill -CONT "${RXED_PID[1]}"
		wait_for 20 sends_more_than 2 $((before + 5)) || { echo "it hangs after $i"; return 1; }
	done
}
quiet() {
	local before
	before=$(counter "$1" sent_pkts)
	sleep 0.2
	[ "$(counter "$1" sent_pkts)" = "$before" ]
}
lost() { echo $(($(counter 1 xsk_rx_dropped) + $(counter 2 xsk_rx_dropped))); }

two_hosts
ktap_plan 7
check "UC, 1 MiB of 4096 packets: traffic" endless_with ibv_uc_pingpong -s 1048576 -m 256
check "rxed stopped and gone on, 20 times" stopped_often 20
end_pair
check "UC, 64 KiB: traffic" endless_with ibv_uc_pingpong -s 65536 -m 1024
check "rxed stopped and gone on, 20 times" stopped_often 20
end_pair
check "UD: traffic" endless_with ibv_ud_pingpong -s 2048
check "rxed stopped and gone on, 20 times" stopped_often 20
end_pair
check "no packet was lost" test "$(lost)" = 0
ktap_done
