/* prober.h - what the parts of the prober share. */
#ifndef CONFORMANCE_ESCAPE_PROBER_H
#define CONFORMANCE_ESCAPE_PROBER_H

#include <stdbool.h>
#include <sys/types.h>

/* One thing that a sandbox must not let happen.  `run` is called in a process of its own and
 * returns 0 when it worked, or the errno.  An errno that only somebody gets who was let in (EBADF,
 * EFAULT, EINVAL for a senseless argument) is as good as success. */
struct attempt
{
  const char *name; /* ends with NULL */
  int (*run) (pid_t target, const struct attempt *self);
  long number;
  long arguments[5];
};

extern const struct attempt attempts_calls[];     /* calls.c: what needs privileges, or is new and big */
extern const struct attempt attempts_processes[]; /* processes.c: at a process of another's */
extern const struct attempt attempts_signals[];   /* processes.c: what another account's may not */
extern const struct attempt attempts_limits[];    /* processes.c: what it may use, and when it runs */
extern const struct attempt attempts_settings[];  /* processes.c: what its files in /proc set */
extern const struct attempt attempts_listings[];  /* processes.c: what they list */
extern const struct attempt attempts_paths[];     /* paths.c: names that are not the sandbox's */

/* For the control: puts something where an attempt of attempts_paths looks, in the mounts of this process. */
bool paths_stand_in (const struct attempt *attempt);

#endif
