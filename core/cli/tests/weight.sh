# What berth is linked with, and that what it prints for other programs can be read by them.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT
cd "$BERTH_TEST_BUILDDIR"
berth=core/cli/.libs/berth
[ -x "$berth" ] || berth=core/cli/berth

needed () {
  ${OBJDUMP:-objdump} -p "$1" | sed -n 's/^ *NEEDED *//p'
}

# A sanitizer's runtime is the build's affair.
others () {
  needed "$1" | grep -v -E '^lib(asan|ubsan|tsan|c|pthread|m|gcc_s)\.so|^ld-' | grep -v -E "$2" || true
}

expect_empty 'berth is linked with libberth and json-c' "$(others "$berth" '^lib(berth|json-c)\.so')"
expect_empty 'libberth is linked with json-c, sqlite3 and ltdl' \
  "$(others core/.libs/libberth.so '^lib(json-c|sqlite3|ltdl|dl)\.so')"
expect_empty 'berth uses nothing of libberth that berth.h does not declare' \
  "$(nm -D --undefined-only "$berth" | sed -n 's/^ *U \(berth_[a-z0-9_]*\).*/\1/p' | while read -r name; do
    grep -q "[ *]$name (" "$BERTH_TEST_SRCDIR/sdk/include/berth/berth.h" || echo "$name"
  done)"

for shell in bash zsh fish; do
  command -v $shell >/dev/null || continue
  core/cli/berth completion $shell >"$place/completion"
  expect_status "$shell reads its completion" 0 $shell -n "$place/completion"
done

complete () {
  bash -c 'eval "$(core/cli/berth completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _berth; echo "${COMPREPLY[*]}"' \
    - "$@"
}
expect_text () {
  if [ "$2" = "$3" ]; then
    pass "$1"
  else
    fail "$1" "got \"$2\", want \"$3\""
  fi
}
if command -v bash >/dev/null; then
  expect_text 'a command is completed' "$(complete berth ins)" inspect
  expect_text 'an option is completed' "$(complete berth --json run --mem)" --memory
  expect_text 'a choice is completed' "$(complete berth run --net d)" deny
fi

# The n-th piece of C in the README.
piece () {
  awk -v wanted="$1" '/^```c$/ { count++; inside = 1; next } /^```$/ { inside = 0 } inside && count == wanted' \
    "$BERTH_TEST_SRCDIR/README.md"
}
for number in 1 2; do
  piece $number >"$place/piece.c"
  expect_status "piece $number of the README compiles" 0 ${CC:-cc} -std=gnu17 -Wall -Wextra -Werror -fsyntax-only \
    -I"$BERTH_TEST_SRCDIR/sdk/include" "$place/piece.c"
done

missing_commands () {
  core/cli/berth help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r word; do
    grep -q "^\.SS.*berth $word" docs/berth.1 || echo "$word"
  done
}
if [ -f docs/berth.1 ]; then
  expect_empty 'every command is in the man page' "$(missing_commands)"
else
  skip 'every command is in the man page' 'there is no pod2man here'
fi
finish
