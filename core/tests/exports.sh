# libberth shows every function that berth.h declares, and each of them is documented: a comment
# stands above it, or above the run of declarations that it belongs to.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

header=$BERTH_TEST_SRCDIR/sdk/include/berth/berth.h
library=$BERTH_TEST_BUILDDIR/core/.libs/libberth.so

declared=$(sed -n 's/^BERTH_EXPORT .*[ *]\(berth_[a-z_]*\) (.*/\1/p' "$header" | sort)
shown=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sed 's/@.*//' | grep -v '^BERTH_0$' | sort)

# "only in one of the two", with which
difference=$({ printf '%s\n' "$declared" | sed 's/$/ declared/'; printf '%s\n' "$shown" | sed 's/$/ shown/'; } \
  | awk '{ seen[$1] = seen[$1] " " $2 } END { for (name in seen) if (seen[name] != " declared shown") print name ":" seen[name] }')

if [ "$(printf '%s\n' "$declared" | wc -l)" -gt 30 ]; then
  pass "berth.h declares functions"
else
  fail "berth.h declares functions" "$declared"
fi
expect_empty "libberth shows what berth.h declares, and nothing else" "$difference"

undocumented=$(awk '
  /\*\/$/ { documented = 1; next }
  /^$/ { documented = 0; next }
  /^BERTH_EXPORT/ && !documented { print }' "$header")
expect_empty "every function of berth.h has a comment" "$undocumented"

finish
