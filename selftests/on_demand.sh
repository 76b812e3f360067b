#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# On-demand paging by plain libibverbs (on_demand.c): regions registered before
# their memory is mapped, the whole address space as one, what a mapping
# forbids, ibv_advise_mr().
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

TESTS="capabilities explicit_region protection implicit_region advice"

run() { verbs 1 timeout "$TEST_TIMEOUT" "$FAULT_BIN/on_demand" $DEV "$GID" "$1" && nothing_held 5; }
offered() {
	local out
	out=$(verbs 1 ibv_devinfo -v -d $DEV | sed -n '/general_odp_caps/,/completion/p')
	echo "$out"
	grep -q ODP_SUPPORT_IMPLICIT <<<"$out" && grep -q SUPPORT_ATOMIC <<<"$out"
}

one_host
printf '6.11\n%s\n' "$(uname -r)" | sort -CV ||
	skip_all "this kernel cannot say what is mapped (PROCMAP_QUERY, 6.11)"
set -- $TESTS
ktap_plan $(($# + 1))
for t; do
	check "$t" run "$t"
done
check "ibv_devinfo -v says so" offered
ktap_done
