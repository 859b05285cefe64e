#include "conformance/conform/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "conformance/suites/leftovers.h"
#include "conformance/suites/role.h"
#include "sdk/base/clock.h"
#include "sdk/base/fs.h"

#define SWEEP_SECONDS 30
#define PATIENCE_MS 3000
#define EXIT_MS 10000
#define REPORT_MAX ((size_t) 1 << 20)

/* Signal handlers take no argument. */
static volatile sig_atomic_t interrupted;

static void
interrupt (int signal_number)
{
  interrupted = signal_number;
}

static void
handle_signals (void (*handler) (int))
{
  struct sigaction action = { .sa_handler = handler };

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGHUP, &action, NULL);
}

void
child_interruptible (void)
{
  handle_signals (interrupt);
}

int
child_interrupted (void)
{
  return interrupted;
}

struct suite_context
child_context (const struct place *place, const struct child_setup *setup, int report)
{
  return (struct suite_context) { .plugin = setup->plugin,
                                  .directory = place->directory,
                                  .state_dir = place->state_dir,
                                  .runtime_dir = place->runtime_dir,
                                  .cache_dir = place->cache_dir,
                                  .config_file = place->config_file,
                                  .self = setup->self,
                                  .installation_id = place->installation_id,
                                  .tag = place->tag,
                                  .image = setup->image,
                                  .account = setup->account,
                                  .report = report };
}

/* After a crash or a hang: what the clause could not destroy itself. */
static void
sweep (struct suite_context *suite, const struct child_job *job)
{
  (void) job;
  if (!suite_open (suite))
    return;
  suite_sweep (suite);
  suite_close (suite);
}

/* ---- a child under its watchdog ---- */

static void
run_child (const struct place *place, const struct child_setup *setup, const struct child_job *job, int report)
{
  struct suite_context suite = child_context (place, setup, report);

  setpgid (0, 0);
  handle_signals (SIG_DFL);
  signal (SIGPIPE, SIG_IGN);
  job->run (&suite, job);
  exit (0);
}

static bool
read_report (int fd, struct berth_buffer *report, int64_t deadline_ms)
{
  char bytes[4096];

  for (;;)
    {
      struct pollfd wait = { .fd = fd, .events = POLLIN };
      ssize_t size;

      if (interrupted != 0 || report->size > REPORT_MAX || poll (&wait, 1, berth_clock_poll_timeout (deadline_ms)) == 0)
        return false;
      size = read (fd, bytes, sizeof bytes);
      if (size == 0)
        return true;
      if (size > 0)
        berth_buffer_append (report, bytes, (size_t) size);
    }
}

/* Its end comes soon after that of its report; then whatever it started goes as well. */
static int
reap_child (pid_t pid, int64_t patience_ms)
{
  int64_t until = berth_clock_monotonic_ms () + patience_ms;
  siginfo_t info = { 0 };
  int status = 0;

  while (waitid (P_PID, (id_t) pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0
         && berth_clock_monotonic_ms () < until)
    berth_clock_sleep_ms (2);
  kill (-pid, SIGKILL);
  waitpid (pid, &status, 0);
  return status;
}

/* The lines that the child reported; true when it came to its end by itself. */
static bool
watch_child (const struct place *place, const struct child_setup *setup, const struct child_job *job, struct berth_buffer *report)
{
  int ends[2];
  int status = 0;
  bool ended;
  pid_t pid;

  fflush (NULL);
  if (pipe2 (ends, O_CLOEXEC) < 0)
    return false;
  pid = fork ();
  if (pid == 0)
    run_child (place, setup, job, ends[1]);
  close (ends[1]);
  ended = pid > 0 && read_report (ends[0], report, berth_clock_monotonic_ms () + (int64_t) job->seconds * 1000);
  close (ends[0]);
  if (pid > 0)
    status = reap_child (pid, ended ? EXIT_MS : 0);
  if (interrupted != 0)
    berth_buffer_appendf (report, "Fchild:0: interrupted by signal %d\n", (int) interrupted);
  else if (!ended)
    berth_buffer_appendf (report, "Fchild:0: no end after %u seconds\n", job->seconds);
  else if (WIFSIGNALED (status))
    berth_buffer_appendf (report, "Fchild:0: died of signal %d\n", WTERMSIG (status));
  else if (WIFEXITED (status) && WEXITSTATUS (status) != 0)
    berth_buffer_appendf (report, "Fchild:0: ended with status %d\n", WEXITSTATUS (status));
  else
    return ended;
  return false;
}

static void
check_left (const struct place *place, struct berth_buffer *report)
{
  int64_t until = berth_clock_monotonic_ms () + PATIENCE_MS;

  for (;;)
    {
      BERTH_AUTO_BUFFER struct berth_buffer found = { 0 };
      bool late = berth_clock_monotonic_ms () >= until;

      if (suite_leftovers (place->tag, place->directory, &found) == 0)
        break;
      if (late)
        berth_buffer_appendf (report, "Fchild:0: left at the end: %s\n", berth_buffer_string (&found));
      if (late)
        break;
      berth_clock_sleep_ms (50);
    }
  if (berth_fs_remove_tree (AT_FDCWD, place->directory) < 0)
    berth_buffer_appendf (report, "Fchild:0: cannot remove %s: %s\n", place->directory, strerror (errno));
}

void
child_perform (const struct child_setup *setup, const struct child_job *job, struct berth_buffer *report)
{
  struct place place;

  if (!place_make (&place, &setup->config))
    berth_buffer_appendf (report, "Fchild:0: no directory: %s\n", strerror (errno));
  else
    {
      if (!watch_child (&place, setup, job, report))
        {
          int was_interrupted = interrupted;

          interrupted = 0;
          watch_child (&place, setup, &(struct child_job) { .run = sweep, .seconds = SWEEP_SECONDS }, report);
          interrupted = was_interrupted;
        }
      check_left (&place, report);
    }
  place_free (&place);
}
