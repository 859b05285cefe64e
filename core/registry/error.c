#include "core/registry/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct error_row
{
  uint32_t code;
  const char *name;
  const char *hint;
};

static const struct error_row error_rows[] = {
#define BERTH_ERROR_ROW(name, code, meaning, hint) { code, #name, hint },
  BERTH_ERRORS (BERTH_ERROR_ROW)
#undef BERTH_ERROR_ROW
};

static const struct error_row *
find_row (uint32_t code)
{
  for (size_t i = 0; i < sizeof error_rows / sizeof error_rows[0]; i++)
    if (error_rows[i].code == code)
      return &error_rows[i];
  return NULL;
}

const char *
berth_error_name (uint32_t code)
{
  const struct error_row *row = find_row (code);

  return row != NULL ? row->name : "UNKNOWN";
}

void
berth_error_clear (struct berth_error *error)
{
  if (error != NULL)
    memset (error, 0, sizeof *error);
}

int
berth_error_vset (struct berth_error *error, uint32_t code, const char *format, va_list arguments)
{
  const struct error_row *row = find_row (code);
  char message[sizeof error->message];
  int saved = errno;

  if (error == NULL)
    return -1;
  /* The arguments may be texts of the very error that is replaced. */
  vsnprintf (message, sizeof message, format, arguments);
  berth_error_clear (error);
  error->code = code;
  error->http_status = code / 100;
  memcpy (error->message, message, sizeof message);
  if (row != NULL)
    snprintf (error->hint, sizeof error->hint, "%s", row->hint);
  errno = saved;
  return -1;
}

int
berth_error_set (struct berth_error *error, uint32_t code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  berth_error_vset (error, code, format, arguments);
  va_end (arguments);
  return -1;
}

void
berth_error_hint (struct berth_error *error, const char *format, ...)
{
  char hint[sizeof error->hint];
  va_list arguments;
  int saved = errno;

  if (error == NULL)
    return;
  va_start (arguments, format);
  vsnprintf (hint, sizeof hint, format, arguments);
  va_end (arguments);
  memcpy (error->hint, hint, sizeof hint);
  errno = saved;
}
