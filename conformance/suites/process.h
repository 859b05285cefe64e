/* What belongs to a whole process, so that a change of it can be seen. */
#ifndef CONFORMANCE_SUITES_PROCESS_H
#define CONFORMANCE_SUITES_PROCESS_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "conformance/suites/suite.h"
#include "sdk/base/buffer.h"

#define SUITE_SIGNALS 65

struct suite_process
{
  struct sigaction actions[SUITE_SIGNALS];
  sigset_t mask;
  mode_t umask;
  struct rlimit limits[RLIMIT_NLIMITS];
  unsigned int threads;
  struct berth_buffer locale;
  struct berth_buffer directory;
  struct berth_buffer environment; /* a line each */
  struct berth_buffer descriptors; /* "3 /dev/null" each */
};

void suite_process_read (struct suite_context *suite, struct suite_process *process);
void suite_process_free (struct suite_process *process);

/* A failure for everything that DOING has changed. */
void suite_process_compare (struct suite_context *suite, const char *doing, const struct suite_process *before,
                            const struct suite_process *after);

#endif
