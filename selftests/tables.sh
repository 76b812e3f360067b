#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The P_Key table and the GID table, whole and entry by entry, with a hole where
# an address went.
. "$(dirname "$0")/lib.sh"

TABLES=$BUILD/selftests/tables
appeared() { gid_index_of 1 "ffff:0a4d:$1\$"; }
vanished() { ! appeared "$1"; }

setup_needs
make -s -C "$SELFTESTS" B="$BUILD" >/dev/null || skip_all "cannot build $TABLES"
veth_pair
start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 || hosts_failed "no device"
h1 ip addr add 10.77.8.1/24 dev $NETDEV
wait_for 5 appeared 0801 || hosts_failed "no GID of the first address"
HOLE=$(appeared 0801)
h1 ip addr add 10.77.9.1/24 dev $NETDEV
wait_for 5 appeared 0901 || hosts_failed "no GID of the second address"
h1 ip addr del 10.77.8.1/24 dev $NETDEV
wait_for 5 vanished 0801 || hosts_failed "the GID does not go"
ktap_plan 3
check "link-local, IPv4, IPv6 GIDs" wait_for 5 gid_index_of 1 fe80
check "tables" verbs 1 timeout 20 "$TABLES" $DEV "$HOLE"
h1 ip addr add 10.77.8.1/24 dev $NETDEV
check "an address that comes back has its index again" \
	wait_for 5 eval '[ "$(appeared 0801)" = "$HOLE" ]'
ktap_done
