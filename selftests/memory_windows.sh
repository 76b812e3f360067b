#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Memory windows of type 1 and 2B, invalidation from near and far, FLUSH and
# ATOMIC_WRITE: what the owner of memory allows is reached, nothing else is.
. "$(dirname "$0")/lib.sh"

windows() {
	client_server -g "$PYTHON" "$SELFTESTS/memory_windows.py" -d $DEV -t "$1"
}
objects() {
	local n=$1 sum=0 c
	for c in contexts qps cqs mrs mws pds; do
		sum=$((sum + $(counter "$n" $c)))
	done
	echo $sum
}

need_python pyverbs
two_hosts
ktap_plan 11
check "capability bits and max_mw" windows offered
check "access flags of a registration" windows access_flags
check "type 1: bound by ibv_bind_mw, within its range and rights" windows type_1
check "type 2: bound by the send queue, ended by LOCAL_INV and SEND_WITH_INV" windows type_2
check "forged keys, other QPs' windows, the MR below: refused" windows forged
check "an ordinary MR is not invalidated" windows bad_invalidation
check "an MR with a window on it stays" windows bound_mr_stays
check "10 000 windows" windows cycles
check "FLUSH by hand" windows flush
check "ATOMIC_WRITE by hand" windows atomic_write
check "nothing is left" test "$(objects 1)$(objects 2)" = 00
ktap_done
