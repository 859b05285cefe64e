/* The start of an agent: the first process of a new pid namespace, in a root of its own.  What runs
 * between fork and exec allocates nothing. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chroot.h"

#define INHERITED 3
#define PATH_SIZE (PATH_MAX + 16)
#define NAMES_MAX 64
#define NAME_SIZE 64

/* Everything that is needed after the forks. */
struct launch
{
  char root[PATH_SIZE], workspace[PATH_SIZE], temporary[PATH_SIZE], passwd[PATH_SIZE], group[PATH_SIZE];
  char names[NAMES_MAX][NAME_SIZE]; /* of the machine's root */
  size_t name_count;
  int agent;
  int null;
  int report; /* an errno comes here; nothing, when the agent was executed */
  int inherited[INHERITED];
  char numbers[INHERITED + 1][16];
  const char *arguments[20];
  size_t argument_count;
};

/* ---- the root ---- */

/* Brings one directory or link of the machine's root into the new root, the working directory. */
static int
bring (const char *name)
{
  char source[NAME_SIZE + 2] = "/", target[PATH_MAX];
  struct stat status;
  ssize_t size;

  strcat (source, name);
  if (lstat (source, &status) < 0)
    return errno == ENOENT ? 0 : -1;
  if (S_ISLNK (status.st_mode))
    {
      size = readlink (source, target, sizeof target - 1);
      if (size < 0)
        return -1;
      target[size] = '\0';
      return symlink (target, name);
    }
  if (!S_ISDIR (status.st_mode))
    return 0;
  return mkdir (name, 0755) < 0 ? -1 : mount (source, name, NULL, MS_BIND | MS_REC, NULL);
}

static int
bind_directory (const char *source, const char *name)
{
  return mkdir (name, 0755) < 0 ? -1 : mount (source, name, NULL, MS_BIND, NULL);
}

