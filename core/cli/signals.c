#include "core/cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define ENDING_COUNT (sizeof ending_signals / sizeof *ending_signals)

/* A handler is given nothing but the number: these two are all that `berth` keeps outside its
 * stack. */
static struct berth_cancel *_Atomic cancel_of_signals;
static volatile sig_atomic_t caught;

/* The first signal counts.  Further ones change nothing: what is being ended ends. */
static void
handle (int number)
{
  struct berth_cancel *cancel = atomic_load (&cancel_of_signals);

  if (caught == 0)
    caught = number;
  if (cancel != NULL)
    berth_cancel_trigger (cancel);
}

int
cli_signals_catch (struct cli *cli)
{
  struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
  struct sigaction old;
  struct berth_error error;
  size_t i;

  if (berth_cancel_new (&cli->cancel, &error) < 0)
    return cli_report (cli, &error);
  atomic_store (&cancel_of_signals, cli->cancel);
  sigfillset (&action.sa_mask);
  for (i = 0; i < ENDING_COUNT; i++)
    if (sigaction (ending_signals[i], NULL, &old) == 0 && (old.sa_handler != SIG_IGN || ending_signals[i] == SIGPIPE))
      sigaction (ending_signals[i], &action, NULL);
  return 0;
}

int
cli_signals_caught (void)
{
  return caught;
}

int
cli_signals_finish (struct cli *cli, int status)
{
  struct sigaction action = { .sa_handler = SIG_DFL };
  sigset_t set;

  atomic_store (&cancel_of_signals, NULL);
  berth_cancel_free (BERTH_STEAL_POINTER (cli->cancel));
  if (caught == 0)
    return status;
  sigaction (caught, &action, NULL);
  sigemptyset (&set);
  sigaddset (&set, caught);
  sigprocmask (SIG_UNBLOCK, &set, NULL);
  raise (caught);
  return 128 + caught;
}
