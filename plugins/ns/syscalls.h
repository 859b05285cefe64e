/* syscalls.h - which system calls a sandbox may make; docs/security.md explains the choice. */
#ifndef BERTH_PLUGINS_NS_SYSCALLS_H
#define BERTH_PLUGINS_NS_SYSCALLS_H

#include <stdint.h>

/* A call that is answered with an error whatever its arguments. */
struct ns_syscall_refusal
{
  const char *name;
  int32_t error;
};

enum ns_guard_kind
{
  NS_GUARD_BITS = 1, /* refused when one of the bits values[0] is set */
  NS_GUARD_VALUES,   /* refused when it is one of the values */
  NS_GUARD_OTHERS    /* refused when it is none of the values */
};

/* A call that is allowed but for some values of an argument.  Only the low 32 bits count: the
 * kernel takes no more of these, whatever else is in the register.  With the error 0 it is not
 * made, and told to have succeeded. */
struct ns_syscall_guard
{
  const char *name;
  int32_t error;
  uint32_t kind;
  uint32_t argument;
  uint32_t high; /* 1: its upper half is looked at, of a pointer for one */
  uint32_t when; /* 1: only where when_argument is when_value */
  uint32_t when_argument;
  uint32_t when_value;
  uint32_t count;
  uint32_t values[6];
  uint32_t open_value; /* the first of them where the workload may make user namespaces; 0: the same */
};

/* Each list ends with NULL or a NULL name. */
extern const char *const ns_syscalls_allowed[];
extern const struct ns_syscall_refusal ns_syscalls_refused[];
extern const struct ns_syscall_guard ns_syscall_guards[];

#endif
