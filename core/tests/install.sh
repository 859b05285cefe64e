# What `make install` puts where, that an author of a backend or an application needs nothing but
# pkg-config to use it, and that `make uninstall` takes all of it away again.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$place"' EXIT
root=$place/root
cd "$BERTH_TEST_BUILDDIR"

# The make that runs the tests has a job server of its own, which this one is not part of.
unset MAKEFLAGS MFLAGS MAKELEVEL

make_quietly () {
  make -s "$@" DESTDIR="$root" >"$place/log" 2>&1 || { cat "$place/log"; return 1; }
}

variable () {
  PKG_CONFIG_PATH=$pc pkg-config --variable="$2" "$1"
}

expect_status 'make install' 0 make_quietly install
cd "$root"
pc=$root$(dirname "$(find . -name berth.pc | sed 's/^\.//')")

expect_empty "libtool's text files are not installed" "$(find . -name '*.la' -o -name '*.a')"
expect_empty 'programs and libraries are not writable by others' \
  "$(find . -type f -perm /022; find . -type f -name '*.so*' ! -perm -0444)"
for header in "$BERTH_TEST_SRCDIR"/sdk/include/berth/*.h; do
  name=${header##*/}
  expect_status "berth/$name is installed" 0 cmp "$header" "$root$(variable berth includedir)/berth/$name"
done
expect_empty 'berth-backend links nothing' "$(PKG_CONFIG_PATH=$pc pkg-config --libs berth-backend)"
if [ "$(variable berth-backend abi)" = 1 ]; then
  pass 'berth-backend tells the ABI'
else
  fail 'berth-backend tells the ABI' "$(variable berth-backend abi)"
fi
case $(variable berth-backend backenddir) in
  */berth/backends-1) pass 'berth-backend tells where backends go' ;;
  *) fail 'berth-backend tells where backends go' "$(variable berth-backend backenddir)" ;;
esac

cat >"$place/backend.c" <<'END'
#include <berth/backend.h>
const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  return services != NULL ? NULL : NULL;
}
END
cat >"$place/application.c" <<'END'
#include <berth/berth.h>
#include <stdio.h>
int
main (void)
{
  return puts (berth_version ()) < 0;
}
END

compile () {
  # shellcheck disable=SC2046,SC2086
  ${CC:-cc} -std=c99 -pedantic -Wall -Wextra -Werror $3 ${BERTH_TEST_CFLAGS:-} \
    "$place/$2.c" -o "$place/$2.out" $(PKG_CONFIG_PATH=$pc PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags $4 "$1")
}

expect_status 'a backend compiles out of tree' 0 \
  compile berth-backend backend '-shared -fPIC -Wl,-z,defs -Wl,-z,now -Wl,-z,nodelete' ''
expect_status 'an application compiles out of tree' 0 compile berth application '' --libs
expect_status 'an application runs with libberth' 0 \
  env LD_LIBRARY_PATH="$root$(variable berth libdir)" "$place/application.out"

cd "$BERTH_TEST_BUILDDIR"
expect_status 'make uninstall' 0 make_quietly uninstall
expect_empty 'make uninstall leaves no file' "$(find "$root" ! -type d)"
finish
