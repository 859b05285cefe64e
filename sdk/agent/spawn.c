/* From vfork to execve.  The child shares the nanny's memory until then, and the nanny waits: it
 * reports by writing to the nanny's variables, allocates nothing and calls nothing that could. */
#include "sdk/agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define START_SECONDS 10
#define ALARM_SECONDS 5 /* more */
#define OOM_SCORE "500" /* half of all memory more than it has */

static int
set_limit (int which, uint64_t value)
{
  struct rlimit limit = { .rlim_cur = (rlim_t) value, .rlim_max = (rlim_t) value };

  return value == UINT64_MAX ? 0 : setrlimit (which, &limit);
}

/* When memory runs out the workload goes, not the agent: whatever value the host had.  Best effort:
 * there may be no /proc. */
static void
offer_to_oom_killer (void)
{
  int fd = open ("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

  if (fd < 0)
    return;
  if (write (fd, OOM_SCORE, sizeof OOM_SCORE - 1) < 0)
    errno = 0;
  close (fd);
}

/* From the change of its user on the workload may stop the child, and the nanny would wait for ever.
 * An execve takes this timer away. */
static void
set_timer (time_t seconds)
{
  struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
  const struct itimerspec when = { .it_value = { .tv_sec = seconds } };
  timer_t timer;

  if (timer_create (CLOCK_MONOTONIC, &event, &timer) == 0)
    timer_settime (timer, 0, &when, NULL);
}

static int
set_up (const struct agent *agent, const int standard[3])
{
  for (int i = 0; i < 3; i++)
    if (dup2 (standard[i], i) < 0)
      return -1;
  /* All are close-on-exec too, which is what stands where the kernel lacks close_range. */
  syscall (SYS_close_range, 3u, UINT_MAX, 0u);
  if (set_limit (RLIMIT_NOFILE, agent->limit_open_files) < 0
      || set_limit (RLIMIT_NPROC, agent->limit_processes) < 0
      || set_limit (RLIMIT_FSIZE, agent->limit_file_size) < 0)
    return -1;
  offer_to_oom_killer ();
  umask (022);
  return setsid () < 0 ? -1 : 0;
}

/* The system calls themselves: the C library's wrappers look for threads in memory that is shared here. */
static int
become (const struct agent *agent, const struct account *account)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  const struct __user_cap_data_struct none[2] = { 0 };

  /* With a single user it is that account already. */
  if (!agent->single_user
      && (syscall (SYS_setgroups, account->group_count, account->groups) < 0
          || syscall (SYS_setresgid, account->gid, account->gid, account->gid) < 0
          || syscall (SYS_setresuid, account->uid, account->uid, account->uid) < 0))
    return -1;
  /* The change has set this to what the machine's fs.suid_dumpable says. */
  syscall (SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  /* Nothing is looked for in the account's name with more than it has. */
  return (int) syscall (SYS_capset, &header, none);
}

/* A missing file, or a missing interpreter, lets the search go on; anything else is remembered. */
static int
execute (const struct command *command)
{
  const char *name = command->arguments[0];
  size_t size = strlen (name);
  int error = ENOENT;

  if (strchr (name, '/') != NULL || *name == '\0')
    {
      execve (name, command->arguments, command->environment);
      return errno;
    }
  for (const char *at = command->path, *end; at != NULL; at = *end == ':' ? end + 1 : NULL)
    {
      char candidate[PATH_MAX];
      size_t length;

      end = strchrnul (at, ':');
      length = (size_t) (end - at);
      if (length + size + 2 > sizeof candidate)
        continue;
      memcpy (candidate, at, length);
      candidate[length] = '/';
      memcpy (candidate + (length == 0 ? 0 : length + 1), name, size + 1);
      execve (candidate, command->arguments, command->environment);
      if (errno == EACCES)
        error = EACCES;
      else if (errno != ENOENT && errno != ENOTDIR)
        return errno;
    }
  return error;
}

static _Noreturn void
child (const struct agent *agent, const struct command *command, const int standard[3], volatile struct spawned *told)
{
  sigset_t none;

  sigemptyset (&none);
  told->stage = SPAWN_SETUP;
  set_timer (START_SECONDS);
  if (set_up (agent, standard) == 0)
    {
      told->stage = SPAWN_ACCOUNT;
      if (become (agent, &command->account) == 0)
        {
          told->stage = SPAWN_WORKDIR;
          if (chdir (command->workdir) == 0)
            {
              told->stage = SPAWN_EXECUTE;
              sigprocmask (SIG_SETMASK, &none, NULL);
              told->error = execute (command);
              _exit (127);
            }
        }
    }
  told->error = errno;
  _exit (127);
}

/* Where the child could have no timer: ends the nanny, and the agent kills what it left. */
static void
set_alarm (time_t seconds)
{
  struct itimerval timer = { .it_value = { .tv_sec = seconds } };

  setitimer (ITIMER_REAL, &timer, NULL);
}

void
command_spawn (const struct agent *agent, const struct command *command, const int standard[3],
               struct spawned *spawned)
{
  volatile struct spawned told = { .stage = SPAWN_FORK };
  pid_t pid;

  set_alarm (START_SECONDS + ALARM_SECONDS);
  pid = vfork ();
  if (pid == 0)
    child (agent, command, standard, &told);
  set_alarm (0);
  /* The child's change of user has reset this for the memory that was shared. */
  prctl (PR_SET_DUMPABLE, 0);
  spawned->pid = pid;
  spawned->error = pid < 0 ? errno : told.error;
  /* The error is written only after a failure, the stage before each attempt. */
  spawned->stage = pid > 0 && told.error == 0 ? SPAWN_OK : told.stage;
  if (pid > 0 && told.error != 0)
    waitpid (pid, NULL, 0);
}
