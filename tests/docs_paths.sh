#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every file of this tree that a document names is there. A name counts when it
# stands in backquotes, begins with a directory of the tree, and holds no
# pattern. TAP.
cd "$(dirname "$0")/.." || exit 1

echo "TAP version 13"
echo "1..1"
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
	exit 1
fi
