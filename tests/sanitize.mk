# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Units and daemon under the sanitizers and valgrind. The fuzzers and the -asan
# targets of the units are elsewhere.
#   make SANITIZE=address,undefined|thread          build/asan/rxed, build/tsan/rxed
#   make check-daemon-asan check-daemon-tsan        selftests against those
#   make check-tsan                                 units under ThreadSanitizer
#   make check-valgrind                             units under valgrind
# Of each, make check has the part named ...-some. There is no suppression.

# SELFTEST:REGEX, the checks of that selftest to run.
SANITIZED_TESTS ?= 'rc_pingpong.sh:one SEND|mtu 9000 size (1|33|1048576) path mtu (256|4096)|XDP|ICRC' \
	client_killed.sh memory_windows.sh multicast.sh srq_pingpong.sh ud_pingpong.sh params_wire.sh cm_programs.sh
SANITIZED_SOME := 'rc_pingpong.sh:one SEND|mtu 9000 size (33|1048576) path mtu 4096|ICRC' client_killed.sh \
	'cm_programs.sh:ucmatose, IPv4|udaddy, IPv4|rstream, IPv4|nothing left'
TSAN_UNITS    ?= check-daemon check-datapath check-icrc
TSAN_SOME     := check-daemon check-icrc
# Not "possible": that is the stack of a detached thread at the end of its life.
VALGRIND := timeout -k 10 300 valgrind -q --error-exitcode=9 --leak-check=full \
	--errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes
VALGRIND_SOME := tests/unit_event tests/unit_loop tests/unit_uioctl tests/unit_idmap tests/ucma tests/cm_mad \
	tests/transport_pkt tests/transport_mr tests/transport_mcast tests/transport_srq tests/transport_qp
# Not unit_mem: a thread of it waits on a page that never comes, and valgrind runs no other meanwhile.
VALGRIND_ALL  := $(filter-out tests/unit_mem,$(DAEMON_UNITS:%=tests/unit_%)) $(CM_UNITS:%=tests/%) tests/ucma \
	$(TRANSPORT_UNITS:%=tests/%)

# rxed looks for its BPF objects beside itself.
.PHONY: sanitized-rxed
sanitized-rxed: $(B)/rxed $(BPF_OBJ)

.PHONY: check-daemon-asan check-daemon-tsan check-daemon-asan-some check-daemon-tsan-some
.PHONY: check-tsan check-tsan-some check-valgrind check-valgrind-some
check-daemon-asan: all
	@$(MAKE) --no-print-directory SANITIZE=address,undefined sanitized-rxed
	@$(MAKE) --no-print-directory -C selftests B=$(abspath $(B)) all
	@tests/sanitized.sh build/asan/rxed $(SANITIZED_TESTS)
check-daemon-tsan: all
	@$(MAKE) --no-print-directory SANITIZE=thread sanitized-rxed
	@$(MAKE) --no-print-directory -C selftests B=$(abspath $(B)) all
	@tests/sanitized.sh build/tsan/rxed $(SANITIZED_TESTS)
check-daemon-asan-some check-daemon-tsan-some: check-daemon-%-some:
	@$(MAKE) --no-print-directory check-daemon-$* SANITIZED_TESTS="$(SANITIZED_SOME)"
check-tsan:
	@TSAN_OPTIONS="halt_on_error=1:$(TSAN_OPTIONS)" $(MAKE) --no-print-directory SANITIZE=thread $(TSAN_UNITS)
check-tsan-some:
	@$(MAKE) --no-print-directory check-tsan TSAN_UNITS="$(TSAN_SOME)"

check-valgrind: units = $(VALGRIND_ALL)
check-valgrind-some: units = $(VALGRIND_SOME)
check-valgrind check-valgrind-some:
	@$(MAKE) --no-print-directory $(units:%=$(B)/%)
	@for t in $(units); do \
		$(VALGRIND) $(B)/$$t >$(B)/valgrind.log 2>&1 || { \
			tail -n 60 $(B)/valgrind.log; echo "not ok: $$t under valgrind"; exit 1; }; \
		echo "ok: $$t under valgrind"; done

CHECK_TARGETS += check-tsan-some check-daemon-asan-some check-daemon-tsan-some check-valgrind-some
