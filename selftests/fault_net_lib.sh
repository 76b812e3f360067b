# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the selftests of faults of devices, networks and daemons share, on top
# of lib.sh and cm_lib.sh: traffic that lasts, what rxed holds before and after,
# and whether it rests. Sourced; no test of its own.

. "$SELFTESTS/rxed_lib.sh"

need rdma rping ibv_asyncwatch stdbuf

# ---- what rxed of host N holds -----------------------------------------------------

# Objects of all devices; descriptors, threads and rings of rxed.
held_by() {
	objects_of "$1"
	echo "descriptors=$(descriptors_of "$1") $(threads_and_rings_of "$1")"
}
HELD=('' '' '')
# remember N...: what they hold now is what they must hold in the end.
remember() {
	local n
	for n in "$@"; do
		wait_for 5 steady "$n"
	done
}
# Twice the same: the connection that asked before is closed by then.
steady() {
	HELD[$1]=$(held_by "$1")
	sleep 0.2
	held_as_before "$1"
}
held_as_before() { [ "$(held_by "$1")" = "${HELD[$1]}" ]; }
# nothing_more_held SECONDS N...
nothing_more_held() {
	local n rc=0 within=$1
	shift
	for n in "$@"; do
		wait_for "$within" held_as_before "$n" && continue
		echo "host $n before: ${HELD[$n]}"
		echo "host $n after:  $(held_by "$n")"
		rc=1
	done
	return $rc
}

# ---- does it rest? ------------------------------------------------------------------

# both_rest [N...]: within 10 s.
both_rest() {
	local n
	for n in ${*:-1 2}; do
		wait_for 10 rests "$n" || { echo "rxed of host $n is busy"; return 1; }
	done
}

# ---- traffic ---------------------------------------------------------------------------

# endless N [ARGS...]: ibv_rc_pingpong of host N that never ends, as STARTED; what
# it says is in ENDLESS.
endless() {
	local n=$1
	shift
	endless_nr=$((endless_nr + 1))
	ENDLESS=$WORK/endless-$endless_nr.out
	start_verbs "$n" timeout "$TEST_TIMEOUT" stdbuf -oL ibv_rc_pingpong -d $DEV \
		-g "$(gid_index "$n")" -n 100000000 "$@" >"$ENDLESS" 2>&1
}
endless_nr=0
# endless_pair [ARGS...]: between the hosts; PAIR are the two processes.
endless_pair() {
	local before
	before=$(counter 2 rdma_sends)
	endless 1 "$@"
	PAIR=("$STARTED")
	wait_for 10 tcp_listens "$(ns 1)" $PINGPONG_PORT
	endless 2 "$@" "$(ip4 1)"
	PAIR+=("$STARTED")
	wait_for 10 sends_more_than 2 $((before + 100))
}

# patient_pair: rping, whose ACK timeout is that of rdma_cm: it bears seconds without link.
patient_pair() {
	local before
	before=$(counter 2 rdma_sends)
	cm_serve 1 rping -s -a "$(ip4 1)" -C 100000000 || return 1
	PAIR=("$SERVER_PID")
	start_verbs 2 timeout "$TEST_TIMEOUT" rping -c -a "$(ip4 1)" -C 100000000 >"$WORK/rping.out" 2>&1
	PAIR+=("$STARTED")
	wait_for 10 sends_more_than 2 $((before + 100))
}
sends_more_than() { [ "$(counter "$1" rdma_sends)" -gt "$2" ]; }

# goes_on SECONDS: within them, 100 messages more.
goes_on() {
	local before
	before=$(counter 2 rdma_sends)
	wait_for "$1" sends_more_than 2 $((before + 100)) || { cat "$WORK/rping.out"; return 1; }
}
# end_pair: whatever is left of it.
end_pair() {
	local p
	for p in "${PAIR[@]}"; do
		end_process "$p"
	done
}

# ends_with_error SECONDS PID: within them by itself: not killed, not by its time limit.
ends_with_error() {
	local rc=0
	wait_for "$1" gone "$2" || { echo "process $2 does not end"; return 1; }
	wait "$2" || rc=$?
	echo "exit status $rc"
	[ $rc != 0 ] && [ $rc != 124 ] && [ $rc -lt 128 ]
}
# sender_ends_with_error SECONDS: of a pair whose packets do not arrive, the one
# whose SEND is not acknowledged; the other waits, as RC has no keep-alive.
sender_ends_with_error() {
	local p
	wait_for "$1" one_is_gone || { echo "both go on"; return 1; }
	for p in "${PAIR[@]}"; do
		gone "$p" && ends_with_error 0 "$p" && return 0
	done
	return 1
}
one_is_gone() { gone "${PAIR[0]}" || gone "${PAIR[1]}"; }

# ---- events ------------------------------------------------------------------------------

# watch N: ibv_asyncwatch in host N as WATCHER; what it sees is in watch-N.out.
watch() {
	start_verbs "$1" stdbuf -oL ibv_asyncwatch -d $DEV >"$WORK/watch-$1.out" 2>&1
	WATCHER=$STARTED
	wait_for 10 grep -q "$DEV" "$WORK/watch-$1.out"
}
# saw N PATTERN, within 5 s; what it saw before does not count again.
saw() {
	wait_for 5 grep -qi -- "$2" "$WORK/watch-$1.out" || { cat "$WORK/watch-$1.out"; return 1; }
}
saw_nothing_yet() { : >"$WORK/watch-$1.out"; }
