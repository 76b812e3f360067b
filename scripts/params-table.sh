#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The parameter list of rxe(7), made from the table in include/rxe/params.h, so
# that the page cannot say anything else than the program.
#
#	scripts/params-table.sh			prints it (mdoc)
#	scripts/params-table.sh --update	writes it into man/rxe.7
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
page=$top/man/rxe.7
begin='.\" Parameters: made by scripts/params-table.sh'
end='.\" End of parameters'

# One line a row, fields separated by "|"; the preprocessor does the reading.
rows() {
	printf '%s\n' '#include "rxe/params.h"' \
		'#define ROW(sym, name, unit, def, min, max, when, help) @name|unit|def|min|max|when|help' \
		'RXE_PARAMS(ROW)' |
		${CC:-cc} -E -P -I"$top/include" -x c - | tr '\n@' ' \n' | grep '|'
}

# An mdoc list item a row. Quotes go; a help text becomes a sentence.
items() {
	awk -F'|' '{
		for (i = 1; i <= NF; i++)
			gsub(/^[ "]+|[ "]+$/, "", $i)
		printf ".It Cm %s\n%s.\n", $1, toupper(substr($7, 1, 1)) substr($7, 2)
		printf "Default: %s (%s).\nRange: %s to %s.\n%s.\n", $3, $2, $4, $5,
		       $6 == "CREATE" ? "Read when a device is created" : "Acts at once"
	}'
}

if [ "${1:-}" != --update ]; then
	rows | items
	exit 0
fi
new=$(mktemp)
trap 'rm -f "$new"' EXIT
rows | items >"$new"
# By the environment: -v would read the backslashes as escapes.
BEGIN=$begin END=$end NEW=$new awk '
	$0 == ENVIRON["END"] { inside = 0 }
	!inside { print }
	$0 == ENVIRON["BEGIN"] {
		inside = 1
		while ((getline line < ENVIRON["NEW"]) > 0)
			print line
	}' "$page" >"$page.new"
mv "$page.new" "$page"
