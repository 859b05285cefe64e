/* ids.c - each sandbox has 65536 user ids of the host's to itself.
 *
 * Making STATE/ids/UID, UID being the first of them, a second name of the sandbox's record is taking
 * the range: it is atomic, says whose it is, costs no inode and outlives a crash.  A name that is the only one of its file is
 * nobody's.  Sandboxes of several state directories begin to look at different places. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugins/ns/ns.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/hash.h"

#define SETTLED_SECONDS 2
/* The kernel finds a user by 7 bits of the sum of its id and its id divided by 128. */
#define TURNS 128
#define TURN 128

static int
open_ranges (const struct berth_state *state)
{
  BERTH_AUTO_FD int top = open (state->state, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (top < 0 || (mkdirat (top, "ids", 0700) < 0 && errno != EEXIST))
    return -1;
  return openat (top, "ids", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Takes a range whose sandbox is gone.  Under a lock, so that a name which somebody else has just
 * taken is not taken away. */
static int
take_over (int box, int ranges, const char *name)
{
  struct stat status;
  int result = -1;

  if (flock (ranges, LOCK_EX) < 0)
    return -1;
  if (fstatat (ranges, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_nlink == 1 && unlinkat (ranges, name, 0) == 0)
    result = linkat (box, "meta", ranges, name, 0);
  else
    errno = EEXIST;
  int reason = errno;
  flock (ranges, LOCK_UN);
  errno = reason;
  return result;
}

/* Ranges begin at multiples of 65536, which are all the same to the kernel's table of users: with its id 0 at
 * the beginning each sandbox would make one chain longer that is walked at each change of a user. */
uint32_t
ns_ids_turn (uint32_t base)
{
  return base / NS_IDS_PER_SANDBOX % TURNS * TURN;
}

uint32_t
ns_ids_outside (uint32_t base, uint32_t inside)
{
  return base + (inside + ns_ids_turn (base)) % NS_IDS_PER_SANDBOX;
}

uint32_t
ns_ids_take (struct berth_call *call, const struct berth_state *state, const char *id, int box)
{
  uint64_t hash = berth_hash (berth_hash (BERTH_HASH_SEED, state->state, strlen (state->state)), id, strlen (id));
  BERTH_AUTO_FD int ranges = open_ranges (state);
  char name[16];

  if (ranges < 0)
    {
      call->services->fail (call, BERTH_E_CONFIGURATION, "cannot use the state directory %s: %m", state->state);
      return 0;
    }
  for (uint32_t tried = 0; tried < state->id_ranges; tried++)
    {
      uint32_t uid_base = state->id_base + (uint32_t) ((hash + tried) % state->id_ranges) * NS_IDS_PER_SANDBOX;
      snprintf (name, sizeof name, "%u", uid_base);
      if (linkat (box, "meta", ranges, name, 0) == 0 || (errno == EEXIST && take_over (box, ranges, name) == 0))
        return uid_base;
      if (errno != EEXIST)
        {
          call->services->fail (call, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INTERNAL,
                                "cannot record the user ids of %s: %m", id);
          return 0;
        }
    }
  call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "all %u ranges of user ids are taken", state->id_ranges);
  call->services->hint (call, "destroy sandboxes, or raise uid_count of the backend");
  return 0;
}

/* RECORD is the sandbox's, with a link count of 0 where there is none. */
static int
release_one (int ranges, const char *name, const struct stat *record)
{
  struct stat status;

  if (fstatat (ranges, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? 0 : -1;
  bool ours = record->st_nlink > 0 && status.st_ino == record->st_ino && status.st_dev == record->st_dev;
  if (!ours && status.st_nlink > 1)
    return 0;
  return unlinkat (ranges, name, 0) == 0 || errno == ENOENT ? 0 : -1;
}

int
ns_ids_release (const struct berth_state *state, int box, uint32_t uid_base)
{
  char name[16];
  struct stat record;

  if (ns_is_ordinary_user ())
    return 0;
  BERTH_AUTO_FD int ranges = open_ranges (state);
  if (ranges < 0)
    return errno == ENOENT ? 0 : -1;
  if (box < 0 || fstatat (box, "meta", &record, AT_SYMLINK_NOFOLLOW) < 0)
    record = (struct stat){ .st_nlink = 0 };
  if (uid_base != 0)
    {
      snprintf (name, sizeof name, "%u", uid_base);
      return release_one (ranges, name, &record);
    }
  /* A create that died between taking a range and writing it down, or a lost record. */
  BERTH_AUTO_DIR DIR *directory = fdopendir (ranges);
  if (directory == NULL)
    return -1;
  ranges = -1;
  int result = 0;
  for (struct dirent *entry; (entry = readdir (directory)) != NULL;)
    if (entry->d_name[0] != '.' && release_one (dirfd (directory), entry->d_name, &record) < 0)
      result = -1;
  return result;
}

/* FIRST and COUNT are fields, from 0, of lines with colons; COUNT < 0: each line is one id. */
static bool
file_has_ids (const char *path, int first, int count, uint64_t from, uint64_t to, char *who, size_t who_size)
{
  BERTH_AUTO_FILE FILE *file = fopen (path, "re");
  BERTH_AUTO_FREE char *line = NULL;
  size_t size = 0;

  while (file != NULL && getline (&line, &size, file) > 0)
    {
      char *field[8] = { line };
      for (int i = 1; i < 8 && field[i - 1] != NULL; i++)
        if ((field[i] = strchr (field[i - 1], ':')) != NULL)
          *field[i]++ = '\0';
      if (field[first] == NULL || (count >= 0 && field[count] == NULL))
        continue;
      uint64_t low = strtoull (field[first], NULL, 10);
      uint64_t many = count >= 0 ? strtoull (field[count], NULL, 10) : 1;
      if (many > 0 && low < to && low + many > from)
        {
          snprintf (who, who_size, "%s of %s", field[0], path);
          return true;
        }
    }
  return false;
}

static const struct
{
  const char *path;
  int first, count;
} owners[NS_OWNERS] = { { "/etc/passwd", 2, -1 }, { "/etc/group", 2, -1 }, { "/etc/subuid", 1, 2 }, { "/etc/subgid", 1, 2 } };

/* What tells one state of a file from another, but for changes that follow upon each other too fast for its clock. */
static struct ns_stamp
look_at (const char *path)
{
  struct ns_stamp stamp = { 0 };
  struct stat status;

  if (stat (path, &status) == 0)
    stamp = (struct ns_stamp){ status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim };
  return stamp;
}

static bool
is_same (const struct ns_stamp *a, const struct ns_stamp *b)
{
  return a->device == b->device && a->inode == b->inode && a->size == b->size && a->modified.tv_sec == b->modified.tv_sec
         && a->modified.tv_nsec == b->modified.tv_nsec && a->changed.tv_sec == b->changed.tv_sec
         && a->changed.tv_nsec == b->changed.tv_nsec;
}

static bool
is_settled (const struct ns_stamp *stamp)
{
  struct timespec now;

  return clock_gettime (CLOCK_REALTIME, &now) == 0 && stamp->changed.tv_sec + SETTLED_SECONDS < now.tv_sec;
}

/* Whether somebody has them, and WHO; a file that stays the same is read once. */
static bool
is_owned_locked (struct ns_owners *known, uint64_t from, uint64_t to, char *who, size_t who_size)
{
  for (int i = 0; i < NS_OWNERS; i++)
    {
      const struct ns_stamp stamp = look_at (owners[i].path);
      if (known->read[i] && is_same (&stamp, &known->stamp[i]))
        continue;
      known->read[i] = false;
      if (file_has_ids (owners[i].path, owners[i].first, owners[i].count, from, to, who, who_size))
        return true;
      known->stamp[i] = stamp;
      known->read[i] = is_settled (&stamp);
    }
  return false;
}

int
ns_ids_check (struct berth_call *call, struct berth_state *state)
{
  uint64_t from = state->id_base, to = from + (uint64_t) state->id_ranges * NS_IDS_PER_SANDBOX;
  char who[128];

  if (ns_is_ordinary_user ())
    return 0;
  pthread_mutex_lock (&state->owners.mutex);
  bool owned = is_owned_locked (&state->owners, from, to, who, sizeof who);
  pthread_mutex_unlock (&state->owners.mutex);
  if (!owned)
    return 0;
  call->services->fail (call, BERTH_E_CONFIGURATION, "the ids %llu to %llu that sandboxes shall have belong to %s",
                        (unsigned long long) from, (unsigned long long) (to - 1), who);
  call->services->hint (call, "set uid_base and uid_count of the backend to ids that nobody has");
  return -1;
}
