# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of the datapaths. Each tests/datapath/NAME.c but the test bed is one
# program; as root they make their own namespaces and veth pairs (77: no root).

DATAPATH_TESTS := $(patsubst tests/datapath/%.c,$(B)/tests/datapath_%,$(filter-out tests/datapath/bed.c,$(wildcard tests/datapath/*.c)))
DATAPATH_TEST_OBJ := $(call obj,tests/datapath/bed.c $(wildcard user/qpmgr/datapath/*.c) user/qpmgr/log.c user/qpmgr/log_libbpf.c user/qpmgr/loop.c)
.SECONDARY: $(call obj,$(wildcard tests/datapath/*.c))

$(B)/tests/datapath_%: $(B)/obj/tests/datapath/%.o $(DATAPATH_TEST_OBJ) $(B)/librxe_common.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

.PHONY: check-datapath
check-datapath: $(BPF_OBJ) $(DATAPATH_TESTS)
	@for t in $(DATAPATH_TESTS); do \
		RXE_BUILD_DIR=$(B) $$t || [ $$? = 77 ] || exit 1; done
CHECK_TARGETS += check-datapath
