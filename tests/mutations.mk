# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Do the tests notice the classic mistakes? tests/mutations/list.sh has them, and
# run.sh makes them one by one in a copy. All of them take some minutes; make check
# tries a few.
#   make check-mutations | check-mutations-some
MUTATIONS_SOME := psn-no-wrap dup-atomic-executes rnr-never-reset range-end \
	use-after-invalidate ack-skips-read

.PHONY: check-mutations check-mutations-some
check-mutations:
	@tests/mutations/run.sh
check-mutations-some:
	@tests/mutations/run.sh -n 200 $(MUTATIONS_SOME)
CHECK_TARGETS += check-mutations-some
