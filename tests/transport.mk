# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The transport library's units and its simulation. Each tests/unit/transport_X.c
# is the unit of user/qpmgr/transport/X.c, but transport_pcaps, which replays the
# driver's captures. check-transport-asan is the same
# under AddressSanitizer and UBSan.
#   make check-transport | check-transport-asan | sim SIM_SEEDS=100000

SIM_SEEDS ?= 10000
SIM_START ?= 1

TRANSPORT_UNITS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/transport_*.c))
TRANSPORT_TEST_LIBS := -lurcu-qsbr -lisal -lz -lpthread
TRANSPORT_PCAP_SRC := tests/bpf/frames.c tests/bpf/pcap.c
TRANSPORT_BED_SRC := tests/sim/host.c tests/sim/bed.c
TRANSPORT_SIM_SRC := tests/sim/host.c tests/sim/link.c tests/sim/pool.c tests/sim/plan.c tests/sim/traffic.c tests/sim/pair.c tests/sim/group.c tests/sim/big_read.c tests/sim/sim.c
ASAN_FLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
asan_obj = $(patsubst %.c,$(B)/asan/%.o,$(1))

$(call obj,$(wildcard tests/sim/*.c)): EXTRA_CFLAGS += -Itests
$(call obj,$(TRANSPORT_UNITS:%=tests/unit/%.c)): EXTRA_CFLAGS += -Itests
$(B)/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests $(ASAN_FLAGS) -c $< -o $@

$(B)/tests/transport_sim: $(call obj,$(TRANSPORT_SIM_SRC)) $(B)/librxe_transport.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TRANSPORT_TEST_LIBS)
$(TRANSPORT_UNITS:%=$(B)/tests/%): $(B)/tests/%: $(B)/obj/tests/unit/%.o $(call obj,$(TRANSPORT_BED_SRC)) $(B)/librxe_transport.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TRANSPORT_TEST_LIBS) -lcmocka
$(B)/tests/transport_pcaps: $(call obj,$(TRANSPORT_PCAP_SRC))
$(B)/tests/asan/transport_pcaps: $(call asan_obj,$(TRANSPORT_PCAP_SRC))

$(B)/tests/asan/transport_sim: $(call asan_obj,$(TRANSPORT_SIM_SRC) $(TRANSPORT_SRC))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ $(TRANSPORT_TEST_LIBS)
$(TRANSPORT_UNITS:%=$(B)/tests/asan/%): $(B)/tests/asan/%: $(B)/asan/tests/unit/%.o $(call asan_obj,$(TRANSPORT_BED_SRC) $(TRANSPORT_SRC))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ $(TRANSPORT_TEST_LIBS) -lcmocka

# The test makes an allocation fail.
$(B)/tests/transport_requester $(B)/tests/asan/transport_requester: LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc

.PHONY: check-transport check-transport-asan sim
check-transport: $(TRANSPORT_UNITS:%=$(B)/tests/%) $(B)/tests/transport_sim
	@for t in $(TRANSPORT_UNITS); do $(B)/tests/$$t || exit 1; done
	$(B)/tests/transport_sim --start $(SIM_START) --seeds $(SIM_SEEDS)
	$(B)/tests/transport_sim --start $(SIM_START) --seeds 500 --loss 20
check-transport-asan: $(TRANSPORT_UNITS:%=$(B)/tests/asan/%) $(B)/tests/asan/transport_sim
	@for t in $(TRANSPORT_UNITS); do $(B)/tests/asan/$$t || exit 1; done
	$(B)/tests/asan/transport_sim --start $(SIM_START) --seeds 300
sim: $(B)/tests/transport_sim
	$< --start $(SIM_START) --seeds $(SIM_SEEDS)
CHECK_TARGETS += check-transport check-transport-asan
