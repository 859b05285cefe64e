# The structural suite against backends that break one clause each: exactly that one fails.
set -eu
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

# The ids of the clauses that fail for a variant, on one line.
failed_clauses () {
  "$BERTH_TEST_BUILDDIR/conformance/berth-conform" \
    "$BERTH_TEST_BUILDDIR/conformance/broken/backends/berth-backend-$1.so" --suite structure 2>&1 |
    sed -n 's/^not ok [0-9]* - \([A-Z0-9]*\) .*/\1/p' | tr '\n' ' '
}

breaks () {
  clause=$1
  shift
  for variant; do
    got=$(failed_clauses "$variant")
    if [ "$got" = "${clause:+$clause }" ]; then
      pass "${clause:-nothing} of $variant fails"
    else
      fail "${clause:-nothing} of $variant fails" "$got"
    fi
  done
}

breaks '' good older newer-minor settings
breaks S01 no-symbol other-major data exports ltx
breaks S02 entry-null magic major size-small size-large size-odd group-size
breaks S03 name-bad name-other version-empty summary-null
breaks S04 group-missing function-open function-run function-stat function-import
breaks S05 half-declared needs not-parallel
breaks S06 unknown-bit reserved-bit
breaks S07 tier-evidence tier-unknown tier-date
breaks S08 setting-twice setting-type setting-default setting-variable setting-of-host setting-stride
breaks S09 concurrency
breaks S10 execstack lazy deletable undefined dependency
breaks S11 restless
breaks S12 flips
finish
