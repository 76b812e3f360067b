# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the selftests of faulty clients share, on top of lib.sh: what rxed holds
# for its clients, before and after, and whether it rests. Sourced; no test of
# its own.

. "$SELFTESTS/rxed_lib.sh"

FAULT_BIN=$BUILD/selftests

# one_host: host 1 with its device; its programs are their own peers.
one_host() {
	setup_needs
	need rdma
	make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null ||
		skip_all "cannot build the clients (libibverbs-dev, librdmacm-dev)"
	veth_pair
	start_rxed 1 --workers 2 && add_link 1 && wait_for 10 device_ready 1 ||
		hosts_failed "no device in host 1"
	GID=$(gid_index 1)
	measure_held
}

# client NAME PROGRAM ARGS...: starts it in the background, PID_NAME; output in NAME.out.
client() {
	local name=$1 prog=$2
	shift 2
	start_verbs 1 "$FAULT_BIN/$prog" $DEV "$GID" "$@" >"$WORK/$name.out" 2>&1
	eval "PID_$name=$STARTED"
}
says() { grep -q -- "$2" "$WORK/$1.out"; }
# says_within SECONDS NAME PATTERN: fails at once when the program ends without.
says_within() {
	local pid=PID_$2
	wait_for "$1" says_or_ended "$2" "$3" "${!pid}"
	says "$2" "$3" || { cat "$WORK/$2.out"; return 1; }
}
says_or_ended() { says "$1" "$2" || gone "$3"; }

# kill_client NAME: kill -9.
kill_client() {
	local pid=PID_$1
	kill -9 "${!pid}" 2>/dev/null
	wait "${!pid}" 2>/dev/null
	return 0
}

# Objects of the device, and what rxed holds for them: threads, rings.
held() {
	objects_of 1
	rdma 1 res show $DEV | sed 's/^[0-9]*: [^:]*: //'
	threads_and_rings_of 1
}
# Those who asked may still be on their way out.
descriptors_rest() {
	local before
	before=$(descriptors_of 1)
	sleep 0.2
	[ "$(descriptors_of 1)" = "$before" ]
}
measure_held() {
	HELD=$(held)
	wait_for 5 descriptors_rest
	DESCRIPTORS=$(descriptors_of 1)
}
held_as_before() { [ "$(held)" = "$HELD" ]; }
no_more_descriptors() { [ "$(descriptors_of 1)" -le "$DESCRIPTORS" ]; }
# nothing_held SECONDS: within them, as in the beginning.
nothing_held() {
	wait_for "$1" held_as_before && wait_for "$1" no_more_descriptors && return
	echo "before: $HELD, $DESCRIPTORS descriptors"
	echo "after: $(held), $(descriptors_of 1)"
	return 1
}

# idle: rxed rests, within 5 s.
idle() { wait_for 5 rests 1 || { echo "rxed is busy"; return 1; }; }

# rounds: of traffic that an ordinary client has in two seconds.
rounds() {
	verbs 1 timeout 60 "$FAULT_BIN/fault_client" $DEV "$GID" rounds 2 | sed -n 's/^rounds //p'
}
measure_alone() { ALONE=$(rounds); }
# keeps_throughput: a tenth at least of what a client had without the faulty one. Who
# is held up has none; the machine may be busy with other things.
keeps_throughput() {
	local got
	got=$(rounds)
	echo "rounds beside it: $got, alone: $ALONE"
	[ "${got:-0}" -gt 0 ] && [ "$got" -ge $((ALONE / 10)) ]
}

# checks DESCRIPTION COMMAND...: as check, for a COMMAND that may find something
# missing on this machine: it exits 4 then, and a line "no ..." says what.
checks() {
	local desc=$1 rc=0
	shift
	"$@" >"$WORK/check.out" 2>&1 || rc=$?
	case $rc in
	0) pass "$desc" ;;
	4) skip "$desc" "$(grep -h '^no ' "$WORK/check.out" | tail -n 1)" ;;
	*) fail "$desc"; tail -n 40 "$WORK/check.out" | diag ;;
	esac
}

# public_build FILE...: what programs of an ordinary user need, where he can read it.
AS_USER="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all"
public_build() {
	mkdir -p "$WORK/bin"
	cp "$BUILD/rxe" "$BUILD/librxe_verbs.so" "$@" "$WORK/bin/" && chmod -R a+rX "$WORK/bin"
}
