#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs one fuzz target.
#   run.sh check BUILD TARGET RUNS [ARG...]     the committed corpus, then RUNS inputs
#                                               from a fixed seed: the same each time
#   run.sh long BUILD TARGET SECONDS [ARG...]   goes on from what earlier runs found
# Fails on a crash, a sanitizer's report, a leak or an input that takes too
# long, and names the file with the input.
set -eu
mode=$1 build=$2 target=$3 amount=$4
shift 4
prog=$build/fuzz/$target
corpus=tests/fuzz/corpus/$target
work=$build/fuzz/$mode/$target
found=$build/fuzz/found

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export TMPDIR=$build/fuzz/tmp
mkdir -p "$found" "$TMPDIR"
log=$build/fuzz/$mode-$target.log
common="-timeout=20 -rss_limit_mb=2048 -max_len=4096 -artifact_prefix=$found/$target- $*"

fuzz() {
	if ! "$prog" $common "$@" >"$log" 2>&1; then
		tail -n 60 "$log"
		echo "not ok: fuzz $target: the input is named above; all of it in $log" >&2
		exit 1
	fi
}

case $mode in
check)
	[ -n "$(ls "$corpus")" ] || { echo "not ok: fuzz $target: no corpus in $corpus" >&2; exit 1; }
	fuzz "$corpus"/*
	rm -rf "$work"
	mkdir -p "$work"
	fuzz -seed=1 -runs="$amount" -max_total_time=60 "$work" "$corpus"
	;;
long)
	mkdir -p "$work"
	fuzz -max_total_time="$amount" "$work" "$corpus"
	;;
*)
	echo "run.sh: check or long, not $mode" >&2
	exit 2
	;;
esac
echo "ok: fuzz $target: $(ls "$corpus" | wc -l) committed inputs, $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") runs" \
	"($(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1) edges)"
