#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# rdma-core's own test suite (package rdma-core ships it as documentation) on
# the verbs that this device offers, within one host: what the distribution
# tests its libibverbs with must hold here. test_srq.py is ours, on its base classes.
. "$(dirname "$0")/lib.sh"

SUITE=/usr/share/doc/rdma-core/tests
MODULES=(test_pd test_device test_cq test_cqex test_cq_events test_mr test_qp
	 test_qpex test_addr test_atomic test_fork test_relaxed_ordering
	 test_srq)
# Not run, not counted: they expect that a QP on its way to RESET takes its
# unpolled completions out of the CQ, which neither kernel rxe nor its provider
# does. selftests/rereg_mr.sh has the same flows and polls those completions.
NOT_RXE=(test_mr_rereg_pd test_mr_rereg_addr)

[ -d "$SUITE" ] || skip_all "$SUITE is not there (scripts/deps.sh check)"
need_python pyverbs

copy_suite() {
	local t
	cp -r "$SUITE" "$WORK/tests" && gunzip -f "$WORK"/tests/*.gz || return 1
	for t in "${NOT_RXE[@]}"; do
		sed -i "s/def $t(/def not_rxe_$t(/" "$WORK"/tests/*.py
	done
	cp "$SELFTESTS/test_srq.py" "$WORK/tests/" || return 1
	chmod -R a+rX "$WORK/tests"
}

# Passes when the module's tests pass and at least one was not skipped.
suite_module() {
	local out=$WORK/suite.out ran skipped
	(cd "$WORK" && PYTHONPATH="$WORK/tests" verbs 1 timeout 120 "$PYTHON" \
		tests/run_tests.py -v --dev $DEV --port 1 --gid "$(gid_index 1)" \
		-k "tests.$1.") >"$out" 2>&1 || { cat "$out"; return 1; }
	ran=$(sed -nE 's/^Ran ([0-9]+) tests?.*/\1/p' "$out")
	skipped=$(sed -nE 's/^OK \(skipped=([0-9]+)\)/\1/p' "$out")
	[ "${ran:-0}" -gt "${skipped:-0}" ] || { cat "$out"; return 1; }
}

two_hosts
copy_suite || skip_all "cannot unpack $SUITE"
ktap_plan $((${#MODULES[@]} + 1))
for m in "${MODULES[@]}"; do
	check "$m" suite_module "$m"
done
check "nothing is left of them" test "$(counter 1 qps)$(counter 1 cqs)$(counter 1 mrs)$(counter 1 mws)$(counter 1 pds)$(counter 1 ahs)$(counter 1 srqs)" = 0000000
ktap_done
