#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the scripts named as arguments and wraps their KTAP in one outer test
# each, in the order of the arguments, as the kernel's kselftest runner does.
# Exit status 1 when one failed; the failures are then shown once more at the end,
# where they are found in a long log. KSFT_TIMEOUT: seconds for one script. JOBS: how
# many run at a time (each has namespaces and daemons of its own, and waits most
# of its time); as many as there are processors.
cd "$(dirname "$0")" || exit 1

KSFT_SKIP=4
KSFT_TIMEOUT=${KSFT_TIMEOUT:-900}
JOBS=${JOBS:-$(nproc)}
OUT=$(mktemp -d) || exit 1
tests=("$@") pids=() rcs=() failed=

# Each script cleans up when it is told to end.
stop() {
	trap '' INT TERM
	kill "${pids[@]}" 2>/dev/null
	wait
	exit 130
}
trap 'rm -rf "$OUT"' EXIT
trap stop INT TERM

start() { # INDEX; -k for one that hangs
	timeout -k 30 "$KSFT_TIMEOUT" "./${tests[$1]}" >"$OUT/$1" 2>&1 </dev/null &
	pids[$1]=$!
}
# One of those that run is over: its status is in rcs.
reap() {
	local pid rc=0 i
	wait -n -p pid "${pids[@]}" || rc=$?
	for i in "${!pids[@]}"; do
		[ "${pids[$i]}" = "$pid" ] || continue
		rcs[$i]=$rc
		unset "pids[$i]"
	done
}
show() { # INDEX
	local nr=$(($1 + 1)) t=${tests[$1]}
	echo "# selftests: $t"
	sed 's/^/# /' "$OUT/$1"
	case ${rcs[$1]} in
	0) echo "ok $nr selftests: $t" ;;
	$KSFT_SKIP) echo "ok $nr selftests: $t # SKIP" ;;
	124 | 137) echo "not ok $nr selftests: $t # TIMEOUT $KSFT_TIMEOUT seconds"
	     failed="$failed $t" ;;
	*) echo "not ok $nr selftests: $t # exit=${rcs[$1]}"
	   failed="$failed $t" ;;
	esac
}

# The rows of a script that failed, with what they said; its end when none did.
show_failures() { # INDEX
	echo "# ${tests[$1]}: status ${rcs[$1]}"
	awk '/^not ok/ { row = 1; rows = 1 } /^ok/ { row = 0 }
	     row && lines++ < 60 { print "#   " $0 }
	     { last[NR % 20] = $0 }
	     END {
		for (i = NR - 19; !rows && i <= NR; i++)
			if (i > 0)
				print "#   " last[i % 20]
	     }' "$OUT/$1"
}

echo "TAP version 13"
echo "1..$#"
next=0 shown=0
while [ $shown -lt $# ]; do
	while [ $next -lt $# ] && [ ${#pids[@]} -lt "$JOBS" ]; do
		start $next
		next=$((next + 1))
	done
	reap
	while [ -n "${rcs[$shown]}" ]; do
		show $shown
		shown=$((shown + 1))
	done
done
[ -z "$failed" ] && exit 0
for i in "${!rcs[@]}"; do
	[ "${rcs[$i]}" = 0 ] || [ "${rcs[$i]}" = $KSFT_SKIP ] || show_failures "$i"
done
echo "# failed:$failed"
exit 1
