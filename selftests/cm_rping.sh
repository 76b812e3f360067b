#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rping over rdma_cm: IPv4 and IPv6, its options, the own host, a persistent
# server with 100 clients; nothing is left afterwards.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
need rping
two_hosts
TEST_TIMEOUT=60

rping_pair() {
	local addr=$1
	shift
	cm_pair rping -s -a "$addr" -V "$@" -- rping -c -a "$addr" -V "$@"
}

own_host() {
	local rc=0
	cm_serve 1 rping -s -a "$(ip4 1)" -C 5 -V || return 1
	verbs 1 timeout 30 rping -c -a "$(ip4 1)" -C 5 -V || rc=1
	[ $rc = 0 ] || end_process "$SERVER_PID"
	wait "$SERVER_PID" && [ $rc = 0 ]
}

# 100 clients, 5 at a time. Each calls when the server has taken the one before:
# rping 44 keeps a request in one variable, without a lock, until its main thread
# has made a thread for it (upstream has a semaphore there since); of two
# requests at once the first is never answered, on whatever device.
taken() { [ "$(grep -c '^accepting client connection' "$WORK/server.out")" -ge "$1" ]; }
persistent() {
	local i ok=0 clients=()
	cm_serve 1 stdbuf -oL rping -s -P -d -a "$(ip4 1)" -V || return 1
	for i in $(seq 100); do
		start_verbs 2 timeout 40 rping -c -a "$(ip4 1)" -C 3 -V
		clients+=("$STARTED")
		wait_for 20 taken "$i" || { echo "the server did not take client $i"; break; }
		[ ${#clients[@]} -ge 5 ] || continue
		wait "${clients[0]}" && ok=$((ok + 1)) || echo "client $((i - 4)): status $?"
		clients=("${clients[@]:1}")
	done
	for i in "${clients[@]}"; do
		wait "$i" && ok=$((ok + 1))
	done
	echo "$ok of 100 clients exited 0"
	end_process "$SERVER_PID"
	[ $ok = 100 ]
}

ktap_plan 10
check "IPv4" rping_pair "$(ip4 1)" -C 10
check "IPv6" rping_pair "$(ip6 1)" -C 10
check "another port" rping_pair "$(ip4 1)" -C 3 -p 9999
check "64 KiB, verbose" rping_pair "$(ip4 1)" -C 5 -S 65535 -v
check "a QP of its own" rping_pair "$(ip4 1)" -C 5 -q
check "the source address given" cm_pair rping -s -a "$(ip4 1)" -C 3 -V -- \
	rping -c -a "$(ip4 1)" -I "$(ip4 2)" -C 3 -V
check "the own host" own_host
check "persistent server, 100 clients" persistent
check "host 1 has nothing left" wait_for 10 nothing_left 1
check "host 2 has nothing left" wait_for 10 nothing_left 2
ktap_done
