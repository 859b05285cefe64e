#include "sdk/base/nearest.h"

#include <string.h>

#define LONGEST 64

static size_t
least_of (size_t a, size_t b, size_t c)
{
  size_t least = a < b ? a : b;

  return least < c ? least : c;
}

/* How many letters must be put in, left out, or changed to make one of the other. */
static size_t
distance (const char *left, const char *right)
{
  size_t row[LONGEST + 1], width = strlen (right);

  if (width > LONGEST || strlen (left) > LONGEST)
    return LONGEST;
  for (size_t j = 0; j <= width; j++)
    row[j] = j;
  for (size_t i = 1; left[i - 1] != '\0'; i++)
    {
      size_t diagonal = row[0];

      row[0] = i;
      for (size_t j = 1; j <= width; j++)
        {
          size_t above = row[j];

          row[j] = least_of (above + 1, row[j - 1] + 1, diagonal + (left[i - 1] != right[j - 1]));
          diagonal = above;
        }
    }
  return row[width];
}

const char *
berth_nearest (const char *word, const char *const *candidates)
{
  const char *nearest = NULL;
  size_t least = strlen (word) / 3 + 2;

  for (; *candidates != NULL; candidates++)
    {
      size_t far = distance (word, *candidates);

      if (far < least)
        {
          least = far;
          nearest = *candidates;
        }
    }
  return nearest;
}
