# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The style of the sources (.clang-format; tables of macros are left alone).
CHECK_TARGETS += format-check

# The documents against what they describe: rxe(7) and the parameter table,
# the man pages' macros, the files that the documents name, docs/features.md.
.PHONY: check-docs
check-docs:
	@sh tests/params_man.sh
	@sh tests/docs_paths.sh
	@sh tests/docs_features.sh
CHECK_TARGETS += check-docs
