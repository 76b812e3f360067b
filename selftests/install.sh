#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What `make install` puts into a prefix works from there, away from the tree.
. "$(dirname "$0")/lib.sh"

need make
need_build
PREFIX_DIR=$WORK/root/usr/local
make -s -C "$SELFTESTS/.." install B="$BUILD" DESTDIR="$WORK/root" >"$WORK/install.out" 2>&1 ||
	{ cat "$WORK/install.out"; hosts_failed "make install fails"; }
RXE_BINDIR=$PREFIX_DIR/bin
RXED=$PREFIX_DIR/sbin/rxed
two_hosts
ktap_plan 5
check "rxe run finds the library" verbs 1 ibv_devinfo -d $DEV
check "rxed found its BPF objects" rxed_said 1 'XDP program attached'
check "traffic" pingpong ibv_rc_pingpong -c -n 100
check "the pages are there" test -s "$PREFIX_DIR/share/man/man8/rxed.8" -a -s "$PREFIX_DIR/share/man/man7/rxe.7"
check "rxe demo runs from there" timeout 120 "$PREFIX_DIR/bin/rxe" demo
ktap_done
