#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# `rdma statistic`: counters that follow traffic and loss, and the modes of
# counters for single QPs, which are the kernel's refusals for rxe.
. "$(dirname "$0")/lib.sh"

value() { rdma 1 -j statistic show link $DEV/1 | grep -oE "\"$1\":[0-9]+" | cut -d: -f2; }
grew() { [ "$(value "$1")" -gt "$2" ]; }
mode() { [ "$(rdma 1 statistic qp mode link $DEV/1)" = "link $DEV/1 mode qp auto $1 " ]; }

two_hosts_lossy 0
need rdma ibv_rc_pingpong
ktap_plan 16

check "without loss" pingpong ibv_rc_pingpong -c -n 200
check "packets and bytes are counted" eval "grew sent_pkts 0 && grew rcvd_pkts 0 && grew sent_bytes 0 && grew rcvd_bytes 0"
check "as rxe stat has them" eval "[ \"\$(value sent_pkts)\" = \"\$(h1 $BUILD/rxe stat | sed -n 's/^$DEV sent_pkts //p')\" ]"
check "nothing was sent again" eval "[ \"\$(value roce_adp_retrans)\" = 0 ] && [ \"\$(value roce_slow_restart)\" = 0 ]"
set_loss 20
check "with loss" pingpong ibv_rc_pingpong -c -n 500
set_loss 0
check "retransmissions" grew roce_adp_retrans 0
check "slow restarts, after timeouts" grew roce_slow_restart 0
check "the retransmissions are completer_retry_err's" eval "[ \"\$(value roce_adp_retrans)\" = \"\$(value completer_retry_err)\" ]"
check "no mode at first" mode off
check "auto by type" eval "rdma 1 statistic qp set link $DEV/1 auto type on && mode 'type on'"
check "no counter comes of it" eval "[ -z \"\$(rdma 1 statistic qp show)\" ]"
check "off again" eval "rdma 1 statistic qp set link $DEV/1 auto off && mode off"
start_verbs 1 ibv_ud_pingpong -d $DEV -g 1 >/dev/null 2>&1
has_qp() { rdma 1 res show qp | grep -q 'type UD'; }
wait_for 5 has_qp
QPN=$(rdma 1 res show qp | sed -n 's/.*lqpn \([0-9]*\) type UD.*/\1/p')
check "binding a QP: no counters for single QPs" \
	refuses 'Cannot allocate memory' rdma 1 statistic qp bind link $DEV/1 lqpn "$QPN"
check "no such QP" refuses 'No such file' rdma 1 statistic qp bind link $DEV/1 lqpn 99999
check "unbinding what is not bound" \
	refuses 'Invalid argument' rdma 1 statistic qp unbind link $DEV/1 cntn 1 lqpn "$QPN"
check "who is no administrator may not" refuses 'Operation not permitted' \
	h1 setpriv --reuid 65534 --clear-groups "$BUILD/rxe" rdma statistic qp set link $DEV/1 auto off
ktap_done
