#include "core/state/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/state/column.h"

void
berth_record_clear_pairs (struct berth_record_pairs *pairs)
{
  for (uint64_t i = 0; i < pairs->count; i++)
    {
      free ((char *) pairs->items[i].name);
      free ((char *) pairs->items[i].value);
    }
  free (pairs->items);
  *pairs = (struct berth_record_pairs) { 0 };
}

static void
native_clear (struct berth_record_native *native)
{
  free (native->id);
  free (native->assignment_id);
  if (native->private_data != NULL)
    explicit_bzero (native->private_data, native->private_size);
  free (native->private_data);
}

void
berth_record_clear_natives (struct berth_record *record)
{
  for (uint64_t i = 0; i < record->native_count; i++)
    native_clear (&record->natives[i]);
  free (record->natives);
  record->natives = NULL;
  record->native_count = 0;
}

void
berth_record_clear (struct berth_record *record)
{
  for (const struct berth_column *column = berth_columns; column->name != NULL; column++)
    if (column->is_text)
      free (*berth_column_text (column, record));
  berth_record_clear_natives (record);
  berth_record_clear_pairs (&record->labels);
  berth_record_clear_pairs (&record->environment);
  *record = (struct berth_record) { 0 };
}

int
berth_record_set_pairs (struct berth_record_pairs *to, const struct berth_pair *pairs, uint64_t count)
{
  to->items = calloc (count + 1, sizeof *to->items);
  if (to->items == NULL)
    return -1;
  for (uint64_t i = 0; i < count; i++)
    {
      if ((pairs[i].flags & BERTH_PAIR_SECRET) != 0)
        continue;
      struct berth_pair *item = &to->items[to->count++];
      item->name = strdup (pairs[i].name);
      item->value = strdup (pairs[i].value != NULL ? pairs[i].value : "");
      if (item->name == NULL || item->value == NULL)
        return -1;
    }
  return 0;
}

/* The same id again replaces what was known of it. */
static struct berth_record_native *
native_slot (struct berth_record *record, const char *id)
{
  for (uint64_t i = 0; i < record->native_count; i++)
    if (strcmp (record->natives[i].id, id) == 0)
      {
        native_clear (&record->natives[i]);
        return &record->natives[i];
      }
  struct berth_record_native *more = realloc (record->natives, (record->native_count + 1) * sizeof *more);
  if (more == NULL)
    return NULL;
  record->natives = more;
  return &more[record->native_count++];
}

int
berth_record_add_native (struct berth_record *record, const char *id, const char *assignment_id, int64_t generation,
                         const void *private_data, uint32_t private_size)
{
  struct berth_record_native *native = native_slot (record, id);

  if (native == NULL)
    return -1;
  *native = (struct berth_record_native) { .id = strdup (id), .assignment_id = strdup (assignment_id),
                                           .generation = generation, .private_size = private_size,
                                           .private_data = malloc (private_size + 1) };
  if (native->id == NULL || native->assignment_id == NULL || native->private_data == NULL)
    return -1;
  if (private_size > 0)
    memcpy (native->private_data, private_data, private_size);
  return 0;
}

const char *
berth_record_state_name (int64_t state)
{
  static const char *const names[] = { "failed", "creating", "running", "paused", "stopped", "destroying", "failed", "running" };

  return state > 0 && state < (int64_t) (sizeof names / sizeof *names) ? names[state] : names[0];
}
