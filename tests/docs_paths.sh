#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every file of this tree that a document names is there. A name counts when it
# stands in backquotes, begins with a directory of the tree, and holds no
# pattern. The converse: docs/architecture.md names every source of user/, by
# its name, its .c file's (a header), or a pattern like `user/cli/*`. TAP.
cd "$(dirname "$0")/.." || exit 1

echo "TAP version 13"
echo "1..2"
missing=$(grep -oE '`(bpf|bench|docs|include|man|scripts|selftests|tests|user|LICENSES)/[A-Za-z0-9_./-]*`' \
	README.md docs/*.md | tr -d '`' | sort -u |
	while IFS=: read -r doc path; do
		[ -e "$path" ] || echo "# $doc names $path, which is not there"
	done)
if [ -z "$missing" ]; then
	echo "ok 1 the documents name files that exist"
else
	echo "not ok 1 the documents name files that exist"
	echo "$missing"
	failed=1
fi

# Is $1 named in the document, by itself or by a pattern?
named() {
	for pattern in $patterns; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done
	return 1
}
set -f
patterns=$(grep -oE '`user/[A-Za-z0-9_./*-]*`' docs/architecture.md | tr -d '`' | grep -v '/$' | sort -u)
unnamed=$(find user -name '*.[ch]' | sort | while read -r file; do
	named "$file" || { [ "${file%.h}" != "$file" ] && named "${file%.h}.c"; } || echo "# $file"
done)
if [ -z "$unnamed" ]; then
	echo "ok 2 docs/architecture.md names every source of user/"
else
	echo "not ok 2 docs/architecture.md names every source of user/"
	echo "$unnamed"
	failed=1
fi
exit ${failed:-0}
