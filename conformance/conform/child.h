/* child.h - a clause in a process of its own, under a watchdog. */
#ifndef CONFORMANCE_CONFORM_CHILD_H
#define CONFORMANCE_CONFORM_CHILD_H

#include "conformance/conform/place.h"

/* What all children are given. */
struct child_setup
{
  char self[PATH_MAX];
  char plugin[PATH_MAX];
  struct berth_buffer config; /* berth.conf */
  const char *image;          /* of sandboxes; NULL: none is asked for */
  const char *account;        /* of the image, for E08; NULL: root only */
};

struct child_job
{
  void (*run) (struct suite_context *suite, const struct child_job *job);
  const struct suite_clause *clause;
  uint64_t missing; /* capabilities: their refusal is tested instead of the clause */
  unsigned int seconds;
};

/* Runs JOB in a child, ends what it left, and appends the lines of its report: a letter (F
 * failure, S skip, N not applicable, W warning, D answer) and a text each. */
void child_perform (const struct child_setup *setup, const struct child_job *job, struct berth_buffer *report);
/* From now on SIGINT, SIGTERM and SIGHUP end what child_perform runs, not this process. */
void child_interruptible (void);
/* Which of them came, or 0. */
int child_interrupted (void);

struct suite_context child_context (const struct place *place, const struct child_setup *setup, int report);

#endif
