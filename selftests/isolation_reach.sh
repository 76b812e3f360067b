#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# How rxed reaches its clients: by what they send it, never by a pid. While
# clients register, transfer, fork, exec and die, strace sees no map_files, no
# other process's fd or mem, no process_vm_*, ptrace or pidfd_getfd.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

CALLS=open,openat,openat2,readlink,readlinkat,process_vm_readv,process_vm_writev,ptrace,pidfd_getfd,process_madvise
TRACE=$WORK/strace.out

attach() {
	strace -f -e trace=$CALLS -o "$TRACE" -p "${RXED_PID[1]}" 2>"$WORK/strace.err" &
	STRACE=$!
	wait_for 10 grep -q attached "$WORK/strace.err" || { cat "$WORK/strace.err"; return 1; }
}
programs() {
	verbs 1 timeout 60 "$FAULT_BIN/fault_process" $DEV "$GID" fork &&
		verbs 1 timeout 60 "$FAULT_BIN/fault_process" $DEV "$GID" exec \
			"$FAULT_BIN/fault_process" &&
		verbs 1 timeout 60 "$FAULT_BIN/fault_memory" $DEV "$GID" munmap &&
		verbs 1 ibv_devinfo -d $DEV -v && rdma 1 res show && rdma 1 res show mr &&
		client victim fault_client cm && says_within 20 victim '^at cm$' || return
	kill_client victim
	nothing_held 10
}
# seen PATTERN: strace did see such a call; the others mean something then.
seen() { grep -qE -- "$1" "$TRACE"; }
# rxed opens of its own process what it likes.
never() {
	! grep -vE '/proc/(self|thread-self)/' "$TRACE" | grep -E -- "$1"
}

one_host
need strace
attach || skip_all "strace cannot attach"
ktap_plan 7
check "clients of every kind" programs
end_process "$STRACE"
check "strace saw how clients are known" seen 'openat.*"/proc/[0-9]+/status"'
check "no map_files" never 'map_files'
check "no descriptors of another process" never '"/proc/[0-9]+/(task/[0-9]+/)?fd|pidfd_getfd'
check "no memory by pid" never '"/proc/[0-9]+/(task/[0-9]+/)?(mem|maps|pagemap)"|process_vm_|process_madvise'
check "no ptrace" never 'ptrace\('
check "no namespace by pid" never '"/proc/[0-9]+/(task/[0-9]+/)?ns/(net|mnt|pid)"'
ktap_done
