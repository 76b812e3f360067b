#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Asynchronous events by plain libibverbs (async_events.c): those of QPs and what
# they belong to, of the port, of the GID table, of a device that goes and what
# its verbs say then; the states of QPs with SQD and SQE, and their attributes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

TESTS="comm_est access_error request_error references drain drain_to_err send_queue_error
	states attributes"
EXTRA=10.77.0.99

run() { verbs 1 timeout "$TEST_TIMEOUT" "$FAULT_BIN/async_events" $DEV "$GID" "$1" && nothing_held 5; }

# With the port's state of then (1 down, 4 active).
port_down() {
	h1 ip link set $NETDEV down && says_within 5 watch "port error, port 1, state 1"
}
port_up() {
	h1 ip link set $NETDEV up && says_within 5 watch "port active, port 1, state 4"
}
gid_changes() { grep -c "GID" "$WORK/watch.out"; }
more_gid_changes() { [ "$(gid_changes)" -gt "$1" ]; }
gid_change() { # IP-COMMAND...
	local before
	before=$(gid_changes)
	h1 ip "$@" && wait_for 5 more_gid_changes "$before" || { cat "$WORK/watch.out"; return 1; }
}
ends() { wait_for 10 gone "$1" && wait "$1"; }

one_host
set -- $TESTS
ktap_plan $(($# + 8))
for t; do
	check "$t" run "$t"
done

client watch async_events watch
check "a program watches" says_within 10 watch watching
check "port error" port_down
check "port active" port_up
check "an address comes" gid_change addr add $EXTRA/24 dev $NETDEV
check "an address goes" gid_change addr del $EXTRA/24 dev $NETDEV
rdma 1 link delete $DEV
check "device fatal, of no port" says_within 5 watch "local catastrophic error, port 0"
check "then nothing but EIO" says_within 5 watch "the end, errno 5"
check "who watches ends" ends "$PID_watch"
ktap_done
