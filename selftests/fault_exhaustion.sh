#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rxed, and then a client, without descriptors or memory: who asks for more is
# refused with an errno that says so, who has something keeps it, nobody spins,
# and when there is room again all works.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"
need prlimit
make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null || skip_all "cannot build the clients"
HUNGRY=$BUILD/selftests/hungry
ENOMEM=12 ENFILE=23 EMFILE=24

# hungry NAME N ELEMENTS [PREFIX...]: until it holds what it can get; HUNGRY_PID.
hungry() {
	local out=$WORK/$1.out n=$2 elements=$3
	shift 3
	start_verbs 1 "$@" "$HUNGRY" $DEV "$n" "$elements" >"$out" 2>&1
	HUNGRY_PID=$STARTED
	HUNGRIES+=("$STARTED")
	wait_for 20 holds_or_gone "$out" "$STARTED"
	cat "$out"
	grep -q holding "$out"
}
holds_or_gone() { grep -q holding "$1" || gone "$2"; }
HUNGRIES=()
no_more_hunger() {
	local p
	for p in "${HUNGRIES[@]}"; do
		end_process "$p"
	done
	HUNGRIES=()
}
refused_with() { # NAME ERRNO...: one of them
	local name=$1 e
	shift
	cat "$WORK/$name.out"
	for e in "$@"; do
		! grep -q "errno $e " "$WORK/$name.out" || return 0
	done
	return 1
}
# newcomer ERRNO...: a program that starts now cannot open the device, and says why.
newcomer() {
	hungry newcomer 1 16 || true
	end_process "$HUNGRY_PID"
	refused_with newcomer "$@"
}

# limit RESOURCE SOFT: of the running rxed 1.
limit() { prlimit --pid "${RXED_PID[1]}" "--$1=$2:"; }
# Just as many as are open, and none is on its way out.
few_left() {
	local n
	n=$(descriptors_of 1)
	limit nofile "$n"
	sleep 0.3
	[ "$(descriptors_of 1)" = "$n" ]
}
log_lines() { wc -l <"$WORK/rxed-1.log"; }
# Not a line for each attempt.
quiet_log() {
	local before
	before=$(log_lines)
	sleep 1
	[ $(($(log_lines) - before)) -le 5 ]
}
as_before() { no_more_hunger && nothing_more_held 10 1 && pingpong ibv_rc_pingpong -c -n 1000; }

two_hosts
ktap_plan 28
check "a connection before" cm_pair rping -s -a "$(ip4 1)" -C 3 -V -- rping -c -a "$(ip4 1)" -C 3 -V
wait_for 20 eval '[ "$(counter 1 cm_connections)" = 0 ]'
check "a hungry one before" hungry first 2 64
check "it got all" grep -q 'all 2' "$WORK/first.out"
no_more_hunger
remember 1

# ---- rxed without descriptors -----------------------------------------------------------
check "descriptors: traffic" patient_pair
nofile=$(prlimit --pid "${RXED_PID[1]}" --nofile --output SOFT --noheadings)
check "descriptors: 40 more" limit nofile $(($(descriptors_of 1) + 40))
check "descriptors: a client takes all" hungry eater 100 64
check "descriptors: it is refused" refused_with eater $ENOMEM $ENFILE
# To the last one: connections take them one by one.
for i in 1 2 3 4 5; do
	hungry "late-$i" 100 64 >/dev/null
done
check "descriptors: a newcomer is refused" newcomer $ENFILE $ENOMEM
wait_for 5 few_left
check "descriptors: with none left, too" newcomer $ENFILE
check "descriptors: traffic goes on" goes_on 20
end_pair
# Not even one to refuse somebody with: who comes now waits.
limit nofile 3
start_verbs 1 timeout 30 ibv_devinfo -d $DEV >"$WORK/waits.out" 2>&1
waits=$STARTED
wait_for 5 rxed_said 1 'accepting a client: Too many open files'
check "descriptors: rxed rests, while somebody waits" both_rest 1
check "descriptors: and does not fill its log" quiet_log
limit nofile "$nofile"
check "descriptors: who waited is served" eval 'wait "$waits" || { cat "$WORK/waits.out"; false; }'
check "descriptors: all as before" as_before

# ---- rxed without memory ------------------------------------------------------------------
check "memory: traffic" patient_pair
as=$(prlimit --pid "${RXED_PID[1]}" --as --output SOFT --noheadings)
size=$(awk '/^VmSize/ { print $2 * 1024 }' "/proc/${RXED_PID[1]}/status")
check "memory: 4 MiB more" limit as $((size + (4 << 20)))
check "memory: a client takes all" hungry eater 100 4096
check "memory: it is refused" refused_with eater $ENOMEM
for i in 1 2 3 4 5; do
	hungry "late-$i" 100 64 >/dev/null
done
check "memory: a newcomer is refused" newcomer $ENOMEM
check "memory: traffic goes on" goes_on 20
end_pair
check "memory: rxed rests" both_rest 1
check "memory: and does not fill its log" quiet_log
limit as "$as"
check "memory: all as before" as_before

# ---- a client without -----------------------------------------------------------------------
check "client: without descriptors" hungry poor 100 64 prlimit --nofile=40
check "client: it is told so" refused_with poor $EMFILE
check "client: without memory" hungry narrow 100 16384 prlimit --as=300000000
# (Of which errno libibverbs' cleaning up leaves here there is nothing to say.)
check "client: it is told so, too" grep -q '^refused after' "$WORK/narrow.out"
check "client: all as before" as_before
ktap_done
