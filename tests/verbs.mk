# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of the preload library. tests/verbs/NAME.c are programs linked with the
# library in front of libc, against a daemon that echoes; tests/unit/{fdtable,
# paths}.c link its parts; programs.sh runs ordinary programs under it.

VERBS_TESTS := $(patsubst tests/verbs/%.c,$(B)/tests/verbs_%,$(filter-out tests/verbs/fake_rxed.c,$(wildcard tests/verbs/*.c)))
VERBS_UNITS := $(B)/tests/unit_fdtable $(B)/tests/unit_paths
VERBS_PARTS := $(filter-out user/verbs/wrap_%.c user/verbs/next.c,$(VERBS_SRC)) user/common/ipc.c

$(B)/tests/verbs_%: tests/verbs/%.c tests/verbs/fake_rxed.c tests/verbs/fake_rxed.h $(B)/librxe_verbs.so
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -o $@ $< tests/verbs/fake_rxed.c user/common/ipc.c \
		$(LDFLAGS) -Wl,--no-as-needed -L$(B) -l:librxe_verbs.so -Wl,-rpath,$(abspath $(B)) -lcmocka -lpthread

$(VERBS_UNITS): $(B)/tests/unit_%: tests/unit/%.c $(VERBS_PARTS) user/verbs/internal.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -o $@ $< $(VERBS_PARTS) $(LDFLAGS) -lcmocka -lpthread

.PHONY: check-verbs
check-verbs: $(VERBS_TESTS) $(VERBS_UNITS) $(B)/librxe_verbs.so
	@for t in $(VERBS_UNITS) $(VERBS_TESTS); do $$t || exit 1; done
	@sh tests/verbs/programs.sh $(abspath $(B))/librxe_verbs.so
CHECK_TARGETS += check-verbs
