# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests of the BPF programs (BPF_PROG_TEST_RUN, as root) and of the ICRC in
# user space. Each tests/bpf/NAME.c that is not a helper is one program.

BPF_TEST_HELPERS := tests/bpf/frames.c tests/bpf/harness.c tests/bpf/pcap.c
BPF_TESTS := $(patsubst tests/bpf/%.c,$(B)/tests/bpf_%,$(filter-out $(BPF_TEST_HELPERS),$(wildcard tests/bpf/*.c)))

$(B)/tests/bpf_%: tests/bpf/%.c $(BPF_TEST_HELPERS) $(wildcard tests/bpf/*.h include/rxe/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -o $@ $< $(BPF_TEST_HELPERS) $(LDFLAGS) -lxdp -lbpf -lcmocka -lz

$(B)/tests/unit_icrc: tests/unit/icrc.c user/common/icrc.c user/common/icrc.h tests/bpf/frames.c tests/bpf/pcap.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(WARN) $(CFLAGS) $(CPPFLAGS) -Itests -o $@ $(filter %.c,$^) $(LDFLAGS) -lisal -lcmocka -lz

.PHONY: check-bpf check-icrc
check-bpf: $(BPF_OBJ) $(BPF_TESTS)
	@for t in $(BPF_TESTS); do RXE_BUILD_DIR=$(B) $$t || exit 1; done
check-icrc: $(B)/tests/unit_icrc
	$<
CHECK_TARGETS += check-bpf check-icrc
