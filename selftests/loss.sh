#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every 50th RoCEv2 frame is lost on the wire between the hosts: RC still
# delivers every message once, in order and intact.
. "$(dirname "$0")/lib.sh"

lost_some() { [ "$(frames_lost)" -gt "$lost_before" ]; }

need ib_write_bw ib_read_bw ib_atomic_bw
two_hosts_lossy 50
ktap_plan 10
lost_before=$(frames_lost)
check "SEND 33 bytes" pingpong ibv_rc_pingpong -c -s 33 -n 1000
check "SEND 4096 bytes" pingpong ibv_rc_pingpong -c -s 4096 -n 1000
check "SEND 1 MiB, path MTU 1024" pingpong ibv_rc_pingpong -c -s 1048576 -n 20 -m 1024
check "SEND 64 KiB, events" pingpong ibv_rc_pingpong -c -e -s 65536 -n 100 -m 4096
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
