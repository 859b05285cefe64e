#include "sdk/agent/request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/agent/wire.h"
#include "sdk/base/path.h"

#define BIT(tag) (UINT64_C (1) << WIRE_TAG_##tag)
#define CHANGE (BIT (BENEATH) | BIT (FLAGS) | BIT (MODE) | BIT (OWNER) | BIT (GROUP) | BIT (MODIFIED_S))

/* What each operation must have and may have beside. */
static const struct shape
{
  enum wire_operation operation;
  uint64_t needs;
  uint64_t takes;
} shapes[] = {
  { WIRE_PING, 0, 0 },
  { WIRE_RUN, BIT (ARGUMENT), BIT (ENVIRONMENT) | BIT (WORKDIR) | BIT (USER) | BIT (TIMEOUT_MS) },
  { WIRE_READ, BIT (PATH), BIT (MAX_BYTES) | BIT (OFFSET) | BIT (LENGTH) },
  { WIRE_WRITE, BIT (PATH) | BIT (BENEATH), CHANGE },
  { WIRE_LIST, BIT (PATH), 0 },
  { WIRE_STAT, BIT (PATH), BIT (FLAGS) },
  { WIRE_MAKE_DIRECTORY, BIT (PATH) | BIT (BENEATH), CHANGE },
  { WIRE_MOVE, BIT (PATH) | BIT (TO) | BIT (BENEATH), BIT (FLAGS) },
  { WIRE_REMOVE, BIT (PATH) | BIT (BENEATH), BIT (FLAGS) },
  { WIRE_SET_ATTRIBUTES, BIT (PATH) | BIT (BENEATH), CHANGE },
  { WIRE_EXPORT, 0, BIT (PATH) },
  { WIRE_IMPORT, 0, BIT (PATH) | BIT (OWNER) },
  { WIRE_DEADLINE_GET, 0, 0 },
  { WIRE_DEADLINE_SET, 0, BIT (TTL_MS) },
  { WIRE_OWN, 0, 0 },
  { WIRE_SHUT_DOWN, 0, 0 },
};

static const struct shape *
find_shape (uint64_t operation)
{
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    if (shapes[i].operation == operation)
      return &shapes[i];
  return NULL;
}

static char **
text_slot (struct request *request, uint32_t tag)
{
  switch (tag)
    {
    case WIRE_TAG_PATH:
      return &request->path;
    case WIRE_TAG_TO:
      return &request->to;
    case WIRE_TAG_BENEATH:
      return &request->beneath;
    case WIRE_TAG_USER:
      return &request->user;
    case WIRE_TAG_OWNER:
      return &request->owner;
    case WIRE_TAG_GROUP:
      return &request->group;
    case WIRE_TAG_WORKDIR:
      return &request->workdir;
    default:
      return NULL;
    }
}

static uint64_t *
number_slot (struct request *request, uint32_t tag)
{
  switch (tag)
    {
    case WIRE_TAG_MODE:
      return &request->mode;
    case WIRE_TAG_FLAGS:
      return &request->flags;
    case WIRE_TAG_MAX_BYTES:
      return &request->max_bytes;
    case WIRE_TAG_OFFSET:
      return &request->offset;
    case WIRE_TAG_LENGTH:
      return &request->length;
    case WIRE_TAG_MODIFIED_S:
      return &request->modified_s;
    case WIRE_TAG_TIMEOUT_MS:
      return &request->timeout_ms;
    case WIRE_TAG_TTL_MS:
      return &request->ttl_ms;
    default:
      return NULL;
    }
}

/* Printable ASCII without '=' and space; the field becomes NAME=VALUE in place. */
static char *
environment_text (const struct wire_field *field, struct failure *failure)
{
  unsigned char *name_end = field->size == 0 ? NULL : memchr (field->bytes, 0, field->size - 1);
  struct wire_field value;

  if (name_end == NULL)
    {
      agent_fail (failure, BERTH_E_INVALID_REQUEST, "an environment field has no value");
      return NULL;
    }
  value.bytes = name_end + 1;
  value.size = field->size - (uint32_t) (name_end + 1 - field->bytes);
  for (const unsigned char *byte = field->bytes; byte < name_end; byte++)
    if (*byte <= ' ' || *byte >= 0x7f || *byte == '=')
      {
        agent_fail (failure, BERTH_E_INVALID_REQUEST, "%s cannot be the name of an environment variable",
                    agent_quote ((const char *) field->bytes).text);
        return NULL;
      }
  if (name_end == field->bytes || wire_text (&value) == NULL)
    {
      agent_fail (failure, BERTH_E_INVALID_REQUEST, "an environment variable has %s",
                  name_end == field->bytes ? "an empty name" : "a NUL in its value");
      return NULL;
    }
  *name_end = '=';
  return (char *) field->bytes;
}

