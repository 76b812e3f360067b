#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What happens to a netdev happens to its device: link down and up, an address
# removed and back, MTU, name, another namespace, gone. Under traffic; a
# connection that can wait goes on, one that cannot ends with an error.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
. "$(dirname "$0")/fault_net_lib.sh"
need ib_send_bw

port_down() { ! port_active 1; }
has_gid() { gid_index "$1" >/dev/null; }
no_gid() { ! gid_index "$1" >/dev/null; }
no_dev() { ! host "$1" "$BUILD/rxe" stat | grep -q "^$DEV "; }
no_xdp() { ! in_ns "$1" ip link show "$2" | grep -q xdp; }
# stream: both hosts send all the time; PAIR.
stream() {
	local before
	before=$(counter 1 rdma_sends)
	serve 1 $PINGPONG_PORT ib_send_bw -d $DEV -F -b -D 60 -x "$(gid_index 1)" || return 1
	PAIR=("$SERVER_PID")
	start_verbs 2 ib_send_bw -d $DEV -F -b -D 60 -x "$(gid_index 2)" "$(ip4 1)" >"$WORK/client.out" 2>&1
	PAIR+=("$STARTED")
	wait_for 10 sends_more_than 1 $((before + 100))
}
# silent N: within the ACK timeout of the stream, tenths of a second, nothing leaves.
silent() {
	local before
	sleep 0.1 # events of addresses are gathered
	before=$(wire_packets "$1")
	sleep 0.3
	echo "$(($(wire_packets "$1") - before)) packets"
	[ "$(wire_packets "$1")" = "$before" ]
}
wire_packets() { counter "$1" xsk_tx_packets; }
shows_netdev() { rdma 1 link show | grep -q "netdev $1 "; }
# In timewait, too.
no_connections() { [ "$(counter "$1" cm_connections)" = 0 ]; }
both_ready() { device_ready 1 && device_ready 2; }
both_work() { wait_for 10 both_ready && pingpong ibv_rc_pingpong -c -n 1000; }

two_hosts
ktap_plan 68
check "a run before" both_work
check "a connection before" cm_pair rping -s -a "$(ip4 1)" -C 3 -V -- rping -c -a "$(ip4 1)" -C 3 -V
wait_for 10 no_connections 1 && wait_for 10 no_connections 2
remember 1 2
watch 1

# ---- link ------------------------------------------------------------------------------
check "link: traffic" patient_pair
check "link: down" h1 ip link set $NETDEV down
check "link: the port is down" wait_for 5 port_down
check "link: PORT_ERR" saw 1 PORT_ERR
check "link: nothing moves" eval 'b=$(counter 2 rdma_sends); sleep 1; [ $(counter 2 rdma_sends) -le $((b + 1)) ]'
check "link: rxed rests meanwhile" both_rest
check "link: up" h1 ip link set $NETDEV up
h1 ip addr add "$(ip6 1)/64" dev $NETDEV nodad # the kernel drops IPv6 addresses
check "link: PORT_ACTIVE" saw 1 PORT_ACTIVE
check "link: traffic goes on" goes_on 30
end_pair
check "link: impatient traffic" endless_pair
h1 ip link set $NETDEV down
check "link: the sender ends with an error" sender_ends_with_error 20
end_pair
h1 ip link set $NETDEV up
h1 ip addr add "$(ip6 1)/64" dev $NETDEV nodad
check "link: works again" both_work

# ---- address ------------------------------------------------------------------------------
saw_nothing_yet 1
check "address: traffic" patient_pair
check "address: removed" h1 ip addr del "$(ip4 1)/24" dev $NETDEV
check "address: its GID is gone" wait_for 5 no_gid 1
check "address: GID_CHANGE" saw 1 GID_CHANGE
check "address: rxed rests meanwhile" both_rest
saw_nothing_yet 1
check "address: back" h1 ip addr add "$(ip4 1)/24" dev $NETDEV
check "address: its GID, by the same index" wait_for 5 has_gid 1
check "address: GID_CHANGE again" saw 1 GID_CHANGE
check "address: traffic goes on" goes_on 30
end_pair
check "address: impatient traffic" stream
h1 ip addr del "$(ip4 1)/24" dev $NETDEV
check "address: its GID is gone" wait_for 5 no_gid 1
check "address: not one packet from it" silent 1
check "address: the sender ends with an error" sender_ends_with_error 20
end_pair
h1 ip addr add "$(ip4 1)/24" dev $NETDEV
check "address: works again" both_work

# ---- MTU --------------------------------------------------------------------------------------
check "MTU: traffic" endless_pair -s 8000 -m 1024
check "MTU: under traffic" set_netdev_mtu 1500 1024
check "MTU: traffic that still fits goes on" goes_on 10
check "MTU: back" set_netdev_mtu 9000 4096
check "MTU: traffic goes on" goes_on 10
end_pair
check "MTU: the large ones work again" pingpong ibv_rc_pingpong -c -m 4096 -s 65536 -n 100

# ---- name --------------------------------------------------------------------------------------
check "name: traffic" patient_pair
check "name: another" h1 ip link set $NETDEV name other0
check "name: the device shows it" wait_for 5 shows_netdev other0
check "name: traffic goes on" goes_on 10
h1 ip link set other0 name $NETDEV
wait_for 5 shows_netdev $NETDEV
end_pair

end_process "$WATCHER"
check "nothing is left of all that" nothing_more_held 10 1 2

# ---- the device goes ---------------------------------------------------------------------------
# gone DESCRIPTION COMMAND...: with a watcher and polling and sleeping programs in host 1.
goes() {
	local what=$1 e
	shift
	watch 1
	endless 1 -p 18520 -e
	e=$STARTED # sleeps on its channel; nobody calls it
	check "$what: traffic" endless_pair
	check "$what: done" "$@"
	check "$what: the device is gone" wait_for 5 no_dev 1
	check "$what: DEVICE_FATAL" saw 1 DEVICE_FATAL
	check "$what: a program that polls ends with an error" ends_with_error 10 "${PAIR[0]}"
	check "$what: one that waits for a peer does not crash" end_quietly $e
	check "$what: one that waits for events ends" ends_with_error 10 "$WATCHER"
	end_pair
}
end_quietly() {
	local rc=0
	kill "$1"
	wait "$1" || rc=$?
	echo "exit status $rc"
	[ $rc = 124 ] || [ $rc = 143 ]
}
# comes_back: the device on the same netdev, and nothing is held of before.
comes_back() {
	add_link 1 && wait_for 10 both_ready && nothing_more_held 10 1 && both_work
}

goes "link delete" rdma 1 link delete $DEV
check "link delete: back" comes_back

add_netns "$(ns away)"
goes "namespace" h1 ip link set $NETDEV netns "$(ns away)"
check "namespace: its XDP program is gone, too" wait_for 5 no_xdp "$(ns away)" $NETDEV
in_ns "$(ns away)" ip link set $NETDEV netns "$(ns 1)"
addresses 1
check "namespace: back" comes_back

goes "peer deleted" h2 ip link del $NETDEV
check "peer deleted: its device is gone, too" wait_for 5 no_dev 2
check "peer deleted: rxed rests" both_rest
ip link add $NETDEV netns "$(ns 1)" type veth peer name $NETDEV netns "$(ns 2)"
addresses 1
addresses 2
check "peer deleted: a new one" add_link 2
check "peer deleted: back" comes_back
check "peer deleted: nothing is left in host 2" nothing_more_held 10 2
ktap_done
