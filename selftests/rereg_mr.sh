#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Re-registration, which the distribution's rxe provider has no entry for and
# the preload library adds: ibv_rereg_mr() through pyverbs.
. "$(dirname "$0")/lib.sh"

rereg() {
	client_server -g "$PYTHON" "$SELFTESTS/rereg_mr.py" -d $DEV -t "$1"
}

need_python pyverbs
two_hosts
ktap_plan 6
check "600 times under traffic: none of it fails, keys stay" rereg under_traffic
check "to another PD and back" rereg new_pd
check "to another place" rereg new_place
check "a receive WQE of the old place" rereg stale_receive
check "what is refused, with which errno" rereg refusals
check "nothing is left" test "$(counter 1 mrs)$(counter 1 pds)$(counter 2 mrs)$(counter 2 pds)" = 0000
ktap_done
