#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ECE: the flow of rdma_get_remote_ece(3), with a QP of the program's own and
# with librdmacm's; refusal by rdma_reject_ece().
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cm_lib.sh"
make -s -C "$SELFTESTS" B="$BUILD" all >/dev/null || skip_all "cannot build ece (librdmacm-dev)"
ECE=$BUILD/selftests/ece
two_hosts

ece_pair() { cm_pair "$ECE" -s "$(ip4 1)" "$@" -- "$ECE" -c "$(ip4 1)" "$@"; }

ktap_plan 5
check "a QP of the program's own" ece_pair
check "librdmacm's QP" ece_pair -i
check "refused by rdma_reject_ece()" ece_pair -j
check "host 1 has nothing left" wait_for 10 nothing_left 1
check "host 2 has nothing left" wait_for 10 nothing_left 2
ktap_done
