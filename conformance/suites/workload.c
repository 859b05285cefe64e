/* L15: a hostile workload against its own supervisor. */
#include <stdio.h>

#include "conformance/suites/content.h"
#include "conformance/suites/lifecycle.h"
#include "conformance/suites/run.h"

static void
attack (struct suite_box *box, const char *user)
{
  static const char *const attacks[] = {
    "for s in TERM INT HUP QUIT STOP TSTP SEGV ABRT KILL; do "
    "for p in /proc/[0-9]*; do p=${p#/proc/}; [ $p = $$ ] || kill -$s $p; done; done 2>/dev/null; "
    "kill -9 -1 2>/dev/null; echo done",
    "for f in environ maps mem auxv stack syscall fd/0 root/etc exe; do cat /proc/1/$f; done 2>/dev/null | wc -c",
    ("for f in /proc/1/oom_score_adj /proc/1/mem /proc/sys/kernel/core_pattern; do (echo 0 > $f) && echo $f; done 2>/dev/null; "
     "find /sys/fs/cgroup -writable 2>/dev/null | head -3"),
    "for l in nofile nproc as cpu; do prlimit --pid 1 --$l=1 && echo $l; done 2>/dev/null",
  };
  /* What each prints. */
  static const char *const wanted[] = { NULL, "0\n", "", "" };

  for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
    {
      SUITE_AUTO_RAN struct suite_ran ran = { 0 };
      SUITE_AUTO_RAN struct suite_ran after = { 0 };

      suite_run (box,
                 &(struct suite_command) { .arguments = (const char *const[]) { "/bin/sh", "-c", attacks[i], NULL },
                                           .user = user,
                                           .timeout_ms = 20000 },
                 &ran);
      if (wanted[i] != NULL)
        SUITE_CHECK_PRINTED (box->suite, &ran, wanted[i], attacks[i]);
      suite_sh (box, &after, 10000, "echo alive");
      SUITE_CHECK_PRINTED (box->suite, &after, "alive\n", attacks[i]);
    }
}

void
suite_l15 (struct suite_context *suite)
{
  struct suite_box *box = suite_box_make (suite);
  SUITE_AUTO_RAN struct suite_ran root = { 0 };

  if (box->effective.tier < BERTH_TIER_CONTAINER || !suite_has_own_pids (box))
    suite_not_applicable (suite, "its sandboxes share the pids of this machine, and it claims no isolation");
  attack (box, NULL);
  suite_run (box, &(struct suite_command) { .arguments = (const char *const[]) { "true", NULL }, .user = "root" }, &root);
  if (suite_ran_exited (&root, 0))
    attack (box, "root");
}
