/* berth cp */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/hosttree.h"
#include "core/cli/output.h"
#include "core/cli/progress.h"
#include "core/cli/signals.h"
#include "core/cli/tarcall.h"
#include "sdk/base/path.h"
#include "sdk/base/string.h"

#define WORKSPACE "/workspace"
#define STREAM "-"

/* One of the two words. */
struct place
{
  char *sandbox; /* NULL: this machine */
  const char *path;
};

/* What is at a path. */
enum there
{
  THERE_NOTHING,
  THERE_FILE,
  THERE_DIRECTORY,
  THERE_OTHER
};

/* ---- words ---- */

/* "box:/path" is in a sandbox, "./box:/path" is not. */
static int
read_place (const char *word, struct place *place)
{
  const char *colon = strchr (word, ':');

  place->path = word;
  place->sandbox = NULL;
  if (colon == NULL || colon == word || word[0] == '.' || memchr (word, '/', (size_t) (colon - word)) != NULL)
    return 0;
  place->path = colon + 1;
  place->sandbox = strndup (word, (size_t) (colon - word));
  return place->sandbox != NULL ? 0 : -1;
}

static bool
is_stream (const struct place *place)
{
  return place->sandbox == NULL && strcmp (place->path, STREAM) == 0;
}

/* Without slashes at its end; NULL when there was no memory. */
static char *
without_slashes (const char *path)
{
  size_t size = strlen (path);

  while (size > 1 && path[size - 1] == '/')
    size--;
  return strndup (path, size);
}

static bool
ends_with_slash (const char *path)
{
  return berth_string_ends_with (path, "/");
}

/* "dir/." and what has no name of its own mean the content. */
static bool
means_content (const char *trimmed)
{
  const char *last = berth_path_last (trimmed);

  return *last == '\0' || strcmp (last, ".") == 0 || strcmp (last, "..") == 0;
}

static int
fail_memory (const struct cli_copy *copy)
{
  return cli_fail (copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
}

/* ---- what is there ---- */

static enum there
there_here (const char *path)
{
  struct stat status;

  if (stat (path, &status) < 0)
    return errno == ENOENT ? THERE_NOTHING : THERE_OTHER;
  return S_ISDIR (status.st_mode) ? THERE_DIRECTORY : S_ISREG (status.st_mode) ? THERE_FILE : THERE_OTHER;
}

static int
note_kind (void *context, const struct berth_file_info *info)
{
  *(enum there *) context = info->kind == BERTH_KIND_DIRECTORY ? THERE_DIRECTORY
                            : info->kind == BERTH_KIND_FILE    ? THERE_FILE
                                                               : THERE_OTHER;
  return 0;
}

static int
there_inside (struct cli_copy *copy, const char *path, enum there *there)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  options.flags = BERTH_FILE_OPTION_FOLLOW;
  options.cancel = copy->cli->cancel;
  *there = THERE_NOTHING;
  if (berth_file_stat (copy->sandbox, path, &options, note_kind, there, &error) == 0 || error.code == BERTH_E_PATH_NOT_FOUND)
    return 0;
  return cli_report (copy->cli, &error);
}

/* ---- out ---- */

/* What the top of the copy is called in PLACE, a directory; both are the caller's. */
static int
choose_target (const struct cli_copy *copy, const char *from, enum there from_there, const char *to, char **place, char **name)
{
  BERTH_AUTO_FREE char *trimmed = without_slashes (to);
  enum there there = there_here (to);

  if (trimmed == NULL)
    return fail_memory (copy);
  if (there == THERE_DIRECTORY)
    {
      *place = strdup (to);
      *name = strdup (means_content (from) ? "" : berth_path_last (from));
    }
  else if (there == THERE_OTHER && access (to, F_OK) < 0)
    return cli_fail (copy->cli, BERTH_E_INVALID_REQUEST, "cannot write %s: %s", to, strerror (errno));
  else if (there == THERE_OTHER || (there == THERE_FILE && from_there == THERE_DIRECTORY))
    return cli_fail (copy->cli, BERTH_E_CONFLICT, "%s is in the way: it is no %s", to,
                     there == THERE_OTHER ? "file or directory" : "directory");
  else if (from_there != THERE_DIRECTORY && ends_with_slash (to))
    return cli_fail (copy->cli, BERTH_E_PATH_NOT_FOUND, "there is no directory %s", to);
  else
    {
      *place = berth_path_parent (trimmed);
      *name = strdup (berth_path_last (trimmed));
    }
  return *place != NULL && *name != NULL ? 0 : fail_memory (copy);
}

