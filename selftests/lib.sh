# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What every selftest shares: KTAP output, and on top of scripts/hosts.sh the
# two hosts joined by a veth pair or by a lossy bridge. A script sources this,
# plans its tests and runs them:
#
#	. "$(dirname "$0")/lib.sh"
#	two_hosts
#	ktap_plan 2
#	check "SEND of 33 bytes" pingpong ibv_rc_pingpong -c -s 33
#	check "steered by XDP" test "$(counter 2 steered)" -gt 0
#	ktap_done
#
# Exit status: 0 all passed, 1 a test failed, 4 skipped.

SELFTESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${BUILD:-$(dirname "$SELFTESTS")/build}
RXE_BINDIR=$BUILD
HOSTS_PREFIX=rxetest
KSFT_SKIP=4
PYTHON=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1

# ---- KTAP ---------------------------------------------------------------------

ktap_nr=0 ktap_planned=0 ktap_failed=0 ktap_skipped=0

ktap_plan() {
	ktap_planned=$1
	echo "TAP version 13"
	echo "1..$1"
}

diag() { sed 's/^/# /'; }

pass() {
	ktap_nr=$((ktap_nr + 1))
	echo "ok $ktap_nr $*"
}

fail() {
	ktap_nr=$((ktap_nr + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_nr $*"
}

# skip DESCRIPTION REASON
skip() {
	ktap_nr=$((ktap_nr + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_nr $1 # SKIP $2"
}

# skip_all REASON: nothing of this script can run here.
skip_all() {
	[ "$ktap_planned" != 0 ] || printf 'TAP version 13\n1..0 # SKIP %s\n' "$*"
	[ "$ktap_planned" = 0 ] || echo "# SKIP all: $*"
	exit $KSFT_SKIP
}

# A set-up step failed: no test has a meaning any more.
hosts_failed() {
	[ "$ktap_planned" != 0 ] || echo "TAP version 13"
	echo "Bail out! $*"
	show_logs
	exit 1
}

# check DESCRIPTION COMMAND...: passes when COMMAND succeeds, else shows its output.
# KSFT_ONLY, an extended regular expression: others than those are skipped.
check() {
	local desc=$1 rc=0
	shift
	if [ -n "${KSFT_ONLY:-}" ] && ! grep -qE -- "$KSFT_ONLY" <<<"$desc"; then
		skip "$desc" "KSFT_ONLY is $KSFT_ONLY"
		return
	fi
	"$@" >"$WORK/check.out" 2>&1 || rc=$?
	if [ $rc = 0 ]; then
		pass "$desc"
	else
		fail "$desc"
		{ echo "status $rc of: $*"; tail -n 40 "$WORK/check.out"; } | diag
	fi
}

# refuses PATTERN COMMAND...: succeeds when COMMAND fails and says PATTERN (an
# extended regular expression).
refuses() {
	local pattern=$1 out rc=0
	shift
	out=$("$@" 2>&1) || rc=$?
	echo "status $rc: $out"
	[ $rc != 0 ] && grep -qE -- "$pattern" <<<"$out"
}

# ktap_done: prints the totals; ends the script.
ktap_done() {
	while [ $ktap_nr -lt "$ktap_planned" ]; do
		fail "planned, but never ran"
	done
	echo "# Totals: pass:$((ktap_nr - ktap_failed - ktap_skipped)) fail:$ktap_failed" \
		"skip:$ktap_skipped"
	[ $ktap_failed = 0 ] || { show_logs; exit 1; }
	[ $ktap_nr = 0 ] || [ $ktap_skipped != $ktap_nr ] || exit $KSFT_SKIP
	exit 0
}

show_logs() {
	local f
	for f in "$WORK"/rxed-*.log; do
		[ ! -e "$f" ] || { echo "last lines of ${f##*/}:"; tail -n 25 "$f"; } | diag
	done
}

# rxed_said N PATTERN: host N's log has it. wait_for makes a bound of it.
rxed_said() { grep -qE -- "$2" "$WORK/rxed-$1.log"; }

# ---- what a script needs --------------------------------------------------------------

need_root() { [ "$(id -u)" = 0 ] || skip_all "needs root"; }

need() {
	local c
	for c in "$@"; do
		command -v "$c" >/dev/null || skip_all "$c is not installed (scripts/deps.sh check)"
	done
}

# has_python MODULE...: the system's python3 has them (PATH may find another one).
has_python() {
	local m
	for m in "$@"; do
		"$PYTHON" -c "import $m" 2>/dev/null || return 1
	done
}
need_python() {
	has_python "$@" || skip_all "no python3 with $* (scripts/deps.sh check)"
}

need_build() {
	local f
	for f in rxed rxe librxe_verbs.so rxe_xdp.bpf.o; do
		[ -e "$BUILD/$f" ] || skip_all "$BUILD/$f is missing: run make first"
	done
}

. "$SELFTESTS/../scripts/hosts.sh"

setup_needs() {
	need_root
	need ip nsenter ss sysctl ibv_devinfo
	need_build
	mount_bpffs
}

# two_hosts: namespaces, link, daemons, devices; ready for traffic.
two_hosts() {
	setup_needs
	veth_pair
	hosts_up
}

# set_netdev_mtu BYTES IB_MTU: of both hosts; until both ports show IB_MTU.
set_netdev_mtu() {
	h1 ip link set $NETDEV mtu "$1" && h2 ip link set $NETDEV mtu "$1" &&
		wait_for 5 active_mtu 1 "$2" && wait_for 5 active_mtu 2 "$2"
}
active_mtu() { verbs "$1" ibv_devinfo -d $DEV | grep -q "active_mtu:[[:space:]]*$2 "; }

# pingpong_sizes PROGRAM NETDEV_MTU PATH_MTU...: a check, contents compared, for each
# message size and path MTU, then for each size with completion events.
PINGPONG_SIZES="1:10000 33:10000 4096:10000 1048576:100"	# bytes:iterations
pingpong_sizes() {
	local prog=$1 netdev=$2 s m
	shift 2
	for m in "$@"; do
		for s in $PINGPONG_SIZES; do
			check "mtu $netdev size ${s%:*} path mtu $m" \
				pingpong "$prog" -c -m "$m" -s "${s%:*}" -n "${s#*:}"
		done
	done
	for s in $PINGPONG_SIZES; do
		check "mtu $netdev size ${s%:*} events" \
			pingpong "$prog" -c -e -s "${s%:*}" -n "${s#*:}"
	done
}

# ---- tunables, by plain bpftool -------------------------------------------------------

# The four bytes of a number, as bpftool wants a value.
le32() { echo $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }

# set_param NAME VALUE [HOST]: in both hosts unless one is named.
set_param() {
	local n
	for n in ${3:-1 2}; do
		bpftool map update pinned "$(pins "$n")/parameters/$1" \
			key 0 0 0 0 value $(le32 "$2") || return 1
	done
}

default_param() { h1 "$BUILD/rxe" param -j get "$1" | sed -E 's/.*"default":([0-9]+).*/\1/'; }
reset_param() { set_param "$1" "$(default_param "$1")"; }

# ---- loss -------------------------------------------------------------------------

# A bridge in a third namespace; a BPF program on its ports drops every N-th
# RoCEv2 frame (AF_XDP transmit does not pass the sender's own TC egress).
bridge_netns() {
	local m obj="$BUILD/selftests/drop_nth.bpf.o"
	m=$(ns m)
	[ -e "$obj" ] || make -s -C "$SELFTESTS" B="$BUILD" || skip_all "cannot build $obj"
	need bpftool tc
	add_netns "$m"
	in_ns "$m" ip link add br0 mtu "$MTU" type bridge
	in_ns "$m" ip link set br0 up
	bpftool prog load "$obj" "/sys/fs/bpf/$ID-loss" type classifier \
		pinmaps "/sys/fs/bpf/$ID-lossmaps" || hosts_failed "cannot load $obj"
}
# bridged_host N: its namespace and link, without a daemon.
bridged_host() {
	local m n=$1
	m=$(ns m)
	add_netns "$(ns $n)"
	ip link add p$n netns "$m" type veth peer name $NETDEV netns "$(ns $n)" ||
		hosts_failed "cannot add a veth pair"
	in_ns "$m" ip link set p$n mtu "$MTU" master br0 up
	in_ns "$m" tc qdisc add dev p$n clsact
	in_ns "$m" tc filter add dev p$n ingress bpf da object-pinned "/sys/fs/bpf/$ID-loss" ||
		hosts_failed "cannot attach the loss program"
	addresses $n
}
lossy_bridge() {
	bridge_netns
	bridged_host 1
	bridged_host 2
}

# set_loss N [one_in]: from now on every N-th frame is lost, or one of N by chance;
# 0: none.
set_loss() {
	bpftool map update pinned "/sys/fs/bpf/$ID-lossmaps/${2:-every_nth}" \
		key 0 0 0 0 value $(le32 "$1")
}

# Frames lost on the bridge so far.
frames_lost() {
	bpftool -j map dump pinned "/sys/fs/bpf/$ID-lossmaps/lost" |
		sed -n 's/.*"formatted":{[^}]*"value":\([0-9]*\).*/\1/p'
}

# two_hosts_lossy N: N 0 makes a bridge without loss, to look at the wire.
two_hosts_lossy() {
	setup_needs
	lossy_bridge
	hosts_up
	set_loss "$1"
}

# capture FILE COMMAND...: what passes host 1's bridge port while COMMAND runs.
capture() {
	local file=$1 rc=0 dump
	shift
	: >"$WORK/tcpdump.log"
	nsenter --net="/run/netns/$(ns m)" -- tcpdump -i p1 --immediate-mode -U -s 128 -B 16384 -w "$file" \
		udp port 4791 2>"$WORK/tcpdump.log" &
	dump=$!
	wait_for 5 grep -q 'listening on' "$WORK/tcpdump.log"
	"$@" || rc=$?
	wait_for 10 settled "$file"	# it drops what it has not read when it ends
	end_process $dump
	return $rc
}
settled() {
	local before
	before=$(stat -c %s "$1")
	sleep 0.3
	[ "$(stat -c %s "$1")" = "$before" ]
}
