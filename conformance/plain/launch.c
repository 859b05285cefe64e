/* The start of an agent: a grandchild, so that it is nobody's child here and survives this process. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/plain/plain.h"
#include "sdk/base/fd.h"

#define ARGUMENTS_MAXIMUM 24

/* Everything that the grandchild needs, made before the forks. */
struct launch
{
  struct plain_root root;
  int agent;  /* the program */
  int report; /* where the grandchild tells its pid, or an errno */
  int inherited[3];
  int null;
  char numbers[8][24];
  size_t number_count;
  const char *arguments[ARGUMENTS_MAXIMUM];
  size_t argument_count;
};

struct report
{
  int32_t pid;
  int32_t error;
};

static void
add_argument (struct launch *launch, const char *text)
{
  launch->arguments[launch->argument_count++] = text;
}

static void
add_number (struct launch *launch, const char *option, uint64_t number)
{
  char *text = launch->numbers[launch->number_count++];

  snprintf (text, sizeof launch->numbers[0], "%" PRIu64, number);
  add_argument (launch, option);
  add_argument (launch, text);
}

static void
add_arguments (struct launch *launch, const struct berth_spec *spec)
{
  add_argument (launch, "berth-agent");
  add_number (launch, "--listen-fd", (uint64_t) launch->inherited[0]);
  add_number (launch, "--token-fd", (uint64_t) launch->inherited[1]);
  add_number (launch, "--environment-fd", (uint64_t) launch->inherited[2]);
  add_number (launch, "--grace-ms", 0);
  if ((spec->asks & BERTH_SPEC_TTL) != 0)
    add_number (launch, "--ttl-ms", (uint64_t) spec->ttl_ms);
  if ((spec->asks & BERTH_SPEC_OPEN_FILES) != 0)
    add_number (launch, "--limit-open-files", spec->open_files);
  if ((spec->asks & BERTH_SPEC_FILE_SIZE) != 0)
    add_number (launch, "--limit-file-size", spec->file_size_bytes);
  if ((spec->asks & BERTH_SPEC_USER) != 0)
    {
      add_argument (launch, "--user");
      add_argument (launch, spec->user);
    }
  if ((spec->asks & BERTH_SPEC_FORBID_ROOT) != 0)
    add_argument (launch, "--forbid-root");
}

static _Noreturn void
grandchild (const struct launch *launch)
{
  struct report told = { .pid = (int32_t) getpid () };
  static char *const nothing[] = { NULL };
  int result = 0;

  setsid ();
  for (int i = 0; i < 3 && result >= 0; i++)
    result = dup2 (launch->null, i);
  for (int i = 0; i < 3 && result >= 0; i++)
    result = berth_fd_set_cloexec (launch->inherited[i], false);
  if (result >= 0 && plain_root_enter (&launch->root) == 0)
    {
      berth_fd_write_all (launch->report, &told, sizeof told);
      syscall (SYS_execveat, launch->agent, "", launch->arguments, nothing, AT_EMPTY_PATH);
    }
  told.error = errno;
  berth_fd_write_all (launch->report, &told, sizeof told);
  _exit (127);
}

/* The last report counts: the pid, then an errno unless the agent runs. */
static int
start (struct berth_call *call, struct launch *launch, struct plain_facts *facts)
{
  struct report told = { .error = ECHILD };
  int reports[2];
  pid_t child;

  if (pipe2 (reports, O_CLOEXEC) < 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "cannot make a pipe: %s", strerror (errno));
  launch->report = reports[1];
  child = fork ();
  if (child == 0)
    {
      if (fork () == 0)
        grandchild (launch);
      _exit (0);
    }
  close (reports[1]);
  if (child > 0)
    waitpid (child, NULL, 0);
  for (struct report next; berth_fd_read_full (reports[0], &next, sizeof next) == sizeof next;)
    told = next;
  close (reports[0]);
  if (told.error != 0)
    return call->services->fail (call, BERTH_E_INTERNAL, "cannot start the agent: %s", strerror (told.error));
  facts->pid = told.pid;
  facts->started = plain_start_time (told.pid);
  return 0;
}

static int
environment_fd (const struct berth_spec *spec)
{
  BERTH_AUTO_FD int fd = memfd_create ("environment", MFD_CLOEXEC);

  for (uint64_t i = 0; fd >= 0 && (spec->asks & BERTH_SPEC_ENVIRONMENT) != 0 && i < spec->environment_count; i++)
    {
      const struct berth_pair *pair = &spec->environment[i];

      if (berth_fd_write_all (fd, pair->name, strlen (pair->name)) < 0 || berth_fd_write_all (fd, "=", 1) < 0
          || berth_fd_write_all (fd, pair->value, strlen (pair->value) + 1) < 0)
        return -1;
    }
  return fd < 0 || lseek (fd, 0, SEEK_SET) < 0 ? -1 : BERTH_STEAL_FD (fd);
}

static void
name_root (struct launch *launch, const struct plain_box *box)
{
  struct plain_root *root = &launch->root;

  snprintf (root->root, sizeof root->root, "%s/root", box->directory);
  snprintf (root->workspace, sizeof root->workspace, "%s/workspace", box->directory);
  snprintf (root->temporary, sizeof root->temporary, "%s/tmp", box->directory);
  snprintf (root->passwd, sizeof root->passwd, "%s/passwd", box->directory);
  snprintf (root->group, sizeof root->group, "%s/group", box->directory);
}

int
plain_launch (struct berth_call *call, const struct plain_box *box, const struct berth_spec *spec,
              struct plain_facts *facts)
{
  const char *path = call->services->agent_path (call->instance, NULL);
  char token_path[PATH_MAX + 16];
  struct launch launch = { 0 };
  BERTH_AUTO_FD int listener = agentlink_listen_unix (call, box->socket);
  BERTH_AUTO_FD int agent = path == NULL ? -1 : open (path, O_RDONLY | O_CLOEXEC);
  BERTH_AUTO_FD int null = open ("/dev/null", O_RDWR | O_CLOEXEC);
  BERTH_AUTO_FD int environment = environment_fd (spec);
  BERTH_AUTO_FD int token = -1;

  if (listener < 0)
    return -1;
  snprintf (token_path, sizeof token_path, "%s/token", box->directory);
  token = open (token_path, O_RDONLY | O_CLOEXEC);
  if (agent < 0 || null < 0 || environment < 0 || token < 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot open what the agent '%s' needs: %s",
                                 path == NULL ? "(none)" : path, strerror (errno));
  launch.agent = agent;
  launch.null = null;
  launch.inherited[0] = listener;
  launch.inherited[1] = token;
  launch.inherited[2] = environment;
  name_root (&launch, box);
  add_arguments (&launch, spec);
  return start (call, &launch, facts);
}
