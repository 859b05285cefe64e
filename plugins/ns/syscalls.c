/* syscalls.c - the lists of the filter.
 *
 * Allowed is what programs without privileges use: what the kernel checks by itself and what
 * stays inside the sandbox.  Everything else is ENOSYS, also what kernels learn later, or the
 * errno of the last list where that is what programs expect. */
#include "plugins/ns/syscalls.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

const char *const ns_syscalls_allowed[] = {
  /* files */
  "access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3",
  "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown",
  "fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat",
  "fstatfs", "fsync", "ftruncate", "futimesat", "getcwd", "getdents", "getdents64", "getxattr", "getxattrat",
  "lchown", "lgetxattr", "link", "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr", "lseek",
  "lsetxattr", "lstat", "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat", "open", "openat", "openat2", "pread64",
  "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv",
  "removexattr", "removexattrat", "rename", "renameat", "renameat2", "rmdir", "sendfile", "setxattr", "setxattrat",
  "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync", "sync_file_range", "syncfs", "tee", "truncate",
  "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev", "cachestat",
  "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "fstatat64",
  "ioctl",
  /* memory */
  "brk", "get_mempolicy", "madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_create", "mincore", "mlock",
  "mlock2", "mlockall", "mmap", "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap",
  "pkey_alloc", "pkey_free", "pkey_mprotect", "process_madvise", "process_mrelease", "remap_file_pages",
  "set_mempolicy", "set_mempolicy_home_node",
  /* processes and threads */
  "arch_prctl", "capget", "capset", "clone", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_requeue",
  "futex_wait", "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area", "getcpu", "getegid", "geteuid",
  "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getresgid", "getresuid",
  "getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get", "ioprio_set", "kcmp", "kill",
  "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "pidfd_getfd", "pidfd_open",
  "personality", "pidfd_send_signal", "prctl", "prlimit64", "process_vm_readv", "process_vm_writev", "ptrace", "restart_syscall",
  "rseq", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
  "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam",
  "sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area", "set_tid_address", "setfsgid",
  "setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid",
  "setrlimit", "setsid", "setuid", "tgkill", "tkill", "unshare", "vfork", "wait4", "waitid",
  /* signals */
  "pause", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend",
  "rt_sigtimedwait", "rt_tgsigqueueinfo", "sigaltstack", "signalfd", "signalfd4",
  /* time */
  "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "gettimeofday", "nanosleep", "setitimer",
  "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create",
  "timerfd_gettime", "timerfd_settime", "times",
  /* waiting */
  "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2",
  "poll", "ppoll", "pselect6", "select",
  /* sockets and pipes */
  "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "pipe", "pipe2",
  "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair",
  /* System V and POSIX IPC, old asynchronous I/O */
  "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit", "mq_getsetattr", "mq_notify",
  "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget",
  "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
  /* the machine */
  "getrandom", "sysinfo", "uname", "riscv_flush_icache", "riscv_hwprobe", NULL
};

#define NEW_NAMESPACES                                                                            \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define NEW_TIME_NAMESPACE 0x80 /* of unshare; in clone these bits are the exit signal */

/* Where the workload may make user namespaces: what it could do in one of these with all capabilities
 * is more of the kernel than the rest of the filter keeps away. */
#define NEVER_NEW_NAMESPACES CLONE_NEWNET

#ifdef __s390x__
#define CLONE_FLAGS_ARGUMENT 1
#else
#define CLONE_FLAGS_ARGUMENT 0
#endif

#define IO_PRIORITY_OF_USER 3 /* IOPRIO_WHO_USER, which only newer headers have */
#define OF_FIRST_PROCESS(call, which)                                                              \
  { .name = (call), .error = EPERM, .kind = NS_GUARD_VALUES, .argument = (which), .count = 1, .values = { 1 } }

/* prlimit64 with a new limit of core files, and not only the question: a pointer that is not NULL. */
#define NEW_CORE_LIMIT(upper)                                                                      \
  { "prlimit64", 0, NS_GUARD_OTHERS, .argument = 2, .high = (upper), .when = 1, .when_argument = 1, \
    .when_value = RLIMIT_CORE, .count = 1, .values = { 0 } }

