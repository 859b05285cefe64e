#!/bin/sh
# That docs/domain-model.md names files and tests that there are.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

top=$BERTH_TEST_SRCDIR
place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT

sed -n 's/^| \([a-zA-Z].*\) | \(.*\) | \(.*\) |$/\3/p' "$top/docs/domain-model.md" | sed 1d >"$place/shown"
grep -o '"[^"]*" `[^`]*`' "$place/shown" >"$place/tests" || true
grep -o '`[^` ]*/[^` ]*`' "$top/docs/domain-model.md" | tr -d '`' | LC_ALL=C sort -u >"$place/files"

expect_empty 'the page has rows and tests' "$(test -s "$place/tests" && test -s "$place/files" || echo 'none was found')"
expect_empty 'each row says something' "$(grep -v '[a-z]' "$place/shown" || true)"
expect_empty 'each file that is named is there' "$(
  while read -r file; do
    test -e "$top/$file" || echo "$file"
  done <"$place/files")"
expect_empty 'each test that is named is in its file' "$(
  while read -r line; do
    name=${line%\" *} file=${line##*\" }
    file=$(printf '%s' "$file" | tr -d '`')
    grep -qF -e "{ $name\"," -e ".title = $name\"," "$top/$file" || echo "$file has no $name\""
  done <"$place/tests")"
finish
