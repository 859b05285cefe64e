#include "sdk/agent/member.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/path.h"

#define RUNS_MAXIMUM 65536

int
member_fail (const struct member *member, struct failure *failure, uint32_t code, const char *reason)
{
  return agent_fail (failure, code, "entry %llu, %s: %s", (unsigned long long) member->number,
                     agent_quote (member->name == NULL ? "" : member->name).text, reason);
}

int
member_fail_errno (const struct member *member, struct failure *failure, int error, const char *what)
{
  return agent_fail_errno (failure, error, "entry %llu, %s: %s", (unsigned long long) member->number,
                           agent_quote (member->name == NULL ? "" : member->name).text, what);
}

bool
member_is_root (const struct member *member)
{
  return member->kind == WIRE_KIND_DIRECTORY && strcmp (member->name, ".") == 0;
}

/* NULL when NAME stays below where it is taken, else what is wrong with it. */
static const char *
check_name (const char *name)
{
  const char *end;

  if (*name == '/')
    return "an absolute name";
  if (strlen (name) >= PATH_MAX)
    return "a name that is too long";
  for (; *name != '\0'; name = *end == '/' ? end + 1 : end)
    {
      end = strchrnul (name, '/');
      if (end - name == 2 && memcmp (name, "..", 2) == 0)
        return "a name with '..'";
      if (!berth_path_is_name (name, (size_t) (end - name)))
        return "a name with an empty or impossible part";
    }
  return NULL;
}

static int
add_run (struct member *member, const struct wire_field *field)
{
  size_t count = member->run_count;
  struct entry_run run;

  if (entry_get_run (field, &run) < 0 || count == RUNS_MAXIMUM)
    return -1;
  if (count > 0 && run.offset < member->runs[count - 1].offset + member->runs[count - 1].length)
    return -1;
  if ((count & (count - 1)) == 0)
    {
      struct entry_run *larger = realloc (member->runs, (count == 0 ? 1 : count * 2) * sizeof *larger);

      if (larger == NULL)
        return -1;
      member->runs = larger;
    }
  member->runs[member->run_count++] = run;
  return 0;
}

static int
take_text (char **slot, const struct wire_field *field)
{
  *slot = wire_text (field);
  return *slot == NULL ? -1 : 0;
}

static int
take_field (struct member *member, const struct wire_field *field)
{
  uint64_t ignored;

  switch (field->tag)
    {
    case WIRE_TAG_NAME:
      return take_text (&member->name, field);
    case WIRE_TAG_LINK:
      return take_text (&member->link, field);
    case WIRE_TAG_HARD_LINK:
      return take_text (&member->hard_link, field);
    case WIRE_TAG_KIND:
      return wire_number (field, &member->kind);
    case WIRE_TAG_SIZE:
      return wire_number (field, &member->size);
    case WIRE_TAG_MODE:
      return wire_number (field, &member->mode);
    case WIRE_TAG_MODIFIED_S:
      return wire_number (field, &member->modified_s);
    case WIRE_TAG_MODIFIED_NS:
      return wire_number (field, &member->modified_ns);
    case WIRE_TAG_SPARSE:
      return add_run (member, field);
    case WIRE_TAG_UID:
    case WIRE_TAG_GID: /* everything becomes the sandbox user's */
      return wire_number (field, &ignored);
    case WIRE_TAG_OWNER:
    case WIRE_TAG_GROUP:
      return wire_text (field) == NULL ? -1 : 0;
    default:
      return (field->tag & WIRE_TAG_MAY_IGNORE) != 0 ? 0 : -1;
    }
}

static int
check_data (struct member *member, struct failure *failure)
{
  member->data = member->kind == WIRE_KIND_FILE && member->hard_link == NULL ? member->size : 0;
  if (member->size > INT64_MAX)
    return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "an impossible size");
  if (member->run_count == 0)
    return 0;
  member->data = 0;
  for (size_t i = 0; i < member->run_count; i++)
    {
      if (member->runs[i].offset + member->runs[i].length > member->size)
        return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "data beyond its end");
      member->data += member->runs[i].length;
    }
  return 0;
}

static int
check_member (struct member *member, struct failure *failure)
{
  const char *wrong;

  if (member->name == NULL || *member->name == '\0')
    return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "no name");
  wrong = member_is_root (member) ? NULL : check_name (member->name);
  if (wrong == NULL && member->hard_link != NULL)
    wrong = *member->hard_link == '\0' ? "a link to nothing" : check_name (member->hard_link);
  if (wrong != NULL)
    return member_fail (member, failure, BERTH_E_PATH_REJECTED, wrong);
  if (member->kind != WIRE_KIND_FILE && member->kind != WIRE_KIND_DIRECTORY && member->kind != WIRE_KIND_SYMLINK
      && member->kind != WIRE_KIND_FIFO)
    return member_fail (member, failure, BERTH_E_PATH_REJECTED, "neither file, directory, link nor pipe");
  if (member->kind == WIRE_KIND_SYMLINK
      && (member->link == NULL || *member->link == '\0' || strlen (member->link) >= PATH_MAX))
    return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "a symbolic link without a target");
  if (member->modified_ns >= 1000000000)
    return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "an impossible time");
  member->mode &= 01777;
  return check_data (member, failure);
}

int
member_decode (unsigned char *payload, size_t size, uint64_t number, struct member *member,
               struct failure *failure)
{
  struct wire_reader reader = { payload, payload + size };
  struct wire_field field;
  int more;

  *member = (struct member) { .number = number, .mode = 0644 };
  while ((more = wire_next (&reader, &field)) > 0)
    if (take_field (member, &field) < 0)
      return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "a field that is not understood");
  if (more < 0)
    return member_fail (member, failure, BERTH_E_INVALID_REQUEST, "a field that is longer than its frame");
  return check_member (member, failure);
}

void
member_free (struct member *member)
{
  free (member->runs);
}
