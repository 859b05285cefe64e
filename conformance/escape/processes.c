/* At a process that is not the sandbox's own: the agent, or the one that watches over this command. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "conformance/escape/prober.h"

static char own_byte;

static int
trace (pid_t target, const struct attempt *self)
{
  return ptrace ((enum __ptrace_request) self->number, target, 0, 0) < 0 ? errno : 0;
}

static int
copy_memory (pid_t target, const struct attempt *self)
{
  char byte;
  struct iovec here = { &byte, 1 };
  struct iovec there = { &own_byte, 1 };

  return syscall (self->number, target, &here, 1, &there, 1, 0) < 0 ? errno : 0;
}

static int
take_descriptor (pid_t target, const struct attempt *self)
{
  long pidfd = syscall (SYS_pidfd_open, target, 0);

  (void) self;
  return pidfd < 0 || syscall (SYS_pidfd_getfd, pidfd, 0, 0) < 0 ? errno : 0;
}

static int
advise (pid_t target, const struct attempt *self)
{
  size_t size = (size_t) sysconf (_SC_PAGESIZE);
  struct iovec there = { (void *) ((uintptr_t) &own_byte & ~(size - 1)), size };
  long pidfd = syscall (SYS_pidfd_open, target, 0);

  (void) self;
  return pidfd < 0 || syscall (SYS_process_madvise, pidfd, &there, 1, MADV_COLD, 0) < 0 ? errno : 0;
}

static int
compare (pid_t target, const struct attempt *self)
{
  (void) self;
  return syscall (SYS_kcmp, getpid (), target, 1, 0, 0) < 0 ? errno : 0;
}

static int
move_memory (pid_t target, const struct attempt *self)
{
  void *page = &own_byte;
  int status;

  (void) self;
  return syscall (SYS_move_pages, target, 1, &page, 0, &status, 0) < 0 ? errno : 0;
}

static int
get_robust_list (pid_t target, const struct attempt *self)
{
  void *list;
  size_t size;

  (void) self;
  return syscall (SYS_get_robust_list, target, &list, &size) < 0 ? errno : 0;
}

/* The file's name is that of the attempt; number: how it is opened; then whether a byte is read,
 * and whether a number is written, where only that is forbidden. */
static int
open_entry (pid_t target, const struct attempt *self)
{
  char path[128];
  char byte;
  int fd;

  snprintf (path, sizeof path, "/proc/%d/%s", (int) target, self->name + strcspn (self->name, ":") + 1);
  fd = open (path, (int) self->number | O_NOCTTY | O_CLOEXEC); /* who ends with a terminal hangs it up */
  if (fd < 0)
    return errno == ETXTBSY ? 0 : errno;
  if (self->arguments[0] && read (fd, &byte, 1) < 0)
    return errno;
  return self->arguments[1] && write (fd, "50000", 5) < 0 ? errno : 0;
}

static int
follow_link (pid_t target, const struct attempt *self)
{
  char path[128];
  char link[256];

  snprintf (path, sizeof path, "/proc/%d/%s", (int) target, self->name + strcspn (self->name, ":") + 1);
  return readlink (path, link, sizeof link) < 0 ? errno : 0;
}

static int
send_signal (pid_t target, const struct attempt *self)
{
  return kill (target, (int) self->number) < 0 ? errno : 0;
}

static int
signal_by_descriptor (pid_t target, const struct attempt *self)
{
  long pidfd = syscall (SYS_pidfd_open, target, 0);

  (void) self;
  return pidfd < 0 || syscall (SYS_pidfd_send_signal, pidfd, 0, 0, 0) < 0 ? errno : 0;
}

static int
set_limit (pid_t target, const struct attempt *self)
{
  struct rlimit limit;

  (void) self;
  if (prlimit (target, RLIMIT_NOFILE, NULL, &limit) < 0)
    return errno;
  return prlimit (target, RLIMIT_NOFILE, &limit, NULL) < 0 ? errno : 0;
}

