/* calls.c - makes system calls that a sandbox must refuse, and prints how each ended.
 *
 * calls 64|x32|i386: one line each, "name errno"; errno 0 is success.  A call that would change
 * something has arguments that an unfiltered kernel refuses in another way. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __x86_64__

#define NEW_USER 0x10000000
#define NEW_MOUNT 0x00020000
#define NEW_PID 0x20000000
#define NEW_NET 0x40000000
#define TIOCSTI_COMMAND 0x5412
#define TIOCLINUX_COMMAND 0x541c
#define TIOCSETD_COMMAND 0x5423
#define NOBODY 999999999 /* no process has this number */

/* Numbers of x86-64 and of i386; 0: that entry has no such call. */
static const struct call
{
  const char *name;
  int native, i386;
  long arguments[5];
} calls[] = {
  { "mount", 165, 21, { 0, 0, 0, 0, 0 } },
  { "umount2", 166, 52, { 0, 0xffff, 0, 0, 0 } },
  { "pivot_root", 155, 217, { 0, 0, 0, 0, 0 } },
  { "chroot", 161, 61, { 0, 0, 0, 0, 0 } },
  { "unshare-user", 272, 310, { NEW_USER, 0, 0, 0, 0 } },
  { "unshare-mount", 272, 310, { NEW_MOUNT, 0, 0, 0, 0 } },
  { "clone-user", 56, 120, { NEW_USER | SIGCHLD, 0, 0, 0, 0 } },
  { "clone3", 435, 435, { 0, 0, 0, 0, 0 } },
  { "setns", 308, 346, { -1, 0, 0, 0, 0 } },
  { "keyctl", 250, 288, { 0, -3, 0, 0, 0 } },
  { "add_key", 248, 286, { 0, 0, 0, 0, -3 } },
  { "request_key", 249, 287, { 0, 0, 0, 0, 0 } },
  { "bpf", 321, 357, { 1000, 0, 0, 0, 0 } },
  { "perf_event_open", 298, 336, { 0, 0, -1, -1, 0 } },
  { "io_uring_setup", 425, 425, { 0, 0, 0, 0, 0 } },
  { "io_uring_enter", 426, 426, { -1, 0, 0, 0, 0 } },
  { "io_uring_register", 427, 427, { -1, 0, 0, 0, 0 } },
  { "userfaultfd", 323, 374, { 0x7fff, 0, 0, 0, 0 } },
  { "open_by_handle_at", 304, 342, { -1, 0, 0, 0, 0 } },
  { "kexec_load", 246, 283, { 0, 0, 0, 0x7fff, 0 } },
  { "kexec_file_load", 320, 0, { -1, -1, 0, 0, 0x7fff } },
  { "fsopen", 430, 430, { 0, 0, 0, 0, 0 } },
  { "fsmount", 432, 432, { -1, 0, 0, 0, 0 } },
  { "move_mount", 429, 429, { -1, 0, -1, 0, 0 } },
  { "open_tree", 428, 428, { -1, 0, 0, 0, 0 } },
  { "mount_setattr", 442, 442, { -1, 0, 0, 0, 0 } },
  { "swapon", 167, 87, { 0, 0, 0, 0, 0 } },
  { "init_module", 175, 128, { 0, 0, 0, 0, 0 } },
  { "reboot", 169, 88, { 0, 0, 0, 0, 0 } },
  { "clock_settime", 227, 264, { 9999, 0, 0, 0, 0 } },
  { "personality", 135, 136, { 0x0400000, 0, 0, 0, 0 } },
  { "ioctl-tiocsti", 16, 54, { 0, TIOCSTI_COMMAND, 0, 0, 0 } },
  { "ioctl-tioclinux", 16, 54, { 0, TIOCLINUX_COMMAND, 0, 0, 0 } },
  { "ioctl-tiocsetd", 16, 54, { 0, TIOCSETD_COMMAND, 0, 0, 0 } },
  { "acct", 163, 51, { 1, 0, 0, 0, 0 } },
  { "quotactl", 179, 131, { 0x7fffffff, 0, 0, 0, 0 } },
  { "fanotify_init", 300, 338, { 0x7fffffff, 0, 0, 0, 0 } },
  { "syslog", 103, 103, { 99, 0, 0, 0, 0 } },
  { "iopl", 172, 110, { 9, 0, 0, 0, 0 } },
  { "ioperm", 173, 101, { -1, 1, 1, 0, 0 } },
  { "migrate_pages", 256, 294, { NOBODY, 0, 0, 0, 0 } },
  { "move_pages", 279, 317, { NOBODY, 0, 0, 0, 0 } },
  { "settimeofday", 164, 79, { 1, 0, 0, 0, 0 } },
  { "swapoff", 168, 115, { 0, 0, 0, 0, 0 } },
  { "delete_module", 176, 129, { 0, 0, 0, 0, 0 } },
  { "finit_module", 313, 350, { -1, 0, 0, 0, 0 } },
  { "unshare-pid", 272, 310, { NEW_PID, 0, 0, 0, 0 } },
  { "unshare-net", 272, 310, { NEW_NET, 0, 0, 0, 0 } },
  { "socket-packet", 41, 359, { 17, 3, 0, 0, 0 } },
  { "socket-alg", 41, 359, { 38, 5, 0, 0, 0 } },
  { "socket-vsock", 41, 359, { 40, 1, 0, 0, 0 } },
  { "socket-audit", 41, 359, { 16, 3, 9, 0, 0 } },
  { "ptrace-agent", 101, 26, { 16, 1, 0, 0, 0 } },
};

