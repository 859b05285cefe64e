/* checks.h - what `berth doctor` finds. */
#ifndef BERTH_CLI_CHECKS_H
#define BERTH_CLI_CHECKS_H

#include <sys/vfs.h>

#include "core/cli/cli.h"
#include "sdk/base/buffer.h"

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

/* Calls that a kernel may not have, or a filter around us may forbid. */
enum cli_call
{
  CLI_CALL_OPENAT2 = 1,
  CLI_CALL_PIDFD_OPEN,
  CLI_CALL_CLONE3,
  CLI_CALL_MOUNT_SETATTR,
  CLI_CALL_SECCOMP,
  CLI_CALL_LANDLOCK
};

/* What is looked at; tests make one of files of their own. */
struct cli_machine
{
  const char *root;  /* before the path of each file that is read */
  unsigned int uid;  /* who asks */
  const char *user;  /* his name, or his number where he has none */
  int (*has_call) (enum cli_call call); /* 0, or an errno */
  int (*storage) (const char *path, struct statfs *status); /* as statfs */
};

struct cli_checkup
{
  void (*tell) (struct cli_checkup *checkup, const struct cli_finding *finding);
  const struct cli_machine *machine;
  unsigned int broken;
};

/* Tells the finding, with COST and FIX unless it is CLI_OK. */
void cli_found (struct cli_checkup *checkup, const char *check, enum cli_verdict verdict, const char *found, const char *cost,
                const char *fix);

/* ---- machine.c ---- */

/* The machine that this process runs on.  USER is its memory. */
#define CLI_USER_SIZE 256
void cli_this_machine (struct cli_machine *machine, char user[CLI_USER_SIZE]);
/* A small file, without its line end; "" when there is none. */
void cli_machine_read (const struct cli_machine *machine, const char *path, struct berth_buffer *text);
bool cli_machine_has (const struct cli_machine *machine, const char *path);
/* Whether its kernel is MAJOR.MINOR or newer. */
bool cli_machine_is (const struct cli_machine *machine, unsigned int major, unsigned int minor);
/* The kernel, and what user namespaces need. */
void cli_check_kernel (struct cli_checkup *checkup);
/* Programs and devices that single options need. */
void cli_check_devices (struct cli_checkup *checkup);
/* Room and kind of the file system of PATH. */
void cli_check_storage (struct cli_checkup *checkup, const char *path);

/* ---- cgroups.c ---- */

/* What limits and pause need. */
void cli_check_cgroups (struct cli_checkup *checkup);

/* ---- checks.c ---- */

/* Directories and the agent. */
void cli_check_directories (struct cli_checkup *checkup, struct berth_host *host);
/* Each backend, or the one called ONLY.  -1 with *ERROR when they could not be asked. */
int cli_check_backends (struct cli_checkup *checkup, struct berth_host *host, const char *only, struct berth_error *error);

#endif
