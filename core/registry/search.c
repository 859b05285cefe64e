#include "core/registry/search.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <berth/backend.h>

#include "core/registry/config.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

static int
add_directory (struct berth_search *search, const char *directory, size_t length)
{
  char **directories = reallocarray (search->directories, search->count + 1, sizeof *directories);

  if (directories == NULL)
    return -1;
  search->directories = directories;
  directories[search->count] = strndup (directory, length);
  if (directories[search->count] == NULL)
    return -1;
  search->count++;
  return 0;
}

int
berth_search_init (struct berth_search *search, const char *path, const char *installed,
                   struct berth_problems *problems)
{
  memset (search, 0, sizeof *search);
  if (path == NULL)
    path = secure_getenv ("BERTH_BACKEND_PATH");
  while (path != NULL && *path != '\0')
    {
      size_t length = strcspn (path, ":");

      if (length > 0 && path[0] != '/')
        berth_problem (problems, "write it from the root", "backend path: \"%.*s\" is not absolute and is left out",
                       (int) length, path);
      else if (length > 0 && add_directory (search, path, length) < 0)
        return -1;
      path += length + (path[length] == ':');
    }
  return installed != NULL ? add_directory (search, installed, strlen (installed)) : 0;
}

void
berth_search_clear (struct berth_search *search)
{
  for (uint32_t i = 0; i < search->count; i++)
    free (search->directories[i]);
  free (search->directories);
  memset (search, 0, sizeof *search);
}

char *
berth_search_find (const struct berth_search *search, const char *name)
{
  for (uint32_t i = 0; i < search->count; i++)
    {
      BERTH_AUTO_FREE char *file = berth_string_format ("%s/%s%s%s", search->directories[i], BERTH_BACKEND_PREFIX, name,
                                                        BERTH_BACKEND_SUFFIX);
      struct stat status;

      if (file == NULL)
        return NULL;
      /* A link that leads nowhere is a file too: its refusal says more than "not found". */
      if (lstat (file, &status) == 0 || (errno != ENOENT && errno != ENOTDIR))
        return BERTH_STEAL_POINTER (file);
    }
  errno = ENOENT;
  return NULL;
}

/* The NAME of berth-backend-NAME.so, which the caller frees; NULL for another file. */
static char *
backend_name (const char *entry)
{
  size_t prefix = strlen (BERTH_BACKEND_PREFIX), suffix = strlen (BERTH_BACKEND_SUFFIX), length = strlen (entry);
  char *name;

  if (length <= prefix + suffix || !berth_string_starts_with (entry, BERTH_BACKEND_PREFIX)
      || !berth_string_ends_with (entry, BERTH_BACKEND_SUFFIX))
    return NULL;
  name = strndup (entry + prefix, length - prefix - suffix);
  if (name != NULL && berth_name_is_valid (name))
    return name;
  free (name);
  return NULL;
}

static int
visit_entry (const char *directory, const char *entry,
             int (*found) (void *context, const char *name, const char *file),
             void (*skipped) (void *context, const char *directory, const char *entry), void *context)
{
  BERTH_AUTO_FREE char *name = backend_name (entry);
  BERTH_AUTO_FREE char *file = name != NULL ? berth_string_format ("%s/%s", directory, entry) : NULL;

  if (file != NULL)
    return found (context, name, file);
  if (skipped != NULL && strcmp (entry, ".") != 0 && strcmp (entry, "..") != 0)
    skipped (context, directory, entry);
  return 0;
}

int
berth_search_list (const struct berth_search *search,
                   int (*found) (void *context, const char *name, const char *file),
                   void (*skipped) (void *context, const char *directory, const char *entry), void *context)
{
  int result = 0;

  for (uint32_t i = 0; i < search->count && result == 0; i++)
    {
      struct dirent **entries = NULL;
      /* alphasort would follow the locale. */
      int count = scandir (search->directories[i], &entries, NULL, versionsort);

      for (int j = 0; j < count; j++)
        {
          if (result == 0)
            result = visit_entry (search->directories[i], entries[j]->d_name, found, skipped, context);
          free (entries[j]);
        }
      free (entries);
    }
  return result;
}
