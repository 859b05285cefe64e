#include "sdk/agent/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint32_t
code_of_errno (int error)
{
  switch (error)
    {
    case ENOENT:
    case ENOTDIR:
      return BERTH_E_PATH_NOT_FOUND;
    case ELOOP:
    case EXDEV:
      return BERTH_E_PATH_REJECTED;
    case EISDIR:
    case EINVAL:
    case ENAMETOOLONG:
    case E2BIG:
      return BERTH_E_INVALID_REQUEST;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY:
      return BERTH_E_CONFLICT;
    case EACCES:
    case EPERM:
    case EROFS:
      return BERTH_E_FORBIDDEN;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return BERTH_E_RESOURCE_EXHAUSTED;
    default:
      return BERTH_E_INTERNAL;
    }
}

int
agent_fail (struct failure *failure, uint32_t code, const char *format, ...)
{
  va_list arguments;

  failure->code = code;
  failure->error = 0;
  failure->hint[0] = '\0';
  va_start (arguments, format);
  vsnprintf (failure->message, sizeof failure->message, format, arguments);
  va_end (arguments);
  return -1;
}

int
agent_fail_errno (struct failure *failure, int error, const char *format, ...)
{
  va_list arguments;
  size_t used;

  failure->code = code_of_errno (error);
  failure->error = error;
  failure->hint[0] = '\0';
  va_start (arguments, format);
  vsnprintf (failure->message, sizeof failure->message, format, arguments);
  va_end (arguments);
  used = strlen (failure->message);
  snprintf (failure->message + used, sizeof failure->message - used, ": %s", strerror (error));
  return -1;
}

void
agent_hint (struct failure *failure, const char *text)
{
  snprintf (failure->hint, sizeof failure->hint, "%s", text);
}

struct quoted
agent_quote (const char *path)
{
  struct quoted quoted;
  size_t used = 0;

  quoted.text[used++] = '\'';
  for (; *path != '\0' && used < sizeof quoted.text - 12; path++)
    {
      unsigned char byte = (unsigned char) *path;

      if (byte >= 0x20 && byte < 0x7f && byte != '\\')
        quoted.text[used++] = (char) byte;
      else
        used += (size_t) snprintf (quoted.text + used, 5, "\\x%02x", byte);
    }
  snprintf (quoted.text + used, sizeof quoted.text - used, *path == '\0' ? "'" : "...'");
  return quoted;
}
