# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Host 1 runs rxed, as in every selftest; host 2 is the kernel's own rdma_rxe in a
# virtual machine (peervm/), on the same bridge. Sourced; no test of its own.

. "$SELFTESTS/cm_lib.sh"

PEERVM=$SELFTESTS/peervm/peervm
export PEERVM_WORK=${PEERVM_WORK:-$BUILD/peervm}
PEER=		# the name of the machine that runs
PEER_DEV=rxe0

# peer COMMAND: shell in the machine, with its output and exit status.
peer() { "$PEERVM" exec --name "$PEER" -t "$TEST_TIMEOUT" "$1"; }

peer_exit() {
	local rc=$?
	trap - EXIT
	trap '' INT TERM HUP
	[ -z "$PEER" ] || "$PEERVM" stop --name "$PEER" >/dev/null 2>&1
	(exit $rc)
	hosts_exit
}

# Its packages, and its kernel, the first time. peervm says 77 when one cannot be had.
peer_images() {
	[ -e "$PEERVM_WORK/images" ] && return
	mkdir -p "$PEERVM_WORK"
	(
		flock 9
		[ -e "$PEERVM_WORK/images" ] && exit
		"$PEERVM" deps && "$PEERVM" build && : >"$PEERVM_WORK/images"
	) 9>"$PEERVM_WORK/lock" >"$WORK/peervm.log" 2>&1 && return
	tail -n 5 "$WORK/peervm.log" | diag
	skip_all "no machine with the kernel's rdma_rxe (selftests/peervm/peervm build)"
}

# host_and_peer: ready for traffic.
host_and_peer() {
	setup_needs
	need rdma tc bpftool flock
	peer_images
	bridge_netns
	bridged_host 1
	set_loss 0
	trap peer_exit EXIT
	PEER=$ID
	"$PEERVM" start --name "$PEER" --ip "$(ip4 2)/24" --ip6 "$(ip6 2)/64" --tap p2 --netns "$(ns m)" \
		--bridge br0 --mtu "$MTU" >"$WORK/peervm.log" 2>&1 || {
		diag <"$WORK/peervm.log"
		hosts_failed "the machine does not start"
	}
	hosts_up 1
	wait_for 10 peer_gid 4 && wait_for 10 peer_gid 6 || hosts_failed "the peer lacks its GIDs"
	wait_for 10 own_gid 6 || hosts_failed "host 1 lacks its IPv6 GID"
}

# ---- addresses; FAMILY is 4 or 6 ------------------------------------------------------

addr() { "ip$1" "$2"; }		# FAMILY HOST
own_gid() { if [ "$1" = 4 ]; then gid_index 1; else gid_index_of 1 fd77; fi; }
peer_gid() {
	local of=fd77:
	[ "$1" = 6 ] || of=0000:ffff:
	peer "cd /sys/class/infiniband/$PEER_DEV/ports/1/gids; for i in *; do
		grep -q $of \$i 2>/dev/null && echo \$i && exit 0; done; exit 1"
}

# ---- servers of the peer ---------------------------------------------------------------

# peer_serves READY COMMAND: starts COMMAND in the peer as JOB, until the command READY
# succeeds there.
peer_serves() {
	JOB=$("$PEERVM" exec --name "$PEER" -d -t "$TEST_TIMEOUT" "$2") || return 1
	wait_for 20 peer "$1" && return
	echo "the peer's server is not ready:"
	"$PEERVM" kill --name "$PEER" "$JOB"
	"$PEERVM" job --name "$PEER" "$JOB" -w 5
	return 1
}
tcp_ready() { echo "ss -Hltn 'sport = :$1' | grep -q ."; }
cm_ready() { echo "rdma res show cm_id | grep -q LISTEN"; }

# The server's end, by itself when the client succeeded (0): what it says when it failed.
peer_ends() { # CLIENT_STATUS
	local rc=0
	[ "$1" = 0 ] || "$PEERVM" kill --name "$PEER" "$JOB"
	"$PEERVM" job --name "$PEER" "$JOB" -w 30 >"$WORK/peer.out" 2>&1 || rc=$?
	[ "$1" = 0 ] && [ $rc = 0 ] && return
	[ $rc != 125 ] || "$PEERVM" kill --name "$PEER" "$JOB"
	echo "exit status: client $1, the peer's server $rc; it said:"
	cat "$WORK/peer.out"
	return 1
}
# The same of a server of host 1, SERVER_PID.
own_ends() { # CLIENT_STATUS
	local rc=0
	[ "$1" = 0 ] && wait_for 30 gone "$SERVER_PID" || end_process "$SERVER_PID"
	wait "$SERVER_PID" || rc=$?
	[ "$1" = 0 ] && [ $rc = 0 ] && return
	echo "exit status: the peer's client $1, server $rc; it said:"
	cat "$WORK/server.out"
	return 1
}

# ---- programs that find each other by TCP, over IPv4 -----------------------------------

# to_peer FAMILY GID_OPTION PROGRAM ARGS...: the client here, the server there.
to_peer() {
	local f=$1 gid=$2 prog=$3 rc=0
	shift 3
	peer_serves "$(tcp_ready $PINGPONG_PORT)" "$prog -d $PEER_DEV $gid $(peer_gid "$f") $*" || return 1
	verbs 1 timeout "$TEST_TIMEOUT" "$prog" -d $DEV "$gid" "$(own_gid "$f")" "$@" "$(ip4 2)" || rc=$?
	peer_ends $rc
}
from_peer() {
	local f=$1 gid=$2 prog=$3 rc=0
	shift 3
	serve 1 $PINGPONG_PORT "$prog" -d $DEV "$gid" "$(own_gid "$f")" "$@" || {
		cat "$WORK/server.out"
		return 1
	}
	peer "$prog -d $PEER_DEV $gid $(peer_gid "$f") $* $(ip4 1)" || rc=$?
	own_ends $rc
}
