/* column.h - the one list of columns: drives the statements and the life of a record. */
#ifndef CORE_STATE_COLUMN_H
#define CORE_STATE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/state/record.h"

struct berth_column
{
  const char *name;
  size_t offset; /* in struct berth_record */
  bool is_text;  /* char *, may be NULL; else int64_t */
};

/* The id comes first; ends with a NULL name. */
extern const struct berth_column berth_columns[];

static inline char **
berth_column_text (const struct berth_column *column, struct berth_record *record)
{
  return (char **) (void *) ((char *) record + column->offset);
}

static inline int64_t *
berth_column_number (const struct berth_column *column, struct berth_record *record)
{
  return (int64_t *) (void *) ((char *) record + column->offset);
}

#endif
