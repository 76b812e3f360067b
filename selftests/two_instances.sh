#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Two rxed on one host: with run directories of different basenames both work;
# one run directory, or one basename, is refused to the second.
. "$(dirname "$0")/lib.sh"

setup_needs
veth_pair
hosts_up
ktap_plan 8
second() { timeout 10 "$BUILD/rxed" --rundir "$1" --netns "$(ns 1)"; }

mkdir -p "$WORK/elsewhere/$ID-1"
check "the same run directory is refused" refuses 'rxed|in use|owns|live' second "$(rundir 1)"
check "the same basename elsewhere is refused" \
	refuses "owns|live" second "$WORK/elsewhere/$ID-1"
check "the message names the owner" \
	refuses "pid ${RXED_PID[1]}" second "$WORK/elsewhere/$ID-1"
# A third one in host 1's namespace, with a run directory of its own.
"$BUILD/rxed" --rundir "$(rundir 3)" --netns "$(ns 1)" >"$WORK/rxed-3.log" 2>&1 &
RXED_PID[3]=$!
third() { RXE_RUNDIR=$(rundir 3) in_ns "$(ns 1)" "$BUILD/rxe" "$@"; }
wait_for 10 third stat
check "a netdev in use by one is refused to another" \
	refuses 'error' third rdma link add $DEV type rxe netdev $NETDEV
check "the log says what to do" grep -E 'XDP|xdp|rxed' "$WORK/rxed-3.log"
stop_rxed 3
check "the first one lives" pingpong ibv_rc_pingpong -c -n 1000
check "both have their own tunables" eval "
	h1 $BUILD/rxe param set max_qp 100 && [ \$(h1 $BUILD/rxe param get max_qp) = 100 ] &&
	[ \$(h2 $BUILD/rxe param get max_qp) != 100 ]"
kill_rxed 1
check "a dead owner's tree is taken over, its values too" eval "
	start_rxed 1 && [ \$(h1 $BUILD/rxe param get max_qp) = 100 ]"
ktap_done
