#include "sdk/agent/account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sdk/agent/path.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define FILE_MAXIMUM (1024u * 1024)
#define FIELDS_MAXIMUM 7

/* One line, taken apart at its colons; the texts are not ended by a NUL. */
struct line
{
  const char *field[FIELDS_MAXIMUM];
  size_t size[FIELDS_MAXIMUM];
  size_t count;
};

static int
load_file (const struct agent *agent, const char *path, struct berth_buffer *into, struct failure *failure)
{
  BERTH_AUTO_FD int fd = path_open (agent, agent->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, PATH_IN_ROOT);
  struct stat status;

  if (fd < 0 && errno == ENOENT)
    return 0;
  if (fd < 0 || fstat (fd, &status) < 0)
    return agent_fail_errno (failure, errno, "cannot read the sandbox's %s", path);
  if (!S_ISREG (status.st_mode) || berth_fd_read_all (fd, into, FILE_MAXIMUM) < 0)
    return agent_fail (failure, BERTH_E_CONFIGURATION, "the sandbox's %s is not a file of at most %u bytes", path,
                       FILE_MAXIMUM);
  return 0;
}

int
accounts_load (const struct agent *agent, struct accounts *accounts, struct failure *failure)
{
  *accounts = (struct accounts) { .single = agent->single_user };
  if (load_file (agent, "/etc/passwd", &accounts->passwd, failure) < 0)
    return -1;
  return load_file (agent, "/etc/group", &accounts->group, failure);
}

void
accounts_free (struct accounts *accounts)
{
  berth_buffer_free (&accounts->passwd);
  berth_buffer_free (&accounts->group);
}

/* Takes the line at *AT apart and moves *AT behind it; false at the end. */
static bool
next_line (const struct berth_buffer *file, size_t *at, struct line *line)
{
  const char *from = file->data + *at, *end, *stop;

  if (*at >= file->size)
    return false;
  end = memchr (from, '\n', file->size - *at);
  if (end == NULL)
    end = file->data + file->size;
  *at = (size_t) (end - file->data) + 1;
  line->count = 0;
  for (; from <= end && line->count < FIELDS_MAXIMUM; from = stop + 1)
    {
      stop = memchr (from, ':', (size_t) (end - from));
      if (stop == NULL)
        stop = end;
      line->field[line->count] = from;
      line->size[line->count++] = (size_t) (stop - from);
    }
  return true;
}

static bool
field_is (const struct line *line, size_t index, const char *text)
{
  return index < line->count && line->size[index] == strlen (text)
         && memcmp (line->field[index], text, line->size[index]) == 0;
}

static bool
parse_id (const char *text, size_t size, uint32_t *id)
{
  char copy[16];
  uint64_t number;

  if (size == 0 || size >= sizeof copy)
    return false;
  memcpy (copy, text, size);
  copy[size] = '\0';
  if (copy[0] == '+' || berth_string_to_uint64 (copy, 0, UINT32_MAX - 1, &number) < 0)
    return false;
  *id = (uint32_t) number;
  return true;
}

static bool
field_id (const struct line *line, size_t index, uint32_t *id)
{
  return index < line->count && parse_id (line->field[index], line->size[index], id);
}

static bool
copy_field (const struct line *line, size_t index, char *to, size_t room)
{
  if (index >= line->count || line->size[index] >= room || line->size[index] == 0)
    return false;
  memcpy (to, line->field[index], line->size[index]);
  to[line->size[index]] = '\0';
  return true;
}

/* The line whose name is NAME or, when that is NULL, whose number is ID. */
static bool
find_line (const struct berth_buffer *file, const char *name, uint32_t id, struct line *line)
{
  size_t at = 0;
  uint32_t number;

  while (next_line (file, &at, line))
    if (field_id (line, 2, &number) && (name == NULL ? number == id : field_is (line, 0, name)))
      return true;
  return false;
}

static bool
group_has_member (const struct line *line, const char *name)
{
  const char *at, *end;
  size_t size = strlen (name);

  if (line->count < 4)
    return false;
  for (at = line->field[3], end = at + line->size[3]; at < end;)
    {
      const char *comma = memchr (at, ',', (size_t) (end - at));
      const char *stop = comma == NULL ? end : comma;

      if ((size_t) (stop - at) == size && memcmp (at, name, size) == 0)
        return true;
      at = stop + 1;
    }
  return false;
}

