#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Each device's BPF maps are pinned for bpftool while the device is there: what
# they show is what `rxe stat` and `rdma` show, the pins follow the device's
# name, and nothing of a killed daemon's stays after the next start.
. "$(dirname "$0")/lib.sh"

AS_USER="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"
TREE=$(pins 1)/devices
MAPS="addrs config counters qpns tc_config tc_counters"

pinned() { [ "$(ls "$TREE/$1" | xargs)" = "$MAPS" ]; }
nothing_pinned() { [ ! -e "$TREE" ]; }
dump() { bpftool -j map dump pinned "$TREE/$1"; }
map_id() { bpftool -j map show pinned "$TREE/$1" | sed -E 's/^\{"id":([0-9]+).*/\1/'; }

# sums DEV/MAP: the values of a per-CPU array in order, summed over the CPUs.
sums() {
	dump "$1" | "$PYTHON" -c '
import json, sys
for e in json.load(sys.stdin):
    print(sum(v["value"] for v in e["formatted"]["values"]))'
}

# stats DEV PATTERN: the values of rxe stat whose names match, in its order.
stats() {
	h1 "$BUILD/rxe" stat "$1" |
		awk -v s="$1/xdp" -v p="$2" '$1 == s && $2 ~ p { print $3 }'
}

# same DEV MAP PATTERN: read at one time, the pin shows what rxe stat shows.
same() {
	local before now
	before=$(stats "$1" "$3")
	now=$(sums "$1/$2")
	[ "$before" = "$(stats "$1" "$3")" ] || return 1	# a packet came in between
	echo "rxe stat:" $before "pinned:" $now
	[ -n "$now" ] && [ "$now" = "$before" ]
}
shows_stat() { wait_for 5 same "$@"; }
XDP_NAMES='^(steered|pass_.*|drop_.*)$'
TC_NAMES='^tc_'

# first DEV: how many frames were steered, by the pin.
steered() { sums "$1/counters" | head -1; }

# While a program has a QP, the qpns map has it, and nothing when it has gone.
nr_qpns() { dump "$1/qpns" | "$PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)))'; }
no_qpns() { [ "$(nr_qpns "$1")" = 0 ]; }
lists_qps() {
	local rc=0
	no_qpns "$1" && serve 1 $PINGPONG_PORT ibv_rc_pingpong -d "$1" -g "$(gid_index 1)" || return 1
	echo "pinned: $(nr_qpns "$1"), rxe stat: $(counter 1 qps)"
	[ "$(counter 1 qps)" = 1 ] && [ "$(nr_qpns "$1")" = 1 ] || rc=1
	end_process "$SERVER_PID"
	wait_for 5 no_qpns "$1" && return $rc
}

# has DEV/MAP BYTES...: the dump has these bytes, in order.
has() {
	local map=$1
	shift
	dump "$map" | grep -qF "$(printf '"0x%s",' "$@" | sed 's/,$//')"
}
mac_bytes() { h1 ip -br link show $NETDEV | awk '{ gsub(":", " ", $3); print $3 }'; }

rename() { rdma 1 dev set "$1" name "$2"; }
no_leftovers() { start_rxed 1 && nothing_pinned; }

# A part of what a killed rxed left, given to a user: refused, and left alone.
distrusted() {
	local rc=0
	chown 65534 "$TREE$1"
	refuses "$TREE$1.* belongs to user 65534.*rm -r" \
		timeout 20 "$BUILD/rxed" --rundir "$(rundir 1)" || rc=1
	[ -e "$TREE/$DEV/qpns" ] || rc=1
	chown 0 "$TREE$1"
	return $rc
}

two_hosts
need bpftool setpriv
need_python json
ktap_plan 26

check "made by link add" pinned $DEV
check "before traffic" shows_stat $DEV counters "$XDP_NAMES"
before=$(steered $DEV)
check "traffic" pingpong ibv_rc_pingpong -c -n 500
check "the pin counted it" eval "[ \$(steered $DEV) -ge $((before + 500)) ]"
check "counters show what rxe stat shows" shows_stat $DEV counters "$XDP_NAMES"
check "tc_counters show what rxe stat shows" shows_stat $DEV tc_counters "$TC_NAMES"
check "qpns has the QPs that there are" lists_qps $DEV
check "addrs has the IPv4 address" has $DEV/addrs 00 00 00 00 00 00 00 00 00 00 ff ff 0a 4d 00 01
check "config has the MAC" has $DEV/config $(mac_bytes)
check "tc_config too" has $DEV/tc_config $(mac_bytes)
check "users may look at the names" $AS_USER ls "$TREE/$DEV"
check "and not into the maps" refuses ermission $AS_USER cat "$TREE/$DEV/counters"

id=$(map_id $DEV/counters)
check "rename moves them" eval "rename $DEV roce.7 && pinned roce%2e7 && [ ! -e '$TREE/$DEV' ]"
check "they are the same maps" eval "[ \"\$(map_id roce%2e7/counters)\" = $id ]"
check "and back" eval "rename roce.7 $DEV && pinned $DEV && [ ! -e '$TREE/roce%2e7' ]"

check "link delete takes them back" eval "rdma 1 link delete $DEV && nothing_pinned"
check "so does the end of the netdev" eval "
	h1 ip link add veth9 type veth peer name veth8 && h1 ip link set veth9 up &&
	rdma 1 link add rxe9 type rxe netdev veth9 && pinned rxe9 &&
	h1 ip link delete veth9 && wait_for 5 nothing_pinned"
check "so does the end of rxed" eval "add_link 1 && pinned $DEV && stop_rxed 1 && nothing_pinned"
check "the tunables stay" test -e "$(pins 1)/parameters/max_qp"

start_rxed 1 && add_link 1
id=$(map_id $DEV/counters)
kill_rxed 1
check "a killed rxed leaves them" pinned $DEV
for part in "" /$DEV /$DEV/qpns; do
	check "of a user: devices$part" distrusted "$part"
done
check "the next start takes them away" no_leftovers
check "link add makes new ones" eval "
	add_link 1 && pinned $DEV && [ \"\$(map_id $DEV/counters)\" != $id ]"
check "which show what rxe stat shows" eval "
	wait_for 10 device_ready 1 && pingpong ibv_rc_pingpong -c -n 100 &&
	shows_stat $DEV counters '$XDP_NAMES' && [ \$(steered $DEV) -ge 100 ]"
ktap_done
