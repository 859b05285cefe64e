/* text.h - how things look to people. */
#ifndef BERTH_CLI_TEXT_H
#define BERTH_CLI_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <berth/types.h>

#include "sdk/base/buffer.h"

/* Appends TEXT so that a terminal only ever shows it: control bytes, C1 controls, marks that
 * turn the direction of text and bytes that are not UTF-8 become \xNN. */
enum cli_escape
{
  CLI_ESCAPE_EXACT = 1, /* a backslash too, so that the bytes can be told from what is shown */
  CLI_ESCAPE_LINES = 2  /* line ends stay */
};
void cli_text_escape (struct berth_buffer *buffer, const char *text, unsigned int flags);

/* Prints one text so. */
void cli_text_print (FILE *file, const char *text);

/* "12s", "5m", "3h", "2d": the largest unit that fits. */
#define CLI_AGE_SIZE 24
void cli_text_age (int64_t milliseconds, char text[CLI_AGE_SIZE]);

/* "-rwxr-xr-x" */
#define CLI_MODE_SIZE 11
void cli_text_mode (uint32_t kind, uint32_t mode, char text[CLI_MODE_SIZE]);

/* "KEY=VALUE,KEY=VALUE" */
void cli_text_pairs (struct berth_buffer *buffer, const struct berth_pair *pairs, uint64_t count);

/* A table: columns as wide as their widest cell, texts escaped. */
struct cli_table
{
  struct berth_buffer cells; /* NUL-terminated, escaped, one after the other */
  size_t columns;
  size_t count;        /* of cells */
  uint64_t right;      /* a bit for each column whose cells stand on the right */
};

/* The next cell, row by row; NULL or "" is shown as "-". */
void cli_table_add (struct cli_table *table, const char *text);
/* Puts the rows in the order of the bytes of COLUMN.  -1 when there was no memory. */
int cli_table_sort (struct cli_table *table, size_t column);
/* COLOUR (may be NULL) gives the terminal sequence for a cell, or NULL.  Empties the table.
 * -1 when there was no memory. */
int cli_table_print (struct cli_table *table, FILE *file, const char *(*colour) (size_t column, const char *text));

#endif
