#!/bin/sh
# That the documents of the ABI speak of all of it.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT
include=$BERTH_TEST_SRCDIR/sdk/include/berth
documents=$BERTH_TEST_SRCDIR/docs
mkabi=$BERTH_TEST_BUILDDIR/docs/mkabi

"$mkabi" man "$documents/berth-backend.pod" "$include" >"$place/page"
"$mkabi" functions >"$place/functions"

# Every word of the file $2 that does not stand in the file $1 as a word.
missing () {
  while read -r word; do
    grep -q -w -F -e "$word" "$1" || echo "$word"
  done <"$2"
}

# Function pointers of the headers, but those of sinks, sources and services.
grep -h -A2000 -F -- '---- the groups ----' "$include/backend.h" | sed -n 's/^  *[a-z].*(\*\([a-z_]*\)) (.*/\1/p' |
  sort -u >"$place/declared"
sed 's/.*\.//' "$place/functions" | sort -u >"$place/listed"
expect_empty 'the capability table has every function of the headers' "$(comm -3 "$place/declared" "$place/listed")"

expect_empty 'the page has an item for every function' "$(
  while IFS=. read -r group function; do
    sed -n "/^=head2 $group (/,/^=head[12] /p" "$place/page" | grep -q -x -F "=item B<$function>" || echo "$group.$function"
  done <"$place/functions")"

sed -n '/^struct berth_[a-z_]*$/s/struct //p' "$include"/abi.h "$include"/types.h "$include"/services.h "$include"/backend.h |
  grep -v '_ops$' >"$place/structs"
# Members: the last word before a semicolon, inside the braces of a struct.
sed -n '/^struct berth_[a-z_]*$/,/^};/p' "$include"/abi.h "$include"/types.h "$include"/services.h "$include"/backend.h |
  sed -n 's/^  .*[ *]\([a-z_0-9]*\);.*/\1/p' | sort -u >"$place/members"
sed -n 's/^ *\(BERTH_[A-Z_0-9]*\) = .*/\1/p; s/^#define \(BERTH_[A-Z_0-9]*\).*/\1/p' "$include"/abi.h "$include"/types.h \
  "$include"/services.h | grep -v -x -E 'BERTH_(ABI|TYPES|SERVICES)_H' >"$place/constants"
expect_empty 'the page names every struct' "$(missing "$place/page" "$place/structs")"
expect_empty 'the page names every member' "$(missing "$place/page" "$place/members")"
expect_empty 'the page names every constant' "$(missing "$place/page" "$place/constants")"
if [ "$(wc -l <"$place/members")" -gt 200 ] && [ "$(wc -l <"$place/constants")" -gt 150 ]; then
  pass 'members and constants were found in the headers'
else
  fail 'members and constants were found in the headers' "$(wc -l "$place/members" "$place/constants")"
fi

sed -n 's/^  X (\([A-Z_]*\), .*/\1/p' "$include/errors.h" >"$place/errors"
expect_empty 'the page has an item for every error' "$(
  while read -r name; do
    grep -q "^=item B<$name> (" "$place/page" || echo "$name"
  done <"$place/errors")"

# A row for each function and each of the four systems.
expect_empty 'the mapping has a full row for every function' "$(
  while read -r function; do
    grep -F "| \`$function\` |" "$documents/abi-mapping.md" | grep -q -E '^(\| [^|]+ ){5}\|$' || echo "$function"
  done <"$place/functions")"
expect_empty 'the mapping speaks of no other function' "$(
  sed -n 's/^| `\([a-z_]*\.[a-z_]*\)` |.*/\1/p' "$documents/abi-mapping.md" | sort |
    comm -23 - "$(sort -o "$place/functions" "$place/functions" && echo "$place/functions")")"

expect_status 'a mark that is not known is refused' 1 sh -c \
  'printf "=for berth nonsense\n" >"$1/pod" && "$2" man "$1/pod" "$3"' - "$place" "$mkabi" "$include"
finish
