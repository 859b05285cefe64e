#include "core/registry/cancel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/registry/error.h"

struct berth_cancel
{
  atomic_int triggered;
  int fd;
};

/* A signal handler may store the flag only if that takes no lock. */
_Static_assert (ATOMIC_INT_LOCK_FREE == 2, "berth_cancel_trigger must be async-signal-safe");

int
berth_cancel_new (struct berth_cancel **out, struct berth_error *error)
{
  struct berth_cancel *cancel = calloc (1, sizeof *cancel);

  if (cancel == NULL)
    return berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no memory for a cancellation token");
  cancel->fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (cancel->fd < 0)
    {
      berth_error_set (error, BERTH_E_RESOURCE_EXHAUSTED, "no descriptor for a cancellation token: %s",
                       strerror (errno));
      free (cancel);
      return -1;
    }
  *out = cancel;
  return 0;
}

void
berth_cancel_trigger (struct berth_cancel *cancel)
{
  static const uint64_t one = 1;
  int saved = errno;

  atomic_store (&cancel->triggered, 1);
  /* It fails only when the counter is full: the descriptor is readable then too. */
  if (write (cancel->fd, &one, sizeof one) < 0)
    errno = saved;
}

int
berth_cancel_triggered (const struct berth_cancel *cancel)
{
  return cancel != NULL && atomic_load (&cancel->triggered);
}

int
berth_cancel_fd (const struct berth_cancel *cancel)
{
  return cancel != NULL ? cancel->fd : -1;
}

void
berth_cancel_free (struct berth_cancel *cancel)
{
  if (cancel == NULL)
    return;
  close (cancel->fd);
  free (cancel);
}
