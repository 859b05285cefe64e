#include "core/manager/path.h"

#include <limits.h>
#include <string.h>

#include "sdk/base/path.h"

/* Takes the last component off CLEAN; false when there is none left to take above FLOOR. */
static bool
step_up (char *clean, size_t *size, size_t floor)
{
  if (*size <= floor)
    return false;
  while (clean[*size - 1] != '/')
    --*size;
  clean[--*size] = '\0';
  return true;
}

static int
add_component (char *clean, size_t *size, const char *name, size_t length)
{
  if (length > NAME_MAX || *size + 1 + length >= PATH_MAX)
    return -1;
  clean[(*size)++] = '/';
  memcpy (clean + *size, name, length);
  *size += length;
  clean[*size] = '\0';
  return 0;
}

static char *
reject (struct berth_error *error, const char *path, const char *why)
{
  berth_error_set (error, BERTH_E_PATH_REJECTED, "path \"%.200s\" %s", path, why);
  return NULL;
}

char *
berth_path_clean (const char *path, struct berth_error *error)
{
  char clean[PATH_MAX] = "";
  size_t size = 0, floor = 0;

  if (path == NULL || path[0] == '\0')
    {
      berth_error_set (error, BERTH_E_PATH_REJECTED, "the path is empty");
      return NULL;
    }
  if (path[0] != '/')
    floor = size = (size_t) snprintf (clean, sizeof clean, BERTH_WORKSPACE);
  for (const char *at = path; *at != '\0';)
    {
      size_t length = strcspn (at, "/");
      if (length == 2 && memcmp (at, "..", 2) == 0)
        {
          if (!step_up (clean, &size, floor))
            return reject (error, path, floor > 0 ? "leaves " BERTH_WORKSPACE : "leaves the root");
        }
      else if (length > 0 && !(length == 1 && at[0] == '.') && add_component (clean, &size, at, length) != 0)
        return reject (error, path, "is too long: want at most 255 bytes a name and 4095 in all");
      at += length + (at[length] == '/');
    }
  char *copy = strdup (size > 0 ? clean : "/");
  if (copy == NULL)
    berth_no_memory (error);
  return copy;
}

char *
berth_path_clean_for_write (const char *path, bool root_too, const char **beneath, struct berth_error *error)
{
  BERTH_AUTO_FREE char *clean = berth_path_clean (path, error);

  if (clean == NULL)
    return NULL;
  *beneath = BERTH_WORKSPACE;
  if (!berth_path_is_within (clean, BERTH_WORKSPACE))
    return reject (error, path, "is not below " BERTH_WORKSPACE ", the only place that may be changed");
  if (!root_too && strcmp (clean, BERTH_WORKSPACE) == 0)
    return reject (error, path, "is the workspace itself");
  return BERTH_STEAL_POINTER (clean);
}
