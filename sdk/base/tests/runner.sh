# What a shell test reports with, so that its end reads like that of every other test program.
# Sourced; needs nothing but POSIX sh.

passed=0
failed=0
skipped=0

pass () {
  passed=$((passed + 1))
  printf 'PASS %s\n' "$1"
}

# fail NAME [WHY]
fail () {
  failed=$((failed + 1))
  printf 'FAIL %s\n' "$1"
  if [ -n "${2:-}" ]; then
    printf '%s\n' "$2" | sed 's/^/     /'
  fi
}

# skip NAME REASON
skip () {
  skipped=$((skipped + 1))
  printf 'SKIP %s: %s\n' "$1" "$2"
}

# expect_empty NAME TEXT: passes when there is nothing to complain about.
expect_empty () {
  if [ -z "$2" ]; then
    pass "$1"
  else
    fail "$1" "$2"
  fi
}

# expect_status NAME STATUS COMMAND...: its output is shown when it ends otherwise.
expect_status () {
  expect_name=$1
  expect_want=$2
  shift 2
  expect_got=0
  expect_output=$("$@" 2>&1) || expect_got=$?
  if [ "$expect_got" = "$expect_want" ]; then
    pass "$expect_name"
  else
    fail "$expect_name" "status $expect_got, want $expect_want
$expect_output"
  fi
}

# The last line of the test.
finish () {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  if [ "$failed" -gt 0 ] || [ $((passed + skipped)) = 0 ]; then
    exit 1
  fi
  if [ "$passed" = 0 ]; then
    exit 77
  fi
  exit 0
}
