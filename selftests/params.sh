#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every tunable has the effect that rxe(7) gives it, set by plain bpftool:
# limits where ibv_devinfo reports them and at the limit; the others at once.
. "$(dirname "$0")/lib.sh"

# ---- setting and reading ------------------------------------------------------------

# Limits are read when a device is created.
new_device() {
	rdma 1 link delete $DEV && add_link 1 && wait_for 10 device_ready 1
}
reports() { verbs 1 ibv_devinfo -v -d $DEV | grep -qE "^[[:space:]]*$1:[[:space:]]*$2\$"; }

# hold: a program in host 1 that has a context, a PD, a CQ, an MR and a QP.
hold() {
	serve 1 $PINGPONG_PORT ibv_rc_pingpong -d $DEV -g "$(gid_index 1)"
}
release() { end_process "$SERVER_PID"; }
# A second one; it only ever fails, or waits for a client until the time is up.
another() { verbs 1 timeout 3 ibv_rc_pingpong -d $DEV -g "$(gid_index 1)" -p 18999 "$@"; }
made() { "$@"; [ $? = 124 ]; }

# limit NAME REPORTED_AS MESSAGE: with the limit 1 one is had, the second refused.
limit() {
	set_param "$1" 1 1 && new_device || return 1
	[ -z "$2" ] || reports "$2" 1 || { echo "not reported"; return 1; }
	hold || { echo "the first was refused"; release; return 1; }
	refuses "$3" another
	local rc=$?
	release
	return $rc
}

# A QP with so much room for inline data.
inline_qp() {
	PYTHONPATH=$SELFTESTS verbs 1 "$PYTHON" -c "
from ud_qp import UdQp
UdQp('$DEV', 0x11111111, max_inline_data=$1)"
}

# ---- measuring ------------------------------------------------------------------------

# slower_than MILLISECONDS COMMAND...: COMMAND takes at least so long.
slower_than() {
	local least=$1 start
	shift
	start=$(date +%s%3N)
	"$@" || return 1
	echo "took $(($(date +%s%3N) - start)) ms, at least $least wanted"
	[ $(($(date +%s%3N) - start)) -ge "$least" ]
}

# acks SIZE COUNT: packets that the responder, host 1, sends during so many WRITEs.
acks() {
	local before
	before=$(counter 1 sent_pkts)
	perftest ib_write_bw -s "$1" -m 1024 -n "$2" >/dev/null || return 1
	echo $(($(counter 1 sent_pkts) - before))
}

# Packets of host 2 for each time that it tells the kernel to send, in a bulk of
# 12800: a burst of host 2's worker.
packets_per_kick() {
	local p w
	p=$(counter 2 xsk_tx_packets) w=$(counter 2 xsk_tx_wakeups)
	perftest ib_write_bw -s 65536 -m 1024 -n 200 >/dev/null || return 1
	p=$(($(counter 2 xsk_tx_packets) - p)) w=$(($(counter 2 xsk_tx_wakeups) - w))
	echo "$p packets, $w kicks" >&2
	echo $((p / w))
}

# ---- the tests ----------------------------------------------------------------------------

crc_disable_one_side() {
	# Host 2 neither computes nor checks, host 1 does: its frames are dropped.
	set_param crc_disable 1 2
	local before rc=0
	before=$(counter 1 drop_icrc)
	TEST_TIMEOUT=3 pingpong ibv_rc_pingpong -n 10 && rc=1
	[ "$(counter 1 drop_icrc)" -gt "$before" ] && [ $rc = 0 ]
}
crc_disable_both() { set_param crc_disable 1 && pingpong ibv_rc_pingpong -c -n 1000; }

mtu_followed() {
	set_param mtu 1024 1 && wait_for 5 active_mtu 1 1024 &&
		h1 ip link show $NETDEV | grep -oE 'mtu [0-9]+'
}
mtu_released() { set_param mtu 0 1 && h1 ip link set $NETDEV mtu 9000 && wait_for 5 active_mtu 1 4096; }

ud_limited() {
	set_param default_mtu 512
	sleep 0.2	# the daemon's refresh; the next line proves it
	pingpong ibv_ud_pingpong -c -s 512 -n 100 &&
		! TEST_TIMEOUT=3 pingpong ibv_ud_pingpong -s 1024 -n 10
}

# runs STAGE HOW: of that stage, direct or deferred, in each host.
runs() { echo "$(counter 1 "$1_runs_$2") $(counter 2 "$1_runs_$2")"; }

# ran STAGE HOW NOT_HOW: traffic makes both hosts run it the one way only.
ran() {
	local here there
	here=($(runs "$1" "$2")) there=$(runs "$1" "$3")
	pingpong ibv_rc_pingpong -c -s 65536 -n 200 || return 1
	here+=($(runs "$1" "$2"))
	echo "$1 $2: ${here[*]}; $3: $there, then $(runs "$1" "$3")"
	[ "${here[2]}" -gt "${here[0]}" ] && [ "${here[3]}" -gt "${here[1]}" ] &&
		[ "$(runs "$1" "$3")" = "$there" ]
}
fast() { # STAGE
	set_param "fast_$1" 1 && ran "$1" direct deferred &&
		set_param "fast_$1" 0 && ran "$1" deferred direct
}

