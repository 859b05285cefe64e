#include "core/registry/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/registry/error.h"
#include "sdk/base/cleanup.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

struct berth_interned
{
  struct berth_interned *next;
  char text[];
};

const char *
berth_instance_intern (struct berth_instance *instance, const char *text)
{
  struct berth_interned *at;

  pthread_mutex_lock (&instance->mutex);
  for (at = instance->interned; at != NULL && strcmp (at->text, text) != 0; at = at->next)
    continue;
  if (at == NULL && (at = malloc (sizeof *at + strlen (text) + 1)) != NULL)
    {
      strcpy (at->text, text);
      at->next = instance->interned;
      instance->interned = at;
    }
  pthread_mutex_unlock (&instance->mutex);
  return at != NULL ? at->text : NULL;
}

const struct berth_backend *
berth_instance_backend (const struct berth_instance *instance)
{
  return berth_registered_backend (instance->registered);
}

struct berth_state *
berth_instance_state (const struct berth_instance *instance)
{
  return instance->state;
}

const char *
berth_instance_name (const struct berth_instance *instance)
{
  return instance->name;
}

uint64_t
berth_instance_capabilities (const struct berth_instance *instance)
{
  return berth_instance_backend (instance)->capabilities;
}

void
berth_instance_enter (struct berth_instance *instance, const char *native_id)
{
  berth_gate_enter (&instance->gate, native_id);
}

void
berth_instance_leave (struct berth_instance *instance, const char *native_id)
{
  berth_gate_leave (&instance->gate, native_id);
}

/* A directory that was there may belong to somebody else, who could plant files in it. */
static int
check_directory (const char *path, struct berth_error *error)
{
  struct stat status;

  if (lstat (path, &status) < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "directory %s: %s", path, strerror (errno));
  if (!S_ISDIR (status.st_mode))
    return berth_error_set (error, BERTH_E_CONFIGURATION, "%s is not a directory", path);
  if (status.st_uid != geteuid ())
    return berth_error_set (error, BERTH_E_CONFIGURATION, "directory %s belongs to uid %u (want %u)", path,
                            (unsigned int) status.st_uid, (unsigned int) geteuid ());
  if ((status.st_mode & 077) != 0 && chmod (path, 0700) < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "directory %s has mode %04o (want 0700): %s", path,
                            (unsigned int) status.st_mode & 07777, strerror (errno));
  return 0;
}

static int
make_directory (struct berth_instance *instance, uint32_t which, const char *above, const char *between,
                struct berth_error *error)
{
  char *path;

  if (above == NULL)
    return 0;
  path = berth_string_format ("%s/%s%s", above, between, instance->name);
  if (path == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a directory's name");
  instance->directories[which] = path;
  if (mkdir (path, 0700) == 0)
    return 0;
  if (errno != EEXIST && berth_fs_make_directories (AT_FDCWD, path, 0700) < 0)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot make directory %s: %s", path, strerror (errno));
  return check_directory (path, error);
}

static int
make_directories (struct berth_instance *instance, struct berth_error *error)
{
  const struct berth_registry_facts *facts = instance->facts;

  if (make_directory (instance, BERTH_DIRECTORY_STATE, facts->state_dir, "backends/", error) < 0)
    return -1;
  if (make_directory (instance, BERTH_DIRECTORY_RUNTIME, facts->runtime_dir, "", error) < 0)
    return -1;
  return make_directory (instance, BERTH_DIRECTORY_CACHE, facts->cache_dir, "", error);
}

static void
redact_secrets (struct berth_instance *instance)
{
  for (uint32_t i = 0; i < instance->settings.count; i++)
    {
      const struct berth_setting_value *value = &instance->settings.values[i];

      if ((value->flags & BERTH_SETTING_SECRET) != 0 && value->text != NULL)
        berth_instance_redact (instance, value->text, strlen (value->text));
    }
}

/* Frees what the host holds; the backend's state is closed or was never there. */
static void
discard (struct berth_instance *instance)
{
  struct berth_interned *next;

  for (struct berth_interned *at = instance->interned; at != NULL; at = next)
    {
      next = at->next;
      free (at);
    }
  for (size_t i = 0; i < sizeof instance->directories / sizeof instance->directories[0]; i++)
    free (instance->directories[i]);
  berth_settings_clear (&instance->settings);
  berth_redactor_clear (&instance->redactor);
  berth_gate_clear (&instance->gate);
  pthread_mutex_destroy (&instance->mutex);
  free (instance->name);
  free (instance);
}

static int
open_state (struct berth_instance *instance, struct berth_error *error)
{
  struct berth_host_call call;
  int result;

  berth_host_call_begin (&call, instance, NULL, BERTH_NO_DEADLINE);
  result = berth_instance_backend (instance)->lifecycle->open (&call.call, &instance->state);
  if (result >= 0 && instance->state == NULL)
    result = berth_host_call_fail (&call, BERTH_E_INTERNAL, "backend \"%s\" said that it opened and gave no state",
                                   instance->name);
  return berth_host_call_end (&call, result, error);
}

int
berth_instance_open (const struct berth_registry_facts *facts, const char *name,
                     const struct berth_registered *registered, struct berth_settings *settings,
                     struct berth_instance **out, struct berth_error *error)
{
  struct berth_instance *instance = calloc (1, sizeof *instance);
  char *copy = strdup (name);

  if (instance == NULL || copy == NULL)
    {
      free (instance);
      free (copy);
      berth_settings_clear (settings);
      return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for backend \"%s\"", name);
    }
  instance->facts = facts;
  instance->name = copy;
  instance->registered = registered;
  instance->settings = *settings;
  memset (settings, 0, sizeof *settings);
  pthread_mutex_init (&instance->mutex, NULL);
  berth_redactor_init (&instance->redactor);
  berth_gate_init (&instance->gate, berth_registered_backend (registered)->concurrency);
  redact_secrets (instance);
  if (make_directories (instance, error) < 0 || open_state (instance, error) < 0)
    {
      discard (instance);
      return -1;
    }
  *out = instance;
  return 0;
}

void
berth_instance_close (struct berth_instance *instance)
{
  struct berth_host_call call;

  if (instance == NULL)
    return;
  berth_host_call_begin (&call, instance, NULL, BERTH_NO_DEADLINE);
  berth_instance_backend (instance)->lifecycle->close (&call.call, instance->state);
  berth_host_call_end (&call, 0, NULL);
  discard (instance);
}
