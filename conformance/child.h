/* child.h - a clause in a process of its own, under a watchdog. */
#ifndef CONFORMANCE_CHILD_H
#define CONFORMANCE_CHILD_H

#include "conformance/place.h"

/* What all children are given. */
struct child_setup
{
  char self[PATH_MAX];
  char plugin[PATH_MAX];
  struct berth_buffer config; /* berth.conf */
};

struct child_job
{
  void (*run) (struct suite_context *suite, const struct child_job *job);
  const struct suite_clause *clause;
  uint64_t missing; /* capabilities: their refusal is tested instead of the clause */
};

/* Runs JOB in a child, ends what it left, and appends the lines of its report: a letter (F
 * failure, S skip, N not applicable, W warning, D answer) and a text each. */
void child_perform (const struct child_setup *setup, const struct child_job *job, unsigned int seconds,
                    struct berth_buffer *report);

struct suite_context child_context (const struct place *place, const struct child_setup *setup, int report);

#endif
