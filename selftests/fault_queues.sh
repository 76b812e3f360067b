#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `ethtool -L` under traffic: new receive queues are served, so that no packet
# that arrives there is lost; fewer than are bound the kernel refuses.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"
need ethtool ib_send_bw

# A veth pair of four queues each, of which host 1 uses one, host 2 all: what
# host 2 sends arrives on the queue that its worker transmits on.
setup_needs
add_netns "$(ns 1)"
add_netns "$(ns 2)"
ip link add $NETDEV numrxqueues 4 numtxqueues 4 netns "$(ns 1)" type veth \
	peer name $NETDEV numrxqueues 4 numtxqueues 4 netns "$(ns 2)" ||
	skip_all "no veth with several queues"
queues() { in_ns "$(ns "$1")" ethtool -L $NETDEV rx "$2" tx "$2"; }
queues 1 1 || skip_all "veth cannot change its queues"
addresses 1
addresses 2
RXED_ARGS="--workers 4"
hosts_up

served() { rxed_said 1 "receive queue\\(s\\) now, $1 are served"; }

ktap_plan 14
check "a run before" pingpong ibv_rc_pingpong -c -n 1000
# Warm: whatever the first run leaves for good is there.
wait_for 5 nothing_left 1 && wait_for 5 nothing_left 2
remember 2
check "traffic" patient_pair
check "four queues" queues 1 4
check "all are served" wait_for 5 served 4
check "traffic goes on" goes_on 20
end_pair
lost=$(counter 1 drop_no_socket) # in the moment before
check "16 QPs, on all of them" perftest ib_send_bw -q 16 -n 500
check "no packet came to a queue without sockets" test "$(counter 1 drop_no_socket)" = "$lost"
check "and back, by 16 QPs" perftest ib_write_bw -q 16 -n 500 -b
check "rxed rests" both_rest
check "fewer: the kernel refuses" refuses . queues 1 1
check "and all goes on" pingpong ibv_rc_pingpong -c -n 1000
check "under another name" h1 ip link set $NETDEV name other0
h1 ip link set other0 name $NETDEV
check "nothing is left in host 2" nothing_more_held 10 2
# The kernel lets go of them some time after the sockets are closed.
anew() {
	rdma 1 link delete $DEV && wait_for 5 queues 1 2 && add_link 1 &&
		wait_for 10 device_ready 1 && pingpong ibv_rc_pingpong -c -n 1000
}
check "without the device the number falls, and it starts anew" anew
ktap_done
