# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Two "hosts" on this one, for the demo, the selftests and the benchmarks:
# network namespaces joined by a veth pair, one rxed in each, the device rxe0,
# programs in them. Sourced. The caller may set before:
#
#	HOSTS_PREFIX	of every name made here (default rxe)
#	RXE_BINDIR	where rxed and rxe lie (default ../build)
#	MTU		of the link (default 9000)
#	TEST_TIMEOUT	seconds that one client or server may take
#	RXED		the rxed to run, when it is another than that of RXE_BINDIR
#	RXED_ARGS	more arguments of every rxed
#	KEEP=1		leaves the logs
#
# and may define hosts_failed MESSAGE, which ends the script. Names of
# namespaces, run directories and pins carry a random part, so that several
# users of this file run beside each other and beside a user's rxed.
# Everything is undone when the script ends, by whatever signal or failure.

RXE_BINDIR=${RXE_BINDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build}
RXED=${RXED:-$RXE_BINDIR/rxed}
[ -x "$RXED" ] || RXED=${RXE_BINDIR%/*}/sbin/rxed	# as make install puts it
DEV=rxe0
NETDEV=eth0
MTU=${MTU:-9000}
TEST_TIMEOUT=${TEST_TIMEOUT:-90}
PINGPONG_PORT=18515		# where the pingpong programs and perftest listen (TCP)

command -v hosts_failed >/dev/null || hosts_failed() {
	echo "$*" >&2
	exit 1
}

# ---- waiting --------------------------------------------------------------------

# wait_for SECONDS COMMAND...: until COMMAND succeeds; fails after SECONDS.
wait_for() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# ---- the work directory and what must be undone -------------------------------------

WORK=$(mktemp -d "${TMPDIR:-/tmp}/${HOSTS_PREFIX:-rxe}-XXXXXX")
ID=${HOSTS_PREFIX:-rxe}-${WORK##*-}	# no dot: it becomes a name in bpffs
NETNS=()
RXED_PID=(0 0 0)

ns() { echo "$ID-$1"; }
rundir() { echo "$WORK/$ID-$1"; }
pins() { echo "/sys/fs/bpf/$ID-$1"; }

# Ends a process that this script started, by its pid.
end_process() {
	[ "$1" != 0 ] && kill "$1" 2>/dev/null || return 0
	wait_for 5 gone "$1" || kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

hosts_down() {
	local n pid
	for pid in $(jobs -p); do
		end_process "$pid"
	done
	for n in "${NETNS[@]}"; do
		ip netns del "$n"
	done
	rm -rf "/sys/fs/bpf/$ID-"*
	if [ -n "${KEEP:-}" ]; then
		echo "# logs kept in $WORK"
	else
		rm -rf "$WORK"
	fi
}

hosts_exit() {
	local rc=$?
	trap - EXIT
	trap '' INT TERM HUP	# a second Ctrl-C must not stop the cleaning
	set +e
	hosts_down 2>/dev/null
	exit $rc
}
trap hosts_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- commands in a host -----------------------------------------------------------

# in_ns NAME COMMAND...: keeps the mounts, and so bpffs (ip netns exec would not).
in_ns() {
	local n=$1
	shift
	nsenter --net="/run/netns/$n" -- "$@"
}

# host N COMMAND...: in host N, meaning its rxed.
host() {
	local n=$1
	shift
	RXE_RUNDIR=$(rundir "$n") in_ns "$(ns "$n")" "$@"
}
h1() { host 1 "$@"; }
h2() { host 2 "$@"; }

# verbs N COMMAND...: the same under the preload library.
verbs() {
	local n=$1
	shift
	host "$n" "$RXE_BINDIR/rxe" run -- "$@"
}

# start_verbs N COMMAND...: in the background, as the very process STARTED (every
# program on the way execs the next), so that it can be killed by its pid.
start_verbs() {
	local n=$1
	shift
	(
		export RXE_RUNDIR
		RXE_RUNDIR=$(rundir "$n")
		exec nsenter --net="/run/netns/$(ns "$n")" -- "$RXE_BINDIR/rxe" run -- "$@"
	) &
	STARTED=$!
}

# rdma N ARGS...: the distribution's rdma tool.
rdma() {
	local n=$1
	shift
	host "$n" "$RXE_BINDIR/rxe" rdma "$@"
}

# ---- namespaces and the link ---------------------------------------------------------

ip4() { echo "10.77.0.$1"; }
ip6() { echo "fd77::$1"; }

add_netns() {
	ip netns add "$1" || hosts_failed "cannot add the network namespace $1"
	NETNS+=("$1")
	# Without duplicate address detection addresses are usable at once.
	in_ns "$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
	in_ns "$1" ip link set lo up
}

addresses() {
	in_ns "$(ns "$1")" ip link set $NETDEV mtu "$MTU" up &&
		in_ns "$(ns "$1")" ip addr add "$(ip4 "$1")/24" dev $NETDEV &&
		in_ns "$(ns "$1")" ip addr add "$(ip6 "$1")/64" dev $NETDEV nodad ||
		hosts_failed "cannot give host $1 its addresses"
}

mount_bpffs() {
	mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf ||
		hosts_failed "cannot mount bpffs: mount -t bpf bpf /sys/fs/bpf"
}

# Both namespaces and the link between them, without daemons.
veth_pair() {
	add_netns "$(ns 1)"
	add_netns "$(ns 2)"
	ip link add $NETDEV netns "$(ns 1)" type veth peer name $NETDEV netns "$(ns 2)" ||
		hosts_failed "cannot add a veth pair"
	addresses 1
	addresses 2
}

# ---- rxed and its device ----------------------------------------------------------------

# start_rxed N [ARGS...]: in host N; returns when it listens, fails when it does not.
start_rxed() {
	local n=$1 dir
	dir=$(rundir "$n")
	shift
	mkdir -p "$dir"
	chmod 755 "$WORK" "$dir"
	# shellcheck disable=SC2086
	"$RXED" --rundir "$dir" --netns "$(ns "$n")" ${RXED_ARGS:-} "$@" >>"$WORK/rxed-$n.log" 2>&1 &
	RXED_PID[n]=$!
	wait_for 10 listening_or_gone "$n"
	listening "$n"
}
listening() { host "$1" "$RXE_BINDIR/rxe" stat >/dev/null 2>&1; }
listening_or_gone() { gone "${RXED_PID[$1]}" || listening "$1"; }

# stop_rxed N: in good order, as a service manager would.
stop_rxed() {
	end_process "${RXED_PID[$1]}"
	RXED_PID[$1]=0
}

# kill_rxed N: as a crash would.
kill_rxed() {
	kill -9 "${RXED_PID[$1]}" && wait "${RXED_PID[$1]}" 2>/dev/null
	RXED_PID[$1]=0
}

add_link() { rdma "$1" link add $DEV type rxe netdev $NETDEV; }

# The file of a device attribute of host N, as rxed publishes it.
sysfs() { echo "$(rundir "$1")/sys/class/infiniband/$DEV/$2"; }

# gid_index_of N PATTERN: of the GID of host N that PATTERN (an ERE) matches in
# its full form; fails when there is none.
gid_index_of() {
	local f
	for f in "$(sysfs "$1" ports/1/gids)"/*; do
		grep -qE -- "$2" "$f" 2>/dev/null || continue
		echo "${f##*/}"
		return 0
	done
	return 1
}

