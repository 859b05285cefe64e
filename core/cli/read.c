/* berth read */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/output.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

struct target
{
  const char *path; /* NULL: standard output */
  char *temporary;  /* what becomes PATH at the end; NULL: written as it comes */
  int fd;
  int error; /* errno of the write that failed */
  struct berth_buffer collected; /* with --json and no file */
  bool collects;
  uint64_t size;
};

static int
take (void *context, const void *bytes, size_t size)
{
  struct target *target = context;

  target->size += size;
  if (target->collects ? berth_buffer_append (&target->collected, bytes, size) == 0
                       : berth_fd_write_all (target->fd, bytes, size) == 0)
    return 0;
  target->error = errno;
  return -1;
}

/* What is no regular file (a pipe, a device) cannot be replaced by one. */
static int
open_target (struct target *target)
{
  struct stat status;
  mode_t mask;

  if (lstat (target->path, &status) == 0 && !S_ISREG (status.st_mode))
    {
      target->fd = open (target->path, O_WRONLY | O_CLOEXEC);
      return target->fd < 0 ? -1 : 0;
    }
  target->temporary = berth_string_format ("%s.XXXXXX", target->path);
  if (target->temporary == NULL)
    return -1;
  target->fd = mkostemp (target->temporary, O_CLOEXEC);
  if (target->fd < 0)
    {
      free (BERTH_STEAL_POINTER (target->temporary));
      return -1;
    }
  mask = umask (077);
  umask (mask);
  return fchmod (target->fd, 0666 & ~mask);
}

static int
close_target (struct target *target, bool keep)
{
  int fd = target->fd != STDOUT_FILENO ? BERTH_STEAL_FD (target->fd) : -1;
  int result = fd >= 0 ? close (fd) : 0;

  if (target->temporary != NULL && keep && result == 0)
    result = rename (target->temporary, target->path);
  if (target->temporary != NULL && (!keep || result < 0))
    {
      int saved = errno;

      unlink (target->temporary);
      errno = saved;
    }
  free (BERTH_STEAL_POINTER (target->temporary));
  return result;
}

static int
fail_target (const struct cli *cli, const struct target *target)
{
  if (target->path == NULL)
    return cli_fail_output (cli);
  return cli_fail (cli, errno == ENOSPC ? BERTH_E_RESOURCE_EXHAUSTED : BERTH_E_INVALID_REQUEST, "cannot write %s: %s",
                   target->path, strerror (errno));
}

static int
print_document (const struct cli *cli, const struct target *target, const char *path)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "path", path);
  berth_json_set_int64 (object, "size", (int64_t) target->size);
  if (target->collects)
    berth_json_set (object, "content", berth_json_new_bytes (berth_buffer_string (&target->collected), target->collected.size));
  else
    berth_json_set_string (object, "output", target->path);
  return cli_print_json (cli, object);
}

static int
copy (struct cli *cli, struct berth_sandbox *sandbox, struct target *target)
{
  const struct cli_line *line = &cli->line;
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  options.offset = cli_number (line, CLI_OFFSET, BERTH_UNSET);
  options.length = cli_number (line, CLI_LENGTH, BERTH_UNSET);
  options.max_bytes = cli_number (line, CLI_MAX_BYTES, BERTH_UNSET);
  if (berth_file_read (sandbox, line->words[1], &options, take, target, &error) == 0)
    return 0;
  if (target->error == 0)
    return cli_report (cli, &error);
  errno = target->error;
  return fail_target (cli, target);
}

int
cli_read (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct target target = { .path = cli_text (&cli->line, CLI_OUTPUT), .fd = STDOUT_FILENO };
  int status = cli_open_sandbox (cli, cli->line.words[0], &sandbox);

  if (status != 0)
    return status;
  target.collects = cli->json && target.path == NULL;
  if (target.path != NULL && open_target (&target) < 0)
    status = fail_target (cli, &target);
  else
    status = copy (cli, sandbox, &target);
  if (close_target (&target, status == 0) < 0 && status == 0)
    status = fail_target (cli, &target);
  if (status == 0 && cli->json)
    status = print_document (cli, &target, cli->line.words[1]);
  berth_buffer_free (&target.collected);
  return status;
}
