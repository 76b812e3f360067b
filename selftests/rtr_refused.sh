#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A modify to RTR that fails for a GID or a neighbour: the program gets an errno,
# and rxed's log names both ends (PROTOCOL 30).
. "$(dirname "$0")/lib.sh"

# rtr GID_INDEX DGID: prints the errno of a modify to RTR.
rtr() {
	verbs 1 timeout 60 "$PYTHON" -c "
import ipaddress, sys
import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
ctx = Context(name='$DEV')
pd = PD(ctx)
cq = CQ(ctx, 1)
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap()), QPAttr(port_num=1))
gr = GlobalRoute(dgid=GID(ipaddress.IPv6Address(sys.argv[2]).exploded), sgid_index=int(sys.argv[1]), hop_limit=1)
a = QPAttr(qp_state=e.IBV_QPS_RTR, port_num=1)
a.ah_attr = AHAttr(gr=gr, is_global=1, port_num=1)
a.path_mtu = e.IBV_MTU_1024
a.dest_qp_num = 17
a.min_rnr_timer = 1
try:
    qp.modify(a, e.IBV_QP_STATE | e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN |
              e.IBV_QP_RQ_PSN | e.IBV_QP_MAX_DEST_RD_ATOMIC | e.IBV_QP_MIN_RNR_TIMER)
    print('ok')
except PyverbsRDMAError as ex:
    print(ex.error_code)
" "$1" "$2"
}
fails() { # ERRNO GID_INDEX DGID
	local got
	got=$(rtr "$2" "$3")
	echo "errno $got; $1 wanted"
	[ "$got" = "$1" ]
}

need_python pyverbs
two_hosts
INDEX4=$(gid_index 1)
ktap_plan 7
check "the peer is there" fails ok "$INDEX4" "::ffff:$(ip4 2)"
check "an empty GID index: EINVAL" fails 22 31 "::ffff:$(ip4 2)"
check "the log names the peer and the index" \
	rxed_said 1 "GID (::ffff:)?$(ip4 2) .*GID index 31 is empty"
check "a GID of the other IP version: EINVAL" fails 22 "$INDEX4" "$(ip6 2)"
check "the log names the peer and the index" \
	rxed_said 1 "GID $(ip6 2) .*GID index $INDEX4 is of the other IP version"
check "a neighbour that does not answer: EHOSTUNREACH" fails 113 "$INDEX4" ::ffff:10.77.0.99
check "the log names both addresses" rxed_said 1 "resolving 10.77.0.99 from $(ip4 1)"
ktap_done
