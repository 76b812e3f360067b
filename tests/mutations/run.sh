#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Breaks the transport, the ICRC and the packet parser in the ways of list.sh, one
# at a time, in a copy of the tree, and says who noticed: the unit tests, the
# simulation and at which seed. What nobody notices, or not who must, fails. TAP.
#
#   run.sh [-n SIM_SEEDS] [NAME...]
cd "$(dirname "$0")/../.." || exit 1

SEEDS=600
[ "$1" != -n ] || { SEEDS=$2; shift 2; }
WORK=$(mktemp -d /tmp/rxe-mutations.XXXXXX) || exit 1
trap 'rm -rf "$WORK"' EXIT
B=$WORK/build
# Those that stand in front of functions of libc are linked by their own rule, each time.
WRAPPING=" $(grep -l __wrap_ tests/unit/transport_*.c | sed 's,.*/,,; s/\.c$//' | tr '\n' ' ')"
UNITS=$(cd tests/unit && ls transport_*.c | sed 's/\.c$//')
LIBS="-lurcu-qsbr -lisal -lz -lpthread"
WANTED=" $* "
NAMES=() WHOS=() FILES=() SEDS=() WHATS=()
m() {
	[ "$WANTED" = "  " ] || [[ $WANTED = *" $1 "* ]] || return 0
	NAMES+=("$1") WHOS+=("$2") FILES+=("$3") SEDS+=("$4") WHATS+=("$5")
}
. tests/mutations/list.sh

nr=0 failed=0
ok() { nr=$((nr + 1)); echo "ok $nr $*"; }
not_ok() { nr=$((nr + 1)); failed=$((failed + 1)); echo "not ok $nr $*"; }

# The copy's make; what it says is in $WORK/make.log.
copy_make() { make -C "$WORK" B=build CFLAGS="-O1 -g -fPIC -Wno-error" "$@" >"$WORK/make.log" 2>&1; }

# The tests of the transport are linked once, with the library to be broken shared.
link_tests() {
	local objs u more
	objs=$(cd "$WORK" && ls build/obj/tests/sim/{host,bed}.o | sed "s,^,$WORK/,")
	for u in $UNITS; do
		[[ $WRAPPING = *" $u "* ]] && continue
		more=
		[ "$u" != transport_pcaps ] || more="$B/obj/tests/bpf/frames.o $B/obj/tests/bpf/pcap.o"
		gcc -o "$B/$u" "$B/obj/tests/unit/$u.o" $objs $more -L"$B" -lbroken $LIBS -lcmocka || return 1
	done
	gcc -o "$B/sim" $(ls "$B"/obj/tests/sim/*.o | grep -v /bed.o) -L"$B" -lbroken $LIBS
}
make_library() {
	copy_make build/librxe_transport.a &&
		gcc -shared -o "$B/libbroken.so" -Wl,--whole-archive "$B/librxe_transport.a" \
			-Wl,--no-whole-archive $LIBS
}
set_up() {
	mkdir -p "$WORK" && cp -r Makefile include user bpf tests "$WORK/" &&
		copy_make $(for u in $UNITS; do echo "build/obj/tests/unit/$u.o"; done) \
			$(for s in tests/sim/*.c tests/bpf/frames.c tests/bpf/pcap.c; do echo "build/obj/${s%.c}.o"; done) &&
		make_library && link_tests
}

# ran NAME COMMAND...: with a bound; what it said is in $WORK/NAME.log.
ran() {
	local name=$1
	shift
	(ulimit -c 0; cd "$WORK" && LD_LIBRARY_PATH=$B timeout 60 "$@") >"$WORK/$name.log" 2>&1
}
run_sim() { ran sim "$B/sim" --seeds "$SEEDS"; }
run_unit() {
	if [[ $WRAPPING = *" $1 "* ]]; then
		copy_make "build/tests/$1" && ran "$1" "$B/tests/$1"
	else
		ran "$1" "$B/$1"
	fi
}
# The unit of the broken file first: it should know best.
failing_unit() { # FILE
	local own u
	own=transport_$(basename "$1" | sed 's/\..*//')
	[[ " $(echo $UNITS) " = *" $own "* ]] || own=
	for u in $own $UNITS; do
		run_unit "$u" || { echo "$u"; return 0; }
	done
	return 1
}
why_unit() {
	local test
	test=$(grep -oE 'FAILED  \] [a-z0-9_]+' "$WORK/$1.log" | head -n 1 | sed 's/.*\] //')
	[ -n "$test" ] || test=$(grep -oE 'RUN      \] [a-z0-9_]+' "$WORK/$1.log" | tail -n 1 | sed 's/.*\] //')
	echo "$test"
}
why_sim() {
	local said
	said=$(grep -m 1 '^FAIL' "$WORK/sim.log")
	echo "${said:-it crashed or hung}"
}
make_icrc() { copy_make build/tests/unit_icrc; }
run_icrc() { ran icrc "$B/tests/unit_icrc"; }
make_bpf() { copy_make build/rxe_xdp.bpf.o build/tests/bpf_xdp_verdicts build/tests/bpf_xdp_icrc; }
run_bpf() {
	local t
	for t in xdp_verdicts xdp_icrc; do
		ran bpf env RXE_BUILD_DIR="$B" "$B/tests/bpf_$t" || return 1
	done
}

# Who noticed is in $noticed; status: whether who must did.
look_for() { # WHO FILE
	local unit rc=1 make=make_library
	noticed=
	case $1 in
	icrc | bpf) make=make_$1 ;;
	esac
	$make || { noticed="nobody, since it does not build"; return 1; }
	case $1 in
	icrc | bpf)
		if ! "run_$1"; then noticed="tests of the $1" rc=0; fi
		return $rc ;;
	esac
	unit=$(failing_unit "$2") && { noticed="$unit:$(why_unit "$unit")"; [ "$1" = sim ] || rc=0; }
	run_sim || { noticed="$noticed${noticed:+; }$(why_sim)"; [ "$1" = unit ] || rc=0; }
	[ "$1" != unit ] || [ -n "$unit" ] || rc=1
	return $rc
}

break_and_look() { # INDEX
	local file=${FILES[$1]} title="${NAMES[$1]}: ${WHATS[$1]}" lines
	cp "$WORK/$file" "$WORK/clean"
	sed -i "${SEDS[$1]}" "$WORK/$file"
	lines=$(diff "$WORK/clean" "$WORK/$file" | grep -c '^<')
	if [ "$lines" != 1 ]; then
		not_ok "$title (the change fits $lines lines of $file)"
	elif [ "${WHOS[$1]}" = bpf ] && [ "$(id -u)" != 0 ]; then
		ok "$title # SKIP needs root"
	elif look_for "${WHOS[$1]}" "$file"; then
		ok "$title ($noticed)"
	else
		not_ok "$title (must be noticed by ${WHOS[$1]}; by: ${noticed:-nobody})"
	fi
	cp "$WORK/clean" "$WORK/$file"
}

echo "TAP version 13"
echo "1..$((${#NAMES[@]} + 1))"
set_up || { cat "$WORK/make.log"; not_ok "the copy builds"; exit 1; }
if failing_unit . || ! run_sim; then
	not_ok "unbroken, all pass"
	exit 1
fi
ok "unbroken, all pass"
for i in "${!NAMES[@]}"; do
	break_and_look "$i"
done
echo "# ${#NAMES[@]} ways to break it, $failed not noticed as they must be"
[ $failed = 0 ]
