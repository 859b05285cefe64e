/* pool.c - the group `pool`: warm sandboxes, which `ensure` makes and nothing makes again. */
#include "plugins/fake/fake.h"
#include "sdk/base/string.h"

#define WANTED_MAX 100

static char *
pool_file (const char *name)
{
  return berth_string_format ("pools/%s.json", name);
}

/* The record of a pool: what its sandboxes are, and how many are wanted. */
static struct berth_json *
load_pool (struct berth_call *call, struct berth_state *state, const char *name)
{
  BERTH_AUTO_FREE char *path = fake_id_is_valid (name) ? pool_file (name) : NULL;
  struct berth_json *pool = path != NULL ? fake_json_load (state->directory, path) : NULL;

  if (pool == NULL)
    call->services->fail (call, BERTH_E_NOT_FOUND, "no pool `%s`", name);
  return pool;
}

/* --- counting and filling ----------------------------------------------------------------------------------- */

struct count
{
  const char *pool;
  uint32_t ready;
  uint32_t claimed;
  char first[FAKE_ID_MAX + 1]; /* a ready one */
};

static int
count_box (void *context, struct berth_call *call, struct fake_box *box)
{
  struct count *count = context;

  if (!berth_string_equal (fake_text (box->record, "pool"), count->pool))
    return 0;
  if (fake_number (box->record, "claimed") != 0)
    count->claimed++;
  else if (fake_number (box->record, "life") == BERTH_LIFE_RUNNING && count->ready++ == 0)
    memcpy (count->first, box->id, sizeof count->first);
  return 0;
}

static int
ignore_created (void *context, const struct berth_native *native)
{
  return 0;
}

static int
ignore_effective (void *context, const struct berth_effective *effective)
{
  return 0;
}

static int
add_warm (struct berth_call *call, struct berth_state *state, const char *pool, const struct berth_spec *spec)
{
  const struct fake_origin origin = { "pool.ensure", NULL, NULL, pool };
  const struct berth_create_sink sink = { sizeof sink, 0, NULL, ignore_created, ignore_effective };
  struct berth_spec warm = *spec;
  struct berth_handle *handle = NULL;
  char id[40];

  if (berth_id_generate ("warm-", 20, id, sizeof id) < 0)
    return fake_failed (call, "make an id");
  warm.native_hint = id;
  warm.sandbox_id = NULL;
  warm.assignment_id = NULL;
  if (fake_create (call, state, &warm, &origin, &sink, &handle) < 0)
    return -1;
  fake_handle_free (handle);
  return 0;
}

static int
count_pool (struct berth_call *call, struct berth_state *state, const char *name, struct count *count)
{
  *count = (struct count) { .pool = name };
  return fake_box_each (call, state, NULL, count_box, count);
}

static int
save_pool (struct berth_call *call, struct berth_state *state, const struct berth_pool *pool)
{
  BERTH_AUTO_JSON struct berth_json *record = fake_spec_record (state, pool->spec);
  BERTH_AUTO_FREE char *path = pool_file (pool->name);

  if (record == NULL || path == NULL || berth_json_set_int64 (record, "wanted", pool->wanted) < 0
      || berth_json_set_int64 (record, "asks", (int64_t) pool->spec->asks) < 0
      || fake_json_save (state->directory, path, record) < 0)
    return fake_failed (call, "write the record of a pool");
  return 0;
}

static int
fake_ensure (struct berth_call *call, struct berth_state *state, const struct berth_pool *pool)
{
  struct count count;

  if (fake_needs (call, state, BERTH_CAP_CLIENT_POOL, "CLIENT_POOL") < 0
      || BERTH_REFUSE_UNKNOWN (call, POOL, pool->asks, 0) < 0 || fake_point (call, state, "pool.ensure") < 0)
    return -1;
  if (!fake_id_is_valid (pool->name) || pool->wanted > WANTED_MAX)
    return call->services->fail (call, BERTH_E_INVALID_REQUEST, "pool `%s` of %u sandboxes (at most %d)", pool->name,
                                 pool->wanted, WANTED_MAX);
  if (fake_spec_check (call, state, pool->spec) < 0 || save_pool (call, state, pool) < 0
      || count_pool (call, state, pool->name, &count) < 0)
    return -1;
  for (uint32_t i = count.ready; i < pool->wanted; i++)
    if (add_warm (call, state, pool->name, pool->spec) < 0)
      return -1;
  return 0;
}

