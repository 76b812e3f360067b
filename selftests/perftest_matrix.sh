#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every verbs program of perftest, with every transport and those of these
# options that its --help offers: events, inline data, both directions, 16 and 64
# QPs, all sizes, duration. (SRQs: perftest_srq.sh.)
. "$(dirname "$0")/lib.sh"

PROGRAMS="ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat
	  ib_atomic_bw ib_atomic_lat"

# The ones among RC, UC and UD that a program's help names.
transports() {
	$1 --help 2>&1 | sed -n 's/.*--connection=<\([A-Z/]*\)>.*/\1/p' | tr / '\n' |
		grep -xE 'RC|UC|UD'
}
offers() { $1 --help 2>&1 | grep -qE -- "--$2([ =<]|$)"; }

# Arguments of its runs, a line each.
runs() {
	! offers "$1" events || echo "-e -n 500"
	! offers "$1" inline_size || echo "-I 64 -s 64 -n 500"
	! offers "$1" bidirectional || echo "-b -n 500"
	! offers "$1" qp || printf '%s\n' "-q 16 -n 100" "-q 64 -n 50"
	! offers "$1" all || echo "-a -n 20"
	! offers "$1" duration || echo "-D 1"
}

# UC and UD have no flow control, and perftest waits for every message of a SEND
# run: what one host sends faster than the other takes it would hang it. So few
# messages, and a packet in 50 us from all QPs together.
paced_perftest() {
	local qps ns=0 h
	case "$*" in
	ib_send_bw\ -c\ U[CD]*\ -[aq]*)
		qps=$(printf '%s\n' "$*" | sed -n 's/.* -q \([0-9]*\).*/\1/p')
		ns=$((50000 * ${qps:-1}))
		set -- "$@" -n 5 ;;
	esac
	for h in 1 2; do
		RXE_RUNDIR=$(rundir $h) "$BUILD/rxe" param set nsec_per_packet $ns || return 1
	done
	perftest "$@"
}

need $PROGRAMS
two_hosts
plan=()
for prog in $PROGRAMS; do
	for transport in $(transports "$prog"); do
		while read -r args; do
			plan+=("$prog -c $transport $args")
		done < <(runs "$prog")
	done
done
ktap_plan $((${#plan[@]} + 1))
for run in "${plan[@]}"; do
	check "$run" paced_perftest $run
done
check "nothing is left" test "$(counter 1 qps)$(counter 2 qps)$(counter 1 mrs)" = 000
ktap_done
