# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The connection manager's state machine: its messages against the driver's
# captures, and two of them over a bad link with injected time.
#   make check-cm | check-cm-asan

CM_SRC := $(wildcard user/qpmgr/cm/*.c) user/qpmgr/transport/timer.c
CM_TEST_SRC := tests/unit/cm_bed.c tests/bpf/frames.c tests/bpf/pcap.c
CM_UNITS := cm_mad cm_connect cm_pcaps
CM_LIBS := -lisal -lz -lcmocka

$(call obj,tests/unit/cm_bed.c $(CM_UNITS:%=tests/unit/%.c)): EXTRA_CFLAGS += -Itests
$(CM_UNITS:%=$(B)/tests/%): $(B)/tests/%: $(B)/obj/tests/unit/%.o $(call obj,$(CM_TEST_SRC) $(CM_SRC)) $(B)/librxe_common.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CM_LIBS)
$(CM_UNITS:%=$(B)/tests/asan/%): $(B)/tests/asan/%: $(B)/asan/tests/unit/%.o $(patsubst %.c,$(B)/asan/%.o,$(CM_TEST_SRC) $(CM_SRC) user/common/icrc.c)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ $(CM_LIBS)

# The rdma_cm device, all of it in one process.
UCMA_SRC := $(CM_SRC) $(wildcard user/qpmgr/uapi/ucma*.c) user/qpmgr/loop.c user/qpmgr/log.c
$(B)/tests/ucma: $(B)/obj/tests/unit/ucma.o $(call obj,$(UCMA_SRC))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -lpthread
$(B)/tests/asan/ucma: $(patsubst %.c,$(B)/asan/%.o,tests/unit/ucma.c $(UCMA_SRC))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(ASAN_FLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -lpthread

.PHONY: check-cm check-cm-asan
check-cm: $(CM_UNITS:%=$(B)/tests/%) $(B)/tests/ucma
	@for t in $^; do $$t || exit 1; done
check-cm-asan: $(CM_UNITS:%=$(B)/tests/asan/%) $(B)/tests/asan/ucma
	@for t in $^; do $$t || exit 1; done
CHECK_TARGETS += check-cm check-cm-asan
