#include "core/manager/directories.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "core/manager/ids.h"
#include "core/registry/config.h"
#include "sdk/base/fs.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

/* An XDG directory counts only when it is absolute, as its specification says. */
static char *
xdg (const char *variable, const char *below_home, const char *name)
{
  const char *base = secure_getenv (variable), *home = secure_getenv ("HOME");
  struct passwd *user = NULL;

  if (base != NULL && base[0] == '/')
    return berth_path_join (base, name);
  if (home == NULL || home[0] != '/')
    home = (user = getpwuid (geteuid ())) != NULL ? user->pw_dir : "/";
  return berth_string_format ("%s/%s/%s", home, below_home, name);
}

/* What was said, the nearest word first; NULL: nothing.  *ORIGIN says by whom; the host's to free. */
static const char *
given (const char *option, const char *variable, const struct berth_config *config, const char *key, char **origin)
{
  const struct berth_config_entry *entry = berth_config_entry (berth_config_section (config, "berth"), key);
  const char *text = variable != NULL ? secure_getenv (variable) : NULL;
  bool is_option = option != NULL && option[0] != '\0';
  bool is_variable = !is_option && text != NULL && text[0] != '\0';

  free (*origin);
  *origin = is_option       ? strdup ("option")
            : is_variable   ? berth_string_format ("environment %s", variable)
            : entry != NULL ? strdup (entry->origin)
                            : strdup ("default");
  return is_option                                     ? option
         : is_variable                                 ? text
         : entry != NULL && entry->value[0] != '\0' ? entry->value
                                                       : NULL;
}

/* Ours, and nobody else may write there: else records and sockets could be planted. */
static int
make_private (const char *path, const char *what, struct berth_error *error)
{
  struct stat status;

  if (berth_fs_make_directories (AT_FDCWD, path, 0700) != 0)
    berth_error_set (error, BERTH_E_CONFIGURATION, "cannot make the %s %s: %m", what, path);
  else if (lstat (path, &status) != 0 || !S_ISDIR (status.st_mode))
    berth_error_set (error, BERTH_E_CONFIGURATION, "the %s %s is not a directory", what, path);
  else if (status.st_uid != geteuid ())
    berth_error_set (error, BERTH_E_CONFIGURATION, "the %s %s belongs to uid %u, want %u", what, path,
                     (unsigned) status.st_uid, (unsigned) geteuid ());
  else if ((status.st_mode & 022) != 0)
    berth_error_set (error, BERTH_E_CONFIGURATION, "the %s %s can be written by others (mode %04o), want 0700", what,
                     path, (unsigned) status.st_mode & 07777);
  else
    return 0;
  berth_error_hint (error, "correct it, or choose another directory");
  return -1;
}

static int
find_state (struct berth_host *host, const struct berth_host_options *options, const struct berth_config *config,
            bool *usual, struct berth_error *error)
{
  const char *path = given (options->state_dir, "BERTH_STATE_DIR", config, "state_dir",
                            &host->origins[BERTH_ORIGIN_STATE]);
  char resolved[PATH_MAX];

  *usual = path == NULL;
  BERTH_AUTO_FREE char *wanted = path != NULL      ? strdup (path)
                                 : geteuid () == 0 ? strdup (BERTH_LOCALSTATEDIR "/lib/berth")
                                                   : xdg ("XDG_STATE_HOME", ".local/state", "berth");
  if (wanted == NULL)
    return berth_no_memory (error);
  if (make_private (wanted, "state directory", error) != 0)
    return -1;
  if (realpath (wanted, resolved) == NULL)
    return berth_error_set (error, BERTH_E_CONFIGURATION, "cannot resolve the state directory %s: %m", wanted);
  host->state_dir = strdup (resolved);
  return host->state_dir != NULL ? 0 : berth_no_memory (error);
}

static char *
runtime_base (void)
{
  const char *xdg_runtime = secure_getenv ("XDG_RUNTIME_DIR");

  if (geteuid () == 0)
    return strdup (BERTH_RUNSTATEDIR "/berth");
  if (xdg_runtime != NULL && xdg_runtime[0] == '/' && strlen (xdg_runtime) < 20)
    return berth_path_join (xdg_runtime, "berth");
  return berth_string_format ("/tmp/berth-%u", (unsigned) geteuid ());
}

/* Another state directory is another installation: it gets a runtime directory of its own, with
 * a short name however long its path is. */
