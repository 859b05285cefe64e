#include "conformance/conform/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

void
place_free (struct place *place)
{
  free (place->state_dir);
  free (place->runtime_dir);
  free (place->cache_dir);
  free (place->config_file);
}

/* Names are short: a backend puts sockets there. */
static bool
place_name (struct place *place)
{
  place->state_dir = berth_path_join (place->directory, "s");
  place->runtime_dir = berth_path_join (place->directory, "r");
  place->cache_dir = berth_path_join (place->directory, "c");
  place->config_file = berth_path_join (place->directory, "berth.conf");
  return place->state_dir != NULL && place->runtime_dir != NULL && place->cache_dir != NULL
         && place->config_file != NULL;
}

bool
place_make (struct place *place, const struct berth_buffer *config)
{
  const char *tmp = getenv ("TMPDIR");

  *place = (struct place) { 0 };
  snprintf (place->directory, sizeof place->directory, "%s/berth-test-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
  return mkdtemp (place->directory) != NULL && place_name (place) && mkdir (place->state_dir, 0700) == 0
         && mkdir (place->runtime_dir, 0700) == 0 && mkdir (place->cache_dir, 0700) == 0
         && berth_fs_replace (AT_FDCWD, place->config_file, berth_buffer_string (config), config->size, 0600)
                == 0
         && berth_id_generate ("sb-", 8, place->tag, sizeof place->tag) == 0
         && berth_id_generate ("in-", 16, place->installation_id, sizeof place->installation_id) == 0;
}

bool
place_find (struct place *place, const char *directory, const char *installation_id, const char *tag)
{
  *place = (struct place) { 0 };
  snprintf (place->directory, sizeof place->directory, "%s", directory);
  snprintf (place->installation_id, sizeof place->installation_id, "%s", installation_id);
  snprintf (place->tag, sizeof place->tag, "%s", tag);
  return place_name (place);
}
