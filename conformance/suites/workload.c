/* L15: a hostile workload against its own supervisor. */
#include <stdio.h>

#include "conformance/suites/content.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/run.h"

/* Signals would reach this machine's own processes where pids are shared. */
static bool
has_own_pids (struct suite_box *box)
{
  SUITE_AUTO_RAN struct suite_ran ran = { 0 };
  char ours[128] = "";
  ssize_t size = readlink ("/proc/self/ns/pid", ours, sizeof ours - 1);

  suite_sh (box, &ran, 0, "readlink /proc/self/ns/pid");
  return size > 0 && suite_ran_exited (&ran, 0) && strncmp (berth_buffer_string (&ran.out), ours, (size_t) size) != 0;
}

void
suite_l15 (struct suite_context *suite)
{
  static const char *const attacks[] = {
    "for s in TERM INT HUP QUIT STOP TSTP SEGV ABRT KILL; do "
    "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = $$ ] || kill -$s $p; done; done 2>/dev/null; "
    "kill -9 -1 2>/dev/null; echo done",
    "for f in environ maps mem auxv stack syscall fd/0 root/etc exe; do cat /proc/1/$f; done 2>/dev/null | wc -c",
    ("for f in /proc/1/oom_score_adj /proc/1/mem /proc/sys/kernel/core_pattern; do echo 0 > $f; done 2>/dev/null; "
     "find /sys/fs/cgroup -writable 2>/dev/null | head -3"),
  };
  struct suite_box *box = suite_box_make (suite);

  if (box->effective.tier < BERTH_TIER_CONTAINER || !has_own_pids (box))
    suite_not_applicable (suite, "its sandboxes share the pids of this machine, and it claims no isolation");
  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    {
      SUITE_AUTO_RAN struct suite_ran attack = { 0 };
      SUITE_AUTO_RAN struct suite_ran after = { 0 };

      suite_sh (box, &attack, 20000, attacks[i]);
      if (i == 1)
        SUITE_CHECK_PRINTED (suite, &attack, "0\n", "what could be read of the first process");
      if (i == 2)
        SUITE_CHECK_PRINTED (suite, &attack, "", "cgroup files that can be written");
      suite_sh (box, &after, 10000, "echo alive");
      SUITE_CHECK_PRINTED (suite, &after, "alive\n", attacks[i]);
    }
}
