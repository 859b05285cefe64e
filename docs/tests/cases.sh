#!/bin/sh
# That docs/cases.md and the names of the tests agree.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

top=$BERTH_TEST_SRCDIR
place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT

sed -n 's/^| \(D-[0-9]*\) | .* | \(.*\) |$/\1 \2/p' "$top/docs/cases.md" >"$place/rows"
cut -d ' ' -f 1 "$place/rows" >"$place/numbers"
# Names of tests and titles of clauses are texts in quotes.
(cd "$top" && grep -roE --include='*.c' '"[^"]*D-[0-9]{3}[^"]*"' conformance core plugins sdk) >"$place/names" || true

# Every file that a row names, with the row's number.
while read -r number where; do
  printf '%s\n' "$where" | grep -o '`[a-z][^` ]*/[^` ]*`' | tr -d '`' | sed "s/^/$number /" || true
done <"$place/rows" >"$place/places"

expect_empty 'the page has rows' "$(test -s "$place/places" || echo 'none was found')"
expect_empty 'each case has one row, in order' "$(LC_ALL=C sort -uc "$place/numbers" 2>&1)"
expect_empty 'each row says something' "$(grep -v '[a-z]' "$place/rows" || true)"
expect_empty 'what a row names has a test of its number' "$(
  while read -r number file; do
    grep -F "$file:" "$place/names" | grep -q "^$file:.*$number" || echo "$file has no $number"
  done <"$place/places")"
finish
