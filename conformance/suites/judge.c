/* How a clause's process tells the runner what it found: one line each on a pipe, kind first. */
#include "conformance/suites/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conformance/suites/box.h"
#include "sdk/base/path.h"

#define LINE_MAX_BYTES 2000 /* below PIPE_BUF, so that lines of several threads stay whole */

static void
report (struct suite_context *suite, char kind, const char *file, int line, const char *format, va_list arguments)
{
  char text[LINE_MAX_BYTES];
  int used = snprintf (text, sizeof text, "%c%s:%d: ", kind, berth_path_last (file), line);
  int more = vsnprintf (text + used, sizeof text - (size_t) used - 1, format, arguments);
  size_t size = (size_t) used + (more > 0 ? (size_t) more : 0);

  if (size > sizeof text - 2)
    size = sizeof text - 2;
  for (size_t i = 1; i < size; i++)
    if ((unsigned char) text[i] < ' ')
      text[i] = ' ';
  text[size++] = '\n';
  (void) !write (suite->report, text, size);
}

void
suite_fail (struct suite_context *suite, const char *file, int line, const char *format, ...)
{
  va_list arguments;

  __atomic_store_n (&suite->failed, true, __ATOMIC_RELAXED);
  va_start (arguments, format);
  report (suite, 'F', file, line, format, arguments);
  va_end (arguments);
}

void
suite_stop (struct suite_context *suite)
{
  suite_boxes_end (suite);
  _exit (0);
}

void
suite_skip (struct suite_context *suite, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  report (suite, 'S', "", 0, format, arguments);
  va_end (arguments);
  suite_stop (suite);
}

void
suite_not_applicable (struct suite_context *suite, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  report (suite, 'N', "", 0, format, arguments);
  va_end (arguments);
  suite_stop (suite);
}

void
suite_warn (struct suite_context *suite, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  report (suite, 'W', "", 0, format, arguments);
  va_end (arguments);
}
