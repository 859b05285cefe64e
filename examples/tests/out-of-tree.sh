# The examples as a stranger builds them: copied elsewhere, against what `make install` installs, with nothing but
# autotools and pkg-config; the backend then passes berth-conform and is used by the installed `berth`.
set -u
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX") || exit 1
trap 'rm -rf "$place"' EXIT
root=$place/root

for tool in autoreconf libtoolize pkg-config; do
  if ! command -v "$tool" >/dev/null; then
    skip 'examples' "no $tool"
    finish
  fi
done
if [ -n "${BERTH_TEST_CFLAGS:-}" ]; then
  skip 'examples' 'what is installed needs the runtime of a sanitizer'
  finish
fi

# The make that runs the tests has a job server of its own, which this one is not part of.
unset MAKEFLAGS MFLAGS MAKELEVEL

quietly () {
  "$@" >"$place/log" 2>&1 || { tail -n 60 "$place/log"; return 1; }
}

expect_status 'make install' 0 quietly make -s -C "$BERTH_TEST_BUILDDIR" install DESTDIR="$root"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name berth.pc)")
PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
variable () {
  pkg-config --variable="$2" "$1" | sed "s|^$root||; s|^|$root|"
}
ACLOCAL_PATH=$(dirname "$(find "$root" -name berth-backend.m4)")
LD_LIBRARY_PATH=$(variable berth libdir)
BERTH_AGENT=$(variable berth-backend agent)
BERTH_BACKEND_PATH=$(variable berth-backend backenddir)
BERTH_STATE_DIR=$place/s
BERTH_RUNTIME_DIR=$place/r
export ACLOCAL_PATH LD_LIBRARY_PATH BERTH_AGENT BERTH_BACKEND_PATH BERTH_STATE_DIR BERTH_RUNTIME_DIR
berth=$(dirname "$(variable berth-backend conform)")/berth

# build NAME OPTION...: copies it elsewhere and builds it there.
build () {
  cp -R "$BERTH_TEST_SRCDIR/examples/$1" "$place/$1" && chmod -R u+w "$place/$1" && cd "$place/$1" || return 1
  shift
  expect_status "${PWD##*/}: autoreconf" 0 quietly autoreconf -fi
  expect_status "${PWD##*/}: configure" 0 quietly ./configure CC="${CC:-cc}" "$@"
  expect_status "${PWD##*/}: make" 0 quietly make CFLAGS='-O2 -g -Werror'
}

# What is installed below another root is told so; on a machine pkg-config says it.
build backend-chroot backenddir="$BERTH_BACKEND_PATH" BACKEND_MAP="$(variable berth-backend map)" \
  BERTH_CONFORM="$(variable berth-backend conform)"
if [ "$(id -u)" = 0 ]; then
  flags='--quick --suite structure,lifecycle,files,isolation'
  [ -z "${BERTH_TEST_LONG:-}" ] || flags=--long
  expect_status 'backend-chroot: make check' 0 make check VERBOSE=1 CONFORM_FLAGS="$flags"
else
  skip 'backend-chroot: make check' 'needs root'
fi
expect_status 'backend-chroot: make install' 0 quietly make install
expect_empty "no text file of libtool's is installed" "$(find "$BERTH_BACKEND_PATH" -name '*chroot*.la')"
if "$berth" backends 2>&1 | grep -q '^chroot '; then
  pass 'berth backends lists it'
else
  fail 'berth backends lists it' "$("$berth" backends 2>&1)"
fi

build app
if [ "$(id -u)" = 0 ]; then
  expect_status 'berth run uses the backend' 7 "$berth" run --backend chroot --net allow --limits best-effort -- sh -c 'exit 7'
  said=$("$place/app/berth-example" --backend chroot sh -c 'id -un; pwd' 2>&1 | tr '\n' ' ')
  expect_status 'the application runs a program in a sandbox' 0 test "$said" = 'sandbox /workspace '
  expect_empty 'and leaves none' "$("$berth" ls 2>&1 | grep '^sb-')"
else
  skip 'berth run uses the backend' 'needs root'
fi

cd "$place/backend-chroot" || exit 1
expect_status 'backend-chroot: make uninstall' 0 quietly make uninstall
expect_empty 'which leaves nothing of it' "$(find "$root" -name '*chroot*')"
cd "$BERTH_TEST_BUILDDIR" || exit 1
finish
