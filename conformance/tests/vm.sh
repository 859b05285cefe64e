#!/bin/sh
# The backend `ns` in machines of its own: Debian's kernel under QEMU, with cgroup 2 whole, with one
# controller missing, with none, before and after the power is cut, with snapshots of what is being written,
# and for an ordinary user.
#
# BERTH_TEST_KERNEL is a folder with boot/vmlinuz-VERSION and lib/modules/VERSION; without it the
# kernel is one that is installed here.
set -u

vm=$BERTH_TEST_SRCDIR/conformance/vm
kernel=${BERTH_TEST_KERNEL:-/}

skip () {
  echo "SKIP vm: $1"
  echo '0 passed, 0 failed, 1 skipped'
  exit 77
}

[ "$(uname -m)" = x86_64 ] || skip 'the machine that is made is an x86_64'
[ "$(id -u)" = 0 ] || skip 'needs root'
for tool in qemu-system-x86_64 mke2fs cpio busybox dpkg-query
do
  command -v "$tool" >/dev/null || skip "no $tool"
done
ls "$kernel"/boot/vmlinuz-* >/dev/null 2>&1 || skip 'no kernel: set BERTH_TEST_KERNEL'

work=$(mktemp -d "${TMPDIR:-/tmp}/berth-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
"$vm/image" "$BERTH_TEST_BUILDDIR" "$BERTH_TEST_SRCDIR" "$kernel" "$work" || exit 1
khz=$("$BERTH_TEST_BUILDDIR/conformance/vm/tsc") || exit 1

# One boot; what it says is kept for the sum.
boot () {
  local seconds=$1 name=$2
  shift 2
  echo "==== $name${*:+ ($*)}"
  "$vm/boot" "$seconds" "$work" "$khz" "$name" "$@" >"$work/said" || echo '0 passed, 1 failed, 0 skipped' >>"$work/said"
  cat "$work/said" >>"$work/all"
  # The sums of the parts are not the sum of the whole.
  sed 's/^[0-9]* passed, /   &/' "$work/said"
}

if [ -n "${BERTH_TEST_LONG:-}" ]
then
  patience=3600
else
  patience=1200
fi
boot 120 without_memory cgroup_disable=memory
boot 120 without_controllers cgroup_disable=memory,pids,cpu
boot 120 power_is_cut
boot 120 power_is_back
boot 120 hardening
boot 300 snapshots
boot "$patience" programs
boot "$patience" ordinary
boot "$patience" contract

sums=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$work/all" \
  | awk '{ p += $1; f += $3; s += $5 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }')
echo "$sums"
case $sums in
  *', 0 failed, '*) exit 0 ;;
  *) exit 1 ;;
esac