static int
copy_to_host (struct cli_copy *copy, const char *path, const char *from, enum there there, const char *to)
{
  BERTH_AUTO_FREE char *place = NULL;
  BERTH_AUTO_FREE char *name = NULL;
  struct cli_host_tree tree = { .file = -1 };
  struct cli_copy_target target;
  int status = choose_target (copy, from, there, to, &place, &name);

  if (status == 0)
    status = cli_host_tree_open (&tree, copy, place);
  if (status != 0)
    return status;
  cli_host_tree_target (&tree, &target);
  status = cli_copy_out (copy, path, name, &target);
  cli_host_tree_close (&tree);
  return status;
}

static int
copy_to_stream (struct cli_copy *copy, const char *path, const char *from)
{
  struct cli_tar_out out;
  struct cli_copy_target target;
  int status = cli_tar_out_open (&out, copy, &target);

  if (status != 0)
    return status;
  status = cli_copy_out (copy, path, means_content (from) ? "" : berth_path_last (from), &target);
  return cli_tar_out_close (&out, status);
}

static int
copy_out (struct cli_copy *copy, const struct place *from, const struct place *to)
{
  BERTH_AUTO_FREE char *trimmed = without_slashes (from->path);
  enum there there;
  int status = trimmed == NULL ? fail_memory (copy) : there_inside (copy, from->path, &there);

  if (status != 0)
    return status;
  if (there == THERE_NOTHING)
    return cli_fail (copy->cli, BERTH_E_PATH_NOT_FOUND, "there is no %s in %s", from->path, from->sandbox);
  if (there != THERE_DIRECTORY && means_content (trimmed))
    return cli_fail (copy->cli, BERTH_E_INVALID_REQUEST, "%s is no directory", from->path);
  return is_stream (to) ? copy_to_stream (copy, from->path, trimmed) : copy_to_host (copy, from->path, trimmed, there, to->path);
}

/* ---- in ---- */

/* PATH relative to /workspace and normal, "" for that itself; the caller frees it.  An import takes
 * names, not paths, so that the check is made here and, for real, inside. */
static int
name_inside (const struct cli_copy *copy, const char *path, char **name)
{
  BERTH_AUTO_BUFFER struct berth_buffer clean = { 0 };
  const char *at = path;

  if (*path == '/' && !berth_path_is_within (path, WORKSPACE))
    return cli_fail (copy->cli, BERTH_E_PATH_REJECTED, "path \"%s\" is not below " WORKSPACE, path);
  at += *path == '/' ? strlen (WORKSPACE) : 0;
  while (*at != '\0')
    {
      size_t size = strcspn (at, "/");

      if (size == 2 && memcmp (at, "..", 2) == 0)
        return cli_fail (copy->cli, BERTH_E_PATH_REJECTED, "path \"%s\" has '..'", path);
      if (size > 1 || (size == 1 && *at != '.'))
        {
          if (clean.size > 0)
            berth_buffer_append_byte (&clean, '/');
          berth_buffer_append (&clean, at, size);
        }
      at += size + (at[size] == '/');
    }
  berth_buffer_append_string (&clean, "");
  *name = clean.size > 0 ? berth_buffer_steal (&clean) : strdup ("");
  return *name != NULL ? 0 : fail_memory (copy);
}

static int
check_parent (struct cli_copy *copy, const char *name)
{
  BERTH_AUTO_FREE char *parent = berth_path_parent (name);
  enum there there;
  int status = parent == NULL ? fail_memory (copy) : there_inside (copy, parent, &there);

  if (status != 0 || there == THERE_DIRECTORY)
    return status;
  return cli_fail (copy->cli, BERTH_E_PATH_NOT_FOUND, "there is no directory " WORKSPACE "/%s", parent);
}

