# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What rxed of host N holds, and whether it rests: shared by fault_lib.sh and
# fault_net_lib.sh, on top of lib.sh. Sourced; no test of its own.

# Objects of all devices.
objects_of() {
	host "$1" "$BUILD/rxe" stat | awk '$2 ~ /^(contexts|pds|mrs|mws|cqs|qps|ahs|srqs|cm_ids|cm_connections|mcast_groups|mcast_attached)$/ { printf "%s=%s ", $2, $3 }'
}
descriptors_of() { find "/proc/${RXED_PID[$1]}/fd" -mindepth 1 | wc -l; }
threads_and_rings_of() {
	local pid=${RXED_PID[$1]}
	echo "threads=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" \
		"rings=$(grep -c memfd: "/proc/$pid/maps")"
}

# Clock ticks of processor time that it has taken.
ticks_of() { sed 's/.*) //' "/proc/${RXED_PID[$1]}/stat" | awk '{ print $12 + $13 }'; }
# rests N: less than a tenth of a processor over a second.
rests() {
	local before hz
	before=$(ticks_of "$1") hz=$(getconf CLK_TCK)
	sleep 1
	[ $((($(ticks_of "$1") - before) * 10)) -lt "$hz" ]
}
