# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The selftests as part of `make check`: namespaces, daemons, real programs.
.PHONY: check-selftests
check-selftests: all
	$(MAKE) -C selftests run_tests B=$(abspath $(B))
CHECK_TARGETS += check-selftests
