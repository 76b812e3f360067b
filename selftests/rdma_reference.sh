#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The rdma tool prints here what it prints on the kernel's rdma_rxe: plain, -d,
# -j, -p; a device without users and one in use; what administration answers.
# The measure is Linux 7.3's output, and 6.1's where 7.3 adds nothing.
. "$(dirname "$0")/lib.sh"

REF=$SELFTESTS/reference
MTU=1500	# as there

# The commands of a recorded session mean host 1's rxed.
shims() {
	local c
	mkdir "$WORK/bin"
	printf '#!/bin/sh\nPATH=${PATH#*:} exec "%s/rxe" rdma "$@"\n' "$BUILD" >"$WORK/bin/rdma"
	for c in ibv_devinfo cat ls; do
		printf '#!/bin/sh\nPATH=${PATH#*:} exec "%s/rxe" run -- %s "$@"\n' "$BUILD" $c \
			>"$WORK/bin/$c"
	done
	chmod +x "$WORK"/bin/*
}

# compared FILE ARGS...: this host against a recorded session.
compared() {
	local file=$1
	shift
	PATH=$WORK/bin:$PATH h1 "$PYTHON" "$SELFTESTS/rdma_reference.py" "$REF/$file" "$@"
}

resources() { rdma 1 res show | sed 's/^[^:]*: [^:]*: //'; }
in_use() { [ "$(resources)" = "pd 7 cq 6 qp 6 cm_id 2 mr 7 ctx 5 srq 1 comp_cntr 0 " ]; }
idle() { [ "$(resources)" = "pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0 comp_cntr 0 " ]; }
rts() { [ "$(rdma 1 res show qp | grep -c 'type RC state RTS')" = "$1" ]; }
has_ud() { rdma 1 res show qp | grep -q 'type UD'; }
listens() { rdma "$1" res show cm_id | grep -q 'state LISTEN'; }
tcp_listens() { host 2 ss -Hltn "sport = :$PINGPONG_PORT" | grep -q .; }

# The programs of the recorded session, in its order.
use() {
	start_verbs 2 rping -s -a "$(ip4 2)" -P >/dev/null 2>&1
	SERVERS=$STARTED
	wait_for 5 listens 2 || return 1
	start_verbs 1 rping -c -a "$(ip4 2)" -C 100000000 >/dev/null 2>&1
	PROGRAMS=$STARTED
	wait_for 10 rts 1 || return 1
	start_verbs 2 ib_send_bw -d $DEV -x 1 -s 4096 -D 600 -F -p $PINGPONG_PORT >/dev/null 2>&1
	SERVERS="$SERVERS $STARTED"
	wait_for 5 tcp_listens || return 1
	start_verbs 1 ib_send_bw -d $DEV -x 1 -s 4096 -D 600 -F -p $PINGPONG_PORT "$(ip4 2)" \
		>/dev/null 2>&1
	PROGRAMS="$PROGRAMS $STARTED"
	wait_for 10 rts 2 || return 1
	start_verbs 1 ibv_ud_pingpong -d $DEV -g 1 -n 10 >/dev/null 2>&1
	PROGRAMS="$PROGRAMS $STARTED"
	wait_for 10 has_ud || return 1 # the SRQ's QPs have adjacent numbers then
	start_verbs 1 ibv_srq_pingpong -d $DEV -g 1 -q 2 -p 18777 >/dev/null 2>&1
	PROGRAMS="$PROGRAMS $STARTED"
	start_verbs 1 rping -s -a "$(ip4 1)" -p 7999 >/dev/null 2>&1
	PROGRAMS="$PROGRAMS $STARTED"
	wait_for 10 in_use || { rdma 1 res show; return 1; }
}

stop_programs() {
	local p
	for p in $PROGRAMS $SERVERS; do
		end_process "$p"
	done
}

two_hosts
need rdma rping ib_send_bw ibv_srq_pingpong
need_python json
shims
ktap_plan 11

check "idle, as 7.3 to the number" compared linux-7.3/rdma-idle.txt --exact
check "idle, as 6.1 but for what 7.3 adds" compared linux-6.1/rdma-idle.txt --exact \
	--skip 'res show$|statistic show|system show$'
check "administration" compared linux-7.3/rdma-cmds.txt --keep '^rdma '
check "the port follows the netdev" compared linux-7.3/rdma-cmds.txt --keep '^ip link'
check "the programs of the recorded session" use
check "in use, as 7.3" compared linux-7.3/rdma-inuse.txt
check "in use, as 6.1 but for what 7.3 adds" compared linux-6.1/rdma-inuse.txt \
	--skip 'res show$|statistic show'
check "rkeys for root: -dd" eval "rdma 1 -dd res show mr | grep -qE 'rkey 0x[0-9a-f]+ lkey 0x[0-9a-f]+ mrlen'"
check "counters move" eval "rdma 1 -j statistic | grep -qE '\"rcvd_pkts\":[1-9]'"
stop_programs
check "nothing is left of them" wait_for 10 idle
check "afterwards" compared linux-7.3/rdma-after.txt --keep '^rdma res show|^rdma link (del|add)'
ktap_done
