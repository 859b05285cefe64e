/* state.c - the instance: its settings, its lock, its clock, and small things that all use. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "plugins/fake/dial.h"
#include "plugins/fake/fake.h"
#include "plugins/fake/instance.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"
#include "sdk/base/string.h"

#define TICK_MS 10

static int
read_settings (struct berth_call *call, struct berth_state *state)
{
  const struct berth_services *services = call->services;
  struct berth_instance *instance = call->instance;
  const char *clock = services->setting (instance, "clock");
  const char *tier = services->setting (instance, "tier");

  state->faults = services->setting (instance, "faults");
  state->script = services->setting (instance, "script");
  state->gpu = services->setting (instance, "gpu");
  state->volumes = services->setting (instance, "volumes");
  state->price = services->setting_number (instance, "price");
  state->private_required = services->setting_number (instance, "require_private") != 0;
  state->tier = berth_string_equal (tier, "unknown") ? BERTH_TIER_UNKNOWN : BERTH_TIER_CONTAINER;
  state->unenforced = fake_limits_parse (services->setting (instance, "unenforced"));
  state->capabilities = fake_capabilities_parse (services->setting (instance, "capabilities"));
  if (clock == NULL || strcmp (clock, "real") == 0)
    return 0;
  state->clock = open (clock, O_RDONLY | O_CLOEXEC);
  if (state->clock < 0)
    return services->fail (call, BERTH_E_CONFIGURATION, "setting `clock`: cannot open %s: %s (want `real` or a file "
                           "with milliseconds)", clock, strerror (errno));
  return 0;
}

static int
open_directory (struct berth_call *call, struct berth_state *state)
{
  static const char *const folders[] = { "sandboxes", "snapshots", "pools", "volumes" };
  const char *path = call->services->directory (call->instance, BERTH_DIRECTORY_STATE);

  state->directory = path != NULL ? open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (state->directory < 0)
    return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot open the state directory %s: %s",
                                 path != NULL ? path : "(none)", strerror (path != NULL ? errno : ENOENT));
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    if (mkdirat (state->directory, folders[i], 0700) < 0 && errno != EEXIST)
      return call->services->fail (call, BERTH_E_CONFIGURATION, "cannot make %s/%s: %s", path, folders[i],
                                   strerror (errno));
  return 0;
}

static void
free_state (struct berth_state *state)
{
  if (state->clock >= 0)
    close (state->clock);
  if (state->directory >= 0)
    close (state->directory);
  pthread_mutex_destroy (&state->pumps_lock);
  free (state);
}

int
fake_instance_open (struct berth_call *call, struct berth_state **out)
{
  struct berth_state *state = calloc (1, sizeof *state);

  if (state == NULL)
    return call->services->fail (call, BERTH_E_RESOURCE_EXHAUSTED, "no memory for the instance");
  state->instance = call->instance;
  state->directory = -1;
  state->clock = -1;
  pthread_mutex_init (&state->pumps_lock, NULL);
  if (read_settings (call, state) < 0 || open_directory (call, state) < 0)
    {
      free_state (state);
      return -1;
    }
  *out = state;
  return 0;
}

void
fake_instance_close (struct berth_call *call, struct berth_state *state)
{
  fake_pumps_end (state);
  free_state (state);
}

/* A number in a file, as the virtual clock has it. */
static int
read_number (int fd, int64_t *number)
{
  char text[32];
  ssize_t size = pread (fd, text, sizeof text - 1, 0);

  if (size <= 0)
    return -1;
  text[size] = '\0';
  text[strcspn (text, " \n")] = '\0';
  return berth_string_to_int64 (text, 0, INT64_MAX / 2, number);
}

int64_t
fake_now_ms (struct berth_state *state)
{
  BERTH_AUTO_FD int override = openat (state->directory, "clock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  int64_t now;

  if (override >= 0 && read_number (override, &now) == 0)
    return now;
  if (state->clock >= 0 && read_number (state->clock, &now) == 0)
    return now;
  return berth_clock_wall_ms ();
}

int
fake_lock (struct berth_call *call, struct berth_state *state)
{
  int fd = openat (state->directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

  if (fd < 0)
    return fake_failed (call, "open the lock");
  while (flock (fd, LOCK_EX) < 0)
    if (errno != EINTR)
      {
        fake_failed (call, "lock the state");
        close (fd);
        return -1;
      }
  return fd;
}

int
fake_failed (struct berth_call *call, const char *what)
{
  int full = errno == ENOSPC || errno == EDQUOT || errno == ENOMEM || errno == EMFILE || errno == ENFILE;

  return call->services->fail (call, full ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INTERNAL, "cannot %s: %s", what,
                               strerror (errno));
}

int
fake_check (struct berth_call *call)
{
  uint32_t code = call->services->cancelled (call);

  if (code == 0)
    return 0;
  return call->services->fail (call, code, code == BERTH_E_TIMEOUT ? "the call's deadline passed"
                                                                   : "the call was cancelled");
}

int
fake_tick (struct berth_call *call)
{
  struct pollfd cancel = { .fd = call->services->cancel_fd (call), .events = POLLIN };

  if (fake_check (call) < 0)
    return -1;
  poll (&cancel, 1, TICK_MS);
  return fake_check (call);
}

int
fake_wait (struct berth_call *call, int64_t milliseconds)
{
  int64_t end = berth_clock_monotonic_ms () + milliseconds;

  if (fake_check (call) < 0)
    return -1;
  while (berth_clock_monotonic_ms () < end)
    if (fake_tick (call) < 0)
      return -1;
  return 0;
}

int
fake_listed (const char *list, const char *item, size_t size)
{
  while (list != NULL && *list != '\0')
    {
      size_t length = strcspn (list, ", ");

      if (length == size && strncasecmp (list, item, size) == 0)
        return 1;
      list += length;
      list += strspn (list, ", ");
    }
  return 0;
}

int
fake_needs (struct berth_call *call, struct berth_state *state, uint64_t bit, const char *what)
{
  if ((state->capabilities & bit) != 0)
    return 0;
  return call->services->fail (call, BERTH_E_CAPABILITY_NOT_SUPPORTED, "this instance does not have %s", what);
}

DIR *
fake_directory_open (int directory, const char *path)
{
  BERTH_AUTO_FD int fd = openat (directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;

  if (dir != NULL)
    fd = -1; /* the stream's from now on */
  return dir;
}

struct berth_json *
fake_json_load (int directory, const char *path)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };
  struct berth_json *json;

  if (berth_fs_read (directory, path, &text, BERTH_JSON_SIZE) < 0)
    return NULL;
  json = berth_json_parse (berth_buffer_string (&text), text.size, BERTH_JSON_SIZE, NULL);
  if (json == NULL)
    errno = EINVAL;
  return json;
}

int
fake_json_save (int directory, const char *path, const struct berth_json *json)
{
  BERTH_AUTO_BUFFER struct berth_buffer text = { 0 };

  if (berth_json_print (json, false, &text) < 0)
    return -1;
  return berth_fs_replace (directory, path, text.data, text.size, 0600);
}

const char *
fake_text (const struct berth_json *record, const char *key)
{
  return berth_json_string (berth_json_get (record, key));
}

int64_t
fake_number (const struct berth_json *record, const char *key)
{
  int64_t number = 0;

  (void) berth_json_to_int64 (berth_json_get (record, key), &number);
  return number;
}
