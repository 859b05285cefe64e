/* Links of a sandbox on the way to where a copy goes.  An import follows none, so those that the user's own
 * words lead through are followed here, by asking what each name is.  What changes in between is refused by
 * the import. */
#include <stdlib.h>
#include <string.h>

#include "core/cli/copy.h"
#include "core/cli/output.h"
#include "sdk/base/path.h"

#define WORKSPACE "/workspace"
#define LINKS_MAX 40

struct way
{
  struct cli_copy *copy;
  const char *word;           /* the user's, for messages */
  struct berth_buffer done;   /* names that are no links, relative to /workspace */
  struct berth_buffer ahead;  /* what is to be gone through */
  struct berth_buffer target; /* of the link that was met last */
  bool is_link;
  int links;
};

static int
refuse (const struct way *way, const char *why)
{
  return cli_fail (way->copy->cli, BERTH_E_PATH_REJECTED, "path \"%s\" leads %s", way->word, why);
}

static int
note_link (void *context, const struct berth_file_info *info)
{
  struct way *way = context;

  way->is_link = info->kind == BERTH_KIND_SYMLINK && info->link_target != NULL;
  berth_buffer_clear (&way->target);
  if (way->is_link)
    berth_buffer_append_string (&way->target, info->link_target);
  return 0;
}

/* Whether what DONE names now is a link; what is not there is none. */
static int
look (struct way *way)
{
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  options.cancel = way->copy->cli->cancel;
  way->is_link = false;
  if (berth_file_stat (way->copy->sandbox, berth_buffer_string (&way->done), &options, note_link, way, &error) == 0
      || error.code == BERTH_E_PATH_NOT_FOUND)
    return 0;
  return cli_report (way->copy->cli, &error);
}

static void
replace (struct berth_buffer *old, struct berth_buffer *new)
{
  berth_buffer_free (old);
  *old = *new;
  *new = (struct berth_buffer) { 0 };
}

/* Removes the last name of DONE. */
static void
go_up (struct way *way)
{
  const char *text = berth_buffer_string (&way->done);
  const char *slash = strrchr (text, '/');
  struct berth_buffer up = { 0 };

  if (slash != NULL)
    berth_buffer_append (&up, text, (size_t) (slash - text));
  replace (&way->done, &up);
}

/* The link that was met stands for its target, before what is ahead. */
static int
follow (struct way *way)
{
  const char *target = berth_buffer_string (&way->target);
  struct berth_buffer ahead = { 0 };

  if (++way->links > LINKS_MAX)
    return refuse (way, "through too many links");
  go_up (way);
  if (*target == '/' && !berth_path_is_within (target, WORKSPACE))
    return refuse (way, "out of " WORKSPACE " through a link");
  if (*target == '/')
    {
      berth_buffer_clear (&way->done);
      target += strlen (WORKSPACE);
    }
  berth_buffer_appendf (&ahead, "%s/%s", target, berth_buffer_string (&way->ahead));
  replace (&way->ahead, &ahead);
  return 0;
}

/* Takes one name from what is ahead. */
static int
go_on (struct way *way, bool last_too)
{
  const char *at = berth_buffer_string (&way->ahead);
  size_t size = strcspn (at, "/"), step = size + strspn (at + size, "/");
  bool goes_up = size == 2 && memcmp (at, "..", 2) == 0;
  bool stays = size == 0 || (size == 1 && *at == '.');

  if (!goes_up && !stays)
    berth_buffer_appendf (&way->done, "%s%.*s", way->done.size > 0 ? "/" : "", (int) size, at);
  berth_buffer_consume (&way->ahead, step);
  if (goes_up && way->done.size == 0)
    return refuse (way, "out of " WORKSPACE " through a link");
  if (goes_up)
    go_up (way);
  if (goes_up || stays || (way->ahead.size == 0 && !last_too))
    return 0;
  int status = look (way);
  return status != 0 || !way->is_link ? status : follow (way);
}

int
cli_copy_place (struct cli_copy *copy, const char *word, bool last_too, char **name)
{
  struct way way = { .copy = copy, .word = word };
  int status = 0;

  berth_buffer_append_string (&way.ahead, *name);
  while (status == 0 && way.ahead.size > 0)
    status = go_on (&way, last_too);
  if (status == 0 && (way.done.error != 0 || way.ahead.error != 0))
    status = cli_fail (copy->cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a path");
  if (status == 0)
    {
      free (*name);
      *name = way.done.size > 0 ? berth_buffer_steal (&way.done) : strdup ("");
    }
  berth_buffer_free (&way.done);
  berth_buffer_free (&way.ahead);
  berth_buffer_free (&way.target);
  return status;
}
