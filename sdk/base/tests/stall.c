#include "sdk/base/tests/stall.h"

#include <sched.h>
#include <time.h>

#include "sdk/base/clock.h"

#define BEAT_NS 5000000
#define USUAL_NS 1000000 /* what a timer may be late anywhere */

static int64_t
lateness (int64_t woken_ns, int64_t now_ns)
{
  int64_t late = now_ns - woken_ns - BEAT_NS;

  return late > USUAL_NS ? late : 0;
}

static void *
beat (void *context)
{
  struct berth_test_beat *beat = context;
  const struct timespec pause = { .tv_nsec = BEAT_NS };
  cpu_set_t own;

  CPU_ZERO (&own);
  CPU_SET (beat->processor, &own);
  sched_setaffinity (0, sizeof own, &own); /* elsewhere it measures as well, only less */
  while (!atomic_load (&beat->stop))
    {
      int64_t now, late;

      nanosleep (&pause, NULL);
      now = berth_clock_monotonic_ns ();
      late = lateness (atomic_load (&beat->woken_ns), now);
      atomic_fetch_add (&beat->late_ns, late);
      if (late > atomic_load (&beat->latest_ns))
        atomic_store (&beat->latest_ns, late);
      atomic_store (&beat->woken_ns, now);
    }
  return NULL;
}

bool
berth_test_stall_start (struct berth_test_stall *stall)
{
  cpu_set_t usable;

  CPU_ZERO (&usable);
  *stall = (struct berth_test_stall) { .count = 0 };
  if (sched_getaffinity (0, sizeof usable, &usable) < 0)
    CPU_SET (0, &usable);
  for (int i = 0; i < CPU_SETSIZE && stall->count < BERTH_TEST_STALL_PROCESSORS; i++)
    {
      struct berth_test_beat *next = &stall->beats[stall->count];

      if (!CPU_ISSET (i, &usable))
        continue;
      next->processor = i;
      atomic_store (&next->woken_ns, berth_clock_monotonic_ns ());
      if (pthread_create (&next->thread, NULL, beat, next) != 0)
        break;
      stall->count++;
    }
  return stall->count > 0;
}

void
berth_test_stall_reset (struct berth_test_stall *stall)
{
  for (int i = 0; i < stall->count; i++)
    {
      atomic_store (&stall->beats[i].woken_ns, berth_clock_monotonic_ns ());
      atomic_store (&stall->beats[i].late_ns, 0);
      atomic_store (&stall->beats[i].latest_ns, 0);
    }
}

static int64_t
larger (int64_t left, int64_t right)
{
  return left > right ? left : right;
}

int64_t
berth_test_stall_ms (struct berth_test_stall *stall)
{
  int64_t now = berth_clock_monotonic_ns (), all = 0, steps = 0;

  for (int i = 0; i < stall->count; i++)
    {
      /* One that is late right now counts as well. */
      int64_t late = lateness (atomic_load (&stall->beats[i].woken_ns), now);

      all = larger (all, atomic_load (&stall->beats[i].late_ns) + late);
      steps = larger (steps, BERTH_TEST_STALL_STEPS * larger (atomic_load (&stall->beats[i].latest_ns), late));
    }
  return (all < steps ? all : steps) / 1000000;
}

void
berth_test_stall_stop (struct berth_test_stall *stall)
{
  for (int i = 0; i < stall->count; i++)
    atomic_store (&stall->beats[i].stop, true);
  for (int i = 0; i < stall->count; i++)
    pthread_join (stall->beats[i].thread, NULL);
  stall->count = 0;
}
