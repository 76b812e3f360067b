#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# kill -9 of rxed with 20 clients at work, polling and sleeping, with and without
# rdma_cm: each of them ends with an error, none hangs, and a restarted rxed works.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"
make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null || skip_all "cannot build the clients"
ECHO=$BUILD/selftests/cm_echo
PAIRS=10

# load: 10 pairs of ibv_rc_pingpong within host 1, half of them with events, and
# 10 callers of an echo server in host 1, from host 2; VICTIMS are on rxed 1.
load() {
	local i e port before
	VICTIMS=()
	OTHERS=()
	before=$(counter 1 rdma_sends)
	cm_serve 1 "$ECHO" serve "$(ip4 1)" 7900 || return 1
	VICTIMS+=("$SERVER_PID")
	for i in $(seq $PAIRS); do
		e=
		[ $((i % 2)) = 0 ] || e=-e
		port=$((18600 + i))
		endless 1 -p $port $e
		VICTIMS+=("$STARTED")
		wait_for 10 tcp_listens "$(ns 1)" $port || return 1
		endless 1 -p $port $e "$(ip4 1)"
		VICTIMS+=("$STARTED")
		# From here on neither waits for the other by TCP.
		wait_for 10 grep -q 'remote address' "$ENDLESS" || return 1
		start_verbs 2 timeout "$TEST_TIMEOUT" "$ECHO" call "$(ip4 1)" 7900 100000000 \
			>"$WORK/call-$i.out" 2>&1
		OTHERS+=("$STARTED")
	done
	wait_for 20 sends_more_than 1 $((before + 5000))
}

# all_end_with_error PID...
all_end_with_error() {
	local p rc=0
	for p in "$@"; do
		ends_with_error 20 "$p" || rc=1
	done
	return $rc
}
no_qps() { [ "$(counter "$1" qps)" = 0 ]; }
settled_down() { wait_for 20 no_connections 2; }
no_connections() { [ "$(counter "$1" cm_connections)" = 0 ]; }

two_hosts
ktap_plan 12
check "a connection before" cm_pair rping -s -a "$(ip4 1)" -C 3 -V -- rping -c -a "$(ip4 1)" -C 3 -V
settled_down
remember 2
for again in 1 2; do
	check "$again: 30 clients at work" load
	kill_rxed 1
	check "$again: all on the dead rxed end with an error" all_end_with_error "${VICTIMS[@]}"
	# RC has no keep-alive: who waits for a message may wait on.
	for p in "${OTHERS[@]}"; do
		end_process "$p"
	done
	check "$again: the other rxed frees their QPs" wait_for 5 no_qps 2
	check "$again: rxed starts again" start_rxed 1
	check "$again: and works" \
		eval 'add_link 1 && wait_for 10 device_ready 1 && pingpong ibv_rc_pingpong -c -n 1000'
done
settled_down
check "nothing is left in the other" nothing_more_held 15 2
ktap_done
