#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A frame with one flipped bit in anything that the ICRC covers never reaches a
# completion, and is counted; flipped bits that the ICRC masks do not matter.
. "$(dirname "$0")/lib.sh"

mac_of() { in_ns "$(ns "$1")" ip -br link show $NETDEV | awk '{print $3}'; }

flip() { # BITS SRC DST
	verbs 1 "$PYTHON" "$SELFTESTS/icrc_flip.py" --dev $DEV --netns "/run/netns/$(ns 2)" \
		--netdev $NETDEV --dmac "$(mac_of 1)" --smac "$(mac_of 2)" \
		--src "$2" --dst "$3" --bits "$1"
}

# Frames that the XDP program of host 1 did not steer, as it counts them.
not_steered() {
	h1 "$BUILD/rxe" stat | awk '$2 ~ /^(drop|pass)_/ { s += $3 } END { print s + 0 }'
}
counted() { # FRAMES COMMAND...: at least so many more were dropped or passed
	local before n=$1
	shift
	before=$(not_steered)
	"$@" && [ $(($(not_steered) - before)) -ge "$n" ]
}
covered4=$(((20 + 8 + 12 + 8 + 32 + 4) * 8 - 7 * 8))
covered6=$(((40 + 8 + 12 + 8 + 32 + 4) * 8 - 4 * 8 - 4 - 3 * 8))

# Only host 1 has a rxed: the other one's egress guard would drop what the
# local stack sends to the RoCE port.
setup_needs
need_python pyverbs
veth_pair
start_rxed 1 && add_link 1 && wait_for 10 device_ready 1 || hosts_failed "no device"
ktap_plan 5
check "IPv4: covered bits" counted $covered4 flip covered "$(ip4 2)" "$(ip4 1)"
check "IPv4: masked bits" flip masked "$(ip4 2)" "$(ip4 1)"
check "IPv6: covered bits" counted $covered6 flip covered "$(ip6 2)" "$(ip6 1)"
check "IPv6: masked bits" flip masked "$(ip6 2)" "$(ip6 1)"
check "most were dropped for their ICRC" test "$(counter 1 drop_icrc)" -gt 500
ktap_done
