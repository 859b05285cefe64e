/* --secret: variables whose values are nobody's business.  A value never stands on a command line,
 * where every user of the machine can read it: it comes from our environment, from a descriptor
 * or from a file. */
#include "core/cli/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk/base/buffer.h"
#include "sdk/base/fd.h"
#include "sdk/base/string.h"

#define VALUE_MOST ((size_t) 128 << 10) /* what the kernel takes as one variable */

static int
refuse (struct cli *cli, const char *name, const char *what)
{
  return cli_fail (cli, BERTH_E_INVALID_REQUEST, "--secret %s: %s", name, what);
}

/* To the end; a line end at the end is not part of it. */
static int
read_descriptor (struct cli *cli, const char *name, int fd, struct berth_buffer *value)
{
  if (berth_fd_read_all (fd, value, VALUE_MOST) < 0)
    return refuse (cli, name, errno == EMSGSIZE ? "the value is larger than 128 KiB" : strerror (errno));
  if (value->size > 0 && value->data[value->size - 1] == '\n')
    value->data[--value->size] = '\0';
  return 0;
}

static int
read_file (struct cli *cli, const char *name, const char *path, struct berth_buffer *value)
{
  BERTH_AUTO_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

  return fd < 0 ? refuse (cli, name, strerror (errno)) : read_descriptor (cli, name, fd, value);
}

static int
read_environment (struct cli *cli, const char *name, struct berth_buffer *value)
{
  const char *text = getenv (name);

  if (text == NULL)
    return refuse (cli, name, "the environment has no such variable, want it there, or =fd:N, =stdin or =file:PATH");
  berth_buffer_append_string (value, text);
  return 0;
}

/* What follows the name, when it is none of these, may be the value: it is not repeated. */
static int
read_value (struct cli *cli, const char *name, const char *source, struct berth_buffer *value)
{
  int64_t fd = STDIN_FILENO;

  if (source == NULL)
    return read_environment (cli, name, value);
  if (berth_string_starts_with (source, "file:"))
    return read_file (cli, name, source + strlen ("file:"), value);
  if (strcmp (source, "stdin") == 0
      || (berth_string_starts_with (source, "fd:")
          && berth_string_to_int64 (source + strlen ("fd:"), 0, INT32_MAX, &fd) == 0))
    return read_descriptor (cli, name, (int) fd, value);
  return refuse (cli, name, "want fd:N, stdin or file:PATH after the =; the value itself is not for the command line");
}

static int
add (struct cli *cli, const struct berth_pair *secret, struct berth_buffer *value)
{
  struct berth_pair pair = { NULL, NULL, BERTH_PAIR_SECRET, 0 };

  for (size_t i = 0; i < cli->line.environment.count; i++)
    if (strcmp (cli->line.environment.items[i].name, secret->name) == 0)
      return refuse (cli, secret->name, "the variable is given twice");
  if (memchr (berth_buffer_string (value), '\0', value->size) != NULL)
    return refuse (cli, secret->name, "the value has a NUL byte");
  pair.name = strdup (secret->name);
  pair.value = pair.name != NULL ? berth_buffer_steal (value) : NULL;
  if (pair.value != NULL && cli_pairs_push (&cli->line.environment, &pair) == 0)
    return 0;
  if (pair.value != NULL)
    explicit_bzero ((char *) pair.value, strlen (pair.value));
  free ((char *) pair.value);
  free ((char *) pair.name);
  return cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a secret");
}

/* Where only the names are kept no value is asked for. */
static int
add_name (struct cli *cli, const struct berth_pair *secret)
{
  struct berth_pair pair = { strdup (secret->name), NULL, BERTH_PAIR_SECRET, 0 };

  if (secret->value != NULL)
    {
      free ((char *) pair.name);
      return refuse (cli, secret->name, "only its name is saved; the value is given to `berth create`");
    }
  if (pair.name != NULL && cli_pairs_push (&cli->line.environment, &pair) == 0)
    return 0;
  return cli_fail (cli, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a secret");
}

int
cli_secrets_read (struct cli *cli)
{
  bool only_names = cli->line.command == &cli_commands[CLI_COMMAND_ENV];
  int status = 0;

  for (size_t i = 0; i < cli->line.secrets.count && status == 0; i++)
    {
      const struct berth_pair *secret = &cli->line.secrets.items[i];
      struct berth_buffer value = { 0 };

      status = only_names ? add_name (cli, secret) : read_value (cli, secret->name, secret->value, &value);
      if (status == 0 && !only_names)
        status = add (cli, secret, &value);
      berth_buffer_erase (&value);
    }
  return status;
}
