#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The comparisons that README quotes, in one run on one veth pair: RC WRITE over
# rxed beside kernel TCP and beside raw AF_XDP frames of the same size.
#
#	bench.sh		the table
#	bench.sh --profile	where the time goes during a 64 KiB WRITE blast
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${BUILD:-$here/../build}
RXE_BINDIR=$BUILD
HOSTS_PREFIX=rxebench
SECONDS_EACH=${SECONDS_EACH:-5}
RAW=$BUILD/bench/raw_xsk

hosts_failed() {
	echo "bench: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || { echo "bench: it makes network namespaces: run it as root" >&2; exit 1; }
for c in ib_write_bw cmtime iperf3 qperf; do
	command -v $c >/dev/null || { echo "bench: $c is missing: scripts/deps.sh bench" >&2; exit 1; }
done
. "$here/../scripts/hosts.sh"
. "$here/../selftests/cm_lib.sh"
TEST_TIMEOUT=120

# Bytes of an Ethernet frame around an RC WRITE packet (no RETH after the first).
ETH=14 IPV4=20 UDP=8 BTH=12 RETH=16 ICRC=4
HEADERS=$((ETH + IPV4 + UDP + BTH + ICRC))

mac_of() { in_ns "$(ns "$1")" ip -br link show $NETDEV | awk '{print $3}'; }

# start_in N COMMAND...: in host N, in the background as the very process STARTED.
start_in() {
	(exec nsenter --net="/run/netns/$(ns "$1")" -- "${@:2}") &
	STARTED=$!
}

# raw RECEIVER_MODE SENDER_MODE SIZE: "FRAMES SECONDS" as the receiver counts,
# the sender for ping (its count is of round trips).
raw() {
	local pid
	start_in 1 "$RAW" $NETDEV "$1" "$3" $((SECONDS_EACH + 2)) "$(mac_of 2)" >"$WORK/raw1"
	pid=$STARTED
	wait_for 5 grep -q ready "$WORK/raw1" || hosts_failed "raw_xsk does not start"
	in_ns "$(ns 2)" "$RAW" $NETDEV "$2" "$3" "$SECONDS_EACH" "$(mac_of 1)" >"$WORK/raw2" ||
		hosts_failed "raw_xsk fails"
	wait $pid
	awk '/^frames/ {print $2, $4}' "$WORK/raw$([ "$2" = ping ] && echo 2 || echo 1)"
}

raw_gbps() { raw sink send $((4096 + HEADERS)) | awk '{print $1 / $2 * 4096 * 8 / 1e9}'; }
raw_lat() { raw pong ping $((8 + HEADERS + RETH)) | awk '{print $2 / $1 * 1e6 / 2}'; }
raw_rate() { raw sink send $((64 + HEADERS + RETH)) | awk '{print $1 / $2 / 1e6}'; }

# ---- kernel TCP -----------------------------------------------------------------

tcp_server() { # COMMAND... as SERVER_PID, on PORT
	start_in 1 "$@" >/dev/null 2>&1
	SERVER_PID=$STARTED
	wait_for 5 tcp_listens "$(ns 1)" "$PORT" || hosts_failed "$1 does not listen"
}

tcp_gbps() {
	PORT=5201 tcp_server iperf3 -s -1
	in_ns "$(ns 2)" iperf3 -c "$(ip4 1)" -t "$SECONDS_EACH" -l 65536 -f g |
		awk '/receiver/ {for (i = 2; i <= NF; i++) if ($i ~ /bits/) print $(i - 1)}'
	wait $SERVER_PID
}

# One qperf server serves both of its tests.
qp() { in_ns "$(ns 2)" qperf "$(ip4 1)" -t "$SECONDS_EACH" "$@" | awk -F= 'NF > 1 {print $2}'; }
tcp_lat() { qp -m 8 tcp_lat | awk '{print $2 == "ns" ? $1 / 1e3 : $2 == "ms" ? $1 * 1e3 : $1}'; }
tcp_rate() {
	qp -m 64 tcp_bw | awk '{
		k = $2 ~ /^GB/ ? 1e9 : $2 ~ /^MB/ ? 1e6 : $2 ~ /^KB/ ? 1e3 : 1
		gsub(/,/, "", $1); print $1 * k / 64 / 1e6 }'
}

