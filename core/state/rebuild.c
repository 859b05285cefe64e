/* Starting again beside a database that is damaged.  What it said of sandboxes is lost; whose they
 * are is not, and that is what a new one begins with. */
#include "core/state/internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/clock.h"
#include "sdk/base/string.h"

static int
refuse_use (const struct berth_store *store, struct berth_error *error)
{
  berth_error_set (error, BERTH_E_CONFLICT, "the database %s is in use by another process", store->path);
  berth_error_hint (error, "end every berth on this state directory first; `fuser %s` finds them", store->path);
  return -1;
}

/* 0 when it is damaged indeed. */
static int
check_damage (struct berth_store *store, struct berth_error *error)
{
  struct berth_error found = { 0 };
  int version = 0;

  if (berth_store_open_database (store, &found) == 0 && berth_store_read_version (store, &version, &found) == 0
      && version > 0 && berth_store_check_integrity (store, &found) == 0 && berth_installation_read (store) == 0)
    {
      berth_error_set (error, BERTH_E_CONFLICT, "the database %s is sound: there is nothing to rebuild", store->path);
      return -1;
    }
  if (store->is_damaged || (found.code == 0 && berth_installation_is_known (store)))
    return 0;
  if (found.code == 0)
    return berth_error_set (error, BERTH_E_CONFLICT, "the database %s was never made: there is nothing to rebuild",
                            store->path);
  if (error != NULL)
    *error = found;
  return -1;
}

/* From the file beside it, else from the damaged database as far as that can be read. */
static int
find_installation (struct berth_store *store, struct berth_error *error)
{
  if (berth_installation_recall (store) == 0
      || (berth_installation_read (store) == 0 && berth_id_is_valid (store->installation_id, "inst-", 20)))
    return 0;
  berth_error_set (error, BERTH_E_CONFIGURATION,
                   "the installation id of %s is lost: without it nobody can say which sandboxes are ours", store->path);
  berth_error_hint (error, "nothing was changed; put the file `installation` of a backup into the state directory");
  return -1;
}

/* The names of a set are given all at once or, when one cannot be, not at all as far as that can
 * be helped: the database goes last, so that the damage is still there to be found. */
static int
set_aside (const struct berth_store *store, char **aside, struct berth_error *error)
{
  static const char *const suffixes[] = { "-wal", "-shm", "" };
  char stamp[BERTH_CLOCK_TEXT_SIZE];

  berth_clock_format_wall (berth_clock_wall_ms (), stamp);
  *aside = berth_string_format ("%s.damaged-%s", store->path, stamp);
  for (size_t i = 0; *aside != NULL && i < sizeof suffixes / sizeof *suffixes; i++)
    {
      BERTH_AUTO_FREE char *from = berth_string_format ("%s%s", store->path, suffixes[i]);
      BERTH_AUTO_FREE char *to = berth_string_format ("%s%s", *aside, suffixes[i]);
      if (from == NULL || to == NULL || (rename (from, to) != 0 && errno != ENOENT))
        return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot set %s aside: %m", store->path);
    }
  return *aside != NULL ? 0 : berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory left");
}

static int
begin_anew (struct berth_store *store, char **aside, struct berth_error *error)
{
  if (berth_store_lock_users (store->users_fd, F_WRLCK, F_OFD_SETLK) != 0)
    return refuse_use (store, error);
  if (check_damage (store, error) != 0 || find_installation (store, error) != 0)
    return -1;
  sqlite3_close (BERTH_STEAL_POINTER (store->db));
  store->is_damaged = false;
  if (set_aside (store, aside, error) != 0 || berth_store_open_database (store, error) != 0
      || berth_installation_make (store, 0, error) != 0)
    return -1;
  return berth_store_prepare_alone (store, error) != 0 || berth_store_begin_use (store, error) != 0 ? -1 : 0;
}

int
berth_store_rebuild (const char *directory, struct berth_store **out, char **aside, struct berth_error *error)
{
  struct berth_store *store = berth_store_new (directory, error);

  if (store == NULL)
    return -1;
  if (begin_anew (store, aside, error) == 0)
    {
      *out = store;
      return 0;
    }
  berth_store_close (store);
  return -1;
}
