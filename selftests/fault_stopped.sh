#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rxed is not scheduled for a while (SIGSTOP; a busy host does the same to it) in
# the middle of UC and UD traffic, which nothing repeats: a message that was sent
# meanwhile is received all the same, even of 4096 packets. The links have a qdisc:
# without one veth drops what its ring of 256 frames does not hold when the kernel's
# own receive thread is not scheduled.
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
		wait_for 20 sends_more_than 2 $((before + 5)) || {
			echo "it hangs after $i"
			dropped 1
			dropped 2
			return 1
		}
	done
}
quiet() {
	local before
	before=$(counter "$1" sent_pkts)
	sleep 0.2
	[ "$(counter "$1" sent_pkts)" = "$before" ]
}
# What did not arrive or was not sent, by the counters of rxed and the netdev.
dropped() {
	host "$1" "$BUILD/rxe" stat | grep -E "drop|invalid|full|empty" | grep -v " 0$"
	host "$1" ip -s -s link show $NETDEV
}
lost() { echo $(($(counter 1 xsk_rx_dropped) + $(counter 2 xsk_rx_dropped))); }

need tc
two_hosts
host 1 tc qdisc replace dev $NETDEV root pfifo
host 2 tc qdisc replace dev $NETDEV root pfifo
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
