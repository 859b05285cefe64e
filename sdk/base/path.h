/* path.h - paths as texts; nothing here looks at a file. */
#ifndef BERTH_BASE_PATH_H
#define BERTH_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* `left`/`right` with one slash between; the caller frees it.  NULL with errno. */
char *berth_path_join (const char *left, const char *right);

/* The last component, a part of `path`; "" after a trailing slash. */
const char *berth_path_last (const char *path);

/* Everything before the last component: "/" of "/a", "." of "a".  The caller frees it. */
char *berth_path_parent (const char *path);

/* Absolute, and no component is empty, "." or "..": what a path looks like that need not be
 * resolved to be compared.  "/" is; "/a/" is not. */
bool berth_path_is_normal (const char *path, size_t size);

/* Whether a normal path is `root` or below it. */
bool berth_path_is_within (const char *path, const char *root);

/* A file name: not empty, not "." or "..", no slash, no NUL, at most 255 bytes. */
bool berth_path_is_name (const char *name, size_t size);

#endif
