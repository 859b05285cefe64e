#include "sdk/agent/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sdk/agent/account.h"
#include "sdk/base/cleanup.h"

int
target_fail (struct operation *operation, const struct target *target, const char *verb)
{
  int error = errno;

  agent_fail_errno (operation->failure, error, "cannot %s %s", verb, agent_quote (target->path).text);
  if (error == EXDEV)
    agent_hint (operation->failure, "a symbolic link on the path leads out of the write root");
  return -1;
}

int
target_find_owner (struct operation *operation, bool defaults, struct target *target)
{
  const struct request *request = operation->request;
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  const char *owner = request->owner == NULL && defaults ? operation->agent->user : request->owner;

  target->uid = (uid_t) -1;
  target->gid = (gid_t) -1;
  if (owner == NULL && request->group == NULL)
    return 0;
  if (accounts_load (operation->agent, &accounts, operation->failure) < 0)
    return -1;
  return account_ids (&accounts, owner, request->group, &target->uid, &target->gid, operation->failure);
}

/* Makes the directory PREFIX below the root and gives it to the sandbox's user; one that is there
 * is left as it is. */
static int
make_parent (struct operation *operation, const struct target *target, const char *prefix, uid_t uid, gid_t gid)
{
  struct path_place place;
  BERTH_AUTO_FD int there
      = path_open (operation->agent, target->root, prefix, O_PATH | O_DIRECTORY, PATH_BENEATH);
  BERTH_AUTO_FD int directory = -1;
  BERTH_AUTO_FD int made = -1;

  if (there >= 0 || errno != ENOENT)
    return there >= 0 ? 0 : -1;
  if (path_find (operation->agent, target->root, operation->request->beneath, prefix, true, &place) < 0)
    return -1;
  directory = place.directory;
  if (mkdirat (directory, place.name, 0755) < 0)
    return errno == EEXIST ? 0 : -1;
  made = openat (directory, place.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return made < 0 ? -1 : fchown (made, uid, gid);
}

static int
make_parents (struct operation *operation, struct target *target)
{
  struct accounts accounts ACCOUNTS_AUTO = { 0 };
  char prefix[PATH_MAX];
  uid_t uid;
  gid_t gid;

  if (accounts_load (operation->agent, &accounts, operation->failure) < 0
      || account_ids (&accounts, operation->agent->user, NULL, &uid, &gid, operation->failure) < 0)
    return -1;
  for (const char *slash = strchr (target->relative, '/'); slash != NULL; slash = strchr (slash + 1, '/'))
    {
      size_t size = (size_t) (slash - target->relative);

      memcpy (prefix, target->relative, size);
      prefix[size] = '\0';
      if (make_parent (operation, target, prefix, uid, gid) < 0)
        return target_fail (operation, target, "make the parents of");
    }
  return 0;
}

int
target_find (struct operation *operation, const char *path, bool follow, struct target *target)
{
  const struct request *request = operation->request;
  struct agent *agent = operation->agent;

  *target = TARGET_NONE;
  target->path = path;
  target->relative = request_below (request->beneath, path, operation->failure);
  if (target->relative == NULL)
    return -1;
  if (*target->relative == '\0')
    return agent_fail (operation->failure, BERTH_E_INVALID_REQUEST, "%s is the write root itself",
                       agent_quote (path).text);
  target->root = path_open (agent, agent->root, request->beneath, O_PATH | O_DIRECTORY, PATH_IN_ROOT);
  if (target->root < 0)
    return agent_fail_errno (operation->failure, errno, "cannot open the write root %s",
                             agent_quote (request->beneath).text);
  if (path_find (agent, target->root, request->beneath, target->relative, follow, &target->place) == 0)
    return 0;
  if (errno == ENOENT && (request->flags & WIRE_FLAG_PARENTS) != 0)
    {
      if (make_parents (operation, target) < 0)
        return -1;
      if (path_find (agent, target->root, request->beneath, target->relative, follow, &target->place) == 0)
        return 0;
    }
  target->place.directory = -1;
  return target_fail (operation, target, "reach");
}

void
target_close (struct target *target)
{
  berth_cleanup_fd (&target->root);
  berth_cleanup_fd (&target->place.directory);
}
