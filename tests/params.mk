# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unit test of the tunables tree.
$(B)/tests/params: tests/unit/params.c user/qpmgr/params.c user/qpmgr/pin_tree.c user/common/param_table.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $(filter %.c,$^) -lbpf -lcmocka
.PHONY: check-params
check-params: $(B)/tests/params
	$<
CHECK_TARGETS += check-params
