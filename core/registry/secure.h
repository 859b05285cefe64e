/* Who else could put code where a backend is looked for. */
#ifndef CORE_REGISTRY_SECURE_H
#define CORE_REGISTRY_SECURE_H

#include "core/registry/problems.h"

/* Opens the backend file PATH for reading, and tells PROBLEMS when anybody but root and the effective
 * user can replace it.  Sound is: it and every directory above it belong to one of them and cannot be written by others.
 * Excepted are directories that are root's and sticky (/tmp), and a group that is the user's own
 * and has no other member.  Links in the directory's part are resolved first, and what they lead
 * to is checked; the file itself must not be a link.  With the whole chain sound nobody can
 * swap the file between this check and its loading.  -1, with a problem, for what cannot be read or
 * is no regular file. */
int berth_secure_open (const char *path, struct berth_problems *problems);

#endif