static int
enter_root (const struct launch *launch)
{
  if (unshare (CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS) < 0 || mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0
      || mount ("tmpfs", launch->root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") < 0 || chdir (launch->root) < 0)
    return -1;
  for (size_t i = 0; i < launch->name_count; i++)
    if (bring (launch->names[i]) < 0)
      return -1;
  if (bind_directory (launch->workspace, "workspace") < 0 || bind_directory (launch->temporary, "tmp") < 0
      || mount (launch->passwd, "etc/passwd", NULL, MS_BIND, NULL) < 0 || mount (launch->group, "etc/group", NULL, MS_BIND, NULL) < 0
      || mkdir ("proc", 0555) < 0 || mount ("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
    return -1;
  if (syscall (SYS_pivot_root, ".", ".") < 0 || umount2 (".", MNT_DETACH) < 0)
    return -1;
  return chdir ("/");
}

/* ---- the agent ---- */

static _Noreturn void
become_agent (const struct launch *launch)
{
  static char *const nothing[] = { NULL };
  int result = 0;
  int error;

  setsid ();
  for (int i = 0; i < 3 && result >= 0; i++)
    result = dup2 (launch->null, i);
  for (int i = 0; i < INHERITED && result >= 0; i++)
    result = fcntl (launch->inherited[i], F_SETFD, 0);
  if (result >= 0 && enter_root (launch) == 0)
    syscall (SYS_execveat, launch->agent, "", launch->arguments, nothing, AT_EMPTY_PATH);
  error = errno;
  if (write (launch->report, &error, sizeof error) < 0)
    _exit (126);
  _exit (127);
}

/* A grandchild, so that it is nobody's child here: the one between makes the namespace and tells the pid. */
static int
start (struct berth_call *call, struct launch *launch, struct facts *facts)
{
  int reports[2], error = 0;
  pid_t child;

  if (pipe2 (reports, O_CLOEXEC) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make a pipe: %s", strerror (errno));
  launch->report = reports[1];
  child = fork ();
  if (child == 0)
    {
      pid_t agent = unshare (CLONE_NEWPID) == 0 ? fork () : -1;

      if (agent == 0)
        become_agent (launch);
      error = agent < 0 ? -errno : agent; /* a pid is no negative number */
      _exit (write (launch->report, &error, sizeof error) < 0);
    }
  close (reports[1]);
  if (child > 0)
    waitpid (child, NULL, 0);
  facts->pid = 0;
  error = 0;
  for (int told; read (reports[0], &told, sizeof told) == sizeof told;)
    {
      if (told > 0 && facts->pid == 0 && start_time (told) != 0)
        facts->pid = told;
      else
        error = told < 0 ? -told : told;
    }
  close (reports[0]);
  facts->started = facts->pid != 0 ? start_time (facts->pid) : 0;
  if (error == 0 && facts->started != 0)
    return 0;
  return call->services->fail (call, BERTH_E_INTERNAL, "cannot start the agent: %s", strerror (error != 0 ? error : ECHILD));
}

/* "NAME=VALUE" and a NUL each, where no other process can read them. */
static int
environment_fd (const struct berth_spec *spec)
{
  FILE *stream;
  int fd = memfd_create ("environment", MFD_CLOEXEC);
  int copy = fd < 0 ? -1 : fcntl (fd, F_DUPFD_CLOEXEC, 0);
  bool failed;

  stream = copy < 0 ? NULL : fdopen (copy, "w");
  for (uint64_t i = 0; stream != NULL && (spec->asks & BERTH_SPEC_ENVIRONMENT) != 0 && i < spec->environment_count; i++)
    fprintf (stream, "%s=%s%c", spec->environment[i].name, spec->environment[i].value, '\0');
  failed = stream == NULL || fclose (stream) != 0 || lseek (fd, 0, SEEK_SET) < 0;
  if (failed && fd >= 0)
    close (fd);
  return failed ? -1 : fd;
}

static void
add_argument (struct launch *launch, const char *text)
{
  launch->arguments[launch->argument_count++] = text;
}

static void
add_arguments (struct launch *launch, const struct berth_spec *spec)
{
  static const char *const options[INHERITED] = { "--listen-fd", "--token-fd", "--environment-fd" };

  add_argument (launch, "berth-agent");
  for (int i = 0; i < INHERITED; i++)
    {
      snprintf (launch->numbers[i], sizeof launch->numbers[i], "%d", launch->inherited[i]);
      add_argument (launch, options[i]);
      add_argument (launch, launch->numbers[i]);
    }
  if ((spec->asks & BERTH_SPEC_OPEN_FILES) != 0)
    {
      snprintf (launch->numbers[INHERITED], sizeof launch->numbers[0], "%u", spec->open_files);
      add_argument (launch, "--limit-open-files");
      add_argument (launch, launch->numbers[INHERITED]);
    }
  if ((spec->asks & BERTH_SPEC_USER) != 0)
    {
      add_argument (launch, "--user");
      add_argument (launch, spec->user);
    }
  if ((spec->asks & BERTH_SPEC_FORBID_ROOT) != 0)
    add_argument (launch, "--forbid-root");
}

static void
name_paths (struct launch *launch, const struct box *box)
{
  DIR *stream = opendir ("/");
  struct dirent *entry;

  snprintf (launch->root, sizeof launch->root, "%s/root", box->directory);
  snprintf (launch->workspace, sizeof launch->workspace, "%s/workspace", box->directory);
  snprintf (launch->temporary, sizeof launch->temporary, "%s/tmp", box->directory);
  snprintf (launch->passwd, sizeof launch->passwd, "%s/passwd", box->directory);
  snprintf (launch->group, sizeof launch->group, "%s/group", box->directory);
  while (stream != NULL && launch->name_count < NAMES_MAX && (entry = readdir (stream)) != NULL)
    if (entry->d_name[0] != '.' && strlen (entry->d_name) < NAME_SIZE && strcmp (entry->d_name, "workspace") != 0
        && strcmp (entry->d_name, "tmp") != 0 && strcmp (entry->d_name, "proc") != 0)
      strcpy (launch->names[launch->name_count++], entry->d_name);
  if (stream != NULL)
    closedir (stream);
}

int
launch (struct berth_call *call, const struct box *box, const struct berth_spec *spec, struct facts *facts)
{
  const char *path = call->services->agent_path (call->instance, NULL);
  struct launch launch = { .agent = path != NULL ? open (path, O_RDONLY | O_CLOEXEC) : -1,
                           .null = open ("/dev/null", O_RDWR | O_CLOEXEC) };
  char token[PATH_SIZE];
  bool ready;
  int result = -1;

  snprintf (token, sizeof token, "%s/token", box->directory);
  launch.inherited[0] = agentlink_listen_unix (call, box->socket);
  launch.inherited[1] = open (token, O_RDONLY | O_CLOEXEC);
  launch.inherited[2] = environment_fd (spec);
  ready = launch.agent >= 0 && launch.null >= 0 && launch.inherited[1] >= 0 && launch.inherited[2] >= 0;
  name_paths (&launch, box);
  add_arguments (&launch, spec);
  if (launch.inherited[0] >= 0 && !ready)
    call->services->fail (call, BERTH_E_CONFIGURATION, "cannot open what the agent '%s' needs: %s", path != NULL ? path : "(none)",
                          strerror (errno));
  else if (launch.inherited[0] >= 0)
    result = start (call, &launch, facts);
  for (int i = 0; i < INHERITED; i++)
    if (launch.inherited[i] >= 0)
      close (launch.inherited[i]);
  if (launch.agent >= 0)
    close (launch.agent);
  if (launch.null >= 0)
    close (launch.null);
  return result;
}
