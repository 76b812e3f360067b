#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What docs/features.md says of verbs, flags and types (the column "here") is what
# a program meets: works, or is refused with that errno.
. "$(dirname "$0")/lib.sh"

PROGRAM=$BUILD/selftests/offered
FEATURES=$SELFTESTS/../docs/features.md
[ -r "$FEATURES" ] || skip_all "$FEATURES is not there"

# Rows of the document begin `| name | outcome |`, the name in backquotes; a cell
# of the outcome begins with `works` or with the errno.
documented() { # NAME
	awk -F ' *[|] *' -v name="\`$1\`" '$2 == name { split($3, w, /[ ,;:(]/); print w[1]; exit }' "$FEATURES"
}
as_documented() { # NAME OUTCOME
	local said
	said=$(documented "$1")
	echo "$1: $2; the document says ${said:-nothing}"
	[ "$said" = "$2" ]
}

make -s -C "$SELFTESTS" B="$BUILD" "$PROGRAM" || skip_all "cannot build $PROGRAM"
setup_needs
veth_pair
start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 || hosts_failed "no device"
wait_for 5 gid_index_of 1 ffff: >/dev/null || hosts_failed "no IPv4 GID"
before=$(rdma 1 res show)
verbs 1 timeout 60 "$PROGRAM" $DEV "$(gid_index 1)" >"$WORK/offered" 2>"$WORK/offered.err"
rc=$?
ktap_plan $(($(wc -l <"$WORK/offered") + 2))
while read -r line; do
	check "${line% *}" as_documented "${line% *}" "${line##* }"
done <"$WORK/offered"
check "the program came to its end" test "$rc" = 0
check "nothing is left" wait_for 5 eval '[ "$(rdma 1 res show)" = "$before" ]'
ktap_done
