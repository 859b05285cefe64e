/* Where backends are looked for, and what is there. */
#ifndef CORE_REGISTRY_SEARCH_H
#define CORE_REGISTRY_SEARCH_H

#include "core/registry/problems.h"

/* Directories in the order of search. */
struct berth_search
{
  char **directories;
  uint32_t count;
};

/* PATH: colon-separated, searched first; NULL: BERTH_BACKEND_PATH, which a program with more rights
 * than its caller does not read.  INSTALLED: searched last; NULL: none.  A directory that is not
 * absolute goes to PROBLEMS and is left out.  -1 without memory. */
int berth_search_init (struct berth_search *search, const char *path, const char *installed,
                       struct berth_problems *problems);
void berth_search_clear (struct berth_search *search);

/* The file of backend NAME, which must be valid, in the first directory that has one; the caller
 * frees it.  No directory is listed.  NULL with errno ENOENT when there is none, or ENOMEM. */
char *berth_search_find (const struct berth_search *search, const char *name);

/* Calls FOUND for the file of every backend, directory after directory, sorted within each; what does
 * not bear a backend's name goes to SKIPPED.  FOUND returns non-zero to stop. */
int berth_search_list (const struct berth_search *search,
                       int (*found) (void *context, const char *name, const char *file),
                       void (*skipped) (void *context, const char *directory, const char *entry), void *context);

#endif
