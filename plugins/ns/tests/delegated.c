/* delegated.c - limits of a user who is not root, in cgroups that were given to him. */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/ns/tests/host.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define MIB (UINT64_C (1) << 20)
#define LIMITS (BERTH_SPEC_MEMORY | BERTH_SPEC_CPU | BERTH_SPEC_PIDS)

static struct berth_spec
spec_with_limits (void)
{
  struct berth_spec spec = guest_spec ();

  spec.asks = spec.must = LIMITS;
  spec.memory_bytes = 64 * MIB;
  spec.cpu_milli = 100;
  spec.pids = 24;
  return spec;
}

/* What SCRIPT prints as this user. */
static char *
output_of (const char *format, const char *value)
{
  BERTH_AUTO_FREE char *script = berth_string_format (format, value);
  FILE *pipe = popen (script, "r");
  char text[8192];

  size_t size = pipe != NULL ? fread (text, 1, sizeof text - 1, pipe) : 0;
  text[size] = '\0';
  if (pipe != NULL)
    pclose (pipe);
  return strdup (text);
}

/* The cgroups of the guest. The file `cgroups` tells those that as-ordinary-user gave. */
static char *
cgroups_of (struct guest *guest)
{
  return output_of ("find $(cat cgroups) -type d -name '%s-*' 2>/dev/null", guest->id);
}

static bool
some_file_says (const char *directories, const char *name, const char *wanted)
{
  BERTH_AUTO_FREE char *copy = strdup (directories);
  char *save = NULL;

  for (char *line = strtok_r (copy, "\n", &save); line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
      BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", line, name);
      if (berth_fs_read (AT_FDCWD, path, &text, 4096) == 0 && berth_string_starts_with (berth_buffer_string (&text), wanted))
        return true;
    }
  return false;
}

static void
limits_are_in_force (void)
{
  struct berth_spec spec = spec_with_limits ();
  struct host host;
  struct guest guest;
  struct berth_exit exit = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer err = { 0 };

  if (!guest_alone (&host, &guest, &spec))
    return;
  CU_ASSERT_EQUAL (guest.effective.enforced & LIMITS, LIMITS);
  BERTH_AUTO_FREE char *places = cgroups_of (&guest);
  CU_ASSERT (some_file_says (places, "memory.max", "67108864") || some_file_says (places, "memory.limit_in_bytes", "67108864"));
  CU_ASSERT (some_file_says (places, "cpu.max", "10000 100000") || some_file_says (places, "cpu.cfs_quota_us", "10000"));
  CU_ASSERT (some_file_says (places, "pids.max", "24"));
  guest_run (&guest, NULL, "timeout 1 sh -c 'while :; do :; done'", NULL, NULL, NULL);
  BERTH_AUTO_FREE char *count = output_of ("cat $(find $(cat cgroups) -path '*/%s-*/cpu.stat') | grep '^nr_throttled [1-9]'", guest.id);
  CU_ASSERT_STRING_NOT_EQUAL (count, "");
  guest_run (&guest, NULL, "exec perl -e '$x = \"a\" x 200000000; print length $x'", NULL, NULL, &exit);
  CU_ASSERT_EQUAL (exit.reason, BERTH_OUT_OF_MEMORY);
  guest_run (&guest, NULL, "for i in $(seq 60); do sleep 1 & done; wait", NULL, &err, NULL);
  CU_ASSERT_PTR_NOT_NULL (strstr (berth_buffer_string (&err), "ork"));
  guest_end (&guest);
  BERTH_AUTO_FREE char *left = cgroups_of (&guest);
  CU_ASSERT_STRING_EQUAL (left, "");
  host_stop (&host);
}

/* Runs SCRIPT, which has this process in place of %s and says nothing where all goes well. */
static void
move (const char *script)
{
  char text[16];

  snprintf (text, sizeof text, "%d", (int) getpid ());
  BERTH_AUTO_FREE char *said = output_of (script, text);
  if (said[0] != '\0')
    fprintf (stderr, "%s: %s\n", script, said);
  CU_ASSERT_STRING_EQUAL (said, "");
}

/* Who ends it has cgroups elsewhere: the record tells which ones they are. */
static void
it_ends_from_elsewhere (void)
{
  struct berth_spec spec = spec_with_limits ();
  struct host host;
  struct guest guest;
  struct host_call call;

  if (!guest_alone (&host, &guest, &spec))
    return;
  move ("for d in $(cat cgroups); do mkdir $d/elsewhere && "
        "echo %s >$d/elsewhere/cgroup.procs; done 2>&1");
  BERTH_AUTO_FREE char *before = cgroups_of (&guest);
  CU_ASSERT_STRING_NOT_EQUAL (before, "");
  CU_ASSERT_EQUAL (guest_stop (&guest, &call), 0);
  BERTH_AUTO_FREE char *stopped = cgroups_of (&guest);
  CU_ASSERT_STRING_EQUAL (stopped, "");
  /* It comes back where this process is now. */
  CU_ASSERT_EQUAL (guest_start (&guest, &call), 0);
  BERTH_AUTO_FREE char *after = cgroups_of (&guest);
  CU_ASSERT_PTR_NOT_NULL (strstr (after, "/elsewhere/berth/"));
  move ("for d in $(cat cgroups); do "
        "if [ -d $d/berth-callers ]; then d=$d/berth-callers; fi; echo %s >$d/cgroup.procs; done 2>&1");
  guest_end (&guest);
  BERTH_AUTO_FREE char *left = cgroups_of (&guest);
  CU_ASSERT_STRING_EQUAL (left, "");
  move ("for d in $(cat cgroups); do find $d/elsewhere -depth -type d; done | while read -r d; do rmdir $d || echo %s; done 2>&1");
  host_stop (&host);
}

int
main (void)
{
  static const struct berth_test tests[] = {
    { "L04 E17 limits of delegated cgroups are in force", limits_are_in_force },
    { "L08 L22 it ends and starts from elsewhere", it_ends_from_elsewhere },
    { NULL, NULL },
  };

  if (geteuid () != 0 && access ("cgroups", R_OK) == 0)
    return berth_test_main ("ns: delegated cgroups", tests);
  printf ("SKIP ns: delegated cgroups: needs root, who gives them\n0 passed, 0 failed, 1 skipped\n");
  return 77;
}
