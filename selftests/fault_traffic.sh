#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Regions deregistered under traffic, a receiver that is stopped, a client that
# never polls: each ends as the specification says, and holds up nobody else.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

traffic() {
	verbs 1 timeout 60 "$FAULT_BIN/fault_traffic" $DEV "$GID" "$1" && nothing_held 10 && idle
}

# Its sender waits for the receiver while others have their rounds; then it goes on.
stopped() {
	local rc=0
	client stopped fault_traffic stopped
	says_within 20 stopped '^stopped$' && keeps_throughput || rc=1
	kill -USR1 "$PID_stopped"
	wait_for 20 gone "$PID_stopped" && wait "$PID_stopped" || rc=1
	cat "$WORK/stopped.out"
	kill_client stopped
	nothing_held 10 && idle || rc=1
	return $rc
}
unpolled() {
	local rc=0
	client unpolled fault_traffic unpolled
	says_within 20 unpolled '^unpolled$' && keeps_throughput && idle || rc=1
	kill_client unpolled
	nothing_held 10 && idle || rc=1
	return $rc
}

one_host
ktap_plan 6
measure_alone
check "the local region deregistered" traffic dereg_local
check "the remote region deregistered" traffic dereg_remote
check "the receive buffers deregistered" traffic dereg_recv
check "a stopped receiver" stopped
check "a stopped receiver, RNR retries end" traffic stopped_rnr
check "a client that never polls" unpolled
ktap_done