/* The kernel looks at 32 bits of these: rubbish above must not get one past the filter. */
static const struct call rubbish[] = {
  { "ioctl-tiocsti-high", 16, 0, { 0, TIOCSTI_COMMAND | 1l << 40, 0, 0, 0 } },
  { "socket-alg-high", 41, 0, { 38 | 1l << 40, 5, 0, 0, 0 } },
  { "clone-user-high", 56, 0, { NEW_USER | SIGCHLD | 1l << 40, 0, 0, 0, 0 } },
};

static long
call_native (long number, const long *arguments)
{
  register long fourth __asm__ ("r10") = arguments[3];
  register long fifth __asm__ ("r8") = arguments[4];
  long result;

  __asm__ volatile ("syscall"
                    : "=a"(result)
                    : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth)
                    : "rcx", "r11", "memory");
  return result;
}

static long
call_i386 (long number, const long *arguments)
{
  long result;

  __asm__ volatile ("push %%rbx\n\tmov %2, %%rbx\n\tint $0x80\n\tpop %%rbx"
                    : "=a"(result)
                    : "0"(number), "r"(arguments[0]), "c"(arguments[1]), "d"(arguments[2]), "S"(arguments[3]),
                      "D"(arguments[4])
                    : "r8", "r9", "r10", "r11", "memory");
  return (int) result;
}

/* In a process of its own, since some of them make another one when they succeed. */
static int
try (const struct call *call, const char *entry)
{
  int status;
  pid_t pid = fork ();

  if (pid == 0)
    {
      pid_t self = getpid ();
      long result = strcmp (entry, "i386") == 0 ? call_i386 (call->i386, call->arguments)
                    : strcmp (entry, "x32") == 0
                        ? call_native (call->native | 0x40000000, call->arguments)
                        : call_native (call->native, call->arguments);
      if (getpid () != self)
        _exit (0);
      _exit (result < 0 && result > -256 ? (int) -result : 0);
    }
  if (pid < 0 || waitpid (pid, &status, 0) < 0)
    return -1;
  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

int
main (int count, char **arguments)
{
  const char *entry = count > 1 ? arguments[1] : "64";
  const struct call harmless = { "getppid", 110, 64, { 0 } };

  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp (entry, "i386") != 0 || calls[i].i386 != 0)
      printf ("%s %d\n", calls[i].name, try (&calls[i], entry));
  for (size_t i = 0; strcmp (entry, "64") == 0 && i < sizeof rubbish / sizeof *rubbish; i++)
    printf ("%s %d\n", rubbish[i].name, try (&rubbish[i], entry));
  printf ("getppid %d\n", try (&harmless, entry));
  return 0;
}

#else

int
main (void)
{
  puts ("not here");
  return 77;
}

#endif
