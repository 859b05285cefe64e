/* path.h - paths of the sandbox as descriptors. */
#ifndef BERTH_SDK_AGENT_PATH_H
#define BERTH_SDK_AGENT_PATH_H

#include <limits.h>
#include <sys/stat.h>

#include "sdk/agent/agent.h"

enum path_scope
{
  PATH_IN_ROOT, /* absolute links and ".." end at the root */
  PATH_BENEATH, /* they are EXDEV when they leave it */
  PATH_NO_LINKS /* no symbolic link on the way, ELOOP */
};

/* Opens PATH, taken at the directory ROOT; "" is ROOT itself.  FLAGS are open's, without O_CREAT;
 * O_CLOEXEC is added.  Magic links of /proc are not followed.  -1 with errno. */
int path_open (const struct agent *agent, int root, const char *path, int flags, enum path_scope scope);

/* The same without openat2: component by component. */
int path_walk (int root, const char *path, int flags, enum path_scope scope);

/* Opens what FD, an O_PATH descriptor, stands for. */
int path_reopen (const struct agent *agent, int fd, int flags);

/* Where the last component of a path lies. */
struct path_place
{
  int directory; /* O_PATH */
  char name[NAME_MAX + 1];
};

/* The place of RELATIVE below the directory ROOT, which has the absolute name ROOT_NAME.  With
 * FOLLOW a link in the last component is followed as long as it stays below.  -1 with errno; else
 * the caller closes place->directory.  RELATIVE must not be "". */
int path_find (const struct agent *agent, int root, const char *root_name, const char *relative, bool follow,
               struct path_place *place);

/* Renames; with IS_NEW, EEXIST when the new name is there. */
int path_rename (int from_directory, const char *from, int to_directory, const char *to, bool is_new);

#endif
