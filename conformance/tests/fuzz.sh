# What fuzzers find in the parsers of the agent and in the import of archives: BERTH_FUZZ_SECONDS
# each with libFuzzer, where `make check-fuzz` could build that; else a second of blind changes.
set -u
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"
place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX") || exit 1
trap 'rm -rf "$place"' EXIT
TMPDIR=$place
export TMPDIR

# fuzz NAME FOLDER PROGRAM SEEDS [AT_LEAST]: keeps what broke it beside the program.
fuzz () {
  program=$BERTH_TEST_BUILDDIR/$2/$3
  if [ -z "${BERTH_FUZZ_SECONDS:-}" ] || [ ! -x "$program" ]; then
    program=$BERTH_TEST_BUILDDIR/$2/random-$3
  fi
  mkdir "$place/$3" "$place/$3/learned"
  status=0
  (cd "$place/$3" && "$program" -max_total_time="${BERTH_FUZZ_SECONDS:-1}" -max_len=16384 -timeout=30 -rss_limit_mb=4096 \
    "$place/$3/learned" "$4") >"$place/output" 2>&1 || status=$?
  grep -a '^Done ' "$place/output" | sed "s/^/     $3: /"
  if [ "$status" = 0 ]; then
    seeds=$(sed -n 's/^Done .* with \([0-9]*\) seeds$/\1/p; s/.*seed corpus: files: \([0-9]*\) .*/\1/p' "$place/output" | tail -n 1)
    # One that never came to run, or did not begin where it should, finds nothing.
    if ! grep -qa '^Done [1-9]' "$place/output"; then
      fail "$1" "no run was made
$(tail -n 20 "$place/output")"
    elif [ "${seeds:-0}" -lt "${5:-0}" ]; then
      fail "$1" "it began with ${seeds:-0} seeds, not with $5"
    else
      pass "$1"
    fi
    return
  fi
  for input in "$place/$3"/crash* "$place/$3"/timeout-* "$place/$3"/oom-* "$place/$3"/leak-*; do
    [ ! -e "$input" ] || cp "$input" "$BERTH_TEST_BUILDDIR/$2/"
  done
  fail "$1" "status $status, the input is in $BERTH_TEST_BUILDDIR/$2
$(tail -n 60 "$place/output")"
}

mkdir "$place/archives" "$place/none"
if ! "$BERTH_TEST_BUILDDIR/conformance/berth-conform" --archives "$place/archives"; then
  fail 'the archives of W04'
fi
fuzz 'frames: every parser of the agent takes any bytes' sdk/agent/fuzz decode "$place/none"
fuzz 'W04 fuzzed archives change nothing outside the workspace' sdk/agentlink/fuzz import "$place/archives" 40
finish
