/* berth write */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/output.h"
#include "core/cli/signals.h"
#include "core/cli/stream.h"

struct origin
{
  const char *file; /* for messages */
  int fd;           /* -1: the text */
  const char *text;
  size_t left; /* of the text */
  uint64_t size;
  int error;
};

static int64_t
give (void *context, void *bytes, size_t size)
{
  struct origin *origin = context;
  ssize_t got;

  if (origin->fd >= 0)
    {
      got = cli_stream_take (origin->fd, bytes, size);
      origin->error = got < 0 ? errno : 0;
    }
  else
    {
      got = (ssize_t) (size < origin->left ? size : origin->left);
      memcpy (bytes, origin->text, (size_t) got);
      origin->text += got;
      origin->left -= (size_t) got;
    }
  origin->size += got > 0 ? (uint64_t) got : 0;
  return got;
}

/* How many bytes will come, where that can be known. */
static uint64_t
expected_size (const struct origin *origin)
{
  struct stat status;
  off_t at;

  if (origin->fd < 0)
    return origin->left;
  if (fstat (origin->fd, &status) < 0 || !S_ISREG (status.st_mode))
    return BERTH_UNKNOWN_SIZE;
  at = lseek (origin->fd, 0, SEEK_CUR);
  return at >= 0 && at <= status.st_size ? (uint64_t) (status.st_size - at) : BERTH_UNKNOWN_SIZE;
}

/* 0, or the exit status. */
static int
open_origin (struct cli *cli, struct origin *origin)
{
  const char *input = cli_text (&cli->line, CLI_INPUT);

  if (input != NULL && cli_given (&cli->line, CLI_CONTENT))
    return cli_refuse_line (cli, "--input and --content exclude each other", "");
  if (cli_given (&cli->line, CLI_CONTENT))
    {
      origin->text = cli_text (&cli->line, CLI_CONTENT);
      origin->left = strlen (origin->text);
      return 0;
    }
  origin->file = input != NULL ? input : "standard input";
  origin->fd = input != NULL ? open (input, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  return origin->fd >= 0 ? 0 : cli_fail (cli, BERTH_E_PATH_NOT_FOUND, "cannot open %s: %s", input, strerror (errno));
}

static int
print_document (const struct cli *cli, const struct origin *origin)
{
  BERTH_AUTO_JSON struct berth_json *object = berth_json_new_object ();

  berth_json_set_string (object, "path", cli->line.words[1]);
  berth_json_set_int64 (object, "size", (int64_t) origin->size);
  return cli_print_json (cli, object);
}

static int
send_content (struct cli *cli, struct berth_sandbox *sandbox, struct origin *origin)
{
  const struct cli_line *line = &cli->line;
  struct berth_file_options options = BERTH_FILE_OPTIONS_INIT;
  struct berth_error error;

  options.flags = cli_given (line, CLI_NEW) ? BERTH_FILE_OPTION_NEW : 0;
  options.mode = cli_number (line, CLI_MODE, BERTH_UNSET);
  options.owner = cli_text (line, CLI_OWNER);
  options.group = cli_text (line, CLI_GROUP);
  options.cancel = cli->cancel;
  if (berth_file_write (sandbox, line->words[1], &options, expected_size (origin), give, origin, &error) == 0)
    return cli->json ? print_document (cli, origin) : 0;
  if (cli_signals_caught () != 0)
    return CLI_FAILED;
  if (origin->error != 0)
    return cli_fail (cli, BERTH_E_INVALID_REQUEST, "cannot read %s: %s", origin->file, strerror (origin->error));
  return cli_report (cli, &error);
}

int
cli_write (struct cli *cli)
{
  CLI_AUTO_SANDBOX struct berth_sandbox *sandbox = NULL;
  struct origin origin = { .fd = -1 };
  int status = open_origin (cli, &origin);

  if (status == 0)
    status = cli_signals_catch (cli);
  if (status == 0)
    status = cli_open_sandbox (cli, cli->line.words[0], &sandbox);
  if (status == 0)
    status = send_content (cli, sandbox, &origin);
  if (origin.fd > STDIN_FILENO)
    close (origin.fd);
  return status;
}
