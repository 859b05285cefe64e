/* checks.h - what `berth doctor` finds. */
#ifndef BERTH_CLI_CHECKS_H
#define BERTH_CLI_CHECKS_H

#include "core/cli/cli.h"

enum cli_verdict
{
  CLI_OK = 1,
  CLI_WARNING = 2, /* something is less than it could be */
  CLI_BROKEN = 3   /* something that is needed does not work */
};

struct cli_finding
{
  const char *check; /* "cgroups" */
  enum cli_verdict verdict;
  const char *found; /* what there is */
  const char *cost;  /* what it costs; NULL when nothing */
  const char *fix;   /* what to do; NULL when nothing */
};

struct cli_checkup
{
  void (*tell) (struct cli_checkup *checkup, const struct cli_finding *finding);
  unsigned int broken;
};

/* The kernel and what is mounted. */
void cli_check_kernel (struct cli_checkup *checkup);
/* Directories and the agent. */
void cli_check_directories (struct cli_checkup *checkup, struct berth_host *host);
/* Each backend, or the one called ONLY.  -1 with *ERROR when they could not be asked. */
int cli_check_backends (struct cli_checkup *checkup, struct berth_host *host, const char *only, struct berth_error *error);

#endif
