/* stall.h - how long this machine kept runnable threads waiting.
 *
 * The control of a test about promptness: one thread on each processor wakes again and again, and
 * what each wake-up is late is time that the machine gave to others, or to nobody.  What is prompt
 * takes some wake-ups one after the other, of which each may be as late as the latest was, but all
 * together not later than all were.  Where the machine is idle that is next to nothing, so that a
 * promise of a second is tested as it stands. */
#ifndef BERTH_TEST_STALL_H
#define BERTH_TEST_STALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BERTH_TEST_STALL_PROCESSORS 8 /* the first so many that this process may use */
#define BERTH_TEST_STALL_STEPS 8      /* wake-ups one after the other */

struct berth_test_beat
{
  pthread_t thread;
  int processor;
  _Atomic int64_t woken_ns; /* when it last woke; it is due a little later */
  _Atomic int64_t late_ns;  /* all of its wake-ups together */
  _Atomic int64_t latest_ns;
  atomic_bool stop;
};

struct berth_test_stall
{
  struct berth_test_beat beats[BERTH_TEST_STALL_PROCESSORS];
  int count;
};

/* false: there are no threads to be had. */
bool berth_test_stall_start (struct berth_test_stall *stall);
/* These from any thread.  What is withheld is counted from the start or the last reset on; it grows slower
 * than the clock. */
void berth_test_stall_reset (struct berth_test_stall *stall);
int64_t berth_test_stall_ms (struct berth_test_stall *stall);
void berth_test_stall_stop (struct berth_test_stall *stall);

#endif
