#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Limits are enforced as `ibv_devinfo -v` reports them, one by one for each
# tunable: so many and no more, and they are given back. 10 000 cycles of
# creating and destroying each object leave nothing (limits.c).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

CYCLES=10000
# Tunable, value, what ibv_devinfo -v calls it (-: nothing), what it says, what
# limits.c is to find: the kind or size, and how many.
TUNABLES="max_ucontext 7 - 0 fill context 7
max_mr 9 max_mr 9 fill mr 9
max_cq 11 max_cq 11 fill cq 11
max_qp 13 max_qp 13 fill qp 13
max_qp_wr 100 max_qp_wr 100 size qp_wr 100
max_inline_data 96 - 0 size inline 96
max_log_cqe 6 max_cqe 63 size cqe 63"
# What no tunable sets: as the driver has it.
FIXED="max_ah 32767 fill ah 32767
max_sge 32 size sge 32
max_qp_wr 1048576 size qp_wr 1048576
max_cqe 32767 size cqe 32767
max_srq_wr 1048576 size srq_wr 1048576
max_srq_sge 27 size srq_sge 27"
KINDS="pd mr mw channel cq qp ah srq context"

limits() { verbs 1 timeout "$TEST_TIMEOUT" "$FAULT_BIN/limits" $DEV "$GID" "$@"; }
reports() { verbs 1 ibv_devinfo -v -d $DEV | grep -qE "^[[:space:]]*$1:[[:space:]]*$2\$"; }

new_device() {
	rdma 1 link delete $DEV && add_link 1 && wait_for 10 device_ready 1 && GID=$(gid_index 1)
}
tunable() { # NAME VALUE REPORTED_AS REPORTED MODE WHAT MAX
	local rc=0
	set_param "$1" "$2" 1 && new_device || return 1
	{ [ "$3" = - ] || reports "$3" "$4"; } && limits "$5" "$6" "$7" || rc=1
	reset_param_1 "$1" && new_device || return 1
	return $rc
}
reset_param_1() { set_param "$1" "$(default_param "$1")" 1; }
fixed() { # REPORTED_AS REPORTED MODE WHAT MAX
	reports "$1" "$2" && limits "$3" "$4" "$5" && nothing_held 5
}
cycles() { limits cycle "$1" $CYCLES && nothing_held 5; }

one_host
need bpftool
ktap_plan $(($(wc -l <<<"$TUNABLES") + $(wc -l <<<"$FIXED") + $(wc -w <<<"$KINDS") + 1))
for k in $KINDS; do
	check "$CYCLES cycles of $k leave nothing" cycles "$k"
done
while read -r reported value mode what max; do
	check "$reported is $value" fixed "$reported" "$value" "$mode" "$what" "$max"
done <<<"$FIXED"
while read -r name value reported says mode what max; do
	check "$name $value" tunable "$name" "$value" "$reported" "$says" "$mode" "$what" "$max"
done <<<"$TUNABLES"
check "rxed rests" idle
ktap_done
