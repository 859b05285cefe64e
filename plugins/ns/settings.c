/* settings.c - the settings of an instance, and the state made of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/hash.h"

/* Above what systemd hands out to containers and what sssd gives to accounts of a directory by
 * default, below what systemd reserves at the end. */
#define DEFAULT_UID_BASE "2000224256"
#define DEFAULT_UID_COUNT "147128320"

const struct berth_setting ns_settings[NS_SETTING_COUNT] = {
  { .name = "uid_base",
    .environment = "BERTH_NS_UID_BASE",
    .fallback = DEFAULT_UID_BASE,
    .help = "First of the host's user and group ids that sandboxes are mapped to; they must belong to no account.",
    .type = BERTH_SETTING_INTEGER },
  { .name = "uid_count",
    .environment = "BERTH_NS_UID_COUNT",
    .fallback = DEFAULT_UID_COUNT,
    .help = "How many ids from uid_base there are; each sandbox takes 65536 of its own.",
    .type = BERTH_SETTING_INTEGER },
  { .name = "uid_map",
    .environment = "BERTH_NS_UID_MAP",
    .fallback = "auto",
    .help = "What the user ids of an ordinary user's sandboxes are: the user's own one (single), or his subordinate ones (range), or "
            "these where they can be had (auto).",
    .choices = "auto|single|range",
    .type = BERTH_SETTING_CHOICE },
};

bool
ns_is_ordinary_user (void)
{
  return geteuid () != 0;
}

static int
read_ids (struct berth_call *call, struct berth_state *state)
{
  int64_t base = call->services->setting_number (call->instance, "uid_base");
  int64_t count = call->services->setting_number (call->instance, "uid_count");

  /* Ranges of another setting are then either the same or do not meet. */
  if (base < NS_IDS_PER_SANDBOX || base > UINT32_MAX - NS_IDS_PER_SANDBOX || base % NS_IDS_PER_SANDBOX != 0)
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "uid_base is %lld, and must be a multiple of 65536 from 65536 to 4294836224",
                            (long long) base);
      call->services->hint (call, "leave it at its default, " DEFAULT_UID_BASE);
      return -1;
    }
  if (count < NS_IDS_PER_SANDBOX || count >= (int64_t) UINT32_MAX - base)
    {
      call->services->fail (call, BERTH_E_CONFIGURATION,
                            "uid_count is %lld, and must be at least 65536 and end below 4294967295 with uid_base %lld",
                            (long long) count, (long long) base);
      call->services->hint (call, "leave it at its default, " DEFAULT_UID_COUNT);
      return -1;
    }
  state->id_base = (uint32_t) base;
  state->id_ranges = (uint32_t) (count / NS_IDS_PER_SANDBOX);
  return 0;
}

static int
read_uid_map (struct berth_call *call, struct berth_state *state)
{
  const char *map = call->services->setting (call->instance, "uid_map");

  if (map != NULL && strcmp (map, "single") == 0)
    state->uid_map = NS_UID_MAP_SINGLE;
  else if (map != NULL && strcmp (map, "range") == 0)
    state->uid_map = NS_UID_MAP_RANGE;
  if (state->uid_map != NS_UID_MAP_SINGLE || ns_is_ordinary_user ())
    return 0;
  call->services->fail (call, BERTH_E_CONFIGURATION, "uid_map is single, and this is root, whose own id no sandbox may have");
  call->services->hint (call, "leave it at its default, auto");
  return -1;
}

int
ns_open (struct berth_call *call, struct berth_state **out)
{
  BERTH_AUTO_FREE struct berth_state *state = calloc (1, sizeof *state);

  if (state == NULL)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "no memory");
  state->instance = call->instance;
  state->state = call->services->directory (call->instance, BERTH_DIRECTORY_STATE);
  state->runtime = call->services->directory (call->instance, BERTH_DIRECTORY_RUNTIME);
  state->cache = call->services->directory (call->instance, BERTH_DIRECTORY_CACHE);
  state->installation = call->services->installation_id (call->instance);
  if (state->state == NULL || state->runtime == NULL || state->installation == NULL)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "the host gives no state or runtime directory");
  if (read_ids (call, state) < 0 || read_uid_map (call, state) < 0)
    return -1;
  uint64_t hash = berth_hash (BERTH_HASH_SEED, state->state, strlen (state->state));
  snprintf (state->tag, sizeof state->tag, "%08x", (unsigned) (hash ^ hash >> 32));
  ns_mounts_open (&state->mounts);
  pthread_mutex_init (&state->owners.mutex, NULL);
  pthread_mutex_init (&state->spare.mutex, NULL);
  state->spare.space = -1;
  *out = BERTH_STEAL_POINTER (state);
  return 0;
}

void
ns_close (struct berth_call *call, struct berth_state *state)
{
  ns_mounts_close (&state->mounts);
  pthread_mutex_destroy (&state->owners.mutex);
  pthread_mutex_destroy (&state->spare.mutex);
  if (state->spare.space >= 0)
    close (state->spare.space);
  free (state);
}
