/* cgroups.c - what limits and pause need: the cgroups of this machine, and of them those that whoever asks may
 * make some in, which for an ordinary user are below his process's own. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/checks.h"
#include "sdk/base/machine.h"
#include "sdk/base/string.h"

enum
{
  CPU = 1,
  MEMORY = 2,
  PIDS = 4,
  LIMITS = 7,
  FREEZER = 8
};

static const struct
{
  const char *name;
  unsigned int bit;
} controllers[] = { { "cpu", CPU }, { "memory", MEMORY }, { "pids", PIDS }, { "freezer", FREEZER } };

struct cgroups
{
  const struct cli_machine *machine;
  char *own;            /* /proc/self/cgroup */
  unsigned int there;   /* of this machine */
  unsigned int usable;  /* for whoever asks */
  bool versions[3];     /* [1] and [2] are mounted */
  bool swap_is_counted;
};

/* Words of LIST, which are parted by spaces or commas. */
static unsigned int
read_list (const char *list)
{
  unsigned int found = 0;

  for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
    for (const char *at = list; (at = strstr (at, controllers[i].name)) != NULL; at++)
      {
        char after = at[strlen (controllers[i].name)];
        if ((at == list || at[-1] == ' ' || at[-1] == ',') && (after == '\0' || after == ' ' || after == ',' || after == '\n'))
          found |= controllers[i].bit;
      }
  return found;
}

/* Where this process is in the hierarchy of VERSION with CONTROLLERS; NULL when that is not told. */
static char *
find_own (const struct cgroups *cgroups, int version, unsigned int wanted)
{
  for (const char *line = cgroups->own; line != NULL && *line != '\0'; line = strchrnul (line, '\n'), line += *line == '\n')
    {
      char list[256] = "", path[4096];
      bool unified = sscanf (line, "%*u::%4095[^\n]", path) == 1;
      if (version == 2 ? unified : sscanf (line, "%*u:%255[^:]:%4095[^\n]", list, path) == 2 && (read_list (list) & wanted) != 0)
        return strdup (path);
    }
  return NULL;
}

/* The directory where cgroups would be made; NULL when it may not be written to. */
static char *
find_usable (const struct cgroups *cgroups, int version, const char *mount, const char *root, unsigned int wanted)
{
  BERTH_AUTO_FREE char *directory = NULL;
  struct stat status;

  if (cgroups->machine->uid == 0)
    directory = berth_string_format ("%s%s", cgroups->machine->root, mount);
  else
    {
      BERTH_AUTO_FREE char *own = find_own (cgroups, version, wanted);
      size_t above = strcmp (root, "/") == 0 ? 0 : strlen (root);
      if (own == NULL || strncmp (own, root, above) != 0)
        return NULL;
      directory = berth_string_format ("%s%s%s", cgroups->machine->root, mount, own + above);
      if (directory == NULL || stat (directory, &status) < 0 || status.st_uid != cgroups->machine->uid
          || berth_machine_is_systemds (directory))
        return NULL;
    }
  return directory != NULL && access (directory, W_OK) == 0 ? BERTH_STEAL_POINTER (directory) : NULL;
}

static bool
any_file (const char *directory, const char *pattern)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s/%s", directory, pattern);
  glob_t found;
  bool there = path != NULL && glob (path, GLOB_NOSORT, NULL, &found) == 0;

  if (there)
    globfree (&found);
  return there;
}

/* The root of v2 has no such file, and without children tells nothing: kernels count it unless told not to. */
static bool
counts_swap (const char *directory, int version)
{
  if (version == 1)
    return any_file (directory, "memory.memsw.limit_in_bytes");
  return any_file (directory, "memory.swap.max") || any_file (directory, "*/memory.swap.max")
         || (!any_file (directory, "memory.max") && !any_file (directory, "*/memory.max"));
}

/* What a cgroup of v2 may give to its children; any of them can be frozen. */
static unsigned int
read_controllers (const struct cgroups *cgroups, const char *directory)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  BERTH_AUTO_FREE char *file = berth_string_format ("%s/cgroup.controllers", directory);

  if (file != NULL)
    cli_machine_read (cgroups->machine, file, &list);
  return read_list (berth_buffer_string (&list)) | FREEZER;
}

static void
take_mount (struct cgroups *cgroups, int version, const char *mount, const char *root, const char *options)
{
  unsigned int here = version == 2 ? read_controllers (cgroups, mount) : read_list (options);

  BERTH_AUTO_FREE char *usable = find_usable (cgroups, version, mount, root, here);
  cgroups->versions[version] = true;
  cgroups->there |= here;
  if (usable == NULL)
    return;
  if (version == 2)
    here = read_controllers (cgroups, usable + strlen (cgroups->machine->root));
  cgroups->usable |= here;
  if (here & MEMORY && counts_swap (usable, version))
    cgroups->swap_is_counted = true;
}

