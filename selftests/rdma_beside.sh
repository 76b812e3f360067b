#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Beside a kernel that has RDMA devices of its own: both are shown, by netlink
# and by files, and administered without being mixed up. The kernel's is played
# by a preloaded library and an overlay over /sys/class and /dev, in a mount
# namespace of this script.
if [ -z "${RXE_BESIDE:-}" ]; then
	RXE_BESIDE=1 exec unshare --mount --propagation slave "$0" "$@" ||
		{ echo "TAP version 13"; echo "1..0 # SKIP no mount namespace"; exit 4; }
fi
. "$(dirname "$0")/lib.sh"

FAKE=$BUILD/selftests/fake_rdma.so
ROOT=$WORK/kernel

# The files of the kernel's device.
play_kernel() {
	mkdir -p "$ROOT/class/infiniband/fake0/ports/1" "$ROOT/class/infiniband_verbs/uverbs0" \
		"$ROOT/dev/infiniband" || return 1
	echo "1: CA" >"$ROOT/class/infiniband/fake0/node_type"
	echo "4: ACTIVE" >"$ROOT/class/infiniband/fake0/ports/1/state"
	echo 6 >"$ROOT/class/infiniband_verbs/abi_version"
	echo fake0 >"$ROOT/class/infiniband_verbs/uverbs0/ibdev"
	echo 231:192 >"$ROOT/class/infiniband_verbs/uverbs0/dev"
	mknod "$ROOT/dev/infiniband/uverbs0" c 1 3 || return 1
	mount -t overlay overlay -o lowerdir="$ROOT/class:/sys/class" /sys/class &&
		mount -t overlay overlay -o lowerdir="$ROOT/dev:/dev" /dev
}

run() { LD_PRELOAD=$FAKE FAKE_RDMA_NAME=$WORK/name verbs 1 "$@"; }
tool() { run rdma "$@"; }
lists() { tool "$@" | cut -d' ' -f2 | tr -d : | sort | tr '\n' ' '; }

setup_needs
need rdma unshare mount
[ -e "$FAKE" ] || make -s -C "$SELFTESTS" B="$BUILD" >/dev/null || skip_all "cannot build $FAKE"
play_kernel || skip_all "no overlay over /sys/class and /dev here"
[ -e /dev/null ] && [ -e /sys/class/infiniband/fake0/node_type ] || skip_all "the overlay shows nothing"
veth_pair
hosts_up
ktap_plan 24

check "dev show has both" eval "[ \"\$(lists dev show)\" = 'fake0 $DEV ' ]"
check "with numbers apart" eval "tool dev show | grep -q '^0: fake0:' && tool dev show | grep -q '^65536: $DEV:'"
check "link show has both" eval "[ \"\$(lists link show)\" = 'fake0/1 $DEV/1 ' ]"
check "res show has both" eval "tool res show | grep -q 'fake0: qp 77' && tool res show | grep -q '$DEV: pd 1 cq 1 qp 1'"
check "JSON is one list" eval "tool -j dev show | $PYTHON -c 'import json, sys; assert len(json.load(sys.stdin)) == 2'"
check "one of the kernel's" eval "tool dev show fake0 | grep -q node_guid.1122:3344:5566:7788"
check "one of ours" eval "tool dev show $DEV | grep -q node_guid && ! tool dev show $DEV | grep -q fake0"
check "objects of ours" eval "tool res show qp link $DEV/1 | grep -q 'link $DEV/1 lqpn 1 type GSI'"
check "statistic of ours" eval "tool statistic show link $DEV/1 | grep -q sent_pkts"
check "the kernel's is renamed by the kernel" eval "tool dev set fake0 name real0 && grep -qx real0 $WORK/name"
check "and shown so" eval "[ \"\$(lists dev show)\" = 'real0 $DEV ' ]"
check "ours by rxed" eval "tool dev set $DEV name ours0 && [ \"\$(lists dev show)\" = 'ours0 real0 ' ] && tool dev set ours0 name $DEV"
rm -f "$WORK/name"
check "a link of another type is the kernel's affair" refuses 'Invalid argument' tool link add x0 type siw netdev $NETDEV
check "no name of the kernel's is taken" refuses 'File exists' tool dev set $DEV name fake0
check "our node has a number of its own" eval "run cat /sys/class/infiniband_verbs/uverbs512/ibdev | grep -qx $DEV"
check "class list" eval "[ \"\$(run ls /sys/class/infiniband | tr '\\n' ' ')\" = 'fake0 $DEV ' ]"
check "verbs list" eval "[ \"\$(run ls /sys/class/infiniband_verbs | tr '\\n' ' ')\" = 'abi_version uverbs0 uverbs512 ' ]"
check "nodes" eval "[ \"\$(run ls /dev/infiniband | tr '\\n' ' ')\" = 'rdma_cm uverbs0 uverbs512 ' ]"
check "find goes down both" eval "run find -L /sys/class/infiniband -maxdepth 4 -name state | sort | tr '\\n' ' ' | grep -q 'fake0/ports/1/state .*$DEV/ports/1/state'"
check "the kernel's files" eval "run cat /sys/class/infiniband/fake0/node_type | grep -qx '1: CA'"
check "the kernel's node stays the kernel's" eval "run cat /dev/infiniband/uverbs0 && run stat -c %t:%T /dev/infiniband/uverbs0 | grep -qx 1:3"
check "ours is ours" eval "run stat -c %t:%T /dev/infiniband/uverbs512 | grep -qx e7:2c0"
check "libibverbs finds both" eval "run ibv_devices | grep -qw $DEV"
check "and opens ours" eval "run ibv_devinfo -d $DEV | grep -q PORT_ACTIVE"
ktap_done