static void
add_groups (const struct accounts *accounts, struct account *account)
{
  struct line line;
  size_t at = 0;
  uint32_t gid;

  account->groups[account->group_count++] = account->gid;
  while (account->group_count < ACCOUNT_GROUPS_MAXIMUM && next_line (&accounts->group, &at, &line))
    if (field_id (&line, 2, &gid) && gid != account->gid && group_has_member (&line, account->name))
      account->groups[account->group_count++] = gid;
}

/* A number without a line is an account too: without a name, and at home in "/". */
static bool
find_user (const struct accounts *accounts, const char *user, struct account *account)
{
  struct line line;
  uint32_t id;
  bool by_number = parse_id (user, strlen (user), &id);

  *account = (struct account) { 0 };
  if (find_line (&accounts->passwd, user, 0, &line)
      || (by_number && find_line (&accounts->passwd, NULL, id, &line)))
    {
      if (!field_id (&line, 2, &account->uid) || !field_id (&line, 3, &account->gid)
          || !copy_field (&line, 0, account->name, sizeof account->name))
        return false;
      if (!copy_field (&line, 5, account->home, sizeof account->home))
        strcpy (account->home, "/");
      return true;
    }
  if (!by_number)
    return false;
  account->uid = account->gid = id;
  snprintf (account->name, sizeof account->name, "%u", id);
  strcpy (account->home, "/");
  return true;
}

static bool
find_group (const struct accounts *accounts, const char *group, gid_t *gid)
{
  struct line line;

  if (find_line (&accounts->group, group, 0, &line))
    return field_id (&line, 2, gid);
  return parse_id (group, strlen (group), gid);
}

int
account_check_ids (const struct accounts *accounts, const char *who, uid_t uid, gid_t gid, struct failure *failure)
{
  if (!accounts->single
      || ((uid == (uid_t) -1 || uid == getuid ()) && (gid == (gid_t) -1 || gid == getgid ())))
    return 0;
  agent_fail (failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the sandbox has a single account, and %s is another",
              agent_quote (who).text);
  agent_hint (failure, "more accounts need a range of subordinate ids for the user (subuid), or root");
  return -1;
}

int
account_find (const struct accounts *accounts, const char *user, struct account *account, struct failure *failure)
{
  char name[128];
  const char *group = strchr (user, ':');
  size_t size = group == NULL ? strlen (user) : (size_t) (group - user);

  if (size < sizeof name)
    {
      memcpy (name, user, size);
      name[size] = '\0';
      if (find_user (accounts, name, account) && (group == NULL || find_group (accounts, group + 1, &account->gid)))
        {
          add_groups (accounts, account);
          return 0;
        }
    }
  agent_fail (failure, BERTH_E_INVALID_REQUEST, "the sandbox has no account %s", agent_quote (user).text);
  agent_hint (failure, "use an account of the sandbox's /etc/passwd, such as sandbox or root, or a number");
  return -1;
}

int
account_ids (const struct accounts *accounts, const char *owner, const char *group, uid_t *uid, gid_t *gid,
             struct failure *failure)
{
  struct account account;

  if (owner != NULL && !find_user (accounts, owner, &account))
    return agent_fail (failure, BERTH_E_PATH_REJECTED, "the sandbox has no account %s", agent_quote (owner).text);
  *uid = owner == NULL ? (uid_t) -1 : account.uid;
  *gid = owner == NULL ? (gid_t) -1 : account.gid;
  if (group != NULL && !find_group (accounts, group, gid))
    return agent_fail (failure, BERTH_E_PATH_REJECTED, "the sandbox has no group %s", agent_quote (group).text);
  return account_check_ids (accounts, owner != NULL ? owner : group, *uid, *gid, failure);
}

static const char *
name_of (struct accounts *accounts, const struct berth_buffer *file, size_t which, uint32_t id)
{
  struct line line;

  if (!accounts->last_valid[which] || accounts->last_id[which] != id)
    {
      accounts->last_name[which][0] = '\0';
      if (find_line (file, NULL, id, &line))
        copy_field (&line, 0, accounts->last_name[which], sizeof accounts->last_name[which]);
      accounts->last_id[which] = id;
      accounts->last_valid[which] = true;
    }
  return accounts->last_name[which][0] == '\0' ? NULL : accounts->last_name[which];
}

const char *
account_user_name (struct accounts *accounts, uid_t uid)
{
  return name_of (accounts, &accounts->passwd, 0, uid);
}

const char *
account_group_name (struct accounts *accounts, gid_t gid)
{
  return name_of (accounts, &accounts->group, 1, gid);
}
