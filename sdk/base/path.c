#include "sdk/base/path.h"

#include <string.h>

#include "sdk/base/string.h"

char *
berth_path_join (const char *left, const char *right)
{
  bool slash = berth_string_ends_with (left, "/");

  while (*right == '/')
    right++;
  return berth_string_format (slash ? "%s%s" : "%s/%s", left, right);
}

const char *
berth_path_last (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

char *
berth_path_parent (const char *path)
{
  const char *slash = strrchr (path, '/');

  if (slash == NULL)
    return strdup (".");
  while (slash > path && slash[-1] == '/')
    slash--;
  return slash == path ? strdup ("/") : strndup (path, (size_t) (slash - path));
}

bool
berth_path_is_name (const char *name, size_t size)
{
  if (size == 0 || size > 255 || memchr (name, '/', size) != NULL || memchr (name, '\0', size) != NULL)
    return false;
  return !(name[0] == '.' && (size == 1 || (size == 2 && name[1] == '.')));
}

bool
berth_path_is_normal (const char *path, size_t size)
{
  const char *end = path + size, *next;

  if (size == 0 || path[0] != '/')
    return false;
  if (size == 1)
    return true;
  for (path++; path <= end; path = next + 1)
    {
      next = memchr (path, '/', (size_t) (end - path));
      if (next == NULL)
        next = end;
      if (!berth_path_is_name (path, (size_t) (next - path)))
        return false;
    }
  return true;
}

bool
berth_path_is_within (const char *path, const char *root)
{
  size_t length = strlen (root);

  if (strcmp (root, "/") == 0)
    return path[0] == '/';
  return strncmp (path, root, length) == 0 && (path[length] == '\0' || path[length] == '/');
}
