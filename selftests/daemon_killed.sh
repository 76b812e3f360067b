#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# kill -9 of rxed: its XDP program is detached, its clients get an error and do
# not hang, and a restarted rxed works without any cleaning by hand.
. "$(dirname "$0")/lib.sh"

has_xdp() { h1 ip link show $NETDEV | grep -q xdp; }
no_xdp() { ! has_xdp; }

# ended PID: with an error, not by the time limit of its `timeout` (124).
ended() {
	local rc=0
	wait_for 20 gone "$1" || return 1
	wait "$1" || rc=$?
	echo "exit status $rc"
	[ $rc != 0 ] && [ $rc != 124 ] && [ $rc != 137 ]
}

endless() { # N ARGS...
	local n=$1
	shift
	start_verbs "$n" ibv_rc_pingpong -d $DEV -g "$(gid_index "$n")" -n 100000000 "$@" \
		>"$WORK/endless-$n.out" 2>&1
}
no_qps() { [ "$(counter "$1" qps)" = 0 ]; }
sends() { counter 2 rdma_sends; }
running() { [ "$(sends)" -gt $((sent_before + 100)) ]; }

two_hosts
ktap_plan 16
check "an XDP program is attached" has_xdp
for mode in polling events; do
	e=
	[ $mode = polling ] || e=-e # (echo would take it for an option of its own)
	sent_before=$(sends)
	endless 1 $e
	server=$STARTED
	wait_for 10 tcp_listens "$(ns 1)" $PINGPONG_PORT
	endless 2 $e "$(ip4 1)"
	client=$STARTED
	check "$mode: traffic" wait_for 10 running
	kill_rxed 1
	check "$mode: the XDP program went with rxed" wait_for 5 no_xdp
	check "$mode: the client on the dead rxed gets an error" ended "$server"
	# The other side's client has an error when its last SEND was not yet
	# acknowledged; else it waits for a message, as RC has no keep-alive.
	end_process "$client"
	check "$mode: the other rxed lives and its client's QP is freed" wait_for 5 no_qps 2
	check "$mode: rxed starts again" start_rxed 1
	check "$mode: the device is made again" add_link 1
	wait_for 10 device_ready 1
	check "$mode: traffic again" pingpong ibv_rc_pingpong -c -n 1000
done
stop_rxed 1
check "in good order: nothing is left in the run directory" \
	eval "[ ! -e '$(rundir 1)/rxed.sock' ]"
ktap_done
