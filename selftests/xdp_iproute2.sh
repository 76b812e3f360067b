#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Plain iproute2 attaches the XDP object, natively and in generic mode, beside
# a peer of MTU 9000; without a daemon it passes everything; nothing is pinned.
. "$(dirname "$0")/lib.sh"

OBJ=$BUILD/rxe_xdp.bpf.o

attach() { h1 ip link set dev $NETDEV "$1" obj "$OBJ" sec xdp.frags; }
detach() { h1 ip link set dev $NETDEV "$1" off; }
shown() { h1 ip link show $NETDEV | grep -qE "prog/xdp id [0-9]+ name rxe_xdp"; }
# shown_as MODE: the flag of the first line, xdp or xdpgeneric.
shown_as() { h1 ip link show $NETDEV | head -n 1 | grep -qE "[ ,>]$1[ /]"; }
not_shown() { ! h1 ip link show $NETDEV | grep -q prog/xdp; }

# iproute2 makes its directories in any case; no map or program may lie in them.
pinned() { find /sys/fs/bpf/tc /sys/fs/bpf/xdp/ -type f 2>/dev/null | sort; }
same_pins() { [ "$(pinned)" = "$pins_before" ]; }

# datagram PORT BYTES: from host 2, must arrive at a socket of host 1 whole.
datagram() {
	local rc=0 pid
	rm -f "$WORK/bound"
	in_ns "$(ns 1)" "$PYTHON" -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", int(sys.argv[1])))
s.settimeout(10)
open(sys.argv[3], "w").close()
sys.exit(len(s.recv(65536)) != int(sys.argv[2]))' "$1" "$2" "$WORK/bound" &
	pid=$!
	wait_for 5 test -e "$WORK/bound"
	in_ns "$(ns 2)" "$PYTHON" -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(bytes(int(sys.argv[2])), (sys.argv[3], int(sys.argv[1])))' "$1" "$2" "$(ip4 1)" || rc=1
	wait $pid || rc=1
	return $rc
}

# mode KEYWORD FLAG: attach by KEYWORD, look, send, detach.
mode() {
	check "$1: attached" attach "$1"
	check "$1: ip link shows rxe_xdp" shown
	check "$1: as $2" shown_as "$2"
	check "$1: a frame near the MTU passes" datagram 5000 8900
	check "$1: RoCEv2's port passes while no rxed has it" datagram 4791 8900
	check "$1: and a short frame" datagram 4791 1
	check "$1: nothing was pinned" same_pins
	check "$1: detached" detach "$1"
	check "$1: gone" not_shown
}

need_root
need ip nsenter sysctl
[ -e "$OBJ" ] || skip_all "$OBJ is missing: run make first"
mount_bpffs
veth_pair
pins_before=$(pinned)
ktap_plan 27
mode xdp xdp
mode xdpdrv xdp
mode xdpgeneric xdpgeneric
ktap_done