/* --- taking one --------------------------------------------------------------------------------------------- */

/* What a warm sandbox is cannot be changed: a wish for something else is refused. */
static int
check_wish (struct berth_call *call, struct berth_state *state, const struct berth_json *pool,
            const struct berth_spec *spec)
{
  static const char *const numbers[] = { "memory", "disk", "tmp", "shm", "file_size", "cpu", "pids", "open_files" };
  static const char *const texts[] = { "image", "user", "gpu", "volume" };
  BERTH_AUTO_JSON struct berth_json *wish = fake_spec_record (state, spec);

  if (wish == NULL)
    return fake_failed (call, "compare a wish with a pool");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (fake_number (wish, numbers[i]) != 0 && fake_number (wish, numbers[i]) != fake_number (pool, numbers[i]))
      return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "%s %lld is wanted, the pool has %lld",
                                   numbers[i], (long long) fake_number (wish, numbers[i]),
                                   (long long) fake_number (pool, numbers[i]));
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (fake_text (wish, texts[i]) != NULL && !berth_string_equal (fake_text (wish, texts[i]), fake_text (pool, texts[i])))
      return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "%s `%s` is wanted, the pool has `%s`",
                                   texts[i], fake_text (wish, texts[i]),
                                   fake_text (pool, texts[i]) != NULL ? fake_text (pool, texts[i]) : "none");
  return 0;
}

static int
claim_box (struct berth_call *call, struct fake_box *box, const struct berth_spec *spec)
{
  if (fake_number (box->record, "claimed") != 0)
    return call->services->fail (call, BERTH_E_CONFLICT, "sandbox `%s` was just claimed", box->id);
  if (berth_json_set_string (box->record, "sandbox_id", spec->sandbox_id) < 0
      || berth_json_set_string (box->record, "assignment_id", spec->assignment_id) < 0
      || berth_json_set_string (box->record, "installation_id", spec->installation_id) < 0
      || berth_json_set_int64 (box->record, "claimed", 1) < 0 || fake_spec_lists (box->record, spec) < 0
      || ((spec->asks & BERTH_SPEC_TTL) != 0
          && berth_json_set_int64 (box->record, "expires", fake_now_ms (box->state) + spec->ttl_ms) < 0)
      || ((spec->asks & BERTH_SPEC_NETWORK) != 0
          && berth_json_set (box->record, "network", fake_policy_to_json (spec->network)) < 0))
    return fake_failed (call, "claim a sandbox");
  return fake_box_save (call, box);
}

static int
claim (struct berth_call *call, struct berth_state *state, const char *id, const struct berth_spec *spec,
       const struct berth_create_sink *sink, struct berth_handle **out)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  struct berth_effective effective;
  BERTH_AUTO_FREE char *token = NULL;
  struct berth_handle *handle;

  if (fake_box_open (call, state, id, &box) < 0 || claim_box (call, &box, spec) < 0)
    return -1;
  handle = fake_handle_new (call, state, &box);
  token = strdup (fake_text (box.record, "token"));
  fake_effective_from_record (state, box.record, &effective);
  fake_box_close (&box);
  if (handle != NULL && token != NULL && fake_tell_created (sink, id, token) == 0
      && sink->effective (sink->context, &effective) == 0)
    {
      *out = handle;
      return 0;
    }
  fake_handle_free (handle);
  return -1;
}

