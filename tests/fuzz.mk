# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Fuzzers (clang's libFuzzer, with AddressSanitizer and UBSan). Each
# tests/fuzz/TARGET.c that is named below is one; its inputs are committed in
# tests/fuzz/corpus/TARGET, those that once crashed among them.
#   make check-fuzz                                replays, and a short run each
#   make fuzz FUZZ_SECONDS=600 [FUZZ_TARGET=x]     long, into build/fuzz/found
#   make fuzz-seeds                                writes the seeds anew

FUZZ_SECONDS ?= 600
FUZZ_TARGETS := packets rings uverbs nldev rtnl rdma_cm tunables
FUZZ_TARGET  ?= $(FUZZ_TARGETS)
FUZZ_SAN     := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
FUZZ_LIBS    := -lurcu-qsbr -lpthread

FUZZ_WORLD := tests/fuzz/world.c tests/sim/host.c $(TRANSPORT_SRC)
fuzz_packets_SRC := $(FUZZ_WORLD)
fuzz_packets_RUNS := 3000
fuzz_rings_SRC := $(FUZZ_WORLD) user/qpmgr/doorbell.c
fuzz_rings_RUNS := 300

FUZZ_ROOM := tests/fuzz/room.c tests/fuzz/wire.c tests/fuzz/quiet_log.c $(TRANSPORT_SRC) $(COMMON_SRC) \
	$(filter-out %/main.c %/params.c %/log.c %/log_libbpf.c,$(wildcard user/qpmgr/*.c user/qpmgr/uapi/*.c user/qpmgr/cm/*.c))
fuzz_uverbs_SRC := $(FUZZ_ROOM)
fuzz_uverbs_LIBS := $(LIBS)
fuzz_uverbs_RUNS := 500
fuzz_nldev_SRC := $(FUZZ_ROOM)
fuzz_nldev_LIBS := $(LIBS)
fuzz_nldev_RUNS := 150
fuzz_rdma_cm_SRC := $(FUZZ_ROOM)
fuzz_rdma_cm_LIBS := $(LIBS)
fuzz_rdma_cm_RUNS := 1000
fuzz_tunables_SRC := $(FUZZ_WORLD) tests/fuzz/fake_bpf.c tests/fuzz/quiet_log.c user/cli/param.c user/qpmgr/params.c user/common/param_table.c
fuzz_tunables_LIBS := -Wl,--wrap=rxe_on_bpffs
fuzz_tunables_ARGS := -close_fd_mask=2
fuzz_tunables_RUNS := 3000
fuzz_rtnl_SRC := user/qpmgr/rtnl_parse.c
fuzz_rtnl_LIBS := $(LIBS)
fuzz_rtnl_RUNS := 50000

fuzz_obj = $(patsubst %.c,$(B)/fuzz/obj/%.o,$(1))
$(B)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,FUZZ)
	$(Q)$(CLANG) -std=gnu11 $(WARN) -Wno-gnu-variable-sized-type-not-at-end $(CPPFLAGS) -Itests -MMD -MP $(FUZZ_SAN) -fsanitize=fuzzer-no-link -c $< -o $@
.SECONDARY: $(foreach t,$(FUZZ_TARGETS),$(call fuzz_obj,tests/fuzz/$(t).c $(fuzz_$(t)_SRC)))

define fuzz_target
$(B)/fuzz/$(1): $$(call fuzz_obj,tests/fuzz/$(1).c $$(fuzz_$(1)_SRC))
	$$(call say,LD)
	$$(Q)$$(CLANG) $$(FUZZ_SAN) -fsanitize=fuzzer -o $$@ $$^ $$(FUZZ_LIBS) $$(fuzz_$(1)_LIBS)
check-fuzz-$(1): $(B)/fuzz/$(1)
	@sh tests/fuzz/run.sh check $(B) $(1) $$(fuzz_$(1)_RUNS) $$(fuzz_$(1)_ARGS)
fuzz-$(1): $(B)/fuzz/$(1)
	@sh tests/fuzz/run.sh long $(B) $(1) $$(FUZZ_SECONDS) $$(fuzz_$(1)_ARGS)
.PHONY: check-fuzz-$(1) fuzz-$(1)
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_target,$(t))))

.PHONY: check-fuzz fuzz fuzz-seeds
check-fuzz: $(FUZZ_TARGETS:%=check-fuzz-%)
fuzz: $(FUZZ_TARGET:%=fuzz-%)
fuzz-seeds:
	python3 tests/fuzz/seeds.py tests/fuzz/corpus
CHECK_TARGETS += check-fuzz
