# berth-conform itself: what it makes of backends that are right, wrong, crash, hang or are not there.
set -u
. "$BERTH_TEST_SRCDIR/sdk/base/tests/runner.sh"

place=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX") || exit 1
trap 'rm -rf "$place"' EXIT
conform=$BERTH_TEST_BUILDDIR/conformance/berth-conform
fake=$BERTH_TEST_BUILDDIR/plugins/fake/.libs/berth-backend-fake.so
ns=$BERTH_TEST_BUILDDIR/plugins/ns/.libs/berth-backend-ns.so
plain=$BERTH_TEST_BUILDDIR/conformance/plain/.libs/berth-backend-plain.so
hanging=$BERTH_TEST_BUILDDIR/conformance/variants/.libs/berth-backend-never-answers.so

# ends NAME STATUS ARGUMENTS...: what it printed is in $place/output.
ends () {
  ends_name=$1
  ends_want=$2
  shift 2
  ends_got=0
  "$conform" "$@" >"$place/output" 2>&1 || ends_got=$?
  if [ "$ends_got" = "$ends_want" ]; then
    pass "$ends_name"
  else
    fail "$ends_name" "status $ends_got, want $ends_want
$(cat "$place/output")"
  fi
}

# tells NAME PATTERN [FILE]: a line of the output matches.
tells () {
  if grep -q -- "$2" "${3:-$place/output}"; then
    pass "$1"
  else
    fail "$1" "no line like $2 in
$(cat "${3:-$place/output}")"
  fi
}

# --- the command line ---

ends 'every clause is listed' 0 --list
tells 'with its suite and title' '^E05 commands exit status$'
ends 'no plugin is an error' 2
ends 'an unknown option is an error' 2 --no-such-option "$fake"
ends 'a clause that does not exist is an error' 2 --clause E99 "$fake"
tells 'and named' '"E99"'
ends 'a setting without a value is an error' 2 --setting price "$fake"
ends 'a plugin that does not exist is an error' 2 /nowhere/berth-backend-x.so
for name in fake ns plain; do
  case $name in
    fake) plugin=$fake ;;
    ns) plugin=$ns ;;
    plain) plugin=$plain ;;
  esac
  "$conform" --list-declared "$plugin" >"$place/declared" 2>&1
  expect_status "what $name declares is what is checked in" 0 diff "$BERTH_TEST_SRCDIR/conformance/declared/$name" "$place/declared"
done

# --- verdicts ---

ends 'a suite that holds' 0 --suite structure --junit "$place/junit.xml" --report "$place/report.md" "$fake"
tells 'TAP has a plan' '^1\.\.[1-9][0-9]*$'
tells 'a clause has its time' '^ok 1 - S01 .* # time=[0-9]*ms$'
tells 'JUnit has a case for each clause' '<testcase classname="structure" name="S01 ' "$place/junit.xml"
tells 'and no failure' 'failures="0"' "$place/junit.xml"
tells 'the report has a row for each clause' '^| S01 | .* | passed | ' "$place/report.md"

ends 'what needs a program is not applicable where nothing is executed' 77 --clause E01,E02 "$fake"
tells 'and says so' '^ok 1 - E01 .* # SKIP not applicable: it executes nothing$'
ends 'a capability that is not declared has its refusal tested' 0 --clause L21-destroy --setting capabilities=metrics "$fake"
tells 'and says so' '^ok 1 - L21-destroy refusal: no PAUSE here '

ends 'a runtime that does not answer is no failure' 77 --clause S01,L03 --setting faults=lifecycle.ping=fail:UNREACHABLE "$fake"
tells 'and what needs it is skipped' '^ok 2 - L03 .* # SKIP the runtime cannot be reached: UNREACHABLE'

ends 'a wrong backend fails' 1 --clause L08,L11 --setting faults=lifecycle.is_running=fail --junit "$place/junit.xml" \
  --report "$place/report.md" "$fake"
tells 'its clause' '^not ok 2 - L11 '
tells 'and no other' '^ok 1 - L08 '
tells 'JUnit tells it' '<failure message=".*lifecycle.c:' "$place/junit.xml"
tells 'and the report' '^| L11 | .* | \*\*failed\*\*' "$place/report.md"

ends 'a declared capability that no clause shows fails' 1 --quick --setting capabilities=metrics --setting faults=metrics.read=fail "$fake"
tells 'and is named' '^not ok [0-9]* - capability METRICS is shown by L04-metrics$'
tells 'and counted' '^# capabilities: 1 declared, 1 not shown$'

ends 'a backend that crashes fails its clause' 1 --clause L02,F12,L08 --setting faults=files.move=kill "$fake"
tells 'and says how' 'died of signal 9'
tells 'what stood before goes on' '^ok . - L02 '
tells 'and what stood after' '^ok . - F12 \|^not ok . - F12 '
ends 'what is run again and again' 0 --stress 1 --clause S02 "$fake"

# --- what needs a machine ---

if [ "$(id -u)" = 0 ]; then
  ends 'a backend that hangs fails its clause' 1 --timeout 30 --clause F10,F07,F12 "$hanging"
  tells 'and says how' 'no end after 30 seconds'
  tells 'the run goes on' '^ok . - F07 '
  ends 'an account of the image' 0 --image host --account nobody --clause E08 "$ns"
  ends 'that is not there' 1 --image host --account no-such-account --clause E08 "$ns"
else
  skip 'a backend that hangs' 'needs root'
fi

# A run that is ended leaves nothing; it is in the middle of a clause once there is a sandbox.
mkdir "$place/tmp"
TMPDIR=$place/tmp "$conform" --clause L07 --setting faults=lifecycle.connect=slow:120000 "$fake" >"$place/output" 2>&1 &
pid=$!
tries=0
while [ -z "$(find "$place/tmp" -path '*/sandboxes/sb-*' | head -n 1)" ] && [ "$tries" -lt 600 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
if [ "$status" = 143 ]; then
  pass 'a run that is ended says so'
else
  fail 'a run that is ended says so' "status $status
$(cat "$place/output")"
fi
expect_empty 'and it leaves nothing' "$(find "$place/tmp" -mindepth 1)"
finish
