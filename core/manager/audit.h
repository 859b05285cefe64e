/* audit.h - one record of each operation: who did what with which sandbox, and how it ended.
 *
 *   struct berth_audit audit = { .path = path };
 *   if (berth_audit_begin (&audit, host, "file.read", sandbox, &error) != 0)
 *     return -1;
 *   return berth_audit_end (&audit, do_it (sandbox, error));
 *
 * Where records are required, one is written before the operation too, which is refused when that
 * fails; else what cannot be recorded is told in the log, and nothing fails. */
#ifndef CORE_MANAGER_AUDIT_H
#define CORE_MANAGER_AUDIT_H

#include "core/manager/manager.h"

/* Members that do not apply stay NULL or 0; texts are the caller's until the end. */
struct berth_audit
{
  struct berth_host *host;
  const char *operation;
  struct berth_sandbox *sandbox; /* NULL: it is about none, or none that is there */
  const char *id;                /* of the sandbox or snapshot, where there is no handle */
  const char *backend;
  const char *path;
  const char *to;
  const char *const *arguments; /* of a command */
  uint64_t argument_count;
  const struct berth_pair *secrets; /* those among them that are marked are kept out of all texts */
  uint64_t secret_count;
  const struct berth_exec_result *result;
  uint64_t bytes_in;  /* into the sandbox */
  uint64_t bytes_out;
  uint32_t outcome;   /* enum berth_outcome */
  uint32_t network;   /* enum berth_action */
  const char *reason; /* why nobody asked for it */
  int64_t started_ns;
  struct berth_error local;
  struct berth_error *error;
};

int berth_audit_begin (struct berth_audit *audit, struct berth_host *host, const char *operation,
                       struct berth_sandbox *sandbox, struct berth_error **error);
/* Returns RESULT. */
int berth_audit_end (struct berth_audit *audit, int result);

/* ---- audit_file.c ---- */

/* Appends a line, which ends with a line end.  0, or -1 with errno. */
int berth_audit_append (struct berth_host *host, const char *line, size_t size);
/* The path of file NUMBER, 0 is the one that is written to; the caller's, or NULL. */
char *berth_audit_path (const struct berth_host *host, int64_t number);

#endif
