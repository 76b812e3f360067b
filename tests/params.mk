# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit tests of the pin tree: the tunables, the maps of devices.
$(B)/tests/params: tests/unit/params.c user/qpmgr/params.c user/qpmgr/pin_tree.c user/common/param_table.c
$(B)/tests/dev_pins: tests/unit/dev_pins.c user/qpmgr/dev_pins.c user/qpmgr/pin_tree.c user/common/param_table.c
$(B)/tests/params $(B)/tests/dev_pins:
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -lbpf -lcmocka
.PHONY: check-params
check-params: $(B)/tests/params $(B)/tests/dev_pins
	@for t in $^; do $$t || exit 1; done
CHECK_TARGETS += check-params
