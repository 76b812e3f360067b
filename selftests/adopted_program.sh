#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that plain iproute2 attached before `link add` is adopted, stays
# when rxed goes, passes everything while no rxed lives, and is adopted again.
. "$(dirname "$0")/lib.sh"

attach() {
	in_ns "$(ns "$1")" ip link set dev $NETDEV xdp obj "$BUILD/rxe_xdp.bpf.o" sec xdp.frags
}
prog_id() { h1 ip link show $NETDEV | sed -nE 's/.*prog\/xdp id ([0-9]+).*/\1/p'; }
same_program() { [ -n "$id" ] && [ "$(prog_id)" = "$id" ]; }

# Counter NUMBER of the adopted program, read without rxed, over all CPUs.
program_counter() {
	local maps m
	maps=$(bpftool -j prog show id "$id" | sed -nE 's/.*"map_ids":\[([0-9,]*)\].*/\1/p')
	for m in ${maps//,/ }; do
		bpftool -j map show id "$m" | grep -q '"name":"counters"' || continue
		bpftool -j map lookup id "$m" key $(le32 "$1") | "$PYTHON" -c '
import json, sys
print(sum(int.from_bytes(bytes(int(x, 16) for x in v["value"]), "little")
	  for v in json.load(sys.stdin)["values"]))'
	done
}
PASS_ORPHAN=5	# RXE_CNT_PASS_ORPHAN of rxe/bpf_abi.h

# A datagram to the RoCE port, from a host without rxed's egress guard.
send_roce() {
	h2 "$PYTHON" -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(bytes(64), (sys.argv[1], 4791))' "$(ip4 1)"
}
passes_orphans() {
	local before
	before=$(program_counter $PASS_ORPHAN)
	send_roce
	[ "$(program_counter $PASS_ORPHAN)" -gt "$before" ]
}

port_down() { grep -q DOWN "$(sysfs 1 ports/1/state)"; }
off() { in_ns "$(ns 1)" ip link set dev $NETDEV xdp off; }
back() { in_ns "$(ns 1)" bpftool net attach xdp id "$id" dev $NETDEV; }
rxed_said_twice() { [ "$(lines_of_off)" = 2 ] && port_down; }
lines_of_off() { grep -c 'was taken off' "$WORK/rxed-1.log"; }

setup_needs
need bpftool rdma
veth_pair
ktap_plan 24
check "plain ip link attaches it" attach 1
id=$(prog_id)
check "rxed starts" start_rxed 1
check "link add adopts it" add_link 1
check "it is the same program" same_program
check "the other host has rxed's own" eval "start_rxed 2 && add_link 2"
wait_for 10 device_ready 1
wait_for 10 device_ready 2
check "traffic" pingpong ibv_rc_pingpong -c -n 1000
check "ip link takes it off under the device" off
check "the port goes down" wait_for 5 port_down
check "the log says how to put it back" rxed_said 1 \
	"port is down: .*was taken off.*bpftool net attach xdp id $id dev $NETDEV"
check "put back, the port is active again" eval "back && wait_for 5 port_active 1"
check "traffic again" pingpong ibv_rc_pingpong -c -n 1000
in_ns "$(ns 1)" ip link set $NETDEV down
check "taken off while the link is down" off
in_ns "$(ns 1)" ip link set $NETDEV up
check "the port stays down" wait_for 5 rxed_said_twice
check "another program is not its own" eval "attach 1 && ! wait_for 2 port_active 1"
check "one line each time" eval '[ "$(lines_of_off)" = 2 ]'
check "link delete and link add adopt the new one" eval "
	rdma 1 link delete $DEV && add_link 1 && wait_for 10 device_ready 1"
id=$(prog_id)
check "traffic with it" pingpong ibv_rc_pingpong -c -n 1000
stop_rxed 2
kill_rxed 1
check "it stays when rxed is killed" same_program
check "and passes everything once rxed is known to be dead" wait_for 8 passes_orphans
check "a restarted rxed adopts it again" eval "
	start_rxed 1 && add_link 1 && start_rxed 2 && add_link 2 &&
	wait_for 10 device_ready 1 && wait_for 10 device_ready 2"
check "the same one" same_program
check "traffic again" pingpong ibv_rc_pingpong -c -n 1000
check "link delete leaves it" eval "rdma 1 link delete $DEV && same_program"
stop_rxed 1
check "ip link takes it off" off
ktap_done
