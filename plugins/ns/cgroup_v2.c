/* cgroup_v2.c - limits in the files of cgroup v2. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define PERIOD_US 100000

const char *const ns_cgroup_v2_counter = "memory.events";

static const struct
{
  uint64_t limit;
  const char *name;
} controllers[] = {
  { BERTH_SPEC_MEMORY, "memory" },
  { BERTH_SPEC_PIDS, "pids" },
  { BERTH_SPEC_CPU, "cpu" },
};

static bool
has_word (const char *text, const char *word)
{
  size_t size = strlen (word);

  for (const char *at = text; (at = strstr (at, word)) != NULL; at += size)
    if ((at == text || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\n' || at[size] == '\0'))
      return true;
  return false;
}

static uint64_t
read_controllers (int directory, const char *file)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  uint64_t limits = 0;

  if (berth_fs_read (directory, file, &text, 4096) < 0)
    return 0;
  for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
    if (has_word (berth_buffer_string (&text), controllers[i].name))
      limits |= controllers[i].limit;
  return limits;
}

uint64_t
ns_cgroup_v2_limits (const char *mount)
{
  BERTH_AUTO_FD int directory = open (mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  return directory >= 0 ? read_controllers (directory, "cgroup.controllers") : 0;
}

/* Lets the children of DIRECTORY have limits; writes only what is missing, since each change
 * walks the whole tree. */
int
ns_cgroup_v2_delegate (int directory, uint64_t which)
{
  uint64_t missing = which == 0 ? 0 : which & ~read_controllers (directory, "cgroup.subtree_control");

  for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
    if (missing & controllers[i].limit
        && ns_cgroup_write (directory, "cgroup.subtree_control", "+%s", controllers[i].name) < 0)
      return -1;
  return 0;
}

static int
limit_memory (int directory, uint64_t bytes)
{
  if (ns_cgroup_write (directory, "memory.max", "%llu", (unsigned long long) bytes) < 0)
    return -1;
  /* The limit is on both together: nothing may go to swap. */
  if (ns_cgroup_write (directory, "memory.swap.max", "0") < 0 && (errno != ENOENT || ns_machine_has_swap ()))
    return -1;
  return 0;
}

int
ns_cgroup_v2_limit (int directory, uint64_t which, const struct ns_limits *limits)
{
  if (which & BERTH_SPEC_MEMORY && limit_memory (directory, limits->memory) < 0)
    return -1;
  if (which & BERTH_SPEC_PIDS && ns_cgroup_write (directory, "pids.max", "%u", limits->pids) < 0)
    return -1;
  if (which & BERTH_SPEC_CPU
      && ns_cgroup_write (directory, "cpu.max", "%llu %d",
                          (unsigned long long) limits->cpu_milli * (PERIOD_US / 1000), PERIOD_US)
             < 0)
    return -1;
  return 0;
}
