#include "core/cli/suggest.h"

#include <string.h>

#include "core/cli/options.h"

#define LONGEST 31

static size_t
smallest (size_t a, size_t b, size_t c)
{
  size_t least = a < b ? a : b;

  return least < c ? least : c;
}

/* Letters to add, drop or change, so that one name becomes the other. */
static size_t
distance (const char *left, size_t left_size, const char *right, size_t right_size)
{
  size_t row[LONGEST + 1];
  size_t i, j, diagonal, above;

  if (left_size > LONGEST || right_size > LONGEST)
    return SIZE_MAX;
  for (j = 0; j <= right_size; j++)
    row[j] = j;
  for (i = 1; i <= left_size; i++)
    {
      diagonal = row[0];
      row[0] = i;
      for (j = 1; j <= right_size; j++)
        {
          above = row[j];
          row[j] = smallest (above + 1, row[j - 1] + 1, diagonal + (left[i - 1] != right[j - 1]));
          diagonal = above;
        }
    }
  return row[right_size];
}

struct best
{
  const char *name;
  size_t distance;
};

static void
consider (struct best *best, const char *written, size_t size, const char *name)
{
  size_t far = distance (written, size, name, strlen (name));

  if (far <= size / 3 + (size <= 2 ? 1 : 0) && far < best->distance)
    *best = (struct best) { name, far };
}

const char *
cli_suggest_option (const char *name, size_t size, uint64_t among)
{
  struct best best = { NULL, SIZE_MAX };
  unsigned int i;

  for (i = 0; i < CLI_OPTION_COUNT; i++)
    if ((among & CLI_BIT (i)) != 0)
      consider (&best, name, size, cli_options[i].name);
  return best.name;
}

const char *
cli_suggest_command (const char *name)
{
  struct best best = { NULL, SIZE_MAX };
  unsigned int i;

  for (i = 0; i < CLI_COMMAND_COUNT; i++)
    consider (&best, name, strlen (name), cli_commands[i].name);
  return best.name;
}
