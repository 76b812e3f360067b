#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The pages of a region are unmapped, protected, emptied, replaced or cut off
# after its registration: accesses by either side keep to what the mapping
# allows when they are made, and end with the right status.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

CHANGES="none munmap prot_none prot_read dontneed replaced replaced_readonly
	replaced_forbidden truncated"

changed() { verbs 1 timeout 60 "$FAULT_BIN/fault_memory" $DEV "$GID" "$1" && nothing_held 5; }

one_host
set -- $CHANGES
ktap_plan $(($# + 1))
for change; do
	check "$change" changed "$change"
done
check "rxed rests" idle
ktap_done
