# The floors of the house: what a file of a folder may include. Nothing runs back up, plugins and
# core know nothing of each other, and no two files include each other.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

# "file included" of each include in quotes, for the tree at $1.
list_includes () {
  (cd "$1" && find sdk core plugins conformance -name '*.[ch]' 2>/dev/null -exec \
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/;T;F;p' {} + | paste -d ' ' - -)
}

# Where an include may point to, by the folder that it is in; a pattern for each floor below.
list_stray () {
  list_includes "$1" | awk '
    function below (file) {
      if (file ~ /^sdk\/include\//) return "^sdk/include/tests/"
      if (file ~ /^sdk\/base\//) return "^sdk/base/"
      if (file ~ /^sdk\/agent\/tests\//) return "^sdk/" # they drive the agent through its client
      if (file ~ /^sdk\/agent\//) return "^sdk/(agent/|base/[^j])" # no JSON, which is not libc
      if (file ~ /^sdk\//) return "^sdk/"
      if (file ~ /^core\/(registry|state)\//) return "^(sdk|core/registry|core/state)/"
      if (file ~ /^core\/manager\//) return "^(sdk|core/registry|core/state|core/manager)/"
      if (match (file, /^core\/(cli|daemon)\//)) return "^(sdk/base|sdk/archive|" substr (file, 1, RLENGTH - 1) ")/"
      if (match (file, /^plugins\/[^\/]*\//)) return "^(sdk|" substr (file, 1, RLENGTH - 1) ")/"
      if (file ~ /^conformance\//) return "^(sdk|core/registry|conformance)/"
      return "^$"
    }
    $2 != "config.h" && $2 !~ below ($1) { printf "%s includes \"%s\"\n", $1, $2 }'
}

# The public application API is for applications, core/manager and the command: not for plugins.
list_berth_h () {
  (cd "$1" && grep -rlE '^[ \t]*#[ \t]*include[ \t]*[<"]berth/berth\.h' plugins sdk --include='*.[ch]' 2>/dev/null) || true
}

list_loops () {
  list_includes "$1" | grep -v ' config\.h$' | tsort 2>&1 >/dev/null || true
}

expect_empty 'no include between floors goes up or across' "$(list_stray "$BERTH_TEST_SRCDIR")"
expect_empty 'no plugin and nothing in the SDK uses the application API' "$(list_berth_h "$BERTH_TEST_SRCDIR")"
expect_empty 'no two files include each other' "$(list_loops "$BERTH_TEST_SRCDIR")"

# The rule itself, on a tree that breaks it once in each way.
place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT

stray () {
  mkdir -p "$place/$(dirname "$1")"
  printf '#include "%s"\n' "$2" >"$place/$1"
  if [ "$(list_stray "$place")" = "$1 includes \"$2\"" ]; then
    pass "refused: $1 includes $2"
  else
    fail "refused: $1 includes $2" "$(list_stray "$place")"
  fi
  rm "$place/$1"
}

stray sdk/include/berth/abi.h sdk/base/buffer.h
stray sdk/base/fd.c sdk/archive/write.h
stray sdk/base/fd.c fd.h
stray sdk/agent/main.c sdk/agentlink/agentlink.h
stray sdk/agent/main.c sdk/base/json.h
stray sdk/agentlink/run.c core/registry/registry.h
stray core/registry/load.c core/manager/manager.h
stray core/state/open.c plugins/ns/ns.h
stray core/manager/create.c core/cli/cli.h
stray core/manager/create.c plugins/fake/fake.h
stray core/cli/run.c core/manager/manager.h
stray plugins/ns/create.c core/registry/registry.h
stray plugins/ns/tests/create.c plugins/fake/fake.h
stray conformance/suite.c core/manager/manager.h
stray conformance/plain/plain.c plugins/ns/ns.h
stray plugins/ns/create.c ../fake/fake.h

printf '#include "sdk/base/b.h"\n' >"$place/sdk/base/a.h"
printf '#include "sdk/base/a.h"\n' >"$place/sdk/base/b.h"
case $(list_loops "$place") in
  *loop*) pass 'refused: two files that include each other' ;;
  *) fail 'refused: two files that include each other' ;;
esac
finish
