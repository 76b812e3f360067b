#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Devices are made, shown, renamed and deleted by the distribution's rdma tool,
# and what is refused is refused with the kernel's errors.
. "$(dirname "$0")/lib.sh"

shows() { rdma 1 link show | grep -qE "$1"; }
no_devices() { [ -z "$(rdma 1 link show)" ]; }

setup_needs
need rdma
veth_pair
start_rxed 1 || hosts_failed "rxed does not come up"
ktap_plan 17

check "no device at first" no_devices
check "add" add_link 1
check "link show" shows "^link $DEV/1 state ACTIVE physical_state LINK_UP netdev $NETDEV"
check "dev show" eval "rdma 1 dev show | grep -qE '$DEV: node_type ca node_guid [0-9a-f:]+ sys_image_guid'"
check "JSON" eval "rdma 1 -j link show | "$PYTHON" -m json.tool"
check "the same name again: File exists" \
	refuses 'error: File exists' rdma 1 link add $DEV type rxe netdev $NETDEV
check "the same netdev again: File exists" \
	refuses 'error: File exists' rdma 1 link add rxe1 type rxe netdev $NETDEV
check "no such netdev: No such device" \
	refuses 'error: No such device' rdma 1 link add rxe1 type rxe netdev nosuch
check "no such type: Invalid argument" \
	refuses 'error: Invalid argument' rdma 1 link add rxe1 type nosuch netdev $NETDEV
check "the refusals left nothing" eval "[ \$(rdma 1 link show | wc -l) = 1 ]"
check "rename" eval "rdma 1 dev set $DEV name foo0 && shows '^link foo0/1'"
check "and back" eval "rdma 1 dev set foo0 name $DEV && shows '^link $DEV/1'"
check "delete an unknown one" refuses 'Wrong device name' rdma 1 link delete nosuch
check "delete" eval "rdma 1 link delete $DEV && no_devices"
check "its XDP program is gone" eval "! h1 ip link show $NETDEV | grep -q xdp"
check "add again" add_link 1
in_ns "$(ns 1)" ip link delete $NETDEV
check "it goes with its netdev" wait_for 5 no_devices
ktap_done
