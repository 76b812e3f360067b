#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# RC by perftest: SEND, WRITE, READ and atomics, bandwidth and latency runs.
. "$(dirname "$0")/lib.sh"

need ib_send_bw ib_atomic_bw
two_hosts
ktap_plan 16
for t in ib_send_bw ib_write_bw ib_read_bw; do
	check "$t 64 KiB" perftest $t -n 1000
	check "$t 1 byte, 4 QPs" perftest $t -s 1 -n 1000 -q 4
done
check "ib_atomic_bw FETCH_AND_ADD" perftest ib_atomic_bw -n 1000
check "ib_atomic_bw CMP_AND_SWAP" perftest ib_atomic_bw -A CMP_AND_SWAP -n 1000
for t in ib_send_lat ib_write_lat ib_read_lat; do
	check "$t 2 bytes" perftest $t -n 1000
done
check "ib_send_lat, events" perftest ib_send_lat -e -n 1000
check "ib_write_lat 4 KiB" perftest ib_write_lat -s 4096 -n 1000
check "ib_send_bw, both directions" perftest ib_send_bw -b -n 1000
check "ib_write_bw, all sizes" perftest ib_write_bw -a -n 20
check "no retry was exhausted" \
	test "$(counter 1 retry_exceeded_err)$(counter 2 retry_exceeded_err)" = 00
ktap_done
