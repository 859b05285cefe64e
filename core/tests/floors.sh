# The floors of the house: what a file of a folder may include. Nothing runs back up, plugins and
# core know nothing of each other, and no two files include each other.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

# The folders that a file of FOLDER may include from, one pattern of `case` a line.
may_include () {
  case $1 in
    sdk/include) echo 'sdk/include/tests/*' ;;
    sdk/base) echo 'sdk/base/*' ;;
    sdk/agent) echo 'sdk/base/*'; echo 'sdk/agent/*' ;;
    sdk/*) echo 'sdk/*' ;;
    core/registry | core/state) echo 'sdk/*'; echo 'core/registry/*'; echo 'core/state/*' ;;
    core/manager) echo 'sdk/*'; echo 'core/registry/*'; echo 'core/state/*'; echo 'core/manager/*' ;;
    core/cli | core/daemon) echo 'sdk/base/*'; echo "$1/*" ;;
    plugins/*) echo 'sdk/*'; echo "$1/*" ;;
    conformance*) echo 'sdk/*'; echo 'core/registry/*'; echo 'conformance/*' ;;
  esac
}

# "file included" of each include in quotes, for the tree at $1.
list_includes () {
  (cd "$1" && find sdk core plugins conformance -name '*.[ch]' 2>/dev/null -exec \
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/;T;F;p' {} + | paste -d ' ' - -)
}

# core/registry/tests/load.c -> core/registry; conformance/broken/x.c -> conformance/broken
folder_of () {
  echo "$1" | cut -d / -f 1-2
}

allowed () {
  case $1:$2 in
    *:config.h) return 0 ;;
    sdk/agent/tests/*:sdk/*) return 0 ;; # they drive the agent through its client
    sdk/agent/*:sdk/base/json.h) return 1 ;;
  esac
  may_include "$(folder_of "$1")" | {
    while read -r pattern; do
      # shellcheck disable=SC2254 # it is a pattern
      case $2 in $pattern) exit 0 ;; esac
    done
    exit 1
  }
}

list_stray () {
  list_includes "$1" | while read -r file included; do
    allowed "$file" "$included" || echo "$file includes \"$included\""
  done
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
