#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The pin tree lies where every user may make names: what others own or can
# write is refused, nobody else can lock it, and a start that fails leaves
# nothing behind; nor does a good end, but for the tunables.
. "$(dirname "$0")/lib.sh"

AS_USER="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"
PINS=$(pins 1)
BASE="$WORK/bin"	# the build may lie where only its owner can read

rxed_once() { timeout 20 "$BUILD/rxed" --rundir "$(rundir 1)" "$@"; }
user_rxed() { timeout 20 $AS_USER "$BASE/rxed" --rundir "$WORK/public/$ID-1"; }
no_tree() { [ ! -e "$PINS" ]; }
no_rundir() { [ ! -e "$(rundir 1)" ]; }
start_and_stop() { start_rxed 1 && stop_rxed 1; }
says() {
	local line=$1
	shift
	[ "$("$@")" = "$line" ]
}
value() { [ "$(h1 "$BUILD/rxe" param get max_qp)" = "$1" ]; }

# A part of the tree given to a user, and given back.
taken() {
	local rc=0
	chown 65534 "$PINS$1" && refuses "$PINS$1.* belongs to user 65534.*rm -r" rxed_once || rc=1
	chown 0 "$PINS$1"
	return $rc
}
open_to_all() {
	local rc=0
	chmod o+w "$PINS$1" && refuses "$PINS$1.*mode .*chmod go-w" rxed_once || rc=1
	chmod o-w "$PINS$1"
	return $rc
}

# locks_all COMMAND...: while a user holds every lock that it can get in the tree.
locks_all() {
	local rc=0 holder
	$AS_USER "$PYTHON" -c '
import fcntl, os, sys, time
held = []
for d in [sys.argv[1]] + [os.path.join(sys.argv[1], n) for n in os.listdir(sys.argv[1])]:
    try:
        held.append(os.open(d, os.O_RDONLY))
        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass
print(len(held), flush=True)
time.sleep(60)' "$PINS" >"$WORK/holder" &
	holder=$!
	wait_for 5 test -s "$WORK/holder"
	"$@" || rc=$?
	end_process $holder
	return $rc
}

# Late in its start: the path of the socket is too long for its address.
long_rundir() {
	local dir="$WORK/$(printf '%0100d' 0)"
	mkdir "$dir" && refuses 'choose a --rundir of at most' timeout 20 "$BUILD/rxed" --rundir "$dir/$ID-1" &&
		[ -z "$(ls "$dir")" ] && no_tree
}

# What is in the way of its socket it finds last.
late_end() {
	local dir="$WORK/late/$ID-1"
	mkdir -p "$dir/rxed.sock/x" &&
		refuses 'listening on' timeout 20 "$BUILD/rxed" --rundir "$dir" &&
		[ "$(ls -A "$dir")" = rxed.sock ] && no_tree
}

dotted() {
	local dir="$WORK/$ID-1.a.b" rc=0 pid
	timeout 30 "$BUILD/rxed" --rundir "$dir" 2>"$WORK/rxed-dots.log" &
	pid=$!
	wait_for 10 "$BUILD/rxe" stat --rundir "$dir" || rc=1
	"$BUILD/rxe" param --rundir "$dir" set max_qp 7 &&
		[ "$("$BUILD/rxe" param --rundir "$dir" get max_qp)" = 7 ] &&
		[ -e "$PINS%2ea%2eb/parameters/max_qp" ] || rc=1
	end_process $pid
	return $rc
}

in_netns_exec() { ip netns exec "$(ns 1)" "$@"; }
does_not_advise_mount() { ! in_netns_exec "$@" 2>&1 | grep 'mount -t'; }

setup_needs
need setpriv
add_netns "$(ns 1)"
mkdir -m 755 "$BASE"
mkdir -m 777 "$WORK/public"
chmod 755 "$WORK"
cp "$BUILD/rxed" "$BUILD/rxe" "$BUILD"/*.bpf.o "$BASE/"
chmod -R a+rX "$BASE"
ktap_plan 33

check "a user made it first" $AS_USER mkdir -m 777 -p "$PINS/parameters"
check "rxed refuses it and says what to do" \
	refuses "$PINS: it belongs to user 65534.*rm -r $PINS" rxed_once
check "and leaves it as it was" eval "[ \"\$(ls '$PINS')\" = parameters ]"
check "and no run directory" no_rundir
rm -rf "$PINS"
check "an ordinary user's rxed is refused" refuses 'root|CAP_BPF' user_rxed
check "in one line" eval '[ $(user_rxed 2>&1 | wc -l) = 1 ]'
check "which comes from rxed, not from libbpf" eval '! user_rxed 2>&1 | grep -v "^rxed "'
check "no pins are left" no_tree
check "no run directory is left" eval "[ -z \"\$(ls '$WORK/public')\" ]"
check "a run directory of a long name" long_rundir
check "an end late in the start leaves nothing" late_end
check "an unknown namespace leaves no run directory" \
	eval "refuses '$ID-none' rxed_once --netns '$ID-none' && no_rundir && no_tree"

check "started and stopped" start_and_stop
check "it leaves the tunables" test -e "$PINS/parameters/max_qp"
check "but no socket and no tree" eval "[ -z \"\$(ls -A '$(rundir 1)')\" ]"
check "users may read the tree" $AS_USER ls "$PINS/parameters/"
check "and not the lock" refuses ermission $AS_USER ls "$PINS/lock"
check "a limit is set; set says when it counts" says 'max_qp = 77, for devices created from now on' \
	h1 "$BUILD/rxe" param set max_qp 77
check "another parameter too" says 'max_skb_per_qp = 32, at once, for every device' \
	h1 "$BUILD/rxe" param set max_skb_per_qp 32
for part in "" /parameters /parameters/max_qp; do
	check "of a user: PINS$part" taken "$part"
	check "writable for users: PINS$part" open_to_all "$part"
done
check "a failed start leaves what was there" value 77
check "users' locks do not keep rxed from starting" locks_all start_and_stop
check "a second rxed is refused, with the pid of the first" eval "
	start_rxed 1 && mkdir -p '$WORK/2' &&
	refuses \"live rxed \(pid \${RXED_PID[1]}\)\" timeout 20 '$BUILD/rxed' --rundir '$WORK/2/$ID-1'"
check "which goes on" listening 1
stop_rxed 1
check "dots in the run directory's name" dotted
check "rxe param in ip netns exec names the trap" \
	refuses "ip netns exec.*nsenter --net=/run/netns/$(ns 1)" \
	in_netns_exec "$BUILD/rxe" param get max_qp
check "rxed too" refuses "ip netns exec.*rxed --netns $(ns 1)" in_netns_exec "$BUILD/rxed" \
	--rundir "$(rundir 1)"
check "neither says to mount one there" eval "
	does_not_advise_mount '$BUILD/rxe' param get max_qp &&
	does_not_advise_mount '$BUILD/rxed' --rundir '$(rundir 1)'"
ktap_done
