#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An ordinary user runs verbs programs, and can neither make nor delete
# devices, nor change tunables, nor speak on QP1 (Q_Keys with the top bit set).
. "$(dirname "$0")/lib.sh"

# The build may lie where only its owner can read.
public_build() {
	mkdir -p "$WORK/bin"
	cp "$BUILD/rxe" "$BUILD/librxe_verbs.so" "$WORK/bin/"
	cp "$SELFTESTS"/*.py "$WORK/bin/"
	chmod -R a+rX "$WORK/bin"
	RXE_BINDIR=$WORK/bin
}
AS_USER="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"

# As pingpong, both ends as an ordinary user.
user_pingpong() {
	local prog=$1 client=0 server=0
	shift
	serve 1 $PINGPONG_PORT $AS_USER \
		"$prog" -d $DEV -g "$(gid_index 1)" "$@" || return 1
	host 2 $AS_USER "$RXE_BINDIR/rxe" run -- \
		timeout "$TEST_TIMEOUT" "$prog" -d $DEV -g "$(gid_index 2)" "$@" "$(ip4 1)" || client=$?
	[ $client = 0 ] || end_process "$SERVER_PID"
	wait "$SERVER_PID" || server=$?
	[ $client = 0 ] && [ $server = 0 ]
}
user1() { host 1 $AS_USER -- "$@"; }
doctor_says() { # LINE...: the last lines of rxe doctor
	local text line
	text=$(user1 "$RXE_BINDIR/rxe" doctor) || { echo "$text"; return 1; }
	echo "$text" | tail -n 3
	for line; do
		grep -q "^$line" <<<"$text" || return 1
	done
	! grep -q 'Nothing that is needed is missing' <<<"$text"
}
qkey() { # USER QKEY: makes a UD QP with it
	"$1" "$RXE_BINDIR/rxe" run -- env PYTHONPATH="$WORK/bin" "$PYTHON" -c "
from ud_qp import UdQp
UdQp('$DEV', $2)"
}

setup_needs
need setpriv rdma
veth_pair
hosts_up
public_build
ktap_plan 14
check "ibv_devinfo" user1 "$RXE_BINDIR/rxe" run -- ibv_devinfo -d $DEV
check "RC" user_pingpong ibv_rc_pingpong -c -n 1000
check "RC, events" user_pingpong ibv_rc_pingpong -c -e -n 1000
check "UD" user_pingpong ibv_ud_pingpong -c -s 1024 -n 1000
check "rdma link show" user1 "$RXE_BINDIR/rxe" rdma link show
check "link add: not permitted" refuses 'Operation not permitted' \
	user1 "$RXE_BINDIR/rxe" rdma link add rxe9 type rxe netdev $NETDEV
check "link delete: not permitted" refuses 'Operation not permitted' \
	user1 "$RXE_BINDIR/rxe" rdma link delete $DEV
check "rename: not permitted" refuses 'Operation not permitted' \
	user1 "$RXE_BINDIR/rxe" rdma dev set $DEV name other
check "rxe doctor says what works as this user and what needs root" doctor_says \
	'As this user: programs run under `rxe run`, served by the running rxed' 'Needs root: '
check "tunables: readable" user1 "$RXE_BINDIR/rxe" param get max_qp
check "tunables: not changeable" refuses 'root' user1 "$RXE_BINDIR/rxe" param set max_qp 5
if has_python pyverbs; then
	check "a UD QP with an ordinary Q_Key" qkey user1 0x11111111
	check "QP1's Q_Key: not permitted" refuses 'ermi|EPERM|rrno: 1\b' qkey user1 0x80010000
else
	skip "a UD QP with an ordinary Q_Key" "no pyverbs"
	skip "QP1's Q_Key: not permitted" "no pyverbs"
fi
kill_rxed 1	# its socket stays, which is not a running rxed
check "rxe doctor without rxed" doctor_says \
	'As this user: programs run under `rxe run` once root has started rxed' 'Needs root: '
ktap_done
