/* cgroup_v1.c - limits in the files of cgroup v1. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PERIOD_US 100000
#define PERIOD_TEXT "100000"
#define SWAP_FILE "memory.memsw.limit_in_bytes"

const char *const ns_cgroup_v1_counter = "memory.oom_control";

bool
ns_cgroup_v1_has (const char *options, const char *name)
{
  size_t size = strlen (name);

  for (const char *at = options; (at = strstr (at, name)) != NULL; at += size)
    if ((at == options || at[-1] == ',') && (at[size] == ',' || at[size] == '\0'))
      return true;
  return false;
}

/* Memory counts as enforceable only with its swap, or where there is none to go to. */
static bool
memory_is_whole (const char *mount)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/" SWAP_FILE, mount);

  return path != NULL && (access (path, F_OK) == 0 || !ns_machine_has_swap ());
}

uint64_t
ns_cgroup_v1_limits (const char *mount, const char *options)
{
  uint64_t limits = 0;

  if (ns_cgroup_v1_has (options, "memory") && memory_is_whole (mount))
    limits |= BERTH_SPEC_MEMORY;
  if (ns_cgroup_v1_has (options, "pids"))
    limits |= BERTH_SPEC_PIDS;
  if (ns_cgroup_v1_has (options, "cpu"))
    limits |= BERTH_SPEC_CPU;
  return limits;
}

static int
limit_memory (int directory, uint64_t bytes)
{
  if (ns_cgroup_write (directory, "memory.limit_in_bytes", "%llu", (unsigned long long) bytes) < 0)
    return -1;
  if (ns_cgroup_write (directory, SWAP_FILE, "%llu", (unsigned long long) bytes) < 0
      && (errno != ENOENT || ns_machine_has_swap ()))
    return -1;
  return 0;
}

/* Writing any of the two files makes the kernel look at all cgroups that there are, so what is right
 * from the start is left alone. */
static int
limit_cpu (int directory, uint32_t milli)
{
  BERTH_AUTO_BUFFER struct berth_buffer period = { 0 };

  if ((berth_fs_read (directory, "cpu.cfs_period_us", &period, 64) < 0
       || strcmp (berth_buffer_string (&period), PERIOD_TEXT "\n") != 0)
      && ns_cgroup_write (directory, "cpu.cfs_period_us", PERIOD_TEXT) < 0)
    return -1;
  return ns_cgroup_write (directory, "cpu.cfs_quota_us", "%llu", (unsigned long long) milli * (PERIOD_US / 1000));
}

int
ns_cgroup_v1_limit (int directory, uint64_t which, const struct ns_limits *limits)
{
  if (which & BERTH_SPEC_MEMORY && limit_memory (directory, limits->memory) < 0)
    return -1;
  if (which & BERTH_SPEC_PIDS && ns_cgroup_write (directory, "pids.max", "%u", limits->pids) < 0)
    return -1;
  if (which & BERTH_SPEC_CPU && limit_cpu (directory, limits->cpu_milli) < 0)
    return -1;
  return 0;
}
