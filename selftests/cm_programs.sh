#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The programs of rdmacm-utils and perftest -R between two hosts, unmodified.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
need ucmatose udaddy udpong cmtime rdma_server rdma_client rstream riostream rcopy ib_send_lat
two_hosts
TEST_TIMEOUT=60
A4=$(ip4 1) A6=$(ip6 1)
SMALL="-S 1024 -I 20 -C 1"

# cmtime's server has no end of its own.
connect_many() { cm_client_only cmtime -b "$A4" -- cmtime -s "$A4" -c "$1"; }

# rcopy's server listens everywhere.
copy_any() {
	head -c 1000000 /dev/urandom >"$WORK/in"
	start_verbs 1 timeout 30 rcopy >"$WORK/server.out" 2>&1
	SERVER_PID=$STARTED
	wait_for 15 copied
	end_process "$SERVER_PID"
	cmp "$WORK/in" "$WORK/out"
}
copied() { verbs 2 timeout 10 rcopy "$WORK/in" "$A4:$WORK/out"; }

# rdma_server, too.
rdma_pair() {
	start_verbs 1 timeout 30 rdma_server >"$WORK/server.out" 2>&1
	SERVER_PID=$STARTED
	wait_for 15 verbs 2 timeout 10 rdma_client -s "$A4" || return 1
	wait "$SERVER_PID"
}

# perftest's server, too: a client that comes too early is refused.
perftest_one() {
	local prog=$1 rc=0
	shift
	start_verbs 1 timeout 40 "$prog" -R -d $DEV -F "$@" >"$WORK/server.out" 2>&1
	SERVER_PID=$STARTED
	wait_for 15 verbs 2 timeout 30 "$prog" -R -d $DEV -F "$@" "$A4" || rc=1
	[ $rc = 0 ] || end_process "$SERVER_PID"
	wait "$SERVER_PID" && [ $rc = 0 ]
}

ktap_plan 19
check "ucmatose, IPv4" cm_pair ucmatose -b "$A4" -- ucmatose -s "$A4"
check "ucmatose, IPv6" cm_pair ucmatose -f ipv6 -b "$A6" -- ucmatose -f ipv6 -s "$A6"
check "ucmatose, several connections, migrated" \
	cm_pair ucmatose -b "$A4" -c 5 -m -- ucmatose -s "$A4" -c 5 -m
check "ucmatose, type of service" cm_pair ucmatose -b "$A4" -t 32 -- ucmatose -s "$A4" -t 32
check "ucmatose, ACK timeout" cm_pair ucmatose -b "$A4" -a 20 -- ucmatose -s "$A4" -a 20
check "udaddy, IPv4" cm_pair udaddy -b "$A4" -- udaddy -s "$A4"
check "udaddy, IPv6, several" cm_pair udaddy -b "$A6" -c 3 -- udaddy -s "$A6" -c 3
check "udpong, IPv4" cm_client_only udpong -b "$A4" -- udpong -s "$A4" -C 50
check "udpong, IPv6" cm_client_only udpong -b "$A6" -- udpong -s "$A6" -C 50
check "cmtime, 100 connections" connect_many 100
check "rdma_server and rdma_client" rdma_pair
check "rstream, IPv4" cm_pair rstream -b "$A4" $SMALL -- rstream -s "$A4" $SMALL
check "rstream, IPv6" cm_pair rstream -b "$A6" $SMALL -- rstream -s "$A6" $SMALL
check "riostream" cm_pair riostream -b "$A4" $SMALL -- riostream -s "$A4" $SMALL
check "rcopy" copy_any
check "ib_send_lat -R" perftest_one ib_send_lat -n 100
check "ib_write_bw -R" perftest_one ib_write_bw -n 100
check "host 1 has nothing left" wait_for 10 nothing_left 1
check "host 2 has nothing left" wait_for 10 nothing_left 2
ktap_done