static int
fake_acquire (struct berth_call *call, struct berth_state *state, const char *name, const struct berth_spec *spec,
              const struct berth_create_sink *sink, struct berth_handle **out)
{
  BERTH_AUTO_JSON struct berth_json *pool = NULL;
  struct count count;

  if (fake_needs (call, state, BERTH_CAP_CLIENT_POOL, "CLIENT_POOL") < 0
      || fake_spec_check (call, state, spec) < 0 || fake_point (call, state, "pool.acquire") < 0)
    return -1;
  pool = load_pool (call, state, name);
  if (pool == NULL || check_wish (call, state, pool, spec) < 0 || count_pool (call, state, name, &count) < 0)
    return -1;
  if (count.ready == 0)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "pool `%s` has no sandbox that is ready (%u are "
                                 "claimed)", name, count.claimed);
  return claim (call, state, count.first, spec, sink, out);
}

/* --- looking and ending -------------------------------------------------------------------------------------- */

static int
look (struct berth_call *call, struct berth_state *state, const char *name, const char *point,
      struct berth_json **pool, struct count *count)
{
  if (fake_needs (call, state, BERTH_CAP_CLIENT_POOL, "CLIENT_POOL") < 0 || fake_point (call, state, point) < 0)
    return -1;
  *pool = load_pool (call, state, name);
  return *pool == NULL ? -1 : count_pool (call, state, name, count);
}

static int
fake_describe (struct berth_call *call, struct berth_state *state, const char *name,
               const struct berth_pool_sink *sink)
{
  BERTH_AUTO_JSON struct berth_json *pool = NULL;
  struct count count;
  struct berth_pool_state info = { .struct_size = sizeof info };

  if (look (call, state, name, "pool.describe", &pool, &count) < 0)
    return -1;
  info.ready = count.ready;
  info.claimed = count.claimed;
  info.total = count.ready + count.claimed;
  return sink->pool (sink->context, &info);
}

static int
fake_readiness (struct berth_call *call, struct berth_state *state, const char *name)
{
  BERTH_AUTO_JSON struct berth_json *pool = NULL;
  struct count count;

  if (look (call, state, name, "pool.readiness", &pool, &count) < 0)
    return -1;
  return count.ready >= fake_number (pool, "wanted");
}

static int
retire_box (void *context, struct berth_call *call, struct fake_box *box)
{
  if (!berth_string_equal (fake_text (box->record, "pool"), context) || fake_number (box->record, "claimed") != 0)
    return 0;
  return fake_box_remove (call, box);
}

static int
fake_retire (struct berth_call *call, struct berth_state *state, const char *name)
{
  BERTH_AUTO_FREE char *path = fake_id_is_valid (name) ? pool_file (name) : NULL;

  if (fake_needs (call, state, BERTH_CAP_CLIENT_POOL, "CLIENT_POOL") < 0 || fake_point (call, state, "pool.retire") < 0)
    return -1;
  if (path == NULL)
    return 0;
  if (unlinkat (state->directory, path, 0) < 0 && errno != ENOENT)
    return fake_failed (call, "remove a pool");
  return fake_box_each (call, state, NULL, retire_box, (void *) name);
}

static int
fake_owns_unclaimed (struct berth_call *call, struct berth_state *state, const struct berth_native *native)
{
  FAKE_AUTO_BOX struct fake_box box = FAKE_BOX_INIT;
  int found;

  if (fake_needs (call, state, BERTH_CAP_CLIENT_POOL, "CLIENT_POOL") < 0
      || fake_point (call, state, "pool.owns_unclaimed") < 0)
    return -1;
  found = fake_box_find (call, state, native->id, &box);
  return found <= 0 ? found : fake_text (box.record, "pool") != NULL && fake_number (box.record, "claimed") == 0;
}

const struct berth_pool_ops fake_pool = {
  .struct_size = sizeof fake_pool,
  .ensure = fake_ensure,
  .acquire = fake_acquire,
  .describe = fake_describe,
  .retire = fake_retire,
  .owns_unclaimed = fake_owns_unclaimed,
  .readiness = fake_readiness,
};
