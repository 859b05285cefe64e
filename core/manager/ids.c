#include "core/manager/ids.h"

#include <inttypes.h>
#include <string.h>

#include "core/state/snapshot.h"
#include "sdk/base/buffer.h"
#include "sdk/base/hash.h"
#include "sdk/base/string.h"

#define CANDIDATES 10 /* that a message names */

static int
new_id (const char *prefix, char id[BERTH_ID_SIZE], struct berth_error *error)
{
  if (berth_id_generate (prefix, BERTH_ID_CHARACTERS, id, BERTH_ID_SIZE) == 0)
    return 0;
  return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no random numbers for an id: %m");
}

int
berth_id_new_sandbox (char id[BERTH_ID_SIZE], struct berth_error *error)
{
  return new_id ("sb-", id, error);
}

int
berth_id_new_snapshot (char id[BERTH_ID_SIZE], struct berth_error *error)
{
  return new_id ("sn-", id, error);
}

int
berth_id_new_assignment (char id[BERTH_ID_SIZE], struct berth_error *error)
{
  return new_id ("as-", id, error);
}

void
berth_id_native_hint (const char *id, int64_t generation, char hint[BERTH_NATIVE_HINT_SIZE])
{
  snprintf (hint, BERTH_NATIVE_HINT_SIZE, "%s.%" PRId64, id, generation);
}

static bool
consists_of (const char *text, size_t most, const char *characters)
{
  size_t size = strlen (text);

  return size >= 1 && size <= most && strspn (text, characters) == size;
}

int
berth_name_check (const char *name, struct berth_error *error)
{
  if (!consists_of (name, 63, "abcdefghijklmnopqrstuvwxyz0123456789._-") || strchr ("._-", name[0]) != NULL)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST,
                            "name: got \"%.80s\", want 1 to 63 of a-z 0-9 . _ -, a letter or digit first", name);
  if (berth_string_starts_with (name, "sb-") || berth_string_starts_with (name, "sn-"))
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "name: got \"%s\": what begins with %.3s is an id", name, name);
  return 0;
}

int
berth_request_id_check (const char *request_id, struct berth_error *error)
{
  size_t size = strlen (request_id);
  bool printable = size >= 1 && size <= 128;

  for (size_t i = 0; printable && i < size; i++)
    printable = request_id[i] >= ' ' && request_id[i] <= '~';
  if (printable)
    return 0;
  return berth_error_set (error, BERTH_E_INVALID_REQUEST, "request id: want 1 to 128 printable ASCII characters");
}

bool
berth_native_id_is_valid (const char *id)
{
  return id != NULL
         && consists_of (id, 255, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");
}

uint64_t
berth_id_hash (const char *text)
{
  return berth_hash (BERTH_HASH_SEED, text, strlen (text));
}

static int
ambiguous (const char *name, const struct berth_store_ids *ids, struct berth_error *error)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  for (size_t i = 0; i < ids->count && i < CANDIDATES; i++)
    berth_buffer_appendf (&text, "%s%s", i > 0 ? ", " : "", ids->items[i]);
  berth_error_set (error, BERTH_E_CONFLICT, "%s may mean %s%s", name, berth_buffer_string (&text),
                   ids->count > CANDIDATES ? " and more" : "");
  berth_error_hint (error, "give more characters of the id, or a name");
  return -1;
}

static int
resolve (const char *kind, uint32_t missing, const char *name, const struct berth_store_ids *ids, char id[BERTH_ID_SIZE],
         struct berth_error *error)
{
  if (ids->count == 0)
    return berth_error_set (error, missing, "there is no %s \"%.80s\"", kind, name);
  if (ids->count > 1)
    return ambiguous (name, ids, error);
  snprintf (id, BERTH_ID_SIZE, "%s", ids->items[0]);
  return 0;
}

int
berth_id_resolve (struct berth_host *host, const char *name, char id[BERTH_ID_SIZE], struct berth_error *error)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  if (name == NULL || name[0] == '\0')
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "a sandbox needs an id or a name");
  if (berth_store_find (host->store, host->owner, name, &ids, error) != 0)
    return -1;
  return resolve ("sandbox", BERTH_E_SANDBOX_NOT_FOUND, name, &ids, id, error);
}

int
berth_id_resolve_snapshot (struct berth_host *host, const char *name, char id[BERTH_ID_SIZE],
                           struct berth_error *error)
{
  BERTH_AUTO_IDS struct berth_store_ids ids = { 0 };

  if (name == NULL || name[0] == '\0')
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "a snapshot needs an id or a name");
  if (berth_store_find_snapshot (host->store, host->owner, name, &ids, error) != 0)
    return -1;
  return resolve ("snapshot", BERTH_E_NOT_FOUND, name, &ids, id, error);
}
