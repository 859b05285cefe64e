/* A backend that tells of /workspace/tree what BERTH_TEST_TRICK names and is not so; all else is the
 * backend whose file BERTH_TEST_HONEST is. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <berth/backend.h>

#define SETTINGS_MAX 32
#define TREE "/workspace/tree"

static struct
{
  struct berth_backend backend;
  struct berth_files_ops files;
  struct berth_setting settings[SETTINGS_MAX];
} hostile;
static const struct berth_backend *honest;

static int
is_trick (const char *name)
{
  const char *trick = getenv ("BERTH_TEST_TRICK");

  return trick != NULL && strcmp (trick, name) == 0;
}

static int
tell (const struct berth_entry_sink *sink, uint32_t kind, const char *name, uint64_t size, const char *target)
{
  const struct berth_file_info info = { .struct_size = sizeof info,
                                        .kind = kind,
                                        .has = BERTH_FILE_MODE | (target != NULL ? BERTH_FILE_LINK : 0),
                                        .name = name,
                                        .size = size,
                                        .mode = 07777,
                                        .link_target = target };

  return sink->entry (sink->context, &info);
}

static int
tell_many (const struct berth_entry_sink *sink)
{
  char name[32];

  for (unsigned int i = 0; i < 2000000; i++)
    {
      snprintf (name, sizeof name, "%u", i);
      if (tell (sink, BERTH_KIND_FILE, name, 0, NULL) != 0)
        return -1;
    }
  return 0;
}

static int
hostile_list (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
              const struct berth_entry_sink *sink)
{
  static const char *const names[] = { "../.profile", "..", ".", "", "a/b", "/etc/evil", NULL };

  if (strncmp (path, TREE, strlen (TREE)) != 0 || getenv ("BERTH_TEST_TRICK") == NULL)
    return honest->files->list (call, handle, path, how, sink);
  for (size_t i = 0; names[i] != NULL; i++)
    if (is_trick (names[i]))
      return tell (sink, BERTH_KIND_FILE, "log.txt", 4, NULL) != 0 || tell (sink, BERTH_KIND_FILE, names[i], 4, NULL) != 0 ? -1 : 0;
  if (is_trick ("twice"))
    return tell (sink, BERTH_KIND_SYMLINK, "log.txt", 0, "log.txt") != 0 || tell (sink, BERTH_KIND_FILE, "log.txt", 4, NULL) != 0
                   || tell (sink, BERTH_KIND_DIRECTORY, "log.txt", 0, NULL) != 0
               ? -1
               : 0;
  if (is_trick ("through"))
    return tell (sink, BERTH_KIND_SYMLINK, "d", 0, "../../outside") != 0 || tell (sink, BERTH_KIND_DIRECTORY, "d", 0, NULL) != 0 ? -1 : 0;
  if (is_trick ("many"))
    return tell_many (sink);
  if (is_trick ("huge"))
    return tell (sink, BERTH_KIND_FILE, "log.txt", UINT64_C (1) << 62, NULL) != 0 ? -1 : 0;
  if (is_trick ("deep"))
    return tell (sink, BERTH_KIND_DIRECTORY, "d", 0, NULL) != 0 ? -1 : 0;
  return tell (sink, BERTH_KIND_FILE, "log.txt", 4, NULL) != 0 ? -1 : 0;
}

/* Bytes for ever, whatever size was told and asked for. */
static int
hostile_read (struct berth_call *call, struct berth_handle *handle, const char *path, const struct berth_read *how,
              const struct berth_read_sink *sink)
{
  static const char evil[65536] = "evil";
  const struct berth_file_info info = { .struct_size = sizeof info, .kind = BERTH_KIND_FILE, .name = path, .size = 4 };

  if (strncmp (path, TREE, strlen (TREE)) != 0)
    return honest->files->read (call, handle, path, how, sink);
  if (sink->info (sink->context, &info) != 0)
    return -1;
  if (!is_trick ("endless"))
    return sink->data (sink->context, evil, 4) != 0 ? -1 : 0;
  for (;;)
    if (sink->data (sink->context, evil, sizeof evil) != 0)
      return -1;
}

static void
fill (const struct berth_services *services)
{
  void *library = dlopen (getenv ("BERTH_TEST_HONEST"), RTLD_NOW | RTLD_LOCAL);
  const struct berth_backend *(*entry) (const struct berth_services *services)
      = library != NULL ? (const struct berth_backend *(*) (const struct berth_services *) ) dlsym (library, "berth_backend_v1") : NULL;

  honest = entry != NULL ? entry (services) : NULL;
  if (honest == NULL)
    return;
  hostile.backend = *honest;
  hostile.files = *honest->files;
  hostile.backend.name = "hostile";
  hostile.backend.files = &hostile.files;
  hostile.files.list = hostile_list;
  hostile.files.read = hostile_read;
  memcpy (hostile.settings, honest->settings.first,
          (honest->settings.count < SETTINGS_MAX ? honest->settings.count : SETTINGS_MAX) * sizeof *hostile.settings);
  hostile.backend.settings.first = hostile.settings;
  for (size_t i = 0; i < SETTINGS_MAX; i++)
    hostile.settings[i].environment = NULL;
}

const struct berth_backend *
berth_backend_v1 (const struct berth_services *services)
{
  if (honest == NULL)
    fill (services);
  return honest != NULL ? &hostile.backend : NULL;
}
