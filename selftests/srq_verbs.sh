#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shared receive queues by plain libibverbs (srq_verbs.c), on a rxed with two
# workers: attributes and what is refused, resizing, the limit event,
# LAST_WQE_REACHED, QPs of both workers on one SRQ; all is given back.
. "$(dirname "$0")/lib.sh"

RXED_ARGS="--workers 2"
PROGRAM=$BUILD/selftests/srq_verbs
TESTS="attributes capacity other_types resize in_use limit_event last_wqe unread_event
	share_rc share_uc share_ud share_extended cycles"

srqs() { rdma 1 res show | sed -n 's/.*\bsrq \([0-9]*\).*/\1/p'; }
# What objects there are, in all.
objects() {
	local n
	for n in pds mrs cqs qps srqs; do
		printf '%s %s ' $n "$(counter 1 $n)"
	done
}
run() { verbs 1 timeout "$TEST_TIMEOUT" "$PROGRAM" $DEV "$(gid_index 1)" "$1"; }
held_srq_counts() {
	start_verbs 1 "$PYTHON" -c 'if True:
		from pyverbs.device import Context
		from pyverbs.pd import PD
		from pyverbs.srq import SRQ, SrqInitAttr, SrqAttr
		import signal, sys
		pd = PD(Context(name=sys.argv[1]))
		srqs = [SRQ(pd, SrqInitAttr(SrqAttr(max_wr=8))) for i in range(3)]
		signal.pause()' $DEV
	wait_for 10 eval '[ "$(counter 1 srqs)" = 3 ]' && [ "$(srqs)" = 3 ]
	local rc=$?
	kill -9 "$STARTED"
	wait "$STARTED" 2>/dev/null
	return $rc
}

make -s -C "$SELFTESTS" B="$BUILD" "$PROGRAM" || skip_all "cannot build $PROGRAM"
need_python pyverbs
two_hosts
ktap_plan 17
check "two workers" grep -q "2 workers" "$WORK/rxed-1.log"
before=$(objects)
for t in $TESTS; do
	check "$t" run "$t"
done
check "rdma res show and rxe stat count SRQs" held_srq_counts
check "those of a killed program go" wait_for 10 eval '[ "$(srqs)" = 0 ]'
check "nothing is left" eval '[ "$(objects)" = "$before" ]'
ktap_done