static int
copy_from_host (struct cli_copy *copy, const char *path, const struct place *to, const char *name, enum there there)
{
  BERTH_AUTO_FREE char *trimmed = without_slashes (path);
  BERTH_AUTO_FREE char *joined = NULL;
  enum there from = there_here (path);
  int status = 0;

  if (trimmed == NULL)
    return fail_memory (copy);
  if (from == THERE_NOTHING)
    return cli_fail (copy->cli, BERTH_E_PATH_NOT_FOUND, "there is no %s", path);
  if (from == THERE_OTHER)
    return cli_fail (copy->cli, BERTH_E_INVALID_REQUEST, "%s is neither file nor directory that can be read", path);
  if (there == THERE_DIRECTORY && !means_content (trimmed))
    {
      joined = *name == '\0' ? strdup (berth_path_last (trimmed)) : berth_path_join (name, berth_path_last (trimmed));
      return joined == NULL ? fail_memory (copy) : cli_copy_in (copy, path, joined, false);
    }
  if (there == THERE_OTHER || (there == THERE_FILE && (from == THERE_DIRECTORY || ends_with_slash (to->path))))
    return cli_fail (copy->cli, BERTH_E_CONFLICT, "%s is in the way: it is no %s", to->path,
                     there == THERE_OTHER ? "file or directory" : "directory");
  if (there == THERE_NOTHING && from == THERE_FILE && ends_with_slash (to->path))
    return cli_fail (copy->cli, BERTH_E_PATH_NOT_FOUND, "there is no directory %s", to->path);
  if (there == THERE_NOTHING)
    status = check_parent (copy, name);
  return status != 0 ? status : cli_copy_in (copy, path, name, there == THERE_DIRECTORY);
}

static int
copy_in (struct cli_copy *copy, const struct place *from, const struct place *to)
{
  BERTH_AUTO_FREE char *name = NULL;
  enum there there;
  int status = name_inside (copy, to->path, &name);

  if (status == 0)
    status = there_inside (copy, *name != '\0' ? name : WORKSPACE, &there);
  if (status == 0)
    status = cli_copy_place (copy, to->path, there == THERE_DIRECTORY, &name);
  if (status != 0)
    return status;
  if (!is_stream (from))
    return copy_from_host (copy, from->path, to, name, there);
  if (there == THERE_DIRECTORY)
    return cli_copy_in_tar (copy, name);
  return cli_fail (copy->cli, there == THERE_NOTHING ? BERTH_E_PATH_NOT_FOUND : BERTH_E_INVALID_REQUEST,
                   there == THERE_NOTHING ? "there is no directory %s" : "%s is no directory", to->path);
}

/* ---- the command ---- */

static int
print_document (const struct cli_copy *copy)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "id", berth_sandbox_id (copy->sandbox));
  berth_json_set_int64 (object, "files", (int64_t) copy->files);
  berth_json_set_int64 (object, "directories", (int64_t) copy->directories);
  berth_json_set_int64 (object, "links", (int64_t) copy->links);
  berth_json_set_int64 (object, "bytes", (int64_t) copy->bytes);
  berth_json_set (object, "left_out", berth_json_share (copy->json));
  return cli_print_json (copy->cli, object);
}

static int
copy_places (struct cli *cli, const struct place *from, const struct place *to)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  BERTH_AUTO_JSON struct berth_json *left_out = cli->json ? berth_json_new_array () : NULL;
  struct cli_copy copy
      = { .cli = cli, .json = left_out, .max_bytes = (uint64_t) cli_number (&cli->line, CLI_MAX_BYTES, CLI_COPY_BYTES) };
  int status = cli_signals_catch (cli);

  if (status == 0)
    status = cli_open_sandbox (cli, from->sandbox != NULL ? from->sandbox : to->sandbox, &sandbox);
  if (status != 0)
    return status;
  copy.sandbox = sandbox;
  copy.shows = cli_progress_wanted (cli);
  status = from->sandbox != NULL ? copy_out (&copy, from, to) : copy_in (&copy, from, to);
  cli_progress_wipe (cli);
  if (status == 0 && cli->json)
    status = print_document (&copy);
  return status == 0 && copy.left > 0 ? CLI_NOT_ALL : status;
}

int
cli_cp (struct cli *cli)
{
  BERTH_AUTO_FREE char *from_sandbox = NULL;
  BERTH_AUTO_FREE char *to_sandbox = NULL;
  struct place from, to;

  if (read_place (cli->line.words[0], &from) < 0)
    return cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
  from_sandbox = from.sandbox;
  if (read_place (cli->line.words[1], &to) < 0)
    return cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a copy");
  to_sandbox = to.sandbox;
  if ((from_sandbox == NULL) == (to_sandbox == NULL))
    return cli_refuse_line (cli, from_sandbox == NULL ? "neither place is in a sandbox" : "both places are in sandboxes",
                            "one of them is SANDBOX:PATH, the other a file or directory of this machine, or -");
  if (cli->json && is_stream (&to))
    return cli_refuse_line (cli, "--json and a tar on standard output exclude each other", "");
  if (is_stream (&to) && isatty (STDOUT_FILENO))
    return cli_refuse_line (cli, "a tar is not written to a terminal", "redirect standard output, or name a file or directory");
  return copy_places (cli, &from, &to);
}
