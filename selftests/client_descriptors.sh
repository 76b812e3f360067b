#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An unprivileged client's descriptors neither stop rxed, whose close() of them
# may wait as long as their owner likes, nor make it speak for root to others;
# and its requests do not fill the log.
. "$(dirname "$0")/lib.sh"

WRONG=5000
hostile() { h1 timeout 100 "$PYTHON" "$SELFTESTS/client_descriptors.py" "$(rundir 1)" "$@"; }
log_stays_short() {
	local n
	hostile log_flood $WRONG || return
	n=$(grep -c 'speaks version 99' "$WORK/rxed-1.log")
	echo "$n lines of $WRONG"
	[ "$n" -ge 1 ] && [ "$n" -lt 200 ]
}
log_says_how_many() {
	hostile log_flood 1 && rxed_said 1 '[0-9]+ more like this were not logged'
}

setup_needs
veth_pair
h1 ip link set lo up
start_rxed 1 || hosts_failed "no daemon"
ktap_plan 7
check "with a request that takes none, or no request" hostile linger_request
check "more than a message may have" hostile linger_many
check "in messages that are never read" hostile linger_unread
check "as the socket to answer on" hostile linger_reply
check "sockets of others are not answered on" hostile reply_foreign
check "$WRONG OPENs of a wrong version" log_stays_short
check "the log says how many were left out" wait_for 10 log_says_how_many
ktap_done
