#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Clients that fork, exec (also a setuid program), and close or copy descriptors
# with regions registered: nobody reaches another address space through what is
# left, others are not disturbed, nothing stays.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

process() {
	verbs 1 timeout 60 "$FAULT_BIN/fault_process" $DEV "$GID" "$@" && nothing_held 10 && idle
}

# As an ordinary user, for whom a setuid program is somebody else.
exec_as_user() {
	public_build "$FAULT_BIN/fault_process"
	cp "$FAULT_BIN/fault_process" "$WORK/bin/setuid_process"
	chown 0:0 "$WORK/bin/setuid_process" && chmod 4755 "$WORK/bin/setuid_process"
	host 1 $AS_USER "$WORK/bin/rxe" run -- timeout 60 \
		"$WORK/bin/fault_process" $DEV "$GID" exec "$WORK/bin/$1" || return
	nothing_held 10 && idle
}

closed() {
	local rc=0
	client closed fault_process closed
	says_within 20 closed '^closed$' && nothing_held 10 && idle || rc=1
	! gone "$PID_closed" || rc=1
	kill_client closed
	return $rc
}

one_host
need setpriv
ktap_plan 6
check "forks under traffic" process fork
check "killed, a child keeps its descriptors" process orphan
check "execs, descriptors kept" exec_as_user fault_process
checks "execs a setuid program, descriptors kept" exec_as_user setuid_process
check "closes and copies descriptors" process descriptors
check "closes all of them under traffic" closed
ktap_done
