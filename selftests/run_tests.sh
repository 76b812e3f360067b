#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the scripts named as arguments, one after the other, and wraps their KTAP
# in one outer test each, as the kernel's kselftest runner does. Exit status 1
# when one failed. Bound per script: KSFT_TIMEOUT seconds.
cd "$(dirname "$0")" || exit 1

KSFT_SKIP=4
KSFT_TIMEOUT=${KSFT_TIMEOUT:-900}
nr=0 failed=

echo "TAP version 13"
echo "1..$#"
for t in "$@"; do
	nr=$((nr + 1))
	echo "# selftests: $t"
	# The script itself must see the signal and clean up; -k for one that hangs.
	timeout --foreground -k 30 "$KSFT_TIMEOUT" "./$t" 2>&1 | sed 's/^/# /'
	rc=${PIPESTATUS[0]}
	case $rc in
	0) echo "ok $nr selftests: $t" ;;
	$KSFT_SKIP) echo "ok $nr selftests: $t # SKIP" ;;
	124 | 137) echo "not ok $nr selftests: $t # TIMEOUT $KSFT_TIMEOUT seconds"
	     failed="$failed $t" ;;
	*) echo "not ok $nr selftests: $t # exit=$rc"
	   failed="$failed $t" ;;
	esac
done
[ -z "$failed" ] && exit 0
echo "# failed:$failed"
exit 1
