#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a killed rxed leaves in its run directory is no device any more: programs
# see none and say once why, with or without RXE_RUNDIR, until a new rxed has come.
. "$(dirname "$0")/lib.sh"

LIB=$BUILD/librxe_verbs.so
lists_device() { verbs 1 ibv_devices | grep -qw "$DEV"; }
tree_is_left() { [ -e "$(sysfs 1 node_type)" ]; }

# One line of the library's, which names DIR, and the program's own failure.
says_why() {
	local dir=$1 out rc=0
	shift
	out=$("$@" 2>&1) || rc=$?
	echo "status $rc: $out"
	[ "$(grep -c '^librxe_verbs' <<<"$out")" = 1 ] &&
		grep -q "^librxe_verbs: no rxed is running at $dir .*start .rxed" <<<"$out" &&
		! grep -qE "Failed to open device|hca_id|\<$DEV\>" <<<"$out"
}

# The tree at the place that is used without RXE_RUNDIR, in a mount namespace.
at_default() {
	mkdir -p "$WORK/run" && cp -a "$(rundir 1)" "$WORK/run/rxe" &&
		unshare --mount sh -c 'mount --bind "$1" /run && shift && exec "$@"' sh "$WORK/run" \
			env -u RXE_RUNDIR LD_PRELOAD="$LIB" "$@"
}
quiet_without_tree() {
	! unshare --mount sh -c 'mount --bind "$1" /run && shift && exec "$@"' sh "$WORK" \
		env -u RXE_RUNDIR LD_PRELOAD="$LIB" ibv_devices 2>&1 | grep librxe_verbs
}

setup_needs
need ibv_devices unshare
veth_pair
start_rxed 1 || hosts_failed "rxed does not come up"
add_link 1 || hosts_failed "cannot add $DEV"
ktap_plan 10
check "the device is listed" lists_device
kill_rxed 1
check "killed, rxed leaves its files" tree_is_left
check "ibv_devices lists nothing and says why" says_why "$(rundir 1)" verbs 1 ibv_devices
check "ibv_devinfo" says_why "$(rundir 1)" verbs 1 ibv_devinfo
check "ls" says_why "$(rundir 1)" verbs 1 ls /sys/class/infiniband
check "rdma" says_why "$(rundir 1)" rdma 1 link show
check "without RXE_RUNDIR" says_why /run/rxe at_default ibv_devinfo
check "without a tree nothing is said" quiet_without_tree
check "a new rxed: its device is listed" eval "start_rxed 1 && add_link 1 && lists_device"
stop_rxed 1
check "ended in good order, rxed leaves none" eval "[ ! -e '$(rundir 1)/sys' ]"
ktap_done
