#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Network namespaces as `rdma system` and `rdma dev set netns` define them: in
# shared mode everybody sees a device; in exclusive mode only the namespace
# that it was given to, by netlink, files and device nodes alike.
. "$(dirname "$0")/lib.sh"

B_NS=$(ns b)

# Of host 1's rxed, from namespace b.
b() { RXE_RUNDIR=$(rundir 1) in_ns "$B_NS" "$BUILD/rxe" "$@"; }
sees() { b rdma link show | grep -q "^link $DEV/1"; }
a_sees() { rdma 1 link show | grep -q "^link $DEV/1"; }
b_opens() { b run ibv_devinfo -d $DEV >/dev/null 2>&1; }
a_opens() { verbs 1 ibv_devinfo -d $DEV >/dev/null 2>&1; }
mode() { [ "$(rdma 1 system show)" = "netns $1 copy-on-fork on" ]; }
set_mode() { rdma 1 system set netns "$1" && mode "$1"; }
nobody() { h1 setpriv --reuid 65534 --clear-groups "$BUILD/rxe" "$@"; }
not() { ! "$@"; }
b_pingpong() {
	b run ibv_rc_pingpong -d $DEV -g 1 -n 50 >"$WORK/bpp" 2>&1 &
	local server=$!
	wait_for 5 eval "in_ns $B_NS ss -Hltn 'sport = :$PINGPONG_PORT' | grep -q ." &&
		b run ibv_rc_pingpong -d $DEV -g 1 -n 50 127.0.0.1 && wait $server
}

two_hosts
need rdma ibv_devinfo ibv_rc_pingpong rping
add_netns "$B_NS"
ktap_plan 40

check "shared at first" mode shared
check "shared: the other namespace sees it" sees
check "shared: and opens it" b_opens
check "shared: it cannot be moved, as in the kernel" \
	refuses 'Operation not supported' rdma 1 dev set $DEV netns "$B_NS"
check "no such namespace" refuses 'No such file or directory' rdma 1 dev set $DEV netns nosuch
check "no such process" refuses 'No such file or directory' rdma 1 dev set $DEV netns 4194305

start_verbs 1 ibv_ud_pingpong -d $DEV -g 1 >/dev/null 2>&1
OWNER=$STARTED
check "a program has it open" wait_for 5 eval "rdma 1 res show | grep -q 'ctx 1 '"
(
	export RXE_RUNDIR
	RXE_RUNDIR=$(rundir 1)
	exec nsenter --net="/run/netns/$B_NS" -- "$BUILD/rxe" run -- ibv_ud_pingpong -d $DEV -g 1 \
		>/dev/null 2>&1
) &
STRANGER=$!
check "and one in the other namespace" wait_for 5 eval "rdma 1 res show | grep -q 'ctx 2 '"
check "exclusive" set_mode exclusive
check "its own namespace sees it" a_sees
check "the other does not: netlink" not sees
check "nor its files" not b run ls /sys/class/infiniband/$DEV
check "nor the list" eval "! b run ls /sys/class/infiniband 2>/dev/null | grep -q $DEV"
check "nor its node" not b run cat /dev/infiniband/uverbs0
check "nor opens it" not b_opens
check "the owner does" a_opens
check "the stranger has lost it" wait_for 5 eval "[ \$(rdma 1 res show qp -j | grep -o comm | wc -l) = 2 ]"
end_process $STRANGER
check "may not be moved by who is no administrator" \
	refuses 'Operation not permitted' nobody rdma dev set $DEV netns "$B_NS"
check "nor may the mode be set" refuses 'Operation not permitted' nobody rdma system set netns shared
start_verbs 1 rping -s -P >/dev/null 2>&1 # on any address
listens() { rdma 1 res show cm_id | grep -q LISTEN; }
check "a listener on any address" wait_for 5 listens
check "is reached" verbs 2 timeout 20 rping -c -a "$(ip4 1)" -C 1
check "moved, by name" rdma 1 dev set $DEV netns "$B_NS"
check "now the other sees it" sees
check "and opens it" b_opens
check "and sees its files" b run cat /sys/class/infiniband/$DEV/ports/1/hw_counters/sent_pkts
end_process $OWNER
check "and uses it" b_pingpong
check "the first does not" not a_sees
check "nor opens it" not a_opens
check "nor connects by rdma_cm" not verbs 1 timeout 20 rping -c -a "$(ip4 2)" -C 1
check "nor is reached" not verbs 2 timeout 20 rping -c -a "$(ip4 1)" -C 1
check "nor sees its files" not verbs 1 ls /sys/class/infiniband/$DEV
check "its program has lost it" wait_for 5 eval "! b rdma res show qp | grep -q ud_pingpong"
check "it is renamed there" eval "b rdma dev set $DEV name moved0 && b run ls /sys/class/infiniband/moved0/ports"
check "and back" b rdma dev set moved0 name $DEV
nsenter --net="/run/netns/$(ns 1)" sleep 1000 &
SLEEPER=$!
sleeps() { [ "$(readlink "/proc/$SLEEPER/ns/net")" = "$(h1 readlink /proc/self/ns/net)" ]; }

check "moved back, by PID" eval "wait_for 5 sleeps && b rdma dev set $DEV netns $SLEEPER"
check "and is there" eval "a_sees && a_opens && ! sees"
check "shared again" set_mode shared
check "everybody sees it" eval "sees && b_opens && a_sees && a_opens"
end_process $SLEEPER
# The old listener has the device open that it lost.
start_verbs 1 rping -s -P -p 7175 >/dev/null 2>&1
listens_anew() { [ "$(rdma 1 res show cm_id | grep -c LISTEN)" = 2 ]; }
check "and by rdma_cm" eval "wait_for 5 listens_anew && verbs 2 timeout 20 rping -c -a $(ip4 1) -p 7175 -C 1"
check "traffic between the hosts" pingpong ibv_rc_pingpong -c -n 100
ktap_done
