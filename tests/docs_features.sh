#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# docs/features.md: every row names tests, and those exist; every function of
# verbs.h and rdma_cma.h, and every event, opcode and status, has a row; so has
# every rule of docs/protocol.md up to 30. TAP.
cd "$(dirname "$0")/.." || exit 1
DOC=docs/features.md
VERBS=${VERBS_H:-/usr/include/infiniband/verbs.h}
CMA=${RDMA_CMA_H:-/usr/include/rdma/rdma_cma.h}
FAILED=0 N=0

echo "TAP version 13"
echo "1..6"
# result NAME COMPLAINTS: fails with those.
result() {
	N=$((N + 1))
	if [ -z "$2" ]; then
		echo "ok $N $1"
	else
		echo "not ok $N $1"
		echo "$2" | sed 's/^/# /'
		FAILED=1
	fi
}

# The cells of tests, one a line, of the rows that are no headings.
test_cells() {
	grep '^|' $DOC | grep -v '^|---' | grep -v '| tests\? |$' | sed -E 's/.*\| ([^|]*) \|$/\1/'
}
# Is test $1 there?
exists() {
	local where=${1%%:*} what=${1#*:}
	case $1 in
	pyverbs.sh:*) grep -qw "$what" selftests/pyverbs.sh ;;
	*.sh) [ -x "selftests/$1" ] ;;
	sim) [ -e tests/sim/sim.c ] ;;
	fuzz:*) [ -d "tests/fuzz/corpus/$what" ] ;;
	sim:*) grep -qw "$what" tests/sim/*.c ;;
	*:*) find tests -name "$where.c" -exec grep -lE "[A-Z_a-z]*(TEST|test)[A-Z_a-z]*\($what\>" {} + | grep -q . ;;
	*) false ;;
	esac
}
has_row() { grep '^|' $DOC | cut -d'|' -f2 | grep -q "\`$1\`"; }
without_row() {
	while read -r name; do
		has_row "$name" || echo "$name has no row"
	done
}
# The constants of an enum in a header.
enum_of() { # HEADER PREFIX
	sed -E 's,/\*.*\*/,,' "$1" | grep -oE "^[[:space:]]+$2[A-Z0-9_]+" | grep -v '_SHIFT$' | tr -d ' \t' | sort -u
}

result "each row names its tests" "$(test_cells | grep -vE '^(`[^`]+`(, )?)+$')"
result "each named test exists" "$(test_cells | grep -oE '`[^`]+`' | tr -d '\`' | sort -u |
	while read -r t; do exists "$t" || echo "$t does not exist"; done)"
result "each function of verbs.h has a row" "$(grep -oE '\bibv_[a-z0-9_]+\(' "$VERBS" |
	tr -d '(' | sort -u | without_row)"
result "each function of rdma_cma.h has a row" "$(grep -oE '\brdma_[a-z0-9_]+ ?\(' "$CMA" |
	tr -d '( ' | sort -u | without_row)"
result "each event, opcode and status has a row" "$( (enum_of "$VERBS" 'IBV_EVENT_'
	enum_of "$VERBS" 'IBV_WC_' | grep -vE '^IBV_WC_(EX_WITH|STANDARD)'
	enum_of "$VERBS" 'IBV_WR_' | grep -vE '^IBV_WR_TAG_'; enum_of "$CMA" RDMA_CM_EVENT_) | without_row)"
result "each rule has a row" "$(for n in $(seq 30); do
	grep -q "^| $n |" $DOC || echo "rule $n has no row"; done)"
exit $FAILED
