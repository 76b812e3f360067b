#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shared receive queues by perftest (--use-srq): the SEND programs in RC, UC and
# UD, with many QPs, all sizes, events, both directions.
. "$(dirname "$0")/lib.sh"

RXED_ARGS="--workers 2"

srq() { perftest "$@" --use-srq; }

need ib_send_bw ib_send_lat
two_hosts
ktap_plan 21
check "ib_send_bw RC" srq ib_send_bw -n 1000
check "ib_send_bw RC, 16 QPs" srq ib_send_bw -q 16 -n 500
check "ib_send_bw RC, 64 QPs" srq ib_send_bw -q 64 -n 200
check "ib_send_bw RC, all sizes" srq ib_send_bw -a -n 50
check "ib_send_bw RC, events" srq ib_send_bw -e -q 4 -n 500
check "ib_send_bw RC, inline" srq ib_send_bw -I 64 -s 64 -n 500
check "ib_send_bw RC, both directions" srq ib_send_bw -b -q 16 -n 500
check "ib_send_bw RC, for 2 s" srq ib_send_bw -D 2
check "ib_send_lat RC" srq ib_send_lat -n 1000
check "ib_send_lat RC, all sizes" srq ib_send_lat -a -n 50
check "ib_send_lat RC, events" srq ib_send_lat -e -n 500
check "ib_send_lat RC, inline" srq ib_send_lat -I 64 -s 64 -n 500
# A UC or UD sender outruns any receiver, and perftest takes no loss: all messages
# must fit into the socket and the SRQ, which perftest makes no larger than the
# messages of one QP.
check "ib_send_bw UC" srq ib_send_bw -c UC -s 2048 -n 1000 -r 2048
check "ib_send_lat UC" srq ib_send_lat -c UC -n 1000
check "ib_send_lat UC, events" srq ib_send_lat -c UC -e -n 500
check "ib_send_bw UD" srq ib_send_bw -c UD -n 1000 -r 2048
check "ib_send_lat UD" srq ib_send_lat -c UD -n 1000
check "ib_send_lat UD, events" srq ib_send_lat -c UD -e -n 500
# The provider has no XRC domains.
check "XRC is refused" refuses "Error opening XRC domain" \
	perftest ib_send_bw -c XRC
check "so says ibv_xsrq_pingpong" refuses "Couldn't Open the XRC Domain 95" \
	verbs 1 timeout 20 ibv_xsrq_pingpong -d $DEV -g "$(gid_index 1)"
check "nothing is left" test "$(counter 1 srqs)$(counter 2 srqs)$(counter 1 qps)" = 000
ktap_done
