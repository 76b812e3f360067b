# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the scripts about the connection manager share, on top of lib.sh.
# Sourced; no test of its own.

# ---- programs of rdma_cm ------------------------------------------------------------

# A listener of rdma_cm is no TCP socket: it shows among the device's ids.
cm_ids() { rdma "$1" res show | sed -nE 's/.* cm_id ([0-9]+).*/\1/p'; }
cm_listens_or_gone() { gone "$SERVER_PID" || [ "$(cm_ids "$1")" -gt "$2" ]; }

# cm_serve N COMMAND...: starts a server bound to an address of host N as SERVER_PID.
cm_serve() {
	local n=$1 before
	shift
	before=$(cm_ids "$n")
	start_verbs "$n" timeout "$TEST_TIMEOUT" "$@" >"$WORK/server.out" 2>&1
	SERVER_PID=$STARTED
	wait_for 10 cm_listens_or_gone "$n" "$before"
	! gone "$SERVER_PID"
}

# cm_pair SERVER-COMMAND... -- CLIENT-COMMAND...: hosts 1 and 2; both must exit 0.
cm_pair() {
	local client=0 server=0 cmd=()
	while [ "$1" != -- ]; do
		cmd+=("$1")
		shift
	done
	shift
	cm_serve 1 "${cmd[@]}" || { cat "$WORK/server.out"; return 1; }
	verbs 2 timeout "$TEST_TIMEOUT" "$@" || client=$?
	[ $client = 0 ] || end_process "$SERVER_PID"
	wait "$SERVER_PID" || server=$?
	[ $client = 0 ] && [ $server = 0 ] && return 0
	echo "exit status: client $client, server $server; the server said:"
	tail -n 20 "$WORK/server.out"
	return 1
}

# cm_client_only: the same with a server that runs until it is ended.
cm_client_only() {
	local client=0 cmd=()
	while [ "$1" != -- ]; do
		cmd+=("$1")
		shift
	done
	shift
	cm_serve 1 "${cmd[@]}" || { cat "$WORK/server.out"; return 1; }
	verbs 2 timeout "$TEST_TIMEOUT" "$@" || client=$?
	end_process "$SERVER_PID"
	[ $client = 0 ] || { echo "client $client"; tail -n 20 "$WORK/server.out"; }
	return $client
}

# nothing_left N: no id, QP, CQ, MR or PD of anybody in host N, but those of QP1.
nothing_left() { rdma "$1" res show | grep -q "pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0"; }
