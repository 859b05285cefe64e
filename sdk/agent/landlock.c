/* A second wall behind the mounts: what may be written lies below a few directories, whatever else a
 * mount leaves open.  Put on process 1 and so on everything: all are of one domain, which leaves
 * them each other's to trace.  Where the kernel has no Landlock there is none. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sdk/agent/harden.h"
#include "sdk/base/cleanup.h"

/* The kernel's, which older headers do not have. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define ASK_VERSION 1u
#define RULE_PATH_BENEATH 1

#define WRITE_FILE (UINT64_C (1) << 1)
#define REMOVE (UINT64_C (3) << 4)         /* directories and files */
#define MAKE_DEVICE (UINT64_C (1) << 6 | UINT64_C (1) << 11)
#define MAKE (UINT64_C (0x1fc0) & ~MAKE_DEVICE)
#define REFER (UINT64_C (1) << 13)         /* to rename and link between directories; from version 2 */
#define TRUNCATE (UINT64_C (1) << 14)      /* from version 3 */

struct ruleset
{
  uint64_t handled;
};

struct path_beneath
{
  uint64_t allowed;
  int32_t parent;
} __attribute__ ((packed));

/* What is not there needs no rule. */
static int
allow (int ruleset, const char *path, uint64_t access)
{
  BERTH_AUTO_FD int directory = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  const struct path_beneath rule = { .allowed = access, .parent = directory };

  if (directory < 0)
    return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
  return (int) syscall (SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0u);
}

static int
allow_own (int ruleset, const char *workspace, uint64_t handled)
{
  static const char *const places[] = { "/tmp", "/var/tmp", "/run", "/root", "/dev/shm" };
  uint64_t all = handled & ~MAKE_DEVICE;

  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (allow (ruleset, places[i], all) < 0)
      return -1;
  /* Devices and terminals; what /proc lets a process set of itself. */
  if (allow (ruleset, "/dev", handled & (WRITE_FILE | TRUNCATE)) < 0
      || allow (ruleset, "/proc", handled & (WRITE_FILE | TRUNCATE)) < 0)
    return -1;
  return allow (ruleset, workspace, all);
}

int
harden_writes (const char *workspace)
{
  long version = syscall (SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
  struct ruleset wanted = { .handled = WRITE_FILE | REMOVE | MAKE | MAKE_DEVICE | REFER };

  /* Version 1 forbids to rename from one directory to another, whatever the rules. */
  if (version < 2)
    return 0;
  if (version >= 3)
    wanted.handled |= TRUNCATE;
  BERTH_AUTO_FD int ruleset = (int) syscall (SYS_landlock_create_ruleset, &wanted, sizeof wanted, 0u);
  if (ruleset < 0 || (workspace != NULL && allow_own (ruleset, workspace, wanted.handled) < 0))
    return -1;
  return (int) syscall (SYS_landlock_restrict_self, ruleset, 0u);
}
