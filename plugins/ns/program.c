/* program.c - programs of this machine that do what an unprivileged or single call cannot. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"

#define POLL_MS 100

static int
start (const struct ns_program *program, pid_t *pid)
{
  const char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;

  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);
  sigemptyset (&signals);
  posix_spawnattr_setsigmask (&attributes, &signals);
  sigfillset (&signals);
  posix_spawnattr_setsigdefault (&attributes, &signals);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (program->file >= 0)
    posix_spawn_file_actions_adddup2 (&actions, program->file, NS_PROGRAM_FILE);
  for (int fd = 0; fd < 3; fd++)
    if (fd == 2 && program->errors >= 0)
      posix_spawn_file_actions_adddup2 (&actions, program->errors, fd);
    else
      posix_spawn_file_actions_addopen (&actions, fd, "/dev/null", O_RDWR, 0);
  int reason = posix_spawn (pid, program->path, &actions, &attributes, (char *const *) program->arguments,
                            (char *const *) environment);
  posix_spawn_file_actions_destroy (&actions);
  posix_spawnattr_destroy (&attributes);
  errno = reason;
  return reason == 0 ? 0 : -1;
}

int
ns_program_run (struct berth_call *call, const struct ns_program *program, int *status)
{
  pid_t pid, got;

  *status = 0;
  if (start (program, &pid) < 0)
    return -1;
  BERTH_AUTO_FD int pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };
  while ((got = waitpid (pid, status, pidfd >= 0 ? WNOHANG : 0)) == 0 || (got < 0 && errno == EINTR))
    {
      if (call->services->cancelled (call) != 0)
        syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
      poll (&poll_fd, 1, POLL_MS);
    }
  return got == pid;
}
