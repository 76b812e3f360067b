#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Bad input gets one clear message that says what to do, a non-zero status, and
# leaves nothing half-made.
. "$(dirname "$0")/lib.sh"

rxed_once() { timeout 10 "$BUILD/rxed" "$@"; }
rxe() { host 1 "$BUILD/rxe" "$@"; }

without_bpffs() {
	timeout 10 unshare --mount sh -c 'umount -l /sys/fs/bpf && exec "$0" "$@"' \
		"$BUILD/rxed" --rundir "$WORK/$ID-nobpf"
}

# Somebody else's XDP program on the netdev.
foreign_program() {
	in_ns "$(ns 1)" ip link set dev $NETDEV "${1:-xdp}" obj "$BUILD/selftests/xdp_pass.bpf.o" \
		sec xdp.frags
}
clean() {
	[ -z "$(rdma 1 link show)" ] && ! h1 ip link show $NETDEV | grep -q prog/xdp
}
no_device() { [ -z "$(rdma 1 link show)" ]; }

setup_needs
need rdma unshare
make -s -C "$SELFTESTS" B="$BUILD" || skip_all "cannot build the selftests' BPF programs"
veth_pair
start_rxed 1 || hosts_failed "rxed does not come up"
ktap_plan 39

check "rxed: unknown option" refuses "usage|Usage|option" rxed_once --nosuch
check "rxed: unknown namespace" refuses "$ID-none" rxed_once --rundir "$WORK/$ID-x" --netns "$ID-none"
check "rxed: no bpffs: the message has the command" \
	refuses 'mount -t bpf' without_bpffs
check "rxed: run directory that cannot be made" \
	refuses '/proc/nosuch' rxed_once --rundir /proc/nosuch/dir
long=$WORK/$(printf '%0100d' 0)
check "rxed: run directory with too long a name" refuses '[0-9]+ bytes' rxed_once --rundir "$long"
: >"$WORK/$ID-file"
check "rxed: run directory that is a file" refuses 'not a directory.*choose' rxed_once --rundir "$WORK/$ID-file"
check "rxed: ordinary user" refuses 'root|CAP_|ermi' \
	timeout 10 setpriv --reuid 65534 --regid 65534 --clear-groups "$BUILD/rxed" --rundir "$WORK/$ID-y"
check "rxed: nothing is left" eval "[ ! -e /sys/fs/bpf/$ID-x ] && [ ! -e /sys/fs/bpf/$ID-nobpf ]"

check "rxe: no command" refuses usage rxe
check "rxe: unknown command" refuses 'nosuch' rxe nosuch
check "rxe param: unknown name" refuses 'nosuch' rxe param get nosuch
check "rxe param: out of range" refuses '1\.\.20' rxe param set max_log_cqe 21
check "rxe param: not a number" refuses 'number' rxe param set max_qp many
for value in " -18446744073709551610" " 6" "" "-" "4096 " "12x"; do
	check "rxe param: '$value' is not a number" refuses 'not a number' rxe param set mtu "$value"
done
for value in -1 -0 99999999999999999999999; do
	check "rxe param: $value is out of range" refuses 'range is 0\.\.' rxe param set mtu "$value"
done
check "rxe param: no tree" refuses 'rundir|rxed' rxe param --rundir "$WORK/none" get max_qp
check "rxe stat: no daemon" refuses 'start .*rxed' rxe stat --rundir "$WORK/none"
check "rxe stat: unknown device" refuses 'nosuch' rxe stat nosuch
check "rxe run: unknown option" refuses 'usage: rxe run' rxe run --bogus
check "rxe run: no program" refuses 'usage|Usage|command|CMD' rxe run
check "rxe run: unknown program" refuses 'nosuchprogram' rxe run -- nosuchprogram

h1 ip link set $NETDEV mtu 200
check "a netdev whose MTU is too small" refuses 'error' add_link 1
check "nothing is left half-made" clean
h1 ip link set $NETDEV mtu "$MTU"
check "a foreign XDP program is there" foreign_program
check "the device is refused" refuses 'error' add_link 1
check "the log says what to do" wait_for 2 rxed_said 1 'XDP|xdp'
check "no device is left" no_device
in_ns "$(ns 1)" ip link set dev $NETDEV xdp off
check "a generic one, where the driver has XDP" foreign_program xdpgeneric
check "the device is refused again" refuses 'error' add_link 1
check "the log says how to take that off" wait_for 2 rxed_said 1 "dev $NETDEV xdpgeneric off"
in_ns "$(ns 1)" ip link set dev $NETDEV xdpgeneric off
check "without it the device is made" add_link 1
check "an unknown device of a program" refuses 'nosuch' verbs 1 ibv_devinfo -d nosuch
ktap_done