# ---- rxed -------------------------------------------------------------------------

# verbs_bench COLUMN COMMAND...: that column of perftest's only line of results.
verbs_bench() {
	local column=$1
	shift
	perftest "$@" >"$WORK/perftest" 2>&1 || { cat "$WORK/perftest" >&2; hosts_failed "$1 failed"; }
	awk -v c="$column" '$1 ~ /^[0-9]+$/ && NF >= 4 {print $c}' "$WORK/perftest" | tail -n 1
}
rxe_gbps() { verbs_bench 4 ib_write_bw --report_gbits -s 65536 -m 4096 -D "$SECONDS_EACH"; }
rxe_lat() { verbs_bench 5 ib_write_lat -s 8 -n 50000; }
rxe_rate() { verbs_bench 5 ib_write_bw -s 64 -D "$SECONDS_EACH"; }

# connections COUNT: milliseconds until as many of rdma_cm are established, made all
# at once: from their ids to the last RTU.
connections() {
	cm_serve 1 cmtime -b "$(ip4 1)" || hosts_failed "cmtime does not listen"
	verbs 2 timeout "$TEST_TIMEOUT" cmtime -s "$(ip4 1)" -c "$1" >"$WORK/cmtime" ||
		hosts_failed "cmtime failed"
	end_process "$SERVER_PID"
	awk -F: '/^(create id|resolve addr|resolve route|create qp|connect) *:/ {
			split($2, t, " "); ms += t[1]; steps++ }
		END { if (steps == 5) print ms }' "$WORK/cmtime"
}

profile() {
	local out=$WORK/perf.data
	command -v perf >/dev/null || hosts_failed "perf is missing: scripts/deps.sh bench"
	veth_pair
	hosts_up
	perf record -a -g -e cpu-clock -o "$out" -- sleep $((SECONDS_EACH + 1)) >/dev/null 2>&1 &
	rxe_gbps >/dev/null
	wait $!
	perf report -i "$out" --no-children -g none --sort comm,dso,symbol --stdio 2>/dev/null |
		grep -E '^ +[0-9]' | head -n "${LINES_SHOWN:-40}"
}

measure() { # VARIABLE COMMAND...: what it prints; without that the run is worth nothing
	local figure
	figure=$("${@:2}") && [ -n "$figure" ] || hosts_failed "$2 gives no figure"
	printf -v "$1" %s "$figure"
}

row() { # WHAT UNIT RXE TCP RAW
	awk -v w="$1" -v u="$2" -v r="$3" -v t="$4" -v x="$5" 'BEGIN {
		printf "%-28s %-8s %9.2f %9.2f %9.2f", w, u, r, t, x
		printf "  %8.2f %8.2f\n", t ? r / t : 0, x ? r / x : 0 }'
}

if [ "${1:-}" = --profile ]; then
	mount_bpffs
	profile
	exit 0
fi

mount_bpffs
veth_pair
echo "# $(uname -sr), $(nproc) cores, veth of MTU $MTU, $SECONDS_EACH s each" >&2
measure x1 raw_gbps
measure x2 raw_lat
measure x3 raw_rate
measure t1 tcp_gbps
PORT=19765 tcp_server qperf
measure t2 tcp_lat
measure t3 tcp_rate
end_process $SERVER_PID
hosts_up
measure r1 rxe_gbps
measure r2 rxe_lat
measure r3 rxe_rate
measure ms connections 1000
printf '%-28s %-8s %9s %9s %9s  %8s %8s\n' "" "" rxed TCP "raw XSK" rxed/TCP rxed/raw
row "RC WRITE 64 KiB, bandwidth" Gb/s "$r1" "$t1" "$x1"
row "RC WRITE 8 B, one way" us "$r2" "$t2" "$x2"
row "RC WRITE 64 B, rate" M/s "$r3" "$t3" "$x3"
awk -v ms="$ms" 'BEGIN {
	printf "1000 connections of rdma_cm in %.2f s: %.0f a second\n", ms / 1e3, 1e6 / ms }'
