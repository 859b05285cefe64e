# Each public header compiles alone and twice, as strict C99 and as C++17, with each compiler
# that is here, and no struct of the plugin ABI has padding that a compiler might choose.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

include=$BERTH_TEST_SRCDIR/sdk/include
strict='-Wall -Wextra -Wpedantic -Werror -fsyntax-only'

# compile NAME COMPILER LANGUAGE OPTIONS HEADER
compile () {
  if ! command -v "$2" >/dev/null 2>&1; then
    return 0
  fi
  # shellcheck disable=SC2086 # OPTIONS are several words
  if output=$(printf '#include <berth/%s>\n#include <berth/%s>\n' "$5" "$5" \
      | "$2" -x "$3" $4 $strict -I"$include" - 2>&1); then
    pass "$5 $1 with $2"
  else
    fail "$5 $1 with $2" "$output"
  fi
}

for path in "$include"/berth/*.h; do
  header=${path##*/}
  for compiler in gcc clang; do
    compile 'as C99' "$compiler" c '-std=c99 -Wmissing-prototypes -Wstrict-prototypes' "$header"
    compile 'as C17' "$compiler" c -std=c17 "$header"
  done
  for compiler in g++ clang++; do
    compile 'as C++17' "$compiler" c++ -std=c++17 "$header"
  done
  if [ "$(uname -m)" = x86_64 ]; then
    compile 'has no padding' gcc c '-std=c99 -Wpadded' "$header"
  fi
done
finish
