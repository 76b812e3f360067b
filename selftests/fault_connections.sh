#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Many connections: 1000 opened and closed, 20 times; 100 clients of one server
# at once. All are made, data is intact, nothing is left.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"
need cmtime
make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null || skip_all "cannot build the clients"
two_hosts
ECHO=$BUILD/selftests/cm_echo

# In timewait, too.
no_connections() { [ "$(counter "$1" cm_connections)" = 0 ]; }
settled_down() { wait_for 15 no_connections 1 && wait_for 15 no_connections 2; }

# Processor time of all that takes part, in ticks: rxeds, server, ended clients.
cost() {
	local own
	own=$(sed 's/.*) //' /proc/self/stat | awk '{ print $12 + $13 + $14 + $15 }')
	echo $(($(ticks_of 1) + $(ticks_of 2) + own))
}

# 20 times 1000. Where others use the processors too, their share is not ours:
# then the processor time that it took must fit in the 60 s.
round() { verbs 2 timeout 60 cmtime -s "$(ip4 1)" -c 1000; }
rounds() {
	local i start=$SECONDS cost0 took busy
	cost0=$(cost)
	cm_serve 1 cmtime -b "$(ip4 1)" || return 1
	for i in $(seq 20); do
		round || { echo "round $i: $?"; end_process "$SERVER_PID"; return 1; }
	done
	took=$((SECONDS - start))
	busy=$((($(cost) - cost0) / ($(getconf CLK_TCK) * $(nproc))))
	end_process "$SERVER_PID"
	echo "$took s, $busy s of all processors"
	[ $took -le 60 ] || [ $busy -le 60 ]
}

# at_once CLIENTS TIMES: of one server.
at_once() {
	local i pid clients=() ok=0
	for i in $(seq "$1"); do
		start_verbs 2 timeout 60 "$ECHO" call "$(ip4 1)" 7900 "$2" >"$WORK/call-$i.out" 2>&1
		clients+=("$STARTED")
	done
	i=0
	for pid in "${clients[@]}"; do
		i=$((i + 1))
		wait "$pid" && ok=$((ok + 1)) || { echo "client $i: $?"; cat "$WORK/call-$i.out"; }
	done
	echo "$ok of $1"
	[ $ok = "$1" ] && ! gone "$SERVER_PID"
}

ktap_plan 10
check "a first connection" cm_pair rping -s -a "$(ip4 1)" -C 3 -V -- rping -c -a "$(ip4 1)" -C 3 -V
settled_down
remember 1 2
TEST_TIMEOUT=300
check "1000 connections, 20 times" rounds
check "their timewait ends" settled_down
check "nothing is left" nothing_more_held 10 1 2
check "rxed rests" both_rest

check "a server" cm_serve 1 "$ECHO" serve "$(ip4 1)" 7900
check "100 clients at once" at_once 100 100
check "and again" at_once 100 1
end_process "$SERVER_PID"
settled_down
check "nothing is left" nothing_more_held 10 1 2
check "rxed rests" both_rest
ktap_done
