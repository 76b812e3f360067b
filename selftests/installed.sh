#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What `make install` puts elsewhere finds its parts there: the demo runs from it.
. "$(dirname "$0")/lib.sh"

TOP=$(dirname "$SELFTESTS")
prefix=$WORK/inst

install_there() { make -s -C "$TOP" B="$BUILD" PREFIX="$prefix" install; }

# The tree must not be what it finds.
demo() { env -u RXE_BINDIR -u BUILD "$prefix/bin/rxe" demo; }

setup_needs
need make rdma ibv_rc_pingpong
[ -e "$TOP/Makefile" ] || skip_all "not in a source tree"
ktap_plan 4
check "make install" install_there
check "rxe doctor" "$prefix/bin/rxe" doctor
check "rxe demo" demo
check "again" demo
ktap_done