/* "36 35 98:0 /root /mount/point options - type source superoptions" */
static void
look (struct cgroups *cgroups)
{
  BERTH_AUTO_BUFFER struct berth_buffer mounts = { 0 };
  char *save = NULL;

  cli_machine_read (cgroups->machine, "/proc/self/mountinfo", &mounts);
  for (char *line = mounts.size > 0 ? strtok_r (mounts.data, "\n", &save) : NULL; line != NULL; line = strtok_r (NULL, "\n", &save))
    {
      char root[4096], mount[4096], type[16], options[1024];
      const char *rest = strstr (line, " - cgroup");
      if (rest != NULL && sscanf (line, "%*s %*s %*s %4095s %4095s", root, mount) == 2
          && sscanf (rest, " - %15s %*s %1023s", type, options) == 2)
        take_mount (cgroups, strcmp (type, "cgroup2") == 0 ? 2 : 1, mount, root, options);
    }
}

static void
append_names (struct berth_buffer *text, unsigned int bits)
{
  for (size_t i = 0; i < 3; i++)
    if (bits & controllers[i].bit)
      berth_buffer_appendf (text, " %s", controllers[i].name);
  if ((bits & LIMITS) == 0)
    berth_buffer_append_string (text, " none");
}

static void
check_limits (struct cli_checkup *checkup, const struct cgroups *cgroups)
{
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  const char *fix = "mount cgroup v2 or v1 with the controllers cpu, memory and pids, and boot without cgroup_disable=";

  berth_buffer_appendf (&found, "%s:", cgroups->versions[1] && cgroups->versions[2] ? "v1 and v2"
                                       : cgroups->versions[2]                      ? "v2"
                                       : cgroups->versions[1]                      ? "v1"
                                                                                   : "not mounted");
  append_names (&found, cgroups->there);
  if ((cgroups->there & LIMITS) != (cgroups->usable & LIMITS))
    {
      berth_buffer_append_string (&found, "; for this user:");
      append_names (&found, cgroups->usable);
      fix = "start berth by `systemd-run --user --scope -p Delegate=yes berth ...` (cgroup v2), or in a cgroup that root gave to this "
            "user, or run as root";
    }
  cli_found (checkup, "cgroups", (cgroups->usable & LIMITS) == LIMITS ? CLI_OK : CLI_WARNING, berth_buffer_string (&found),
             "limits that cannot be enforced are refused; `--limits best-effort` leaves them out", fix);
}

static void
check_pause (struct cli_checkup *checkup, const struct cgroups *cgroups)
{
  bool usable = cgroups->usable & FREEZER, there = cgroups->there & FREEZER;

  cli_found (checkup, "pause", usable ? CLI_OK : CLI_WARNING, usable ? "there" : there ? "not for this user" : "no freezer",
             "`berth pause` is refused",
             there ? "start berth in a cgroup that is this user's, or as root" : "mount cgroup v2, or the freezer of v1");
}

static void
check_kill (struct cli_checkup *checkup, const struct cgroups *cgroups)
{
  bool there = cli_machine_is (checkup->machine, 5, 14);

  cli_found (checkup, "cgroup.kill", there || !cgroups->versions[2] ? CLI_OK : CLI_WARNING,
             !cgroups->versions[2] ? "not in cgroup v1" : there ? "there" : "not in this kernel",
             "what is left of a sandbox is ended process by process, which is slower", "boot Linux 5.14 or newer");
}

/* The first line of /proc/swaps is a title. */
static void
check_swap (struct cli_checkup *checkup, const struct cgroups *cgroups)
{
  BERTH_AUTO_BUFFER struct berth_buffer swaps = { 0 };

  cli_machine_read (checkup->machine, "/proc/swaps", &swaps);
  bool swap = strchr (berth_buffer_string (&swaps), '\n') != NULL;
  bool bad = swap && cgroups->usable & MEMORY && !cgroups->swap_is_counted;
  const char *found = !swap ? "none" : bad ? "there, and cgroups do not count it" : "there, counted where limits are";
  cli_found (checkup, "swap", bad ? CLI_WARNING : CLI_OK, found,
             "a limit on memory cannot be kept, and is refused", "boot with swapaccount=1, or swapoff -a");
}

void
cli_check_cgroups (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer own = { 0 };
  struct cgroups cgroups = { .machine = checkup->machine };

  cli_machine_read (checkup->machine, "/proc/self/cgroup", &own);
  cgroups.own = own.data;
  look (&cgroups);
  check_limits (checkup, &cgroups);
  check_pause (checkup, &cgroups);
  check_kill (checkup, &cgroups);
  check_swap (checkup, &cgroups);
}
