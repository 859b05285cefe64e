#!/bin/sh
# That docs/security.md names tests that there are, and of /proc what the mounts cover.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

top=$BERTH_TEST_SRCDIR
page=$top/docs/security.md
place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT

sed -n '/^## Which test shows what/,$p' "$page" >"$place/table"
grep -o '"[^"]*" `[^`]*`' "$place/table" >"$place/tests" || true
sed -n '/^machine beside the sandbox is covered:/,/`\./p' "$page" | tr '\n' ' ' | sed 's/.*: `//; s/`.*//' | tr ' ' '\n' | LC_ALL=C sort >"$place/told"
grep -o '"proc/[^"]*"' "$top/plugins/ns/root.c" | tr -d '"' | sed 's|^proc/||' | grep -vx -e sys -e 1 | LC_ALL=C sort >"$place/covered"

expect_empty 'the table has rows' "$(test "$(wc -l <"$place/tests")" -ge 30 || echo 'too few')"
expect_empty 'each row names a test' "$(sed 1,6d "$place/table" | grep '^|' | grep -v '" `' | grep -v -e '^| promise' -e '^|---' || true)"
expect_empty 'each test that is named is in its file' "$(
  while read -r line; do
    name=${line%\" *} file=${line##*\" }
    file=$(printf '%s' "$file" | tr -d '`')
    grep -qF -e "$name\"," -e "'${name#\"}'" "$top/$file" || echo "$file has no $name\""
  done <"$place/tests")"
expect_empty 'what is told to be covered of /proc is' "$(diff "$place/told" "$place/covered" || true)"
finish
