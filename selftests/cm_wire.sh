#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tshark decodes every message of the connection manager, without a malformed
# field; with loss connections come about all the same.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
need tcpdump tshark rping udaddy
two_hosts_lossy 0
TEST_TIMEOUT=100
PCAP=$WORK/cm.pcap

capture_whole() {
	local dump rc=0
	nsenter --net="/run/netns/$(ns m)" -- tcpdump -i p1 --immediate-mode -U -w "$PCAP" \
		udp port 4791 2>"$WORK/tcpdump.log" &
	dump=$!
	wait_for 5 grep -q 'listening on' "$WORK/tcpdump.log"
	"$@" || rc=$?
	wait_for 10 settled "$PCAP"
	end_process $dump
	return $rc
}

traffic() {
	cm_pair rping -s -a "$(ip4 1)" -C 2 -V -- rping -c -a "$(ip4 1)" -C 2 -V &&
		cm_pair rping -s -a "$(ip6 1)" -C 2 -V -- rping -c -a "$(ip6 1)" -C 2 -V &&
		cm_pair udaddy -b "$(ip4 1)" -- udaddy -s "$(ip4 1)" &&
		refuses 'REJECTED' verbs 2 timeout 20 rping -c -a "$(ip4 1)" -C 1
}

# How many packets match.
matches() { tshark -r "$PCAP" -Y "$1" 2>/dev/null | wc -l; }
# has MESSAGE: as tshark calls it.
has() { tshark -r "$PCAP" 2>/dev/null | grep -q "CM: $1"; }
# RoCEv2 has no UDP checksum, over IPv6 neither.
well_formed() {
	tshark -o udp.ignore_ipv6_zero_checksum:TRUE -r "$PCAP" -V 2>/dev/null >"$WORK/decoded"
	! grep -iE 'malformed|expert info.*(error|malformed)' "$WORK/decoded"
}
# The addresses of the IP addressing annex are those of the packet.
annex() {
	grep -q "IP CM Source IP: $(ip4 2)" "$WORK/decoded" &&
		grep -q "IP CM Destination IP: $(ip4 1)" "$WORK/decoded"
}

through_loss() {
	set_loss 7
	cm_pair rping -s -a "$(ip4 1)" -C 20 -V -- rping -c -a "$(ip4 1)" -C 20 -V
}

ktap_plan 13
check "connections made, resolved, refused" capture_whole traffic
for m in ConnectRequest ConnectReply ReadyToUse DisconnectRequest DisconnectReply ConnectReject \
	ServiceIDResReq ServiceIDResReqResp; do
	check "tshark sees $m" has $m
done
check "no malformed field" well_formed
check "annex A11" annex
check "with one frame of 7 lost" through_loss
check "frames were lost" test "$(frames_lost)" -gt 0
ktap_done
