#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What libibverbs reports of a device: the kernel driver's attributes, the
# netdev's MTU and state, the GID table.
. "$(dirname "$0")/lib.sh"

info() { verbs 1 ibv_devinfo -v -d $DEV; }

# has NAME VALUE: ibv_devinfo -v prints it.
has() { info | sed -E 's/^[[:space:]]*//; s/:[[:space:]]*/: /' | grep -qxF "$1: $2"; }
prints() { info | grep -qE "$1"; }
attr() { check "$1 $2" has "$1" "$2"; }

two_hosts
ktap_plan 32
check "ibv_devices lists it" eval "verbs 1 ibv_devices | grep -qw $DEV"
attr transport 'InfiniBand (0)'
attr vendor_id 0xffffff
attr max_mr_size 0xffffffffffffffff
attr max_qp 1048560
attr max_qp_wr 1048576
attr max_sge 32
attr max_cq 1048576
attr max_cqe 32767
attr max_mr 524287
attr max_mw 524287
attr max_srq 917503
attr max_srq_wr 1048576
attr max_srq_sge 27
attr max_pd 1048576
attr max_qp_rd_atom 128
attr atomic_cap 'ATOMIC_HCA (1)'
attr max_ah 32767
attr max_mcast_grp 8192
attr max_mcast_qp_attach 56
attr max_total_mcast_qp_attach 458752
attr phys_port_cnt 1
attr max_pkeys 64
attr state 'PORT_ACTIVE (4)'
attr max_mtu '4096 (5)'
attr active_mtu '4096 (5)'
attr link_layer Ethernet
attr pkey_tbl_len 1
check "GID 0 is the link-local address" prints 'GID\[ *0\]:[[:space:]]*fe80::.*RoCE v2'
check "the IPv4 GID" prints "GID\[.*::ffff:$(ip4 1), RoCE v2"
check "the IPv6 GID" prints "GID\[.*$(ip6 1), RoCE v2"
h1 ip addr add 10.77.9.1/24 dev $NETDEV
check "a new address becomes a GID" wait_for 5 prints 'GID\[.*::ffff:10.77.9.1,'
h1 ip addr del 10.77.9.1/24 dev $NETDEV
check "and goes with it" eval "wait_for 5 eval '! prints 10.77.9.1,'"
h1 ip link set $NETDEV down
check "the port follows the netdev down" wait_for 5 has state 'PORT_DOWN (1)'
h1 ip link set $NETDEV up
check "and up" wait_for 5 has state 'PORT_ACTIVE (4)'
ktap_done
