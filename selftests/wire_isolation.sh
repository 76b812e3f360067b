#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A remote host reaches no QP that it is not connected to, and of those that it
# is connected to no more than they allow. Frames are made by hand.
. "$(dirname "$0")/lib.sh"

STRANGER=10.77.0.3
SECOND=10.77.0.101	# of host 1
mac_of() { in_ns "$(ns "$1")" ip -br link show $NETDEV | awk '{print $3}'; }
second_gid() { gid_index_of 1 'ffff:0a4d:0065$'; }

case_of() { # NAME [--bad-icrc]
	verbs 1 timeout 100 "$PYTHON" "$SELFTESTS/wire_isolation.py" --dev $DEV \
		--rxe "$BUILD/rxe" --gid "$(gid_index 1)" --peer-ns "/run/netns/$(ns 2)" \
		--other-ns "/run/netns/$(ns m)" --netdev $NETDEV --dmac "$(mac_of 1)" \
		--src "$(ip4 2)" --dst "$(ip4 1)" --dst2 $SECOND --stranger $STRANGER \
		--src6 "$(ip6 2)" --dst6 "$(ip6 1)" "$@"
}
# Without an ICRC to check, everything else is checked as before.
without_crc() {
	set_param crc_disable 1 1 || return 1
	for c in source destination pkey qkey rkeys psn ack states; do
		case_of $c --bad-icrc || { echo "case $c"; return 1; }
	done
	set_param crc_disable 0 1
}

setup_needs
need bpftool tc
need_python pyverbs
lossy_bridge
set_loss 0
in_ns "$(ns m)" ip addr add $STRANGER/24 dev br0
h1 ip addr add $SECOND/24 dev $NETDEV
# Only host 1 has a rxed: the other's egress guard and XDP would be in the way.
start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 && wait_for 5 second_gid ||
	hosts_failed "no device"
ktap_plan 11
check "source address: the peer's only, IPv4 and IPv6" case_of source
check "destination address: the one it is connected by" case_of destination
check "P_Key" case_of pkey
check "Q_Key" case_of qkey
check "forged rkeys and addresses: NAK, nothing written" case_of rkeys
check "READ of another client's memory: NAK, nothing read" case_of read_forged
check "guessed PSNs" case_of psn
check "acknowledgements of others, or of what was not sent" case_of ack
check "RESET, INIT, ERR and destroyed QPs" case_of states
check "the same with crc_disable, all ICRCs wrong" without_crc
check "nothing is left" test "$(counter 1 qps)$(counter 1 mrs)$(counter 1 pds)" = 000
ktap_done