static int
find_runtime (struct berth_host *host, const struct berth_host_options *options, const struct berth_config *config,
              bool usual, struct berth_error *error)
{
  const char *path = given (options->runtime_dir, "BERTH_RUNTIME_DIR", config, "runtime_dir",
                            &host->origins[BERTH_ORIGIN_RUNTIME]);
  BERTH_AUTO_FREE char *base = path == NULL ? runtime_base () : NULL;

  if (path != NULL)
    host->runtime_dir = strdup (path);
  else if (base != NULL && make_private (base, "runtime directory", error) != 0)
    return -1;
  else if (base != NULL)
    host->runtime_dir = usual ? BERTH_STEAL_POINTER (base)
                              : berth_string_format ("%s/%012" PRIx64, base, berth_id_hash (host->state_dir) >> 16);
  if (host->runtime_dir == NULL)
    return berth_no_memory (error);
  if (host->runtime_dir[0] != '/' || strlen (host->runtime_dir) > BERTH_RUNTIME_DIR_MAX)
    {
      berth_error_set (error, BERTH_E_CONFIGURATION, "the runtime directory %s: want an absolute path of at most %d bytes",
                       host->runtime_dir, BERTH_RUNTIME_DIR_MAX);
      berth_error_hint (error, "paths of sockets are limited to 107 bytes; choose a shorter BERTH_RUNTIME_DIR");
      return -1;
    }
  return make_private (host->runtime_dir, "runtime directory", error);
}

/* The user's file, and below it the system's; a file that was named must be there, and stands alone. */
static int
find_config (struct berth_host *host, const struct berth_host_options *options, struct berth_error *error)
{
  static const char system_file[] = BERTH_SYSCONFDIR "/berth/berth.conf";
  const char *path = given (options->config_file, "BERTH_CONFIG", NULL, "", &host->origins[BERTH_ORIGIN_CONFIG]);
  BERTH_AUTO_FREE char *own = path == NULL && geteuid () != 0 ? xdg ("XDG_CONFIG_HOME", ".config", "berth/berth.conf") : NULL;
  bool has_system = path == NULL && access (system_file, F_OK) == 0;

  if (path != NULL && access (path, F_OK) != 0)
    {
      berth_error_set (error, BERTH_E_CONFIGURATION, "the configuration file %s: %m", path);
      berth_error_hint (error, "correct --config or BERTH_CONFIG");
      return -1;
    }
  if (path == NULL && own != NULL && access (own, F_OK) == 0)
    path = own;
  if (path != NULL && has_system && (host->system_config_file = strdup (system_file)) == NULL)
    return berth_no_memory (error);
  host->config_file = strdup (path != NULL ? path : has_system ? system_file : "");
  return host->config_file != NULL ? 0 : berth_no_memory (error);
}

static int
find_cache (struct berth_host *host, const struct berth_config *config, bool usual, struct berth_error *error)
{
  const char *path = given (NULL, "BERTH_CACHE_DIR", config, "cache_dir", &host->origins[BERTH_ORIGIN_CACHE]);

  host->cache_dir = path != NULL      ? strdup (path)
                    : !usual          ? berth_path_join (host->state_dir, "cache")
                    : geteuid () == 0 ? strdup (BERTH_LOCALSTATEDIR "/cache/berth")
                                      : xdg ("XDG_CACHE_HOME", ".cache", "berth");
  return host->cache_dir != NULL ? 0 : berth_no_memory (error);
}

static int
find_owner (struct berth_host *host, const struct berth_host_options *options, const struct berth_config *config,
            struct berth_error *error)
{
  const char *owner = given (options->owner, NULL, config, "owner", &host->origins[BERTH_ORIGIN_OWNER]);
  struct passwd entry, *user = NULL;
  char buffer[4096], number[24];

  /* Root is asked of nobody: a directory service may be far away. */
  if (owner == NULL && geteuid () == 0)
    owner = "root";
  if (owner == NULL && getpwuid_r (geteuid (), &entry, buffer, sizeof buffer, &user) == 0 && user != NULL)
    owner = user->pw_name;
  snprintf (number, sizeof number, "%u", (unsigned) geteuid ());
  if (owner == NULL)
    owner = number;
  if (strlen (owner) > 128)
    return berth_error_set (error, BERTH_E_INVALID_REQUEST, "owner: want 1 to 128 bytes");
  host->owner = strdup (owner);
  return host->owner != NULL ? 0 : berth_no_memory (error);
}

int
berth_directories_find (struct berth_host *host, const struct berth_host_options *options, struct berth_config **config,
                        struct berth_error *error)
{
  bool usual = true;

  if (find_config (host, options, error) != 0
      || berth_config_read (host->config_file[0] != '\0' ? host->config_file : NULL, config, error) != 0
      || (host->system_config_file != NULL && berth_config_read_below (host->system_config_file, *config, error) != 0))
    return -1;
  return find_owner (host, options, *config, error) != 0 || find_state (host, options, *config, &usual, error) != 0
                 || find_runtime (host, options, *config, usual, error) != 0
                 || find_cache (host, *config, usual, error) != 0
             ? -1
             : 0;
}