static int
slow_down (pid_t target, const struct attempt *self)
{
  (void) self;
  return setpriority (PRIO_PROCESS, (id_t) target, 19) < 0 ? errno : 0;
}

static int
schedule (pid_t target, const struct attempt *self)
{
  const struct sched_param none = { 0 };

  (void) self;
  return sched_setscheduler (target, SCHED_IDLE, &none) < 0 ? errno : 0;
}

/* 1 is a process, 3 << 13 the class that gets what nobody else wants. */
static int
starve (pid_t target, const struct attempt *self)
{
  (void) self;
  return syscall (SYS_ioprio_set, 1, target, 3 << 13) < 0 ? errno : 0;
}

static int
pin (pid_t target, const struct attempt *self)
{
  cpu_set_t set;

  (void) self;
  if (sched_getaffinity (target, sizeof set, &set) < 0)
    return errno;
  return sched_setaffinity (target, sizeof set, &set) < 0 ? errno : 0;
}

#define READ(name) { "read:" name, open_entry, O_RDONLY, { 1 } }
#define OPEN(name) { "open:" name, open_entry, O_RDONLY, { 0 } }
#define CHANGE(name) { "write:" name, open_entry, O_WRONLY, { 0 } }
#define LINK(name) { "link:" name, follow_link, 0, { 0 } }

const struct attempt attempts_processes[] = {
  { "ptrace-seize", trace, PTRACE_SEIZE, { 0 } },
  { "ptrace-attach", trace, PTRACE_ATTACH, { 0 } },
  { "process_vm_readv", copy_memory, SYS_process_vm_readv, { 0 } },
  { "process_vm_writev", copy_memory, SYS_process_vm_writev, { 0 } },
  { "pidfd_getfd", take_descriptor, 0, { 0 } },
  { "process_madvise", advise, 0, { 0 } },
  { "kcmp", compare, 0, { 0 } },
  { "move_pages", move_memory, 0, { 0 } },
  { "get_robust_list", get_robust_list, 0, { 0 } },
  { "write:mem", open_entry, O_RDWR, { 0 } },
  READ ("environ"), READ ("maps"), READ ("smaps"), READ ("pagemap"), READ ("auxv"), READ ("syscall"), READ ("stack"),
  READ ("personality"), READ ("io"),
  OPEN ("exe"), CHANGE ("exe"), OPEN ("root/etc"), OPEN ("cwd/."), OPEN ("fd/0"), OPEN ("fd/1"), OPEN ("fd/2"),
  OPEN ("fdinfo/0"), OPEN ("ns/mnt"), OPEN ("ns/user"), OPEN ("ns/net"),
  { "write:timerslack_ns", open_entry, O_WRONLY, { 0, 1 } },
  LINK ("exe"), LINK ("root"), LINK ("cwd"), LINK ("fd/0"), LINK ("fd/3"), LINK ("ns/mnt"),
  { NULL, NULL, 0, { 0 } },
};

const struct attempt attempts_signals[] = {
  { "kill", send_signal, 0, { 0 } },
  { "kill-continue", send_signal, SIGCONT, { 0 } },
  { "pidfd_send_signal", signal_by_descriptor, 0, { 0 } },
  { NULL, NULL, 0, { 0 } },
};

const struct attempt attempts_limits[] = {
  { "prlimit", set_limit, 0, { 0 } },
  { "setpriority", slow_down, 0, { 0 } },
  { "affinity", pin, 0, { 0 } },
  { "scheduler", schedule, 0, { 0 } },
  { "ioprio", starve, 0, { 0 } },
  { NULL, NULL, 0, { 0 } },
};

const struct attempt attempts_settings[] = {
  CHANGE ("clear_refs"), CHANGE ("oom_score_adj"), CHANGE ("coredump_filter"),
  { NULL, NULL, 0, { 0 } },
};

const struct attempt attempts_listings[] = {
  OPEN ("fd"), OPEN ("map_files"),
  { NULL, NULL, 0, { 0 } },
};
