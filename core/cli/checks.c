#include "core/cli/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/cli/status.h"
#include "sdk/base/buffer.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

static void
add (struct cli_checkup *checkup, const char *check, enum cli_verdict verdict, const char *found, const char *cost, const char *fix)
{
  const struct cli_finding finding = { check, verdict, found, verdict == CLI_OK ? NULL : cost, verdict == CLI_OK ? NULL : fix };

  checkup->broken += verdict == CLI_BROKEN;
  checkup->tell (checkup, &finding);
}

/* ---- the kernel ---- */

#define SMALL ((size_t) 65536)

/* A small file of /proc or /sys without its line end; "" when there is none. */
static void
read_small (const char *path, struct berth_buffer *text)
{
  berth_buffer_clear (text);
  if (berth_fs_read (AT_FDCWD, path, text, SMALL) < 0)
    berth_buffer_clear (text);
  while (text->size > 0 && text->data[text->size - 1] == '\n')
    text->data[--text->size] = '\0';
}

static void
check_release (struct cli_checkup *checkup)
{
  struct utsname name;
  unsigned int major = 0, minor = 0;

  uname (&name);
  sscanf (name.release, "%u.%u", &major, &minor);
  add (checkup, "kernel", major > 5 || (major == 5 && minor >= 12) ? CLI_OK : CLI_BROKEN, name.release,
       "the ns backend needs Linux 5.12", "boot a newer kernel");
}

static void
check_user_namespaces (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer most = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer unprivileged = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer restricted = { 0 };

  read_small ("/proc/sys/user/max_user_namespaces", &most);
  read_small ("/proc/sys/kernel/unprivileged_userns_clone", &unprivileged);
  read_small ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", &restricted);
  if (most.size == 0 || strcmp (most.data, "0") == 0)
    add (checkup, "user namespaces", CLI_BROKEN, most.size == 0 ? "the kernel has none" : "user.max_user_namespaces is 0",
         "the ns backend cannot make a sandbox", "sysctl -w user.max_user_namespaces=15000");
  else if (geteuid () != 0
           && (strcmp (berth_buffer_string (&unprivileged), "0") == 0 || strcmp (berth_buffer_string (&restricted), "1") == 0))
    add (checkup, "user namespaces", CLI_WARNING, "for root only", "ordinary users cannot make sandboxes with ns",
         "run as root, or allow unprivileged user namespaces");
  else
    add (checkup, "user namespaces", CLI_OK, "there", NULL, NULL);
}

/* Controllers that are there, of those that limits need: v1 as far as /proc/cgroups enables them. */
static bool
has_controller (const char *list, const char *name, bool unified)
{
  const char *at = list;
  size_t size = strlen (name);

  for (; (at = strstr (at, name)) != NULL; at += size)
    {
      const char *line_end = strchr (at, '\n');

      if ((at == list || at[-1] == ' ' || at[-1] == '\n') && (at[size] == ' ' || at[size] == '\t' || at[size] == '\n' || at[size] == '\0'))
        return unified || line_end == NULL || line_end[-1] == '1';
    }
  return false;
}

