#include "core/registry/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sdk/base/string.h"

void
berth_problem (struct berth_problems *problems, const char *remedy, const char *format, ...)
{
  struct berth_problem *items = problems->items, *item;
  va_list arguments;

  if (problems->count < BERTH_PROBLEMS_MAX)
    items = reallocarray (problems->items, problems->count + 1, sizeof *items);
  if (items == NULL || problems->count == BERTH_PROBLEMS_MAX)
    {
      problems->dropped++;
      return;
    }
  problems->items = items;
  item = &items[problems->count];
  va_start (arguments, format);
  item->what = berth_string_vformat (format, arguments);
  va_end (arguments);
  item->remedy = remedy != NULL ? strdup (remedy) : NULL;
  item->text = item->what == NULL ? NULL
               : remedy != NULL   ? berth_string_format ("%s: %s", item->what, remedy)
                                  : strdup (item->what);
  if (item->text != NULL && (remedy == NULL || item->remedy != NULL))
    problems->count++;
  else
    {
      free (item->what);
      free (item->remedy);
      free (item->text);
      problems->dropped++;
    }
}

void
berth_problems_clear (struct berth_problems *problems)
{
  for (uint32_t i = 0; i < problems->count; i++)
    {
      free (problems->items[i].what);
      free (problems->items[i].remedy);
      free (problems->items[i].text);
    }
  free (problems->items);
  memset (problems, 0, sizeof *problems);
}

int
berth_problems_any (const struct berth_problems *problems)
{
  return problems->count > 0 || problems->dropped > 0;
}

/* Room for "; and 4294967295 more". */
#define MORE_ROOM 24

void
berth_problems_describe (const struct berth_problems *problems, size_t room, struct berth_buffer *text)
{
  uint32_t i;

  for (i = 0; i < problems->count; i++)
    {
      const char *what = problems->items[i].what;

      if (i > 0 && text->size + strlen (what) + MORE_ROOM > room)
        break;
      berth_buffer_appendf (text, i > 0 ? "; %s" : "%s", what);
    }
  if (problems->count - i + problems->dropped > 0)
    berth_buffer_appendf (text, "; and %u more", problems->count - i + problems->dropped);
}

static int
is_new_remedy (const struct berth_problems *problems, uint32_t index)
{
  const char *remedy = problems->items[index].remedy;

  for (uint32_t i = 0; i < index; i++)
    if (berth_string_equal (problems->items[i].remedy, remedy))
      return 0;
  return remedy != NULL;
}

void
berth_problems_remedies (const struct berth_problems *problems, size_t room, struct berth_buffer *text)
{
  for (uint32_t i = 0; i < problems->count; i++)
    if (is_new_remedy (problems, i) && text->size + strlen (problems->items[i].remedy) + 3 <= room)
      berth_buffer_appendf (text, text->size > 0 ? "; %s" : "%s", problems->items[i].remedy);
}
