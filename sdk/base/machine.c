#include "sdk/base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sdk/base/cleanup.h"
#include "sdk/base/string.h"

/* Where programs of root's are, which PATH may leave out. */
#define ADMINISTRATION "/usr/sbin:/sbin:/usr/local/sbin:/usr/bin:/bin"

/* The file NAME, which can be executed, in an absolute directory of PATH; the caller's. */
static char *
find_program (const char *root, const char *path, const char *name)
{
  BERTH_AUTO_FREE char *copy = strdup (path);
  char *save = NULL;

  for (char *part = copy != NULL ? strtok_r (copy, ":", &save) : NULL; part != NULL; part = strtok_r (NULL, ":", &save))
    {
      BERTH_AUTO_FREE char *file = berth_string_format ("%s/%s", part, name);
      BERTH_AUTO_FREE char *whole = berth_string_format ("%s%s", root, file != NULL ? file : "");
      struct stat status;
      if (part[0] == '/' && file != NULL && whole != NULL && stat (whole, &status) == 0 && S_ISREG (status.st_mode)
          && access (whole, X_OK) == 0)
        return BERTH_STEAL_POINTER (file);
    }
  return NULL;
}

static enum berth_machine_lack
check_device (const char *root, uid_t uid, const char *device)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s%s", root, device);
  struct stat status;

  if (path == NULL || stat (path, &status) < 0)
    return BERTH_MACHINE_LACKS_DEVICE;
  bool may = uid == 0 || (uid == geteuid () ? faccessat (AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 : (status.st_mode & 0006) == 0006);
  return may ? BERTH_MACHINE_LACKS_NOTHING : BERTH_MACHINE_LACKS_RIGHT;
}

enum berth_machine_lack
berth_machine_network (const char *root, uid_t uid, char **program)
{
  const char *path = getenv ("PATH");

  *program = find_program (root, path != NULL ? path : "/usr/bin:/bin", "pasta");
  return *program == NULL ? BERTH_MACHINE_LACKS_PROGRAM : check_device (root, uid, BERTH_MACHINE_TUN);
}

enum berth_machine_lack
berth_machine_disk (const char *root, uid_t uid, char **program)
{
  *program = uid == 0 ? find_program (root, ADMINISTRATION, "mkfs.ext4") : NULL;
  if (uid != 0)
    return BERTH_MACHINE_LACKS_RIGHT;
  enum berth_machine_lack device = check_device (root, uid, BERTH_MACHINE_LOOP);
  return device == BERTH_MACHINE_LACKS_NOTHING && *program == NULL ? BERTH_MACHINE_LACKS_PROGRAM : device;
}

/* "user:first:count", where user is a name or a number; false: of somebody else, or damaged. */
static bool
read_piece (char *line, const char *name, uid_t uid, uint64_t *first, uint64_t *count)
{
  char number[16], *save = NULL;
  const char *user = strtok_r (line, ":\n", &save);
  const char *from = strtok_r (NULL, ":\n", &save);
  const char *many = strtok_r (NULL, ":\n", &save);

  snprintf (number, sizeof number, "%u", (unsigned int) uid);
  return many != NULL && (strcmp (user, number) == 0 || strcmp (user, name) == 0)
         && berth_string_to_uint64 (from, 1, UINT32_MAX, first) == 0 && berth_string_to_uint64 (many, 1, UINT32_MAX, count) == 0;
}

uint32_t
berth_machine_subordinates (const char *root, const char *file, const char *name, uid_t uid, uint64_t count, uint64_t *most)
{
  BERTH_AUTO_FREE char *path = berth_string_format ("%s%s", root, file);
  BERTH_AUTO_FILE FILE *stream = path != NULL ? fopen (path, "re") : NULL;
  BERTH_AUTO_FREE char *line = NULL;
  size_t size = 0;

  *most = 0;
  while (stream != NULL && getline (&line, &size, stream) > 0)
    {
      uint64_t first, there;
      if (!read_piece (line, name, uid, &first, &there))
        continue;
      if (there >= count && first <= UINT32_MAX - count)
        return (uint32_t) first;
      *most = there > *most ? there : *most;
    }
  return 0;
}

bool
berth_machine_is_systemds (const char *directory)
{
  char value[8];

  if (strstr (directory, "/user@") == NULL)
    return false;
  return getxattr (directory, "user.delegate", value, sizeof value) != 1 || value[0] != '1';
}
