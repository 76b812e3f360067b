#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Completion queues by plain libibverbs (cq_verbs.c): resized, also under
# traffic, with nothing lost; solicited events and how they are counted;
# overflow; extended CQs and extended posting.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

TESTS="resize_limits resize_outstanding resize_traffic resize_armed solicited
	event_references overflow extended extended_posting"

run() { verbs 1 timeout "$TEST_TIMEOUT" "$FAULT_BIN/cq_verbs" $DEV "$GID" "$1" && nothing_held 5; }

one_host
set -- $TESTS
ktap_plan $#
for t; do
	check "$t" run "$t"
done
ktap_done
