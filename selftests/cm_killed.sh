#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program is killed at every state of a connection, on either side: the other
# side hears of it, and no id, QP or deadline is left of either.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null || skip_all "cannot build cm_state (librdmacm-dev)"
STATE=$BUILD/selftests/cm_state
two_hosts

at() { grep -q "^at $2\$" "$WORK/$1.out"; }
said() { grep -q "$2" "$WORK/$1.out"; }

# Of the CM too: what waits for the peer or rests in timewait is gone.
connections() { counter "$1" cm_connections; }
all_gone() {
	nothing_left 1 && nothing_left 2 && [ "$(connections 1)" = 0 ] && [ "$(connections 2)" = 0 ]
}

# start NAME HOST ARGS...
start() {
	local name=$1 n=$2
	shift 2
	start_verbs "$n" timeout 120 "$STATE" "$@" >"$WORK/$name.out" 2>&1
	eval "PID_$name=$STARTED"
}

# The server of `timeout` is its child: kill the program itself.
kill_program() {
	local child
	child=$(pgrep -P "$1") || return 1
	kill -9 "$child"
	wait "$1" 2>/dev/null
	return 0
}

# killed SERVER-STATE CLIENT-STATE VICTIM EVENT: both get there, VICTIM dies, the
# other says EVENT ("" when it hears nothing) and then dies too.
killed() {
	local other=client victim=$3
	[ "$victim" = server ] || other=server
	start server 1 -s "$(ip4 1)" "$1"
	wait_for 10 cm_bound || return 1
	start client 2 -c "$(ip4 1)" "$2"
	if ! wait_for 10 at client "$2" || ! wait_for 10 at server "$1"; then
		tail "$WORK/server.out" "$WORK/client.out"
		kill_program "$PID_server"
		kill_program "$PID_client"
		return 1
	fi
	local v=PID_$victim o=PID_$other rc=0
	kill_program "${!v}"
	[ -z "$4" ] || wait_for 15 said "$other" "$4" || rc=1
	[ $rc = 0 ] || tail "$WORK/server.out" "$WORK/client.out"
	kill_program "${!o}"
	wait_for 30 all_gone || rc=1
	[ $rc = 0 ] || { rdma 1 res show; rdma 2 res show; connections 1; connections 2; }
	return $rc
}
cm_bound() { [ "$(cm_ids 1)" -gt 0 ]; }

ktap_plan 17
check "client at an address" killed listen addr client ""
check "client at a route" killed listen route client ""
check "client with a request unread" killed listen connect client ""
check "server with a request unread" killed listen connect server "REJECTED 28"
check "client with a request read" killed request connect client ""
check "server with a request read" killed request connect server "REJECTED 28"
check "client with a reply" killed accept response client "REJECTED 28"
check "server with a reply sent" killed accept response server "REJECTED 28"
check "client established" killed established established client "DISCONNECTED 0"
check "server established" killed established established server "DISCONNECTED 0"
check "client disconnecting" killed established disconnect client ""
check "server asked to disconnect" killed established disconnect server ""

nobody_listens() {
	start client 2 -c "$(ip4 1)" established
	wait_for 10 said client "REJECTED 8" && wait_for 30 all_gone
}
check "nobody listens: refused, invalid service id" nobody_listens

no_neighbour() {
	start client 2 -c 10.77.0.99 established
	wait_for 10 said client "ADDR_ERROR" && wait_for 30 all_gone
}
check "no such neighbour" no_neighbour

# A backlog of 1: of three requests that nobody reads one has room; the others
# are not refused, their peers ask again.
backlog() {
	local i rc=0
	start server 1 -s "$(ip4 1)" listen 1
	wait_for 10 cm_bound || return 1
	for i in a b c; do
		start $i 2 -c "$(ip4 1)" connect
		wait_for 10 at $i connect || return 1
	done
	[ "$(connections 1)" = 1 ] || rc=1
	for i in a b c; do
		! said $i REJECTED || rc=1
	done
	kill_program "$PID_server"
	wait_for 15 said a "REJECTED 28" || rc=1
	for i in a b c; do
		local v=PID_$i
		kill_program "${!v}"
	done
	wait_for 30 all_gone && [ $rc = 0 ]
}
check "backlog" backlog

# The device goes under a connection; a new one works.
device_deleted() {
	start server 1 -s "$(ip4 1)" established
	wait_for 10 cm_bound || return 1
	start client 2 -c "$(ip4 1)" established
	wait_for 10 at client established && wait_for 10 at server established || return 1
	rdma 1 link delete $DEV || return 1
	wait_for 10 said server DEVICE_REMOVAL || return 1
	kill_program "$PID_server"
	kill_program "$PID_client"
	add_link 1 && wait_for 10 device_ready 1 && wait_for 80 all_gone
}
check "device deleted" device_deleted
check "a new connection after all that" killed established established client "DISCONNECTED 0"
ktap_done
