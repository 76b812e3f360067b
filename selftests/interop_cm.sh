#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Connections between rxed's connection manager and the kernel's, both ways, over
# IPv4 and IPv6.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/interop_lib.sh"

# cm_to_peer SERVER_COMMAND -- CLIENT_COMMAND...
cm_to_peer() {
	local server= rc=0
	while [ "$1" != -- ]; do
		server="$server $1"
		shift
	done
	shift
	peer_serves "$(cm_ready)" "$server" || return 1
	verbs 1 timeout "$TEST_TIMEOUT" "$@" || rc=$?
	peer_ends $rc
}
cm_from_peer() {
	local server=() rc=0
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	cm_serve 1 "${server[@]}" || { cat "$WORK/server.out"; return 1; }
	peer "$*" || rc=$?
	own_ends $rc
}

host_and_peer
ktap_plan 18
for f in 4 6; do
	[ $f = 4 ] && family= || family="-f ipv6"
	for way in cm_to_peer:2 cm_from_peer:1; do
		a=$(addr $f "${way#*:}") way=${way%:*}
		check "IPv$f, $way: rping" $way rping -s -a "$a" -C 10 -V -- rping -c -a "$a" -C 10 -V
		check "IPv$f, $way: ucmatose" $way ucmatose $family -b "$a" -- ucmatose $family -s "$a"
		check "IPv$f, $way: udaddy" $way udaddy -b "$a" -- udaddy -s "$a"
		check "IPv$f, $way: rstream" $way rstream -b "$a" -T v -I 100 -C 10 -S 4096 -- rstream -s "$a" -T v -I 100 -C 10 -S 4096
	done
done
check "host 1 has nothing left" wait_for 10 nothing_left 1
check "the peer has nothing left" wait_for 10 peer "! rdma res show qp | grep -v 'type GSI' | grep -q lqpn"
ktap_done