burst_acks() {
	local fast burst
	set_param fast_resp 1 && fast=$(acks 64 5000) &&
		set_param fast_resp 0 && burst=$(acks 64 5000) || return 1
	echo "ACKs of 5000 WRITEs: per packet: $fast, per burst: $burst"
	[ "$fast" -ge 4900 ] && [ "$burst" -lt $((fast * 3 / 4)) ]
}
kicks() { # PARAMETER SMALL LARGE: with SMALL a packet a kick, with LARGE more
	local small large
	set_param "$1" "$2" && small=$(packets_per_kick) &&
		set_param "$1" "$3" && large=$(packets_per_kick) || return 1
	[ "$small" -le 1 ] && [ "$large" -gt 4 ]
}

more_acks() {
	local every4 every64 never
	set_param max_packet_per_ack 4 && every4=$(acks 1048576 20) &&
		set_param max_packet_per_ack 64 && every64=$(acks 1048576 20) &&
		set_param max_packet_per_ack 0 && never=$(acks 1048576 20) || return 1
	echo "ACKs of 20 x 1024 packets: every 4: $every4, every 64: $every64, at the end: $never"
	[ "$every4" -ge 5120 ] && [ "$every64" -lt "$every4" ] && [ "$every64" -ge 320 ] &&
		[ "$never" -lt "$every64" ]
}

nonsense() { # NAME VALUE
	set_param "$1" "$2" 1 && pingpong ibv_rc_pingpong -c -n 100 &&
		wait_for 3 rxed_said 1 "parameter $1 is $2, outside" &&
		[ "$(grep -c "parameter $1 is $2," "$WORK/rxed-1.log")" = 1 ]
}

survives() {
	set_param max_qp 321 1
	kill_rxed 1
	start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 && reports max_qp 321
}

setup_needs
need bpftool rdma ib_write_bw
need_python pyverbs
veth_pair
hosts_up
ktap_plan 36

check "cat prints a value" eval "cat $(pins 1)/parameters/max_log_cqe | grep -qx '0: 15'"
check "bpftool map dump" eval \
	"bpftool -j map dump pinned $(pins 1)/parameters/max_qp | grep -q 1048560"

check "max_ucontext" limit max_ucontext "" "."
reset_param max_ucontext
check "max_qp" limit max_qp max_qp "create QP"
reset_param max_qp
check "max_mr" limit max_mr max_mr "register MR"
reset_param max_mr
check "max_cq" limit max_cq max_cq "create CQ"
reset_param max_cq
check "max_qp_wr is reported" eval "set_param max_qp_wr 100 1 && new_device && reports max_qp_wr 100"
check "max_qp_wr: more are refused" refuses "create QP" another -r 101
check "max_qp_wr: as many are had" made another -r 100
reset_param max_qp_wr
check "max_log_cqe is reported" eval "set_param max_log_cqe 8 1 && new_device && reports max_cqe 255"
check "max_log_cqe: more are refused" refuses "create CQ" another -r 255
check "max_log_cqe: as many are had" made another -r 200
reset_param max_log_cqe
check "max_fmr is reported" eval "set_param max_fmr 77 1 && new_device && reports max_fmr 77"
reset_param max_fmr
check "max_inline_data: as much is had" eval \
	"set_param max_inline_data 64 1 && new_device && inline_qp 64"
check "max_inline_data: more is refused" refuses 'Failed to create QP' inline_qp 65
reset_param max_inline_data
check "defaults again" eval "new_device && reports max_qp 1048560 && pingpong ibv_rc_pingpong -c -n 100"
check "a limit does not touch a device that exists" eval \
	"set_param max_qp 7 1 && reports max_qp 1048560 && reset_param max_qp"

check "mtu sets the port's and the netdev's" mtu_followed
check "mtu 0 follows the netdev" mtu_released
check "default_mtu bounds UD" ud_limited
reset_param default_mtu
check "crc_disable on one side: the other drops" crc_disable_one_side
check "crc_disable on both sides: traffic" crc_disable_both
reset_param crc_disable
for stage in comp req resp arb; do
	check "fast_$stage: direct runs with 1, deferred runs with 0" fast $stage
	reset_param fast_$stage
done
set_param nsec_per_packet 50000000
check "nsec_per_packet: 40 packets of one QP 50 ms apart" \
	slower_than 1900 pingpong ibv_rc_pingpong -c -s 1 -n 40
reset_param nsec_per_packet
set_param nsec_per_kbyte 12500000
check "nsec_per_kbyte: 40 packets of 4 KiB 50 ms apart" \
	slower_than 1900 pingpong ibv_rc_pingpong -c -s 4096 -m 4096 -n 40
check "nsec_per_kbyte: small packets are fast" eval "! slower_than 1900 pingpong ibv_rc_pingpong -c -s 1 -n 40"
reset_param nsec_per_kbyte
check "fast_resp: an ACK per packet, or per burst" burst_acks
reset_param fast_resp
check "fast_arb: sent per packet, or per burst" kicks fast_arb 1 0
reset_param fast_arb
check "max_skb_per_qp bounds a burst" kicks max_skb_per_qp 1 64
reset_param max_skb_per_qp
check "max_packet_per_ack: counts of ACKs" more_acks
reset_param max_packet_per_ack
check "nonsense: too large" nonsense max_req_comp_gap 4294967295
check "nonsense: too small" nonsense max_skb_per_qp 0
reset_param max_req_comp_gap
reset_param max_skb_per_qp
check "values survive a restart" survives
ktap_done
