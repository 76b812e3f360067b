#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The FILES of rxe(7) under `rxe run`: /sys/class/infiniband/rxe0 reads like the
# driver's, and the module parameters are read and written with cat and echo.
. "$(dirname "$0")/lib.sh"

REF=$SELFTESTS/reference/linux-7.3
P=/sys/module/rdma_rxe/parameters
MTU=1500

run() { verbs 1 "$@"; }
param() { h1 "$BUILD/rxe" param get "$1"; }
holds() { [ "$(run cat $P/$1)" = "$2" ] && [ "$(param "$1")" = "$2" ]; }

# What lies below the device's directory: names, GID indices as N.
driver_files() {
	sed -n '/sort | uniq -c$/,/^\[exit/p' "$REF/sysfs-idle.txt" | sed -n 's/^ *[0-9][0-9]* //p' |
		grep -v autosuspend_delay_ms | sort -u	# which cannot be read
}
our_files() {
	run find /sys/class/infiniband/$DEV/ -type f | sed "s/[0-9][0-9]*\$/N/" |
		sed "s|^.*/sys/class|/sys/class|" | sort -u
}
same_files() {
	driver_files >"$WORK/driver"
	our_files | grep -v '/device/' >"$WORK/ours"	# there is no parent device to point at
	diff "$WORK/driver" "$WORK/ours"
}

# Contents, but for what is this host's. The driver's listing leaves out empty files.
contents() { sed -E 's/[0-9a-f]{4}(:[0-9a-f]{4}){3,7}/GUID/; s/eth0/NETDEV/' | sort -u; }
driver_contents() {
	sed -n '2,/^\[exit/p' "$REF/sysfs-idle.txt" | grep '^/sys' | grep -v '/gid\|/pkeys/' | contents
}
our_contents() {
	local f
	driver_contents | cut -d: -f1 | sort -u | while read -r f; do
		run cat "$f" | sed "s|^|$f:|"
	done | contents
}
same_contents() { diff <(driver_contents) <(our_contents); }

two_hosts
need rdma rping find
ktap_plan 29

check "the same files as the driver's" same_files
check "with the same contents" same_contents
check "GID 0 and its attributes" eval "run cat /sys/class/infiniband/$DEV/ports/1/gids/0 | grep -q '^fe80:' &&
	run cat /sys/class/infiniband/$DEV/ports/1/gid_attrs/types/0 | grep -qx 'RoCE v2' &&
	run cat /sys/class/infiniband/$DEV/ports/1/gid_attrs/ndevs/0 | grep -qx $NETDEV"
check "class links as the driver's" eval "[ \"\$(run readlink /sys/class/infiniband/$DEV)\" = ../../devices/virtual/infiniband/$DEV ]"
start_verbs 2 rping -s -a "$(ip4 2)" -C 3 >/dev/null 2>&1
SERVER=$STARTED
check "an rping" wait_for 10 verbs 1 rping -c -a "$(ip4 2)" -C 3
wait "$SERVER"
check "the CM's messages are counted: sent" eval "[ \"\$(run cat /sys/class/infiniband/$DEV/ports/1/cm_tx_msgs/req)\" -ge 1 ]"
check "and received" eval "[ \"\$(run cat /sys/class/infiniband/$DEV/ports/1/cm_rx_msgs/rep)\" -ge 1 ]"
check "packets, too" eval "[ \"\$(run cat /sys/class/infiniband/$DEV/ports/1/hw_counters/rcvd_pkts)\" -gt 0 ]"

check "every parameter of the page is there" eval "for f in max_ucontext max_qp max_qp_wr max_mr max_fmr max_cq max_log_cqe max_inline_data crc_disable fast_comp fast_req fast_resp fast_arb nsec_per_packet nsec_per_kbyte max_packet_per_ack max_skb_per_qp max_req_comp_gap default_mtu; do run cat $P/\$f || exit 1; done"
check "echo in bash" run bash -c "echo 100 >$P/max_qp"
check "is in the map" holds max_qp 100
check "echo in dash" run dash -c "echo 0x40 >$P/max_qp"
check "hexadecimal as the kernel's" holds max_qp 64
check "/bin/echo, exec'ed with the file" run bash -c "/bin/echo 77 >$P/max_qp"
check "is in the map, too" holds max_qp 77
check "tee" eval "echo 78 | run tee $P/max_qp && holds max_qp 78"
check "dd" eval "printf 79 | run dd of=$P/max_qp conv=notrunc status=none && holds max_qp 79"
check "python" eval "run $PYTHON -c 'open(\"$P/max_qp\",\"w\").write(\"80\")' && holds max_qp 80"
check "printf, appended" eval "run bash -c 'printf 81 >>$P/max_qp' && holds max_qp 81"
check "a boolean takes any nonzero" eval "run bash -c 'echo 5 >$P/crc_disable' && holds crc_disable 1"
run bash -c "echo 0 >$P/crc_disable"
check "bash learns of a refusal" refuses 'Invalid argument' run bash -c "echo nonsense >$P/max_qp"
check "so does dash" refuses '(I/O error|Invalid argument)' run dash -c "echo 99999999 >$P/max_qp"
check "it changed nothing" holds max_qp 81
check "no such parameter" refuses 'No such file' run bash -c "cat $P/nosuch"
check "who is no administrator may not write" refuses 'Permission denied' \
	h1 setpriv --reuid 65534 --clear-groups "$BUILD/rxe" run bash -c "echo 1 >$P/max_qp"
check "but read" h1 setpriv --reuid 65534 --clear-groups "$BUILD/rxe" run cat $P/max_qp

has_mtu() { h1 ip link show $NETDEV | grep -q "mtu $1 "; }
check "the net module's mtu sets both" eval "run bash -c 'echo 512 >/sys/module/rdma_rxe_net/parameters/mtu' &&
	wait_for 5 has_mtu 1280 && wait_for 5 active_mtu 1 512"
check "it is write only" refuses 'not permitted|denied' run cat /sys/module/rdma_rxe_net/parameters/mtu
h1 "$BUILD/rxe" param set mtu 0 >/dev/null
h1 ip link set $NETDEV mtu $MTU
bpftool map update pinned "$(pins 1)/parameters/max_qp" key 0 0 0 0 value $(le32 55)
check "what bpftool sets is read" holds max_qp 55
ktap_done