static void
check_cgroups (struct cli_checkup *checkup)
{
  static const char *const wanted[] = { "cpu", "memory", "pids" };
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  struct statfs status;
  bool unified = statfs ("/sys/fs/cgroup", &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
  unsigned int count = 0;
  size_t i;

  read_small (unified ? "/sys/fs/cgroup/cgroup.controllers" : "/proc/cgroups", &list);
  berth_buffer_append_string (&found, unified ? "v2:" : "v1:");
  for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
    if (has_controller (berth_buffer_string (&list), wanted[i], unified))
      {
        berth_buffer_appendf (&found, " %s", wanted[i]);
        count++;
      }
  if (access ("/sys/fs/cgroup", W_OK) < 0)
    berth_buffer_append_string (&found, " (not writable for this user)");
  add (checkup, "cgroups", count == 3 && access ("/sys/fs/cgroup", W_OK) == 0 ? CLI_OK : CLI_WARNING, berth_buffer_string (&found),
       "limits that cannot be enforced are refused; `--limits best-effort` leaves them out",
       "run as root where cpu, memory and pids controllers are mounted");
}

static void
check_seccomp (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer actions = { 0 };
  bool there = prctl (PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;

  read_small ("/proc/sys/kernel/seccomp/actions_avail", &actions);
  add (checkup, "seccomp", there && actions.size > 0 ? CLI_OK : CLI_BROKEN, there ? berth_buffer_string (&actions) : "none",
       "local backends cannot filter system calls and are refused", "boot a kernel with CONFIG_SECCOMP_FILTER");
}

static void
check_openat2 (struct cli_checkup *checkup)
{
  struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
  BERTH_AUTO_FD int fd = (int) syscall (SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

  add (checkup, "openat2", fd >= 0 ? CLI_OK : CLI_WARNING, fd >= 0 ? "there" : strerror (errno),
       "paths are opened component by component, which is slower", "boot Linux 5.6 or newer, or allow openat2");
}

static void
check_overlay (struct cli_checkup *checkup)
{
  BERTH_AUTO_BUFFER struct berth_buffer list = { 0 };
  bool there;

  read_small ("/proc/filesystems", &list);
  there = strstr (berth_buffer_string (&list), "\toverlay") != NULL || access ("/sys/module/overlay", F_OK) == 0;
  add (checkup, "overlay", there ? CLI_OK : CLI_WARNING, there ? "there" : "not loaded",
       "a root file system can only be read-only", "modprobe overlay");
}

void
cli_check_kernel (struct cli_checkup *checkup)
{
  check_release (checkup);
  check_user_namespaces (checkup);
  check_cgroups (checkup);
  check_seccomp (checkup);
  check_openat2 (checkup);
  check_overlay (checkup);
}

/* ---- files ---- */

static void
check_directory (struct cli_checkup *checkup, const char *check, const char *path)
{
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  bool usable = path != NULL && access (path, W_OK | X_OK) == 0;

  berth_buffer_appendf (&found, "%s", path != NULL ? path : "not known");
  if (path != NULL && !usable)
    berth_buffer_appendf (&found, ": %s", strerror (errno));
  add (checkup, check, usable ? CLI_OK : CLI_BROKEN, berth_buffer_string (&found), "no sandbox can be made or found",
       "make it writable, or choose another with --state-dir, BERTH_STATE_DIR or BERTH_RUNTIME_DIR");
}

void
cli_check_directories (struct cli_checkup *checkup, struct berth_host *host)
{
  const char *config = berth_host_fact (host, "config_file");
  const char *agent = berth_host_fact (host, "agent");
  bool executable = agent != NULL && access (agent, X_OK) == 0;

  check_directory (checkup, "state directory", berth_host_fact (host, "state_dir"));
  check_directory (checkup, "runtime directory", berth_host_fact (host, "runtime_dir"));
  add (checkup, "configuration", CLI_OK, config != NULL && config[0] != '\0' ? config : "none, defaults are used", NULL, NULL);
  add (checkup, "backend directory", CLI_OK, berth_host_fact (host, "backend_dir"), NULL, NULL);
  add (checkup, "agent", executable ? CLI_OK : CLI_BROKEN, agent != NULL ? agent : "not known",
       "local backends cannot start a sandbox", "install Berth wholly, or set BERTH_AGENT");
}

/* ---- backends ---- */

struct rounds
{
  struct cli_checkup *checkup;
  struct berth_host *host;
  const char *only;
  unsigned int found;
};

static void
append_fact (void *context, const char *text)
{
  struct berth_buffer *facts = context;

  berth_buffer_appendf (facts, "%s%s", facts->size > 0 ? "; " : "", text);
}

static void
ping (struct rounds *rounds, const struct berth_backend_info *info)
{
  BERTH_AUTO_BUFFER struct berth_buffer facts = { 0 };
  struct berth_error error;
  enum cli_verdict bad = info->is_default || rounds->only != NULL ? CLI_BROKEN : CLI_WARNING;

  if (berth_backend_ping (rounds->host, info->name, append_fact, &facts, &error) == 0)
    add (rounds->checkup, info->name, CLI_OK, facts.size > 0 ? berth_buffer_string (&facts) : "answers", NULL, NULL);
  else
    add (rounds->checkup, info->name, bad, error.message, "it cannot make sandboxes", error.hint);
}

static int
check_backend (void *context, const struct berth_backend_info *info)
{
  struct rounds *rounds = context;
  BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
  uint64_t i;

  if (rounds->only != NULL && strcmp (rounds->only, info->name) != 0)
    return 0;
  rounds->found++;
  for (i = 0; i < info->warning_count; i++)
    add (rounds->checkup, info->name, CLI_WARNING, info->warnings[i], "it may not do what was meant", NULL);
  if (info->status == BERTH_BACKEND_READY)
    {
      ping (rounds, info);
      return 0;
    }
  if (info->status == BERTH_BACKEND_DISABLED)
    {
      add (rounds->checkup, info->name, CLI_OK, "installed, not enabled", NULL, NULL);
      return 0;
    }
  berth_buffer_append_string (&found, cli_status_name (info->status));
  for (i = 0; i < info->problem_count; i++)
    berth_buffer_appendf (&found, "%s %s", i == 0 ? ":" : ";", info->problems[i]);
  add (rounds->checkup, info->name, CLI_BROKEN, berth_buffer_string (&found), "it cannot be used",
       "mend or remove it, or leave it out of BERTH_BACKENDS");
  return 0;
}

int
cli_check_backends (struct cli_checkup *checkup, struct berth_host *host, const char *only, struct berth_error *error)
{
  struct rounds rounds = { checkup, host, only, 0 };

  if (berth_backend_list (host, check_backend, &rounds, error) < 0)
    return -1;
  if (rounds.found == 0)
    add (checkup, "backends", CLI_BROKEN, only != NULL ? only : "none", "no sandbox can be made",
         only != NULL ? "`berth backends` lists the backends" : "install a backend");
  return 0;
}
