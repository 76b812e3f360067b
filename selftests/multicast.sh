#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Multicast UD between two hosts on a bridge that snoops: IPv4 and IPv6 groups,
# several QPs of several workers, the sender's own, groups joined and left on
# the netdev (PROTOCOL 28).
. "$(dirname "$0")/lib.sh"

GROUP4=239.129.2.3
GROUP6=ff0e::1:2:3
UD_GROUP=$BUILD/selftests/ud_group
COUNT=100

gid6() { gid_index_of "$1" fd77; }

# Receivers of host 1 are in the group: what it printed goes to receivers.out.
# Their QPs are of both workers: a QP goes to worker handle % 2.
start_receivers() { # GROUP GID_INDEX QPS COUNT
	start_verbs 1 timeout 60 "$UD_GROUP" recv $DEV "$2" "$1" "$4" "$3" >"$WORK/receivers.out" 2>&1
	RECEIVERS=$STARTED
	wait_for 10 ready_or_gone receivers.out "$RECEIVERS"
	grep -q ready "$WORK/receivers.out" || { cat "$WORK/receivers.out"; return 1; }
}
ready_or_gone() { grep -q ready "$WORK/$1" || gone "$2"; }
receivers_done() {
	wait "$RECEIVERS" && return 0
	cat "$WORK/receivers.out"
	return 1
}
send() { # GROUP GID_INDEX [member|blocked]
	verbs 2 timeout 60 "$UD_GROUP" send $DEV "$2" "$1" $COUNT ${3:-}
}

# QPs of host 1 get all, and the sender as ROLE says.
deliver() { # GROUP GID_FUNCTION QPS [ROLE]
	start_receivers "$1" "$($2 1)" "$3" $COUNT || return 1
	wait_for 5 snooped "$1" || { echo "the bridge did not hear of $1"; return 1; }
	send "$1" "$($2 2)" ${4:-} || return 1
	receivers_done
}

bridge_mdb() { in_ns "$(ns m)" bridge mdb show dev br0; }
snooped() { bridge_mdb | grep 'port p1' | grep -qw "$1"; }
not_snooped() { ! snooped "$1"; }
member() { h1 ip maddr show dev $NETDEV | grep -qw "$1"; }
not_member() { ! member "$1"; }
link_member() { h1 ip maddr show dev $NETDEV | grep -qiw "link  *$1"; }
left() { [ "$(counter 1 mcast_groups)$(counter 1 mcast_attached)" = 00 ] && not_member "$1"; }

# Frames to a group that host 1 is not in are not for it.
outsider() {
	local before after
	before=$(counter 1 rcvd_pkts)
	send $GROUP4 "$(gid_index 2)" || return 1
	after=$(counter 1 rcvd_pkts)
	echo "received $before, then $after"
	[ "$before" = "$after" ]
}

hold() { # GROUP: a member that does nothing
	start_verbs 1 timeout 60 "$UD_GROUP" hold $DEV "$1" >"$WORK/hold.out" 2>&1
	HOLDER=$STARTED
	wait_for 10 ready_or_gone hold.out "$HOLDER"
	grep -q ready "$WORK/hold.out" && member "$1"
}
kill_holder() {
	kill -9 "$(pgrep -P "$HOLDER" -f ud_group || echo "$HOLDER")"
	kill -9 "$HOLDER" 2>/dev/null
	wait "$HOLDER" 2>/dev/null
	return 0
}
killed() {
	hold "$1" && kill_holder && wait_for 5 left "$1"
}

# The groups survive the link: the bridge forgets them and hears of them again.
flap() {
	start_receivers "$1" "$($2 1)" 2 $COUNT || return 1
	wait_for 5 snooped "$1" || return 1
	h1 ip link set $NETDEV down && wait_for 5 not_snooped "$1" || return 1
	h1 ip link set $NETDEV up && wait_for 10 port_active 1 && wait_for 10 snooped "$1" || return 1
	wait_for 5 "$2" 1
	send "$1" "$($2 2)" && receivers_done
}
limits() { verbs 1 timeout 100 "$UD_GROUP" limits $DEV $GROUP4 && wait_for 5 left $GROUP4; }

setup_needs
need bridge pgrep
[ -e "$UD_GROUP" ] || make -s -C "$SELFTESTS" B="$BUILD" >/dev/null || skip_all "cannot build $UD_GROUP"
lossy_bridge
set_loss 0
for n in 1 2; do
	start_rxed $n --workers 2 || hosts_failed "rxed of host $n does not come up"
	add_link $n || hosts_failed "cannot add $DEV in host $n"
done
for n in 1 2; do
	wait_for 10 device_ready $n || hosts_failed "$DEV of host $n has no active port"
done
# Only a bridge with a querier holds frames back from ports that did not join.
in_ns "$(ns m)" ip addr add 10.77.0.9/24 dev br0
in_ns "$(ns m)" ip link set br0 type bridge mcast_snooping 1 mcast_querier 1 \
	mcast_startup_query_interval 100 2>/dev/null ||
	skip_all "this kernel's bridge does not snoop"

ktap_plan 15
check "errors of attach, detach and destroy" verbs 1 timeout 30 "$UD_GROUP" errors $DEV $GROUP4
check "the same, IPv6" verbs 1 timeout 30 "$UD_GROUP" errors $DEV $GROUP6
check "IPv4: three receivers" deliver $GROUP4 gid_index 3
check "IPv6: three receivers" deliver $GROUP6 gid6 3
check "IPv4: the sender is a member and hears itself" deliver $GROUP4 gid_index 1 member
check "IPv6: the sender is a member and hears itself" deliver $GROUP6 gid6 1 member
check "IPv4: the sender blocked its own" deliver $GROUP4 gid_index 2 blocked
check "IPv6: the sender blocked its own" deliver $GROUP6 gid6 2 blocked
check "groups are left" wait_for 5 left $GROUP4
check "a group that nobody is in reaches nobody" outsider
check "a member that is killed leaves, IPv4" killed $GROUP4
check "a member that is killed leaves, IPv6" killed $GROUP6
check "the link goes down and up, IPv4" flap $GROUP4 gid_index
check "the link goes down and up, IPv6" flap $GROUP6 gid6
check "limits are as reported" limits
ktap_done
