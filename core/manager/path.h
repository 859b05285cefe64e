/* path.h - paths inside a sandbox, as texts: the real check is made inside, never here. */
#ifndef CORE_MANAGER_PATH_H
#define CORE_MANAGER_PATH_H

#include "core/manager/manager.h"

/* PATH, absolute or relative to /workspace, made absolute and lexically clean; the caller frees
 * it.  Taken literally: no `~`, `$` or pattern means anything.  NULL with PATH_REJECTED. */
char *berth_path_clean (const char *path, struct berth_error *error);

/* The same for a path that is going to be changed: below /workspace, and, unless ROOT_TOO, not
 * /workspace itself.  *BENEATH (static) is the write root. */
char *berth_path_clean_for_write (const char *path, bool root_too, const char **beneath, struct berth_error *error);

#endif
