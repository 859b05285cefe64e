/* Clauses beside each other: each has a process that watches over the one of the backend, so
 * that this one has a single thread and only ever waits. */
#include "conformance/conform/conform.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "sdk/base/clock.h"
#include "sdk/base/fd.h"

#define CLAUSE_SECONDS 30

/* ---- starting ---- */

static void
watch (struct conform *run, const struct conform_item *item, int output)
{
  BERTH_AUTO_BUFFER struct berth_buffer report = { 0 };
  struct child_job job = { .run = conform_perform, .clause = item->clause, .missing = item->missing };

  /* Beside others each has a part of the machine. */
  job.seconds = (item->clause->seconds != 0 ? item->clause->seconds : CLAUSE_SECONDS) * (run->jobs > 1 ? 2 : 1);
  if (run->seconds != 0)
    job.seconds = run->seconds;
  child_perform (&run->setup, &job, &report);
  berth_fd_write_all (output, report.data, report.size);
}

static struct conform_slot *
free_slot (struct conform *run)
{
  for (unsigned int i = 0; i < run->jobs; i++)
    if (run->slots[i].item == NULL)
      return &run->slots[i];
  return NULL;
}

static void
start (struct conform *run, struct conform_item *item, struct conform_slot *slot)
{
  int ends[2];

  if (pipe2 (ends, O_CLOEXEC) < 0)
    {
      berth_buffer_append_string (&item->report, "Fschedule:0: no pipe\n");
      item->done = true;
      return;
    }
  fflush (NULL);
  *slot = (struct conform_slot) { .item = item, .output = ends[0], .started_ms = berth_clock_monotonic_ms (), .pid = fork () };
  if (slot->pid == 0)
    {
      watch (run, item, ends[1]);
      _exit (0);
    }
  close (ends[1]);
  run->running++;
}

static bool
may_start (const struct conform *run, const struct conform_item *item)
{
  bool alone = (item->clause->flags & SUITE_ALONE) != 0;

  /* Those that run alone are the last, so one that runs is all that runs. */
  return run->running == 0 || (!alone && run->running < run->jobs);
}

static void
start_some (struct conform *run)
{
  while (child_interrupted () == 0 && run->next < run->count)
    {
      struct conform_item *item = run->order[run->next];
      struct conform_slot *slot = free_slot (run);

      if (!item->done && (slot == NULL || !may_start (run, item)))
        return;
      run->next++;
      if (!item->done)
        start (run, item, slot);
    }
}

/* ---- ends ---- */

/* TEXT is "FILE:LINE: what". */
static const char *
without_place (const char *text)
{
  return text + strspn (text, ":0 ");
}

static void
judge_line (struct conform_item *item, char *line)
{
  if (line[0] == 'F')
    item->result = CONFORM_FAILED;
  else if (line[0] == 'S' && item->result != CONFORM_FAILED)
    item->result = CONFORM_SKIPPED;
  else if (line[0] == 'N' && item->result == CONFORM_PASSED)
    item->result = CONFORM_NOT_APPLICABLE;
  if (line[0] == 'S' || line[0] == 'N')
    item->reason = without_place (line + 1);
}

static void
judge (struct conform_item *item)
{
  char *end;

  if (berth_buffer_append_byte (&item->report, '\n') < 0)
    {
      item->result = CONFORM_FAILED;
      return;
    }
  end = item->report.data + item->report.size;
  for (char *line = item->report.data, *next; line < end; line = next)
    {
      next = (char *) memchr (line, '\n', (size_t) (end - line)) + 1;
      next[-1] = '\0';
      judge_line (item, line);
    }
}

static void
finish (struct conform *run, struct conform_slot *slot)
{
  struct conform_item *item = slot->item;
  int64_t duration_ms = berth_clock_monotonic_ms () - slot->started_ms;
  int status = 0;

  close (slot->output);
  while (slot->pid > 0 && waitpid (slot->pid, &status, 0) < 0 && errno == EINTR)
    continue;
  if (slot->pid < 0 || status != 0)
    berth_buffer_append_string (&item->report, "Fschedule:0: its watchdog did not come to its end\n");
  if (duration_ms > item->duration_ms)
    item->duration_ms = duration_ms;
  item->done = true;
  judge (item);
  slot->item = NULL;
  run->running--;
}

static void
read_slot (struct conform *run, struct conform_slot *slot)
{
  char bytes[4096];
  ssize_t size = read (slot->output, bytes, sizeof bytes);

  if (size > 0)
    berth_buffer_append (&slot->item->report, bytes, (size_t) size);
  else if (size == 0 || errno != EINTR)
    finish (run, slot);
}

/* A watchdog that is told so ends its clause and removes what that made. */
static void
pass_interrupt (struct conform *run)
{
  for (unsigned int i = 0; i < run->jobs; i++)
    if (run->slots[i].item != NULL && run->slots[i].pid > 0)
      kill (run->slots[i].pid, SIGTERM);
}

static void
wait_some (struct conform *run)
{
  struct pollfd waits[CONFORM_JOBS_MAX];

  for (unsigned int i = 0; i < run->jobs; i++)
    waits[i] = (struct pollfd) { .fd = run->slots[i].item != NULL ? run->slots[i].output : -1, .events = POLLIN };
  if (poll (waits, run->jobs, child_interrupted () != 0 ? 200 : -1) < 0)
    {
      pass_interrupt (run);
      return;
    }
  for (unsigned int i = 0; i < run->jobs; i++)
    if (waits[i].fd >= 0 && waits[i].revents != 0)
      read_slot (run, &run->slots[i]);
}

void
conform_await (struct conform *run, struct conform_item *item)
{
  while (!item->done)
    {
      start_some (run);
      if (run->running > 0)
        wait_some (run);
      else if (!item->done && child_interrupted () != 0)
        return;
    }
}

/* ---- stress ---- */

/* What failed stays failed, with its report. */
static void
prepare_again (struct conform *run)
{
  for (size_t i = 0; i < run->count; i++)
    {
      struct conform_item *item = &run->items[i];

      if (item->why_not == NULL && item->result != CONFORM_FAILED)
        {
          berth_buffer_clear (&item->report);
          item->result = CONFORM_PASSED;
          item->reason = NULL;
          item->done = false;
        }
    }
  run->next = 0;
}

void
conform_stress (struct conform *run)
{
  int64_t until = berth_clock_monotonic_ms () + run->stress_ms;

  for (;;)
    {
      for (size_t i = 0; i < run->count; i++)
        conform_await (run, &run->items[i]);
      if (child_interrupted () != 0 || berth_clock_monotonic_ms () >= until)
        return;
      prepare_again (run);
    }
}
