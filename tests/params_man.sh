#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rxe(7) lists every row of include/rxe/params.h as it is there, and man(1)
# formats the pages without a warning. TAP.
cd "$(dirname "$0")/.." || exit 1

nr=0 failed=0
result() { # STATUS DESCRIPTION
	nr=$((nr + 1))
	[ "$1" = 0 ] && echo "ok $nr $2" && return
	failed=$((failed + 1))
	echo "not ok $nr $2"
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

listed() {
	sed -n '/^\.\\" Parameters: made by/,/^\.\\" End of parameters/p' man/rxe.7 | sed '1d;$d'
}
scripts/params-table.sh >"$work/wanted" && listed >"$work/found"
rows=$(grep -c '^	P(' include/rxe/params.h)

echo "TAP version 13"
echo "1..5"
[ "$rows" -gt 0 ] && [ "$(grep -c '^\.It Cm' "$work/wanted")" = "$rows" ]
result $? "the generator sees the $rows rows of params.h"
diff -u --label man/rxe.7 --label include/rxe/params.h "$work/found" "$work/wanted" |
	sed 's/^/# /' >"$work/diff"
[ ! -s "$work/diff" ]
result $? "rxe(7) says the same (else: scripts/params-table.sh --update)"
cat "$work/diff"

for page in man/rxe.7 man/rxe.8 man/rxed.8; do
	if ! command -v man >/dev/null; then
		result 0 "$page # SKIP no man(1)"
		continue
	fi
	man --warnings -l "$page" 2>"$work/warnings" >/dev/null && [ ! -s "$work/warnings" ]
	result $? "$page formats without a warning"
	sed 's/^/# /' "$work/warnings"
done
[ $failed = 0 ]
