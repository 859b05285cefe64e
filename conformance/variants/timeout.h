/* timeout.h - short timeouts left to coreutils' timeout, which kills less than the whole tree. */
#ifndef CONFORMANCE_VARIANTS_TIMEOUT_H
#define CONFORMANCE_VARIANTS_TIMEOUT_H

#include <stdio.h>

#include "conformance/variants/variant.h"

/* What `timeout` killed has a timeout for a reason. */
static inline int
timeout_exit (void *context, const struct berth_exit *exit)
{
  const struct berth_run_sink *sink = context;
  struct berth_exit changed = *exit;

  changed.reason = BERTH_TIMED_OUT;
  changed.code = -1;
  changed.signal = 9;
  return sink->exit (sink->context, &changed);
}

/* OPTION is one more of `timeout`. */
static inline int
timeout_run (struct berth_call *call, struct berth_handle *handle, const struct berth_run *wanted,
             const struct berth_run_sink *sink, const char *option)
{
  struct berth_run_sink copy = *sink;
  struct berth_run_sink own = { sizeof own, 0, &copy, variant_pass_output, timeout_exit };
  const char *arguments[64] = { "timeout", option, "-s", "KILL" };
  struct berth_run wrapped = *wanted;
  char seconds[32];

  if ((wanted->asks & BERTH_RUN_TIMEOUT) == 0 || wanted->timeout_ms > 4000 || wanted->argument_count > 50)
    return PLAIN->commands->run (call, handle, wanted, sink);
  snprintf (seconds, sizeof seconds, "%d.%03d", (int) (wanted->timeout_ms / 1000), (int) (wanted->timeout_ms % 1000));
  arguments[4] = seconds;
  memcpy (arguments + 5, wanted->arguments, wanted->argument_count * sizeof *arguments);
  wrapped.arguments = arguments;
  wrapped.argument_count += 5;
  wrapped.asks &= ~BERTH_RUN_TIMEOUT;
  return PLAIN->commands->run (call, handle, &wrapped, &own);
}

#endif
