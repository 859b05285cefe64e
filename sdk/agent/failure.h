/* failure.h - why an operation failed, on its way to the client. */
#ifndef BERTH_SDK_AGENT_FAILURE_H
#define BERTH_SDK_AGENT_FAILURE_H

#include <stdint.h>

#include <berth/errors.h>

struct failure
{
  uint32_t code; /* enum berth_error_code */
  int error;     /* errno, or 0 */
  char message[512];
  char hint[160];
};

/* Both return -1.  agent_fail_errno adds the text of ERROR and finds the code that fits it. */
int agent_fail (struct failure *failure, uint32_t code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
int agent_fail_errno (struct failure *failure, int error, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
void agent_hint (struct failure *failure, const char *text);

/* A path for a message: quoted, printable ASCII, cut when it is long. */
struct quoted
{
  char text[200];
};

struct quoted agent_quote (const char *path);

#endif
