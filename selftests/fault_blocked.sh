#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A client whose memory blocks for ever, as a page of a FUSE file or of a
# userfaultfd, holds up nobody: others keep their throughput, rxed answers, the
# operation ends with an error, and the client can be killed at any time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

rxed_answers() {
	local i
	for i in $(seq 10); do
		RXE_RUNDIR=$(rundir 1) in_ns "$(ns 1)" timeout 2 "$BUILD/rxe" stat >/dev/null ||
			{ echo "rxe stat has no answer"; return 1; }
		sleep 0.1
	done
}

# blocked ARGS...: its client is blocked; others go on; it ends and is killed.
blocked() {
	local rc=0
	client blocked fault_blocked "$@"
	if ! says_within 20 blocked '^blocked$'; then
		says blocked '^no ' && rc=4 || rc=1
		kill_client blocked
		return $rc
	fi
	rxed_answers || rc=1
	keeps_throughput || rc=1
	wait_for 20 says blocked '^ended ' || { echo "the operation does not end"; rc=1; }
	cat "$WORK/blocked.out"
	! says blocked '^ended success' || rc=1
	kill_client blocked
	nothing_held 10 && idle || rc=1
	return $rc
}
killed() {
	client blocked fault_blocked "$@"
	says_within 20 blocked '^blocked$' || { kill_client blocked; return 1; }
	kill_client blocked
	nothing_held 10 && idle
}

one_host
ktap_plan 8
measure_alone
for page in fuse uffd; do
	checks "$page: SEND from the page" blocked $page local
	checks "$page: WRITE to the page" blocked $page remote
	checks "$page: a registration meanwhile" blocked $page local busy
	checks "$page: killed meanwhile" killed $page remote busy
done
ktap_done