# gid_index N: of host N's IPv4 address.
gid_index() { gid_index_of "$1" "$(printf 'ffff:%02x%02x:%02x%02x' $(ip4 "$1" | tr . ' '))\$"; }

port_active() { grep -q ACTIVE "$(sysfs "$1" ports/1/state)"; }

device_ready() { port_active "$1" && gid_index "$1"; }

# hosts_up [N...]: a daemon and its device in each namespace, ready for traffic.
hosts_up() {
	local n
	for n in ${*:-1 2}; do
		start_rxed $n || hosts_failed "rxed of host $n does not come up"
		add_link $n || hosts_failed "cannot add $DEV in host $n"
	done
	for n in ${*:-1 2}; do
		wait_for 10 device_ready $n ||
			hosts_failed "$DEV of host $n has no active port, or no GID of $(ip4 $n)"
	done
}

# counter N NAME: sum over all scopes of host N.
counter() {
	host "$1" "$RXE_BINDIR/rxe" stat | awk -v n="$2" '$2 == n { s += $3 } END { printf "%d\n", s }'
}

# ---- client and server programs -------------------------------------------------------

tcp_listens() {
	in_ns "$1" ss -Hltn "sport = :$2" | grep -q .
}
listens_or_gone() { gone "$SERVER_PID" || tcp_listens "$(ns "$1")" "$2"; }

# serve N PORT COMMAND...: starts a server in host N as SERVER_PID; waits for its port.
serve() {
	local n=$1 port=$2
	shift 2
	start_verbs "$n" timeout "$TEST_TIMEOUT" "$@" >"$WORK/server.out" 2>&1
	SERVER_PID=$STARTED
	wait_for 10 listens_or_gone "$n" "$port"
	tcp_listens "$(ns "$n")" "$port"
}

# client_server GID_OPTION COMMAND...: server in host 1, client in host 2; both must exit 0.
client_server() {
	local gid=$1 client=0 server=0
	shift
	if ! serve 1 $PINGPONG_PORT "$@" "$gid" "$(gid_index 1)"; then
		echo "the server does not listen:"
		cat "$WORK/server.out"
		end_process "$SERVER_PID"
		return 1
	fi
	verbs 2 timeout "$TEST_TIMEOUT" "$@" "$gid" "$(gid_index 2)" "$(ip4 1)" || client=$?
	# A server whose client failed may wait for ever.
	[ $client = 0 ] || end_process "$SERVER_PID"
	wait "$SERVER_PID" || server=$?
	[ $client = 0 ] && [ $server = 0 ] && return 0
	echo "exit status: client $client, server $server; the server said:"
	cat "$WORK/server.out"
	return 1
}

# pingpong PROGRAM ARGS...: ibv_*_pingpong between the hosts, on $DEV, IPv4 GIDs.
pingpong() {
	local prog=$1
	shift
	client_server -g "$prog" -d $DEV "$@"
}

# perftest PROGRAM ARGS...
perftest() {
	local prog=$1
	shift
	client_server -x "$prog" -d $DEV -F "$@"
}
