#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Installs the Debian packages that building, the demo, the tests or the
# benchmarks need and this host lacks. Elsewhere it prints the list and fails.
#
#   scripts/deps.sh [build] [demo] [check] [bench]      default: build
#   scripts/deps.sh --list ...                          print, install nothing
set -eu

packages() {
	case $1 in
	build) echo gcc libc6-dev make pkg-config clang llvm zlib1g-dev libbpf-dev libxdp-dev \
		libibverbs-dev librdmacm-dev libnl-3-dev libnl-route-3-dev liburcu-dev \
		libisal-dev linux-libc-dev ;;
	demo) echo iproute2 bpftool ibverbs-utils ibverbs-providers procps util-linux ;;
	check) echo clang-format ethtool iperf3 libclang-rt-14-dev libcmocka-dev perftest python3-pyverbs valgrind \
		python3-scapy rdma-core rdmacm-utils tcpdump tshark ;;
	bench) echo iperf3 perftest qperf linux-perf ;;
	*) echo "deps.sh: no such purpose: $1; there are build, demo, check, bench" >&2
	   return 2 ;;
	esac
}

# Those of "$@" that dpkg does not have installed.
missing() {
	local p
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
			echo "$p"
	done
}

list_only=no
wanted=
[ $# -gt 0 ] || set -- build
for purpose in "$@"; do
	if [ "$purpose" = --list ]; then
		list_only=yes
	else
		p=$(packages "$purpose")
		wanted="$wanted $p"
	fi
done
wanted=$(printf '%s\n' $wanted | sort -u)

if [ $list_only = yes ]; then
	echo "$wanted"
	exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "deps.sh: this system has no apt; install what corresponds to these Debian packages:" >&2
	echo "$wanted" | tr '\n' ' ' | fold -s -w 78 >&2
	echo >&2
	exit 1
fi
lacking=$(missing $wanted)
[ -n "$lacking" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "deps.sh: missing packages, and installing them needs root; type:" >&2
	echo "  apt-get install --no-install-recommends" $lacking >&2
	exit 1
fi
echo "deps.sh: installing" $lacking
export DEBIAN_FRONTEND=noninteractive
apt_get() {
	apt-get -q -y --no-install-recommends -o Dpkg::Options::=--force-confold \
		-o DPkg::Lock::Timeout=300 "$@" </dev/null
}
# A stale or absent package index is the usual reason of a first failure.
if ! apt_get install $lacking; then
	apt_get update
	apt_get install $lacking
fi
