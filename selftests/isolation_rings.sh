#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A client that fills its rings with forged work requests, counts, lengths,
# keys, indices and geometry, and changes them while they are read: another
# client's memory and traffic are untouched, rxed lives, nothing is left.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fault_lib.sh"

forged() { # SECONDS SEED
	verbs 1 timeout 60 "$FAULT_BIN/forged_rings" $DEV "$GID" "$1" "$2" && nothing_held 10 && idle
}

one_host
pid=${RXED_PID[1]}
ktap_plan 6
for seed in 1 2 3; do
	check "seed $seed" forged 4 $seed
done
seed=$(date +%s)
check "another seed" forged 4 "$seed"
echo "# that seed was $seed"
check "a datagram that claims another source" verbs 1 timeout 60 \
	"$FAULT_BIN/forged_rings" $DEV "$GID" source
check "rxed is still the same process" kill -0 "$pid"
ktap_done
