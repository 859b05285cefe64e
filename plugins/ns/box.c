/* box.c - names and directories of one sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

/* Ids become names of files, of cgroups and of a socket: a dot at the front is none of ours. */
bool
ns_id_is_possible (const struct berth_state *state, const char *id)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  size_t size = strlen (id);

  return size > 0 && size <= NS_NATIVE_MAX && id[0] != '.' && strspn (id, letters) == size
         && strlen (state->runtime) + 1 + size < sizeof ((struct sockaddr_un *) NULL)->sun_path;
}

int
ns_boxes_open (const struct berth_state *state, bool make)
{
  BERTH_AUTO_FD int top = open (state->state, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (top < 0)
    return -1;
  int boxes = openat (top, "boxes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (boxes >= 0 || errno != ENOENT || !make)
    return boxes;
  if (mkdirat (top, "boxes", 0700) < 0 && errno != EEXIST)
    return -1;
  return openat (top, "boxes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
ns_box_open (const struct berth_state *state, const char *id)
{
  BERTH_AUTO_FD int boxes = ns_boxes_open (state, false);

  if (boxes < 0)
    return -1;
  return openat (boxes, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int
ns_box_make (struct berth_call *call, const struct berth_state *state, const char *id)
{
  BERTH_AUTO_FD int boxes = ns_boxes_open (state, true);

  if (boxes < 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot use the state directory %s: %m", state->state);
  /* Others may pass through, since the sandbox's root finds its workspace from here; `boxes` above
   * lets nobody in. */
  if (mkdirat (boxes, id, 0711) < 0)
    return call->services->fail (call,
                                 errno == EEXIST   ? BERTH_E_CONFLICT
                                 : errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED
                                                   : BERTH_E_CONFIGURATION,
                                 "cannot make the directory of %s in %s: %m", id, state->state);
  int box = openat (boxes, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (box < 0 || fchmod (box, 0711) < 0)
    {
      call->services->fail (call, BERTH_E_INTERNAL, "cannot open the directory of %s: %m", id);
      if (box >= 0)
        close (box);
      unlinkat (boxes, id, AT_REMOVEDIR);
      return -1;
    }
  return box;
}

int
ns_box_fill (struct berth_call *call, int box, const char *id, const struct ns_users *users)
{
  if (mkdirat (box, "workspace", 0755) < 0
      || fchmodat (box, "workspace", 0755, 0) < 0 || ns_users_give (users, box) < 0)
    return call->services->fail (call, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INTERNAL,
                                 "cannot make the workspace of %s: %m", id);
  return 0;
}

char *
ns_box_socket (const struct berth_state *state, const char *id)
{
  return berth_path_join (state->runtime, id);
}
