#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What an ordinary user, also as root of a user namespace of his own, does not
# get: others' rkeys, the namespace mode, the devices, the pins, the socket.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

user() { host 1 $AS_USER -- "$@"; }
# Root of a user namespace that does not own the network namespace.
pretender() { host 1 $AS_USER -- unshare --user --map-root-user -- "$@"; }
tool() { "$1" "$WORK/bin/rxe" rdma "${@:2}"; }
shows_mrs() { rdma 1 res show mr dev $DEV 2>/dev/null | grep -q mrlen; }
shows_rkeys() { rdma 1 -d res show mr dev $DEV | grep -q rkey; }
hides_rkeys() {
	tool "$1" -d res show mr dev $DEV | tee "$WORK/mrs" | grep -q mrlen &&
		! grep -q key "$WORK/mrs"
}
cannot_map() {
	refuses 'ermi' user bpftool map update pinned "$(pins 1)/parameters/max_qp" key 0 0 0 0 \
		value 1 0 0 0
}
cannot_touch() {
	! user rm -f "$(rundir 1)"/rxed.sock "$(rundir 1)"/* 2>/dev/null &&
		! user touch "$(rundir 1)/new" && listening 1
}
unshare_works() { user unshare --user --map-root-user -- true; }

one_host
need setpriv unshare bpftool
public_build
client mr fault_client mr
says_within 20 mr '^at mr$' || hosts_failed "no client with a region"
ktap_plan 11
if shows_mrs; then
	check "root sees rkeys" shows_rkeys
	check "a user sees regions, and no keys" hides_rkeys user
else
	skip "root sees rkeys" "rdma res show mr is not offered"
	skip "a user sees regions, and no keys" "rdma res show mr is not offered"
fi
check "the namespace mode: not permitted" refuses 'ermi' tool user system set netns exclusive
check "a device into another namespace: refused" refuses 'ermi|not supported' \
	tool user dev set $DEV netns "$(ns 2)"
check "a tunable's pin: not writable" cannot_map
check "the run directory: not writable" cannot_touch
if unshare_works; then
	if shows_mrs; then
		check "root of a user namespace: no keys" hides_rkeys pretender
	else
		skip "root of a user namespace: no keys" "rdma res show mr is not offered"
	fi
	check "root of a user namespace: no link add" refuses 'ermi' \
		tool pretender link add rxe9 type rxe netdev $NETDEV
	check "root of a user namespace: no link delete" refuses 'ermi' tool pretender link delete $DEV
	check "root of a user namespace: no mode" refuses 'ermi' \
		tool pretender system set netns exclusive
else
	for what in keys "link add" "link delete" mode; do
		skip "root of a user namespace: no $what" "no user namespaces for users"
	done
fi
check "the device is as it was" device_ready 1
ktap_done