static int
append_text (char ***list, size_t *count, char *text, struct failure *failure)
{
  if (text == NULL)
    return -1;
  /* Room is made at every power of two; one more is kept for the NULL at the end. */
  if ((*count & (*count + 1)) == 0)
    {
      char **larger = realloc (*list, (*count * 2 + 2) * sizeof **list);

      if (larger == NULL)
        return agent_fail (failure, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the request");
      *list = larger;
    }
  (*list)[(*count)++] = text;
  (*list)[*count] = NULL;
  return 0;
}

static int
take_field (struct request *request, const struct wire_field *field, struct failure *failure)
{
  char **text = text_slot (request, field->tag);
  uint64_t *number = number_slot (request, field->tag);

  if (field->tag == WIRE_TAG_ENVIRONMENT)
    return append_text (&request->environment, &request->environment_count, environment_text (field, failure),
                        failure);
  if (field->tag == WIRE_TAG_ARGUMENT)
    {
      char *argument = wire_text (field);

      if (argument == NULL)
        return agent_fail (failure, BERTH_E_INVALID_REQUEST, "an argument has a NUL in it");
      return append_text (&request->arguments, &request->argument_count, argument, failure);
    }
  if (request_has (request, (enum wire_tag) field->tag))
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "field %u came twice", (unsigned) field->tag);
  if (text != NULL && (*text = wire_text (field)) == NULL)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "field %u is not a text", (unsigned) field->tag);
  if (number != NULL && wire_number (field, number) < 0)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "field %u is not a number", (unsigned) field->tag);
  return 0;
}

static int
check_path (const char *what, const char *path, struct failure *failure)
{
  if (path == NULL)
    return 0;
  if (strlen (path) >= PATH_MAX)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "the %s %s has more than %d bytes", what,
                       agent_quote (path).text, PATH_MAX - 1);
  if (!berth_path_is_normal (path, strlen (path)))
    return agent_fail (failure, BERTH_E_PATH_REJECTED, "the %s %s is not absolute and clean", what,
                       agent_quote (path).text);
  return 0;
}

static int
check_values (const struct request *request, const struct shape *shape, struct failure *failure)
{
  if ((request->given & shape->needs) != shape->needs)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "operation %u lacks a field it needs", shape->operation);
  if ((request->flags & ~WIRE_FLAGS_KNOWN) != 0)
    return agent_fail (failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the agent does not know the flags %#llx",
                       (unsigned long long) (request->flags & ~WIRE_FLAGS_KNOWN));
  if (request->mode > 07777)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "mode %#llo has more than permission bits",
                       (unsigned long long) request->mode);
  if (check_path ("path", request->path, failure) < 0 || check_path ("path", request->to, failure) < 0)
    return -1;
  return check_path ("write root", request->beneath, failure);
}

static const struct shape *
take_operation (struct wire_reader *reader, struct failure *failure)
{
  const struct shape *shape;
  struct wire_field field;
  uint64_t operation;

  if (wire_next (reader, &field) != 1 || field.tag != WIRE_TAG_OPERATION || wire_number (&field, &operation) < 0)
    {
      agent_fail (failure, BERTH_E_INVALID_REQUEST, "the request does not begin with its operation");
      return NULL;
    }
  shape = find_shape (operation);
  if (shape == NULL)
    agent_fail (failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "the agent does not know operation %llu",
                (unsigned long long) operation);
  return shape;
}

int
request_decode (unsigned char *payload, size_t size, struct request *request, struct failure *failure)
{
  struct wire_reader reader = { payload, payload + size };
  const struct shape *shape;
  struct wire_field field;
  int more;

  memset (request, 0, sizeof *request);
  request->max_bytes = request->length = request->timeout_ms = UINT64_MAX;
  shape = take_operation (&reader, failure);
  if (shape == NULL)
    return -1;
  request->operation = shape->operation;
  while ((more = wire_next (&reader, &field)) > 0)
    {
      bool known = field.tag < 64 && ((shape->needs | shape->takes) >> field.tag & 1) != 0;

      if (!known && (field.tag & WIRE_TAG_MAY_IGNORE) != 0)
        continue;
      if (!known)
        return agent_fail (failure, BERTH_E_CAPABILITY_NOT_SUPPORTED, "operation %u does not take field %u",
                           shape->operation, (unsigned) field.tag);
      if (take_field (request, &field, failure) < 0)
        return -1;
      request->given |= request_bit ((enum wire_tag) field.tag);
    }
  if (more < 0)
    return agent_fail (failure, BERTH_E_INVALID_REQUEST, "a field of the request is longer than the request");
  return check_values (request, shape, failure);
}

void
request_free (struct request *request)
{
  free (request->arguments);
  free (request->environment);
}

const char *
request_below (const char *root, const char *path, struct failure *failure)
{
  size_t length = strlen (root);

  if (!berth_path_is_within (path, root))
    {
      agent_fail (failure, BERTH_E_PATH_REJECTED, "%s is not below %s", agent_quote (path).text,
                  agent_quote (root).text);
      return NULL;
    }
  if (length == 1) /* the root is "/" */
    return path + 1;
  return path[length] == '/' ? path + length + 1 : path + length;
}
