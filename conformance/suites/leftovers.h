/* leftovers.h - what is left on this machine of a sandbox or of a clause. */
#ifndef CONFORMANCE_SUITES_LEFTOVERS_H
#define CONFORMANCE_SUITES_LEFTOVERS_H

#include "conformance/suites/suite.h"
#include "sdk/base/buffer.h"

/* Appends a line each for processes, mounts, cgroups and files (below DIRECTORY) that carry TAG,
 * part of a sandbox id, in name, environment, arguments or cgroup.  DIRECTORY NULL: no files.
 * Returns how many. */
unsigned int suite_leftovers (const char *tag, const char *directory, struct berth_buffer *found);

/* The same for cgroups inside of those that carry TAG, whatever their names. */
unsigned int suite_count_inner (const char *tag, struct berth_buffer *found);

/* Fails the clause unless all of that is gone, waiting up to PATIENCE_MS for it. */
void suite_check_gone (struct suite_context *suite, const char *tag, int64_t patience_ms, const char *what);

#endif
