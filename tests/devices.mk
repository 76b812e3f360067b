# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of devices, GIDs, routes and NETLINK_RDMA: the real code around a
# recording datapath. Each tests/devices/NAME.c but env.c is one program.

DEVICES_SRC := $(addprefix user/qpmgr/,netns.c rtnl.c rtnl_parse.c gid.c group.c neigh.c device.c \
	device_rules.c authority.c idmap.c loop.c log.c disposal.c dev_pins.c pin_tree.c) $(wildcard user/qpmgr/uapi/nldev*.c user/qpmgr/uapi/sysfs*.c)
DEVICES_TESTS := $(patsubst tests/devices/%.c,$(B)/tests/devices_%,$(filter-out tests/devices/env.c,$(wildcard tests/devices/*.c)))

$(B)/tests/devices_%: $(B)/obj/tests/devices/%.o $(B)/obj/tests/devices/env.o $(call obj,$(DEVICES_SRC)) $(B)/librxe_common.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka
.SECONDARY: $(patsubst tests/devices/%.c,$(B)/obj/tests/devices/%.o,$(wildcard tests/devices/*.c))

.PHONY: check-devices
check-devices: $(DEVICES_TESTS)
	@for t in $^; do $$t || exit 1; done
CHECK_TARGETS += check-devices
