#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Clients of one device do not reach each other's objects: handles, rings,
# doorbells, keys and address handles of another context or PD are refused, and
# nobody is believed who says that he is another process.
. "$(dirname "$0")/lib.sh"

RAW=$BUILD/selftests/raw_client
minor() { sed 's/.*://' "$(rundir 1)"/sys/class/infiniband_verbs/uverbs*/dev | head -n 1; }
raw() { h1 timeout 30 "$RAW" "$(rundir 1)" $(($(minor) - 192)) "$1"; }
keys() {
	verbs 1 timeout 60 "$PYTHON" "$SELFTESTS/client_isolation.py" $DEV "$(gid_index 1)" "$1"
}

# It calls itself process 1; what rxed logs of it is its own pid.
credentials() {
	local pid rc
	(exec nsenter --net="/run/netns/$(ns 1)" -- "$RAW" "$(rundir 1)" \
		$(($(minor) - 192)) credentials) >"$WORK/cred.out" 2>&1 &
	pid=$!
	wait_for 10 says_or_gone $pid
	cat "$WORK/cred.out"
	rxed_said 1 "process $pid .*GID index 31 is empty" && ! rxed_said 1 'process 1 '
	rc=$?
	end_process $pid
	return $rc
}
says_or_gone() { grep -q '^pid' "$WORK/cred.out" || gone "$1"; }
nothing_left() {
	[ "$(counter 1 contexts)$(counter 1 qps)$(counter 1 mrs)$(counter 1 pds)$(counter 1 ahs)" = 00000 ]
}

setup_needs
need rdma
need_python pyverbs
[ -e "$RAW" ] || make -s -C "$SELFTESTS" B="$BUILD" >/dev/null || skip_all "cannot build $RAW"
veth_pair
start_rxed 1 --workers 2 && add_link 1 && wait_for 10 device_ready 1 || hosts_failed "no device"
ktap_plan 8
check "handles of another context" raw handles
check "rings of another context" raw mmap
check "doorbells: all bits of all pages" raw doorbells
check "lying credentials, files that are no memory" credentials
check "local keys of another context and of another PD" keys lkeys
check "remote keys of another context and of another PD" keys rkeys
check "address handles of another context and of another PD" keys ahs
check "nothing is left" wait_for 5 nothing_left
ktap_done
