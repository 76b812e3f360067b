#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The events of a device and its port, which every context hears, by the
# distribution's ibv_asyncwatch: link, addresses, the end of the device.
. "$(dirname "$0")/lib.sh"
need ibv_asyncwatch

heard() { grep -q "$1" "$WORK/watch.out"; }

setup_needs
veth_pair
start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 || hosts_failed "no device"
wait_for 5 gid_index_of 1 fe80 >/dev/null || hosts_failed "no link-local GID"
start_verbs 1 stdbuf -oL ibv_asyncwatch -d $DEV >"$WORK/watch.out" 2>&1
WATCH=$STARTED
ktap_plan 6
check "it listens" wait_for 5 heard 'async event FD'
h1 ip addr add 10.77.9.1/24 dev $NETDEV
check "GID_CHANGE" wait_for 5 heard IBV_EVENT_GID_CHANGE
h1 ip link set $NETDEV down
check "PORT_ERR" wait_for 5 heard IBV_EVENT_PORT_ERR
h1 ip link set $NETDEV up
check "PORT_ACTIVE" wait_for 5 heard IBV_EVENT_PORT_ACTIVE
rdma 1 link delete $DEV
check "DEVICE_FATAL" wait_for 5 heard IBV_EVENT_DEVICE_FATAL
end_process "$WATCH"
check "rxed lives" rdma 1 link show
ktap_done
