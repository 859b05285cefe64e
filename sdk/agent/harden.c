#include "sdk/agent/harden.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's own call, since the C library keeps two or three signals to itself: glibc's
 * posix_spawn starts every program with those ignored, and musl's signal refuses to set them.
 * An action that is all zero is SIG_DFL. */
static void
set_default_action (int number)
{
  static const uint64_t action[8];

  syscall (SYS_rt_sigaction, number, action, NULL, (size_t) _NSIG / 8);
}

void
harden_signals (void)
{
  sigset_t set;

  for (int number = 1; number < NSIG; number++)
    set_default_action (number);
  sigemptyset (&set);
  sigaddset (&set, SIGCHLD);
  sigprocmask (SIG_SETMASK, &set, NULL);
}

int
harden_identity (uid_t id)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2];

  if (syscall (SYS_capget, &header, data) < 0 || prctl (PR_SET_KEEPCAPS, 1) < 0 || setresuid (id, id, id) < 0)
    return -1;
  prctl (PR_SET_KEEPCAPS, 0);
  return (int) syscall (SYS_capset, &header, data);
}

int
harden_core (uint64_t limit)
{
  const struct rlimit both = { .rlim_cur = (rlim_t) limit, .rlim_max = (rlim_t) limit };

  return setrlimit (RLIMIT_CORE, &both);
}

/* The sets that decide what an execve gives; the agent's own permitted set stays. */
static int
drop_capabilities (void)
{
  struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
  struct __user_cap_data_struct data[2];

  /* Asking costs next to nothing, and most are gone already. */
  for (unsigned long capability = 0; capability < 64; capability++)
    {
      int held = prctl (PR_CAPBSET_READ, capability, 0, 0, 0);
      if (held < 0 && errno == EINVAL)
        break; /* above the kernel's last one */
      if (held != 0 && prctl (PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
        return -1;
    }
  /* A kernel without ambient capabilities has none to clear. */
  prctl (PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (syscall (SYS_capget, &header, data) < 0)
    return -1;
  data[0].inheritable = data[1].inheritable = 0;
  return (int) syscall (SYS_capset, &header, data);
}

const char *
harden_process (const void *filter, size_t size)
{
  struct sock_fprog program = { .len = (unsigned short) (size / sizeof (struct sock_filter)),
                                .filter = (struct sock_filter *) (uintptr_t) filter };

  if (prctl (PR_SET_DUMPABLE, 0) < 0)
    return "dumpable";
  if (prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
    return "subreaper";
  if (drop_capabilities () < 0)
    return "capabilities";
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
    return "no-new-privileges";
  if (size == 0)
    return NULL;
  errno = EINVAL;
  if (size % sizeof (struct sock_filter) != 0 || size / sizeof (struct sock_filter) > UINT16_MAX
      || prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
    return "seccomp filter";
  return NULL;
}
