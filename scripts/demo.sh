#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The demonstration: two hosts on this one, a Soft-RoCE device on each, the
# distribution's own verbs programs between them, and the counters that prove
# the way the packets took. Needs root; leaves nothing behind.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
HOSTS_PREFIX=rxedemo

say() { printf '\n== %s\n' "$*"; }

# Shows a command as one would type it, then runs it.
show() {
	local n=$1
	shift
	printf 'host%s# %s\n' "$n" "$*"
}

hosts_failed() {
	local f
	echo "demo: $*" >&2
	for f in "$WORK"/rxed-*.log; do
		[ ! -e "$f" ] || { echo "--- ${f##*/}"; tail -n 20 "$f"; } >&2
	done
	exit 1
}

[ "$(id -u)" = 0 ] || { echo "demo: it makes network namespaces: run it as root" >&2; exit 1; }
. "$here/hosts.sh"
[ -x "$RXED" ] || hosts_failed "there is no rxed in $RXE_BINDIR: run make first"

# pp PROGRAM ARGS...: one pingpong, its client's output shown.
pp() {
	show 1 "rxe run -- $* -d $DEV -g $(gid_index 1)"
	show 2 "rxe run -- $* -d $DEV -g $(gid_index 2) $(ip4 1)"
	pingpong "$@" >"$WORK/pp.out" 2>&1 || { cat "$WORK/pp.out"; hosts_failed "$1 failed"; }
	sed 's/^/       /' "$WORK/pp.out"
}

# counters N NAME...: those lines of `rxe stat` that are not zero.
counters() {
	local n=$1 names
	shift
	names=$(IFS='|'; echo "$*")
	show "$n" "rxe stat"
	host "$n" "$RXE_BINDIR/rxe" stat | grep -E " ($names) " | grep -v ' 0$' | sed 's/^/       /'
}

say "Two network namespaces joined by a veth pair of MTU $MTU, one rxed in each"
mount_bpffs
veth_pair
for n in 1 2; do
	show $n "rxed --rundir $(rundir $n) --netns $(ns $n)"
	show $n "rxe rdma link add $DEV type rxe netdev $NETDEV"
done
hosts_up

say "What the distribution's tools see"
show 1 "rxe rdma link show"
rdma 1 link show | sed 's/^/       /'
show 1 "rxe run -- ibv_devinfo -d $DEV -v | grep ..."
verbs 1 ibv_devinfo -d $DEV -v 2>&1 | grep -E 'hca_id|transport|fw_ver|node_guid|max_qp:|state|active_mtu|link_layer|GID\[' |
	sed 's/^/       /'

say "RC: SEND, 4096 bytes, contents checked"
pp ibv_rc_pingpong -c -s 4096 -n 1000
say "RC: the same, sleeping on completion events"
pp ibv_rc_pingpong -c -e -s 4096 -n 1000
say "UD: SEND with GRH, 1024 bytes"
pp ibv_ud_pingpong -s 1024 -n 1000

say "The way they took: the XDP program checked each ICRC and steered by QPN, rxed sent"
for n in 1 2; do
	counters $n steered drop_icrc drop_no_qp drop_malformed sent_pkts rcvd_pkts 'xsk_[a-z_]*'
done
for n in 1 2; do
	[ "$(counter $n steered)" -gt 0 ] || hosts_failed "no frame of host $n went through XDP"
	[ "$(counter $n drop_icrc)" = 0 ] || hosts_failed "host $n dropped frames for their ICRC"
done
say "All done; removing everything"
