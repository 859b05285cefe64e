/* mkmanual man POD: prints berth.pod with the lists of commands and options in their places.
 * mkmanual completion SHELL: prints the completion script. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/cli/manual.h"
#include "sdk/base/fs.h"

#define POD_MOST ((size_t) 1 << 20)

/* Puts what MAKE appends in place of the line MARK, which must be there once. */
static int
replace (struct berth_buffer *out, const char **text, const char *mark, void (*make) (struct berth_buffer *))
{
  const char *at = strstr (*text, mark);

  if (at == NULL || strstr (at + 1, mark) != NULL)
    {
      fprintf (stderr, "mkmanual: want the line \"%s\" once\n", mark);
      return -1;
    }
  berth_buffer_append (out, *text, (size_t) (at - *text));
  make (out);
  *text = at + strlen (mark);
  return 0;
}

static int
make_man (struct berth_buffer *out, const char *file)
{
  BERTH_AUTO_BUFFER struct berth_buffer pod = { 0 };
  const char *text;

  if (berth_fs_read (AT_FDCWD, file, &pod, POD_MOST) < 0)
    {
      fprintf (stderr, "mkmanual: cannot read %s: %s\n", file, strerror (errno));
      return -1;
    }
  text = berth_buffer_string (&pod);
  if (replace (out, &text, "=for berth globals\n\n", cli_manual_pod_globals) < 0
      || replace (out, &text, "=for berth commands\n\n", cli_manual_pod) < 0)
    return -1;
  return berth_buffer_append_string (out, text);
}

int
main (int argc, char **argv)
{
  BERTH_AUTO_BUFFER struct berth_buffer out = { 0 };

  if (argc != 3 || (strcmp (argv[1], "man") == 0 ? make_man (&out, argv[2]) : cli_manual_completion (&out, argv[2])) < 0)
    return 1;
  return fputs (berth_buffer_string (&out), stdout) < 0 || fflush (stdout) != 0;
}