const struct ns_syscall_guard ns_syscall_guards[] = {
  { "clone", EPERM, NS_GUARD_BITS, .argument = CLONE_FLAGS_ARGUMENT, .count = 1, .values = { NEW_NAMESPACES },
    .open_value = NEVER_NEW_NAMESPACES },
  { "unshare", EPERM, NS_GUARD_BITS, .argument = 0, .count = 1, .values = { NEW_NAMESPACES | NEW_TIME_NAMESPACE },
    .open_value = NEVER_NEW_NAMESPACES | NEW_TIME_NAMESPACE },
  /* Linux, another uname (2.6, 32 bits), without address randomisation; and the question. */
  { "personality", EPERM, NS_GUARD_OTHERS, .argument = 0, .count = 6,
    .values = { 0x0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff } },
  /* Other families answer as where the kernel was built without them. */
  { "socket", EAFNOSUPPORT, NS_GUARD_OTHERS, .argument = 0, .count = 4,
    .values = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK } },
  /* Of netlink only NETLINK_ROUTE: which interfaces there are. */
  { "socket", EPROTONOSUPPORT, NS_GUARD_OTHERS, .argument = 2, .when = 1, .when_argument = 0, .when_value = AF_NETLINK,
    .count = 1, .values = { 0 } },
  /* Process 1 is the agent, which where there is one account has the workload's: signals do not reach
   * it, limits, priorities and processors would. */
  OF_FIRST_PROCESS ("prlimit64", 0), OF_FIRST_PROCESS ("sched_setaffinity", 0), OF_FIRST_PROCESS ("sched_setattr", 0),
  OF_FIRST_PROCESS ("sched_setparam", 0), OF_FIRST_PROCESS ("sched_setscheduler", 0), OF_FIRST_PROCESS ("setpriority", 1),
  OF_FIRST_PROCESS ("ioprio_set", 1),
  { "setpriority", EPERM, NS_GUARD_VALUES, .argument = 0, .count = 1, .values = { PRIO_USER } },
  { "ioprio_set", EPERM, NS_GUARD_VALUES, .argument = 0, .count = 1, .values = { IO_PRIORITY_OF_USER } },
  /* At the limit of 1 that commands start with the kernel feeds no helper with what crashes, at 0 it
   * does.  Programs that hold keys set 0, and have to hear that they were obeyed: they are, and better. */
  { "setrlimit", 0, NS_GUARD_VALUES, .argument = 0, .count = 1, .values = { RLIMIT_CORE } },
  NEW_CORE_LIMIT (0), NEW_CORE_LIMIT (1),
  /* Input for whoever reads the terminal, the console's selection, and line disciplines, each of
   * which is a driver that the kernel would load. */
  { "ioctl", EPERM, NS_GUARD_VALUES, .argument = 1, .count = 3, .values = { TIOCSTI, TIOCLINUX, TIOCSETD } },
  { .name = NULL }
};

#define REFUSED(call, number) { .name = (call), .error = (number) }

const struct ns_syscall_refusal ns_syscalls_refused[] = {
  REFUSED ("acct", EPERM), REFUSED ("add_key", EPERM), REFUSED ("adjtimex", EPERM), REFUSED ("bpf", EPERM),
  REFUSED ("chroot", EPERM), REFUSED ("clock_adjtime", EPERM), REFUSED ("clock_settime", EPERM),
  REFUSED ("delete_module", EPERM), REFUSED ("fanotify_init", EPERM), REFUSED ("finit_module", EPERM),
  REFUSED ("fsconfig", EPERM), REFUSED ("fsmount", EPERM), REFUSED ("fsopen", EPERM), REFUSED ("fspick", EPERM),
  REFUSED ("init_module", EPERM), REFUSED ("ioperm", EPERM), REFUSED ("iopl", EPERM),
  REFUSED ("kexec_file_load", EPERM), REFUSED ("kexec_load", EPERM), REFUSED ("keyctl", EPERM),
  REFUSED ("migrate_pages", EPERM), REFUSED ("mount", EPERM), REFUSED ("mount_setattr", EPERM),
  REFUSED ("move_mount", EPERM), REFUSED ("move_pages", EPERM), REFUSED ("name_to_handle_at", EOPNOTSUPP),
  REFUSED ("open_by_handle_at", EPERM), REFUSED ("open_tree", EPERM), REFUSED ("perf_event_open", EPERM),
  REFUSED ("pivot_root", EPERM), REFUSED ("quotactl", EPERM), REFUSED ("quotactl_fd", EPERM),
  REFUSED ("reboot", EPERM), REFUSED ("request_key", EPERM), REFUSED ("setdomainname", EPERM),
  REFUSED ("sethostname", EPERM), REFUSED ("setns", EPERM), REFUSED ("settimeofday", EPERM),
  REFUSED ("swapoff", EPERM), REFUSED ("swapon", EPERM), REFUSED ("syslog", EPERM), REFUSED ("umount", EPERM),
  REFUSED ("umount2", EPERM), REFUSED ("userfaultfd", EPERM), REFUSED ("vhangup", EPERM),
  { .name = NULL }
};
