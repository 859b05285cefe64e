#include "core/cli/text.h"

#include <string.h>

#include "sdk/base/string.h"

/* Bytes of the UTF-8 sequence at TEXT, 0 when there is none; its code point in *CODE. */
static size_t
decode (const unsigned char *text, uint32_t *code)
{
  size_t size = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
  size_t i;

  for (i = 1; i < size; i++)
    if (text[i] == '\0')
      return 0;
  if (!berth_utf8_is_valid (text, size))
    return 0;
  *code = size == 1 ? text[0] : text[0] & (0x7fu >> size);
  for (i = 1; i < size; i++)
    *code = *code << 6 | (text[i] & 0x3f);
  return size;
}

/* Marks that reorder or hide what stands beside them. */
static bool
turns_text (uint32_t code)
{
  return code == 0x61c || code == 0xfeff || (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e)
         || (code >= 0x2060 && code <= 0x2069);
}

static bool
is_shown (uint32_t code, unsigned int flags)
{
  if (code == '\n')
    return (flags & CLI_ESCAPE_LINES) != 0;
  return code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) && !turns_text (code);
}

void
cli_text_escape (struct berth_buffer *buffer, const char *text, unsigned int flags)
{
  const unsigned char *at = (const unsigned char *) text;
  uint32_t code;
  size_t size, i;

  for (; *at != '\0'; at += size)
    {
      size = decode (at, &code);
      if (size > 0 && code == '\\' && (flags & CLI_ESCAPE_EXACT) != 0)
        berth_buffer_append_string (buffer, "\\\\");
      else if (size > 0 && is_shown (code, flags))
        berth_buffer_append (buffer, at, size);
      else
        {
          size = size > 0 ? size : 1;
          for (i = 0; i < size; i++)
            berth_buffer_appendf (buffer, "\\x%02x", at[i]);
        }
    }
}

void
cli_text_print (FILE *file, const char *text)
{
  BERTH_AUTO_BUFFER struct berth_buffer buffer = { 0 };

  cli_text_escape (&buffer, text, CLI_ESCAPE_LINES);
  fputs (berth_buffer_string (&buffer), file);
}

void
cli_text_age (int64_t milliseconds, char text[CLI_AGE_SIZE])
{
  static const struct
  {
    int64_t seconds;
    char letter;
  } units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
  int64_t seconds = milliseconds > 0 ? milliseconds / 1000 : 0;
  size_t i = 0;

  /* "90s" says more than "1m": a unit is used from its double on. */
  while (units[i].letter != 's' && seconds < 2 * units[i].seconds)
    i++;
  snprintf (text, CLI_AGE_SIZE, "%lld%c", (long long) (seconds / units[i].seconds), units[i].letter);
}

void
cli_text_mode (uint32_t kind, uint32_t mode, char text[CLI_MODE_SIZE])
{
  static const char letters[] = "rwxrwxrwx";
  size_t i;

  text[0] = kind == BERTH_KIND_DIRECTORY ? 'd' : kind == BERTH_KIND_SYMLINK ? 'l' : kind == BERTH_KIND_FILE ? '-' : '?';
  for (i = 0; i < 9; i++)
    text[1 + i] = (mode & (0400u >> i)) != 0 ? letters[i] : '-';
  if ((mode & 04000) != 0)
    text[3] = text[3] == 'x' ? 's' : 'S';
  if ((mode & 02000) != 0)
    text[6] = text[6] == 'x' ? 's' : 'S';
  if ((mode & 01000) != 0)
    text[9] = text[9] == 'x' ? 't' : 'T';
  text[10] = '\0';
}

void
cli_text_pairs (struct berth_buffer *buffer, const struct berth_pair *pairs, uint64_t count)
{
  uint64_t i;

  for (i = 0; i < count; i++)
    {
      const char *value = pairs[i].value != NULL ? pairs[i].value : "";

      berth_buffer_appendf (buffer, "%s%s%s%s", i > 0 ? "," : "", pairs[i].name, value[0] != '\0' ? "=" : "", value);
    }
}

/* ---- tables ---- */

void
cli_table_add (struct cli_table *table, const char *text)
{
  if (text == NULL || text[0] == '\0')
    text = "-";
  cli_text_escape (&table->cells, text, 0);
  berth_buffer_append_byte (&table->cells, '\0');
  table->count++;
}

static const char *
cell_after (const char *cell, size_t count)
{
  for (; count > 0; count--)
    cell += strlen (cell) + 1;
  return cell;
}

static int
compare_cells (const void *left, const void *right, void *column)
{
  return strcmp (cell_after (*(const char *const *) left, *(size_t *) column),
                 cell_after (*(const char *const *) right, *(size_t *) column));
}

int
cli_table_sort (struct cli_table *table, size_t column)
{
  size_t rows = table->count / table->columns, i;
  BERTH_AUTO_FREE const char **starts = calloc (rows + 1, sizeof *starts);
  struct berth_buffer sorted = { 0 };

  if (starts == NULL || table->cells.error != 0)
    return -1;
  for (i = 0, starts[0] = berth_buffer_string (&table->cells); i < rows; i++)
    starts[i + 1] = cell_after (starts[i], table->columns);
  qsort_r (starts, rows, sizeof *starts, compare_cells, &column);
  for (i = 0; i < rows; i++)
    berth_buffer_append (&sorted, starts[i], (size_t) (cell_after (starts[i], table->columns) - starts[i]));
  berth_buffer_free (&table->cells);
  table->cells = sorted;
  return sorted.error != 0 ? -1 : 0;
}

/* Columns on a terminal: code points, near enough for what is in our tables. */
static size_t
width_of (const char *text)
{
  size_t width = 0;

  for (; *text != '\0'; text++)
    width += ((unsigned char) *text & 0xc0) != 0x80;
  return width;
}

static void
measure (const struct cli_table *table, size_t *widths)
{
  const char *cell = berth_buffer_string (&table->cells);
  size_t i, width;

  for (i = 0; i < table->count; i++, cell += strlen (cell) + 1)
    {
      width = width_of (cell);
      if (width > widths[i % table->columns])
        widths[i % table->columns] = width;
    }
}

static void
print_cell (FILE *file, const char *cell, size_t padding, bool right, bool last, const char *colour)
{
  if (right)
    fprintf (file, "%*s", (int) padding, "");
  fprintf (file, "%s%s%s", colour != NULL ? colour : "", cell, colour != NULL ? "\033[0m" : "");
  if (last)
    fputc ('\n', file);
  else
    fprintf (file, "%*s", (int) (right ? 2 : padding + 2), "");
}

int
cli_table_print (struct cli_table *table, FILE *file, const char *(*colour) (size_t column, const char *text))
{
  BERTH_AUTO_FREE size_t *widths = calloc (table->columns, sizeof *widths);
  const char *cell = berth_buffer_string (&table->cells);
  bool failed = widths == NULL || table->cells.error != 0;
  size_t i, column;

  if (!failed)
    measure (table, widths);
  for (i = 0; !failed && i < table->count; i++, cell += strlen (cell) + 1)
    {
      column = i % table->columns;
      print_cell (file, cell, widths[column] - width_of (cell), (table->right >> column & 1) != 0,
                  column + 1 == table->columns, colour != NULL && i >= table->columns ? colour (column, cell) : NULL);
    }
  berth_buffer_free (&table->cells);
  table->cells = (struct berth_buffer) { 0 };
  table->count = 0;
  return failed ? -1 : 0;
}
