# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The selftests as part of `make check`: namespaces, daemons, real programs.
.PHONY: check-selftests
check-selftests: all
	$(MAKE) -C selftests run_tests B=$(abspath $(B))
CHECK_TARGETS += check-selftests

# Beside the kernel's own rdma_rxe, in a virtual machine (selftests/peervm). Not part of
# check: it installs qemu and fetches a kernel the first time.
INTEROP := $(filter-out %_lib.sh,$(notdir $(wildcard selftests/interop_*.sh)))
.PHONY: check-interop
check-interop:
	@scripts/deps.sh build demo check
	@$(MAKE) -j$$(nproc) --no-print-directory all
	$(MAKE) -C selftests run_tests B=$(abspath $(B)) TESTS="$(INTEROP)"
