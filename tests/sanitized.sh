#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs selftests against a sanitized rxed and fails on any report of it, also
# when the selftest itself passes.
#   sanitized.sh RXED SELFTEST[:REGEX]...   REGEX: only those checks (KSFT_ONLY)
set -u
RXED=$(realpath "$1") || exit 1
export RXED
shift
top=$(cd "$(dirname "$0")/.." && pwd)
reports=$(mktemp -d "${TMPDIR:-/tmp}/rxe-reports-XXXXXX")
trap 'rm -rf "$reports"' EXIT

# rxed runs on after a race, so that one run shows them all.
export TSAN_OPTIONS="log_path=$reports/tsan:halt_on_error=0:history_size=5:${TSAN_OPTIONS:-}"
export ASAN_OPTIONS="log_path=$reports/asan:detect_leaks=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="log_path=$reports/ubsan:print_stacktrace=1:${UBSAN_OPTIONS:-}"

failed=0
for t in "$@"; do
	only=
	[ "$t" = "${t#*:}" ] || only=${t#*:}
	KSFT_ONLY=$only timeout --foreground -k 30 300 "$top/selftests/${t%%:*}" >"$reports/out" 2>&1
	rc=$?
	grep -E '^(1\.\.|not ok|Bail|# Totals|# SKIP)' "$reports/out" | sed "s|^|# ${t%%:*}: |"
	case $rc in
	0 | 4) ;;
	*)
		failed=1
		echo "not ok: ${t%%:*} under $RXED: status $rc"
		tail -n 60 "$reports/out" | sed 's/^/#   /'
		;;
	esac
	for r in "$reports"/[atu]*san*; do
		[ -e "$r" ] || continue
		failed=1
		echo "not ok: ${t%%:*}: a report of the sanitizer"
		head -n 100 "$r"
		rm -f "$r"
	done
done
exit $failed
