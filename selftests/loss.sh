#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every 50th RoCEv2 frame is lost on the wire between the hosts: RC still
# delivers every message once, in order and intact.
. "$(dirname "$0")/lib.sh"

# lossy PROGRAM ARGS...: pingpong. A client that has everything leaves; when the
# ACK of the server's last SEND was lost, nobody is there to acknowledge it again
# and the server ends with exhausted retries: no fault, but the contents, which
# the server checks last, are unproven, so the run is done again.
lossy() {
	local i
	for i in 1 2 3; do
		pingpong "$@" >"$WORK/lossy.out" 2>&1 && return 0
		grep -q 'client 0, server 1' "$WORK/lossy.out" &&
			grep -q 'retry counter exceeded (12) for wr_id 2' "$WORK/lossy.out" || break
	done
	cat "$WORK/lossy.out"
	return 1
}

lost_some() { [ "$(frames_lost)" -gt "$lost_before" ]; }

need ib_write_bw ib_read_bw ib_atomic_bw
two_hosts_lossy 50
ktap_plan 10
lost_before=$(frames_lost)
check "SEND 33 bytes" lossy ibv_rc_pingpong -c -s 33 -n 1000
check "SEND 4096 bytes" lossy ibv_rc_pingpong -c -s 4096 -n 1000
check "SEND 1 MiB, path MTU 1024" lossy ibv_rc_pingpong -c -s 1048576 -n 20 -m 1024
check "SEND 64 KiB, events" lossy ibv_rc_pingpong -c -e -s 65536 -n 100 -m 4096
check "WRITE" perftest ib_write_bw -n 200
check "READ" perftest ib_read_bw -n 200
check "atomics" perftest ib_atomic_bw -n 200
check "frames were lost" lost_some
check "and the requesters noticed" \
	test $(($(counter 1 completer_retry_err) + $(counter 2 completer_retry_err) +
		$(counter 1 rcvd_seq_err) + $(counter 2 rcvd_seq_err))) -gt 0
set_loss 0
check "no loss, no trouble left" pingpong ibv_rc_pingpong -c -s 4096 -n 1000
ktap_done
